/* build_make.h - builds the filter of a list, and checks it before it is used. */
#ifndef BLOOMERY_CLI_BUILD_MAKE_H
#define BLOOMERY_CLI_BUILD_MAKE_H

#include "build/build_allow.h"
#include "io/gathered_keys.h"
#include "io/list_lines.h"

typedef struct build_making {
    const char *path;         /* the name of the filter in messages */
    bly_kind kind;            /* BLY_KIND_NONE: the one that suits the rate */
    uint64_t room;            /* the capacity; 0: the number of keys in the input */
    const build_allow *allow; /* lines that must not match; NULL: none */
    bly_list_type type;
    bly_key_rule rule;      /* recorded in the header */
    bly_list_levels levels; /* of the keys */
    gathered_keys keys;     /* settled */
    uint32_t counter_bits;  /* for kind counting; 0: the default */
    uint64_t changes;       /* for an overlay; 0: the default */
    bly_kind marker;        /* for an overlay; BLY_KIND_NONE: the default */
    bool foldable, keyed;
    /* With --must-not-match, building may change these: */
    bly_hasher hasher; /* another seed, unless it is keyed */
    double rate;       /* per line; lower if it is keyed */
    /* Results: */
    unsigned tries; /* how often it was built until no line of `allow` matched */
    bly_filter *filter;
} build_making;

/* false: reported, and `filter` is NULL. */
bool build_make(build_making *m);

#endif
