#include "quota.h"

#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t machine, maxmemory; /* bytes; 0: not known, or no limit */
static bool evicts;                 /* maxmemory-policy is not noeviction */

/* ---- the machine ----------------------------------------------------------------------------- */

/* The number in a file of one line; 0 when there is none ("max", or no such file). */
static uint64_t number_in(const char *path) {
    char line[32] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = 0;
    (void)fclose(file);
    return strtoull(line, NULL, 10);
}

/* A container's limit is in one of two files, after the version of the system's control groups.
 * Where there is none they say nothing, or a number larger than any machine. */
static uint64_t bytes_of_machine(void) {
    static const char *const files[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t least = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        uint64_t limit = number_in(files[i]);
        if (limit && (!least || limit < least))
            least = limit;
    }
    return least;
}

/* ---- the engine ------------------------------------------------------------------------------ */

/* A setting of the engine's, as text; empty when it cannot be asked. */
static void setting(rm_ctx *ctx, const char *name, char *to, size_t room) {
    to[0] = 0;
    rm_reply *reply = rm.Call(ctx, "CONFIG", "cc", "GET", name);
    if (!reply)
        return;
    size_t size = 0;
    rm_reply *value = rm.CallReplyArrayElement(reply, 1);
    const char *text = value ? rm.CallReplyStringPtr(value, &size) : NULL;
    if (text && size < room) {
        memcpy(to, text, size);
        to[size] = 0;
    }
    rm.FreeCallReply(reply);
}

static void read_settings(rm_ctx *ctx) {
    char text[64];
    setting(ctx, "maxmemory", text, sizeof text);
    maxmemory = strtoull(text, NULL, 10);
    setting(ctx, "maxmemory-policy", text, sizeof text);
    evicts = strcmp(text, "noeviction") != 0;
}

static void on_config(rm_ctx *ctx, rm_event event, uint64_t sub, void *data) {
    (void)event;
    (void)sub;
    (void)data;
    read_settings(ctx);
}

int bm_quota_start(rm_ctx *ctx) {
    machine = bytes_of_machine();
    read_settings(ctx);
    return rm.SubscribeToServerEvent(ctx, (rm_event){RM_EVENT_CONFIG, 1}, on_config);
}

/* What the engine holds against maxmemory, as a part of it; 0 when it cannot be asked. */
static double used_part(void) {
    return rm.GetUsedMemoryRatio ? (double)rm.GetUsedMemoryRatio() : 0;
}

/* ---- room ------------------------------------------------------------------------------------ */

static uint64_t left_of(uint64_t limit, uint64_t used) {
    return used < limit ? limit - used : 0;
}

uint64_t bm_quota_room(uint64_t own, uint64_t all) {
    if ((!machine && !maxmemory) || bm_is_following())
        return UINT64_MAX;
    uint64_t room = machine ? left_of(machine, all) : UINT64_MAX;
    if (!maxmemory)
        return room;
    uint64_t used = evicts ? own : (uint64_t)(used_part() * (double)maxmemory);
    uint64_t left = left_of(maxmemory, used);
    return left < room ? left : room;
}
