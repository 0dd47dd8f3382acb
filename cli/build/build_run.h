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
    unsigned counter_bits; /* 0, or the number of the choice */
    unsigned marker;       /* the same */
    bool null, comments, skip_malformed, copies, foldable, smallest, force, stats, json;
} build_options;

typedef struct build_run {
    const build_options *options;
    destination to;
    line_rule rule;
    /* See bly_list_fill. With --must-not-match, building may change the hasher (another seed) or,
     * if it is keyed, the rate. */
    bly_spec spec;
    bly_list_contents contents; /* except the keys: */
    gathered_keys keys;         /* settled */
    build_allow allow;          /* with --must-not-match */
    list_lines lines;
    uint64_t repeated;
    bool keyed;
    bool limited; /* the rate is lower than requested, so that no level matches by chance */
    /* Results: */
    unsigned tries; /* how often it was built until no line of `allow` matched */
    bly_filter *filter;
} build_run;

/* Whether the options can be combined, and the list may be written. false: reported. Nothing has
 * been read by then. */
bool build_options_agree(build_run *r, cli_operands files);

/* Builds the filter, and checks it before it is used. false: reported, and `filter` is NULL. */
bool build_make(build_run *r);

/* Prints what was built on standard error and, with --json, on standard output. */
void build_report(const build_run *r);
/* Prints one line about the list `name`, built for that rate per lookup, with that many lookups per
 * line. */
void build_report_list(const bly_filter *f, const char *name, uint64_t bytes, double rate,
                       rates_lookups lookups);
/* --stats: prints what `bloomery info` prints about the list f, which was saved, on standard error.
 * false: a server did not describe it, which was reported. */
bool build_report_stats(const build_run *r, bly_filter *f);

#endif
