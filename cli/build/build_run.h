/* build_run.h - one run of `bloomery build`: its options, its keys, the filter, and the report. */
#ifndef BLOOMERY_CLI_BUILD_RUN_H
#define BLOOMERY_CLI_BUILD_RUN_H

#include "build/build_allow.h"
#include "cli.h"
#include "filters/destination.h"
#include "filters/health.h"
#include "io/gathered_keys.h"
#include "io/list_lines.h"

typedef struct build_options {
    const char *output, *key_file, *new_key, *must_not_match, *over;
    uint64_t keys, seed, changes, shards, expire;
    double rate;
    bly_kind kind;
    bly_hash_id hash;
    unsigned type;
    unsigned counter_bits; /* 0 if not given, else the index of the chosen value, counted from 1 */
    unsigned marker;       /* as counter_bits */
    bool null, comments, skip_malformed, copies, foldable, smallest, force, stats, json;
} build_options;

typedef struct build_run {
    const build_options *options;
    destination to;
    line_rule rule;
    /* See bly_list_fill. With --must-not-match, building may change the hasher (another seed) or,
     * if it is keyed, the rate. */
    bly_spec spec;
    bly_list_contents contents; /* all but the hashes, which are in `keys` */
    gathered_keys keys;         /* sorted, and without repeats unless copies are stored */
    build_allow allow;          /* with --must-not-match */
    list_lines lines;
    uint64_t repeated;
    bool keyed;
    bool limited; /* the rate is lower than requested, because at the requested one too many levels
                     would seem to be marked (BLY_LIST_MAX_RATE) */
    /* Results: */
    unsigned tries; /* how often the filter was built until no line of `allow` matched */
    bly_filter *filter;
} build_run;

/* Whether the options can be combined and the list may be written; if not, reports why. Reads no
 * input. */
bool build_options_agree(build_run *r, cli_operands files);

/* Builds the filter; with --must-not-match, repeatedly until no line of `allow` matches. On
 * failure, reports the error, sets `filter` to NULL and returns false. */
bool build_make(build_run *r);

/* Prints what was built on standard error and, with --json, on standard output. */
void build_report(const build_run *r);
/* Prints one line about the list `name`: its kind, its size, and the false-positive rate that it
 * was built for, per line and per lookup. `rate` is the rate per lookup. */
void build_report_list(const bly_filter *f, const char *name, uint64_t bytes, double rate,
                       rates_lookups lookups);
/* --stats: prints on standard error what `bloomery info` prints about the saved list f. If f was
 * saved on a server, that is where it is read; if this fails, reports the error and returns false.
 */
bool build_report_stats(const build_run *r, bly_filter *f);

#endif
