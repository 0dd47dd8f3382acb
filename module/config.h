/* config.h - the settings. They can be set by arguments (loadmodule ... name value), in the
 * configuration file, and by CONFIG SET (bf.<name>).
 *
 * docs/redis.md has the table of names, ranges and defaults.
 */
#ifndef BLOOMERY_MODULE_CONFIG_H
#define BLOOMERY_MODULE_CONFIG_H

#include "engine_api.h"

#include <stdbool.h>

typedef struct bm_config {
    double bf_error_rate;          /* bf-error-rate: default 0.01, range (0, 1) */
    long long bf_initial_size;     /* bf-initial-size: default 100, range 1 to 2^40 */
    long long bf_expansion;        /* bf-expansion-factor: default 2, range 0 to 32768 */
    double cf_error_rate;          /* cf-error-rate: default 0.01, range (0, 1) */
    long long cf_bucket_size;      /* cf-bucket-size: default 2, range 1 to 255 */
    long long cf_initial_size;     /* cf-initial-size: default 1024, range 2 * cf-bucket-size to
                                      2^40 */
    long long cf_max_iterations;   /* cf-max-iterations: default 20, range 1 to 65535 */
    long long cf_expansion;        /* cf-expansion-factor: default 1, range 0 to 32768 */
    long long cf_max_expansions;   /* cf-max-expansions: default 32, range 1 to 65536; only for
                                      RedisBloom's layout */
    bool compat;                   /* compat, default no. true: reply as RedisBloom does, even if
                                      its reply is wrong */
    bool compat_layout;            /* compat-layout, default no. true: BF.* and CF.* create filters
                                      in RedisBloom's layout; false: in Bloomery's own layout */
    unsigned long long max_filter; /* max-filter-memory, in bytes: default 0, which means no
                                      limit */
    unsigned long long max_total;  /* max-total-memory, in bytes: default 0, which means no limit */
    double warn_ratio; /* warn-ratio, default 1.5: if the count of a filter exceeds its capacity
                          times this ratio, INFO counts the filter as overfull, and BLY.STATS
                          warns */
} bm_config;
extern bm_config bm_configs;

/* Reads the arguments of loadmodule, among which RedisBloom's older names are valid too
 * (ERROR_RATE, INITIAL_SIZE, CF_MAX_EXPANSIONS), and registers all settings. Returns RM_ERR, after
 * logging the reason, if an argument or a setting is not valid. */
int bm_config_start(rm_ctx *ctx, rm_string **argv, int argc);

#endif
