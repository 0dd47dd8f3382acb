#include "info.h"

#include "config.h"
#include "keyring.h"
#include "memory.h"
#include "value.h"

#include <bloomery/base.h>

static void numbers(rm_info *info, const bm_census *census) {
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
        {"filters", census->filters + census->rb_blooms + census->rb_cuckoos},
        {"own_filters", census->filters},
        {"redisbloom_bloom_filters", census->rb_blooms},
        {"redisbloom_cuckoo_filters", census->rb_cuckoos},
        {"arriving_filters", census->arriving},
        {"overfull_filters", census->overfull},
        {"lost_filters", census->lost},
        {"memory_bytes", bm_memory_total()},
        {"memory_pending_free_bytes", bm_memory_pending()},
        {"max_filter_memory", bm_configs.max_filter},
        {"max_total_memory", bm_configs.max_total},
        {"keyring_keys", bm_keyring_size()},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        rm.InfoAddFieldULongLong(info, fields[i].name, fields[i].value);
}

/* Also written into the report of a crash, where nothing may be assumed: it reads numbers only. */
static void tell(rm_info *info, int for_crash_report) {
    (void)for_crash_report;
    bm_census census;
    if (rm.InfoAddSection(info, "filters") != RM_OK)
        return;
    bm_census_take(&census);
    rm.InfoAddFieldCString(info, "version", bly_version());
    numbers(info, &census);
    rm.InfoAddFieldDouble(info, "warn_ratio", bm_configs.warn_ratio);
}

int bm_info_start(rm_ctx *ctx) {
    return rm.RegisterInfoFunc(ctx, tell);
}
