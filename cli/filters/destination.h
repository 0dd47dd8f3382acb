/* destination.h - where a command saves a filter: a file, standard output, or a key on a server
 * without the module.
 *
 * Functions that fail print the reason, with the name and what to do about it.
 */
#ifndef BLOOMERY_CLI_DESTINATION_H
#define BLOOMERY_CLI_DESTINATION_H

#include "filters/server_filter.h"
#include "io/lock.h"

typedef struct destination_options {
    bool replace;            /* replace an existing filter (--force) */
    bool json;               /* a report is written to standard output (--json) */
    uint64_t shards, expire; /* for a server: --shards and --expire, in seconds; 0: not given */
} destination_options;

typedef struct destination {
    const char *name; /* the path, or the address without user and password, for messages */
    bool on_server;
    /* For destination.c alone: */
    const char *path;
    destination_options options;
    bly_bitmap_spec spec;
    remote remote;
    lock lock;
} destination;

/* "-" is standard output, which is refused with options->json. `path` must outlive *d. Close *d in
 * any case. */
bool destination_open(destination *d, const char *path, const destination_options *options);
void destination_close(destination *d);

/* Whether a filter may be saved there, for a check before the work begins. */
bool destination_may_save(destination *d);

/* Whether a filter of this kind can be saved there; if not, reports that. */
bool destination_supports_kind(const destination *d, bly_kind kind);
/* The kind that suits this false-positive rate per lookup; BLY_KIND_NONE for a file, which may have
 * any kind. */
bly_kind destination_kind(const destination *d, double rate);

/* Locks a file against other writers, and checks again whether it may be replaced. Call it before
 * saving, or before reading the inputs if one of them may be the same file. */
bool destination_begin(destination *d);
/* Replaces the old filter atomically. After a signal, saves nothing and reports nothing. */
bool destination_save(destination *d, const bly_filter *f);

/* The size of the saved filter. */
uint64_t destination_bytes(const destination *d, const bly_filter *f);
/* The number of strings of a filter that was saved on a server; 0 for a file. */
uint32_t destination_shards(const destination *d);

#endif
