/* config.h - the settings: as arguments (loadmodule ... name value), in the configuration file and
 * by CONFIG SET (bf.<name>).
 *
 * docs/redis.md has the table of names, ranges and defaults.
 */
#ifndef BLOOMERY_MODULE_CONFIG_H
#define BLOOMERY_MODULE_CONFIG_H

#include "engine_api.h"

#include <stdbool.h>

typedef struct bm_config {
    double bf_error_rate;          /* bf-error-rate 0.01, in (0, 1) */
    long long bf_initial_size;     /* bf-initial-size 100, 1 .. 2^40 */
    long long bf_expansion;        /* bf-expansion-factor 2, 0 .. 32768 */
    double cf_error_rate;          /* cf-error-rate 0.01 */
    long long cf_bucket_size;      /* cf-bucket-size 2, 1 .. 255 */
    long long cf_initial_size;     /* cf-initial-size 1024, 2 * cf-bucket-size .. 2^40 */
    long long cf_max_iterations;   /* cf-max-iterations 20, 1 .. 65535 */
    long long cf_expansion;        /* cf-expansion-factor 1, 0 .. 32768 */
    long long cf_max_expansions;   /* cf-max-expansions 32, 1 .. 65536: RedisBloom's layout only */
    bool compat;                   /* compat no: RedisBloom's replies, also where they are wrong */
    bool compat_layout;            /* compat-layout no: new filters in RedisBloom's layout */
    unsigned long long max_filter; /* max-filter-memory 0 (none), bytes */
    unsigned long long max_total;  /* max-total-memory 0 (none), bytes */
    double warn_ratio; /* warn-ratio 1.5: a filter whose count exceeds its capacity times
                          this is counted in INFO, and BLY.STATS warns of it */
} bm_config;
extern bm_config bm_configs;

/* Reads the arguments of loadmodule, which may also have RedisBloom's older names (ERROR_RATE,
 * INITIAL_SIZE, CF_MAX_EXPANSIONS), and registers all settings. RM_ERR, logged, when one is wrong.
 */
int bm_config_start(rm_ctx *ctx, rm_string **argv, int argc);

#endif
