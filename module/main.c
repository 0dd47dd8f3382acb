/* main.c - the module's entry point: resolves the engine's calls, then starts the parts of the
 * module one after the other.
 *
 * If loading is aborted, the engine stops neither our thread nor our subscriptions to events. So
 * these are started after all other steps that may fail.
 */
#include "command_table.h"
#include "config.h"
#include "engine_api.h"
#include "runtime/keyring.h"
#include "runtime/memory_quota.h"
#include "runtime/module_memory.h"
#include "runtime/server_state.h"
#include "runtime/window_timer.h"
#include "types/value.h"

#include <bloomery/base.h>

#define MODULE_NAME "bf"
enum {
    MODULE_VERSION =
        BLOOMERY_VERSION_MAJOR * 10000 + BLOOMERY_VERSION_MINOR * 100 + BLOOMERY_VERSION_PATCH,
    API_VERSION = 1
};

/* ---- the engine's calls ---------------------------------------------------------------------- */

rm_api rm;

typedef int (*rm_get_api)(const char *name, void *out);

/* Resolves all calls. Returns NULL, or the name of a required call that the engine does not
 * have. */
static const char *resolve_calls(rm_ctx *ctx) {
    rm_get_api get = *(rm_get_api *)(void *)ctx;
    /* Log is resolved first, so that a missing call can be logged. */
    if (get("RedisModule_Log", (void *)&rm.Log) != RM_OK)
        return "Log";
#define RM_NEED(result, name, parameters)                                                          \
    if (get("RedisModule_" #name, (void *)&rm.name) != RM_OK || !rm.name)                          \
        return #name;
    RM_NEEDED(RM_NEED)
#undef RM_NEED
#define RM_TRY(result, name, parameters)                                                           \
    if (get("RedisModule_" #name, (void *)&rm.name) != RM_OK)                                      \
        rm.name = 0;
    RM_OPTIONAL(RM_TRY)
#undef RM_TRY
    return 0;
}

/* ---- the section bf_filters of INFO ---------------------------------------------------------- */

static void add_info_numbers(rm_info *info, const bm_totals *totals) {
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
        {"filters", totals->filters + totals->rb_blooms + totals->rb_cuckoos},
        {"own_filters", totals->filters},
        {"redisbloom_bloom_filters", totals->rb_blooms},
        {"redisbloom_cuckoo_filters", totals->rb_cuckoos},
        {"loading_filters", totals->staged},
        {"overfull_filters", totals->overfull},
        {"lost_filters", totals->tombstones},
        {"memory_bytes", bm_memory_total()},
        {"memory_pending_free_bytes", bm_memory_pending()},
        {"max_filter_memory", bm_configs.max_filter},
        {"max_total_memory", bm_configs.max_total},
        {"keyring_keys", bm_keyring_size()},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        rm.InfoAddFieldULongLong(info, fields[i].name, fields[i].value);
}

/* Adds the fields of INFO. The engine also calls this for its crash report, so the function only
 * reads numbers: it does not allocate memory or follow pointers to filters. */
static void add_info(rm_info *info, int for_crash_report) {
    (void)for_crash_report;
    bm_totals totals;
    if (rm.InfoAddSection(info, "filters") != RM_OK)
        return;
    bm_totals_get(&totals);
    rm.InfoAddFieldCString(info, "version", bly_version());
    add_info_numbers(info, &totals);
    rm.InfoAddFieldDouble(info, "warn_ratio", bm_configs.warn_ratio);
}

/* ---- loading --------------------------------------------------------------------------------- */

static int start(rm_ctx *ctx, rm_string **argv, int argc) {
    if (bm_config_start(ctx, argv, argc) != RM_OK || bm_commands_start(ctx) != RM_OK)
        return RM_ERR;
    if (bm_types_start(ctx) != RM_OK) {
        rm.Log(ctx, "warning",
               "the server rejects the data types: another module may have types of these "
               "names");
        return RM_ERR;
    }
    if (rm.RegisterInfoFunc(ctx, add_info) != RM_OK || bm_memory_start() != RM_OK) {
        rm.Log(ctx, "warning", "cannot start the thread that frees memory");
        return RM_ERR;
    }
    if (bm_quota_start(ctx) != RM_OK || bm_server_state_start(ctx) != RM_OK)
        return RM_ERR;
    return bm_window_timer_start(ctx);
}

static int refuse_engine(rm_ctx *ctx, const char *missing) {
    if (rm.Log)
        rm.Log(ctx, "warning",
               "bloomery.so needs Redis 7.0, Valkey 7.2 or later: this server lacks the call %s",
               missing);
    return RM_ERR;
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(rm_ctx *ctx, rm_string **argv,
                                                              int argc);
int RedisModule_OnLoad(rm_ctx *ctx, rm_string **argv, int argc) {
    const char *missing = resolve_calls(ctx);
    if (missing)
        return refuse_engine(ctx, missing);
    if (rm.IsModuleNameBusy(MODULE_NAME)) {
        rm.Log(ctx, "warning",
               "a module named " MODULE_NAME " is already loaded (RedisBloom, valkey-bloom or "
               "Bloomery itself): unload it first");
        return RM_ERR;
    }
    rm.SetModuleAttribs(ctx, MODULE_NAME, MODULE_VERSION, API_VERSION);
    rm.SetModuleOptions(ctx, RM_OPTION_HANDLE_IO_ERRORS | RM_OPTION_NO_IMPLICIT_SIGNAL);
    return start(ctx, argv, argc);
}
