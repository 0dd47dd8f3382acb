/* memory_quota.c - how much memory the server may use, according to maxmemory and to the
 * machine. */
#include "runtime/memory_quota.h"

#include "runtime/server_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t machine, maxmemory; /* in bytes; 0: unknown, or no limit */
static bool evicts;                 /* true: maxmemory-policy is not noeviction */

/* ---- the machine ----------------------------------------------------------------------------- */

/* Returns the number in a file of one line; 0 if there is no number (but, for example, "max") or no
 * such file. */
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

/* Returns the memory of the machine, or the limit of the container if that is less. The limit is in
 * one of two files, depending on the version of control groups. If there is no limit, the file
 * contains no number, or one that is larger than the memory of any machine. */
static uint64_t machine_bytes(void) {
    static const char *const files[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t min = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        uint64_t limit = number_in(files[i]);
        if (limit && (!min || limit < min))
            min = limit;
    }
    return min;
}

/* ---- the engine ------------------------------------------------------------------------------ */

/* Reads a setting of the engine as text. The text is empty if CONFIG GET fails. */
static void get_setting(rm_ctx *ctx, const char *name, char *to, size_t max) {
    to[0] = 0;
    rm_reply *reply = rm.Call(ctx, "CONFIG", "cc", "GET", name);
    if (!reply)
        return;
    size_t size = 0;
    rm_reply *value = rm.CallReplyArrayElement(reply, 1);
    const char *text = value ? rm.CallReplyStringPtr(value, &size) : NULL;
    if (text && size < max) {
        memcpy(to, text, size);
        to[size] = 0;
    }
    rm.FreeCallReply(reply);
}

static void read_settings(rm_ctx *ctx) {
    char text[64];
    get_setting(ctx, "maxmemory", text, sizeof text);
    maxmemory = strtoull(text, NULL, 10);
    get_setting(ctx, "maxmemory-policy", text, sizeof text);
    evicts = strcmp(text, "noeviction") != 0;
}

static void on_config(rm_ctx *ctx, rm_event event, uint64_t sub, void *data) {
    (void)event;
    (void)sub;
    (void)data;
    read_settings(ctx);
}

int bm_quota_start(rm_ctx *ctx) {
    machine = machine_bytes();
    read_settings(ctx);
    return rm.SubscribeToServerEvent(ctx, (rm_event){RM_EVENT_CONFIG, 1}, on_config);
}

/* Returns the share of maxmemory that is used; 0 on engines that do not report it. */
static double used_share(void) {
    return rm.GetUsedMemoryRatio ? (double)rm.GetUsedMemoryRatio() : 0;
}

/* ---- available memory ------------------------------------------------------------------------ */

static uint64_t left_of(uint64_t limit, uint64_t used) {
    return used < limit ? limit - used : 0;
}

uint64_t bm_quota_available(uint64_t own, uint64_t all) {
    if ((!machine && !maxmemory) || bm_is_following())
        return UINT64_MAX;
    uint64_t available = machine ? left_of(machine, all) : UINT64_MAX;
    if (!maxmemory)
        return available;
    uint64_t used = evicts ? own : (uint64_t)(used_share() * (double)maxmemory);
    uint64_t left = left_of(maxmemory, used);
    return left < available ? left : available;
}
