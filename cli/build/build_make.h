/* build_make.h - the filter of a list: planned, filled, marked, and looked at before it is
 * believed. */
#ifndef BLOOMERY_CLI_BUILD_MAKE_H
#define BLOOMERY_CLI_BUILD_MAKE_H

#include "build/build_allow.h"
#include "io/gathered_keys.h"
#include "io/list_lines.h"

typedef struct build_making {
    const char *path;         /* what the filter is called in messages */
    bly_kind kind;            /* BLY_KIND_NONE: the layout that suits the rate */
    uint64_t room;            /* how many keys to make room for; 0: those that are there */
    const build_allow *allow; /* lines that must not match; NULL: there are none */
    bly_list_type type;
    bly_key_rule rule;      /* what its header records */
    bly_list_levels levels; /* of the keys */
    gathered_keys keys;     /* settled */
    uint32_t counter_bits;  /* of the kinds that take them; 0: as is usual */
    uint64_t changes;       /* of an overlay; 0: as is usual */
    bly_kind marker;        /* of an overlay; BLY_KIND_NONE: as is usual */
    bool foldable, keyed;
    /* Where lines must not match, these may come out different: */
    bly_hasher hasher; /* under another seed, unless it is keyed */
    double rate;       /* for lines; lower if it is */
    /* And these come out: */
    unsigned tries; /* how often it was built against chance matches */
    bly_filter *filter;
} build_making;

/* false: reported, and `filter` is NULL. */
bool build_make(build_making *m);

#endif
