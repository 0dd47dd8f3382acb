/* destination.h - where a command saves the filter that it has made: a file, standard output, or a
 * key of a server without the module.
 *
 * Every function here that fails has printed why, with the name and what to do about it.
 */
#ifndef BLOOMERY_CLI_DESTINATION_H
#define BLOOMERY_CLI_DESTINATION_H

#include "filters/server_filter.h"
#include "io/lock.h"

typedef struct destination_options {
    bool replace;            /* a filter that is there already (--force) */
    bool json;               /* standard output is for a report (--json) */
    uint64_t shards, expire; /* of a server: --shards and --expire, in seconds; 0: not given */
} destination_options;

typedef struct destination {
    const char *name; /* for messages: without user and password */
    bool on_server;   /* which holds a few kinds only */
    /* For destination.c alone: */
    const char *path;
    destination_options options;
    bly_bitmap_spec spec;
    remote remote;
    lock lock;
} destination;

/* "-" is standard output, unless that is for a report. `path` must outlive *d, which is to be
 * closed in any case. */
bool destination_open(destination *d, const char *path, const destination_options *options);
void destination_close(destination *d);

/* Whether a filter may be saved there: for the beginning of a command, before the work. */
bool destination_may_save(destination *d);

/* Whether it can hold this kind; and the kind for this false-positive rate per lookup,
 * BLY_KIND_NONE where any will do. */
bool destination_supports_kind(const destination *d, bly_kind kind);
bly_kind destination_kind(const destination *d, double rate);

/* Right before saving, or before the inputs are read if a file may be one of them: locks a file
 * against others who change it, and checks once more whether it may be replaced. */
bool destination_begin(destination *d);
/* Replaces what is there, all of it or nothing. After a signal nothing is saved, in silence. */
bool destination_save(destination *d, const bly_filter *f);

/* Of what was saved: its size there, and into how many strings it was cut on a server (else 0). */
uint64_t destination_bytes(const destination *d, const bly_filter *f);
uint32_t destination_shards(const destination *d);

#endif
