/* transfer.h - sends filter files to servers, fetches filters into files, and deletes filters from
 * servers, for `bloomery push`, `pull` and `drop`. */
#ifndef BLOOMERY_CLI_TRANSFER_H
#define BLOOMERY_CLI_TRANSFER_H

#include "filters/server_filter.h"
#include "text/progress.h"

#include <bloomery/host/lists.h>

/* The options of the three commands; each command has some of them. */
typedef struct transfer_options {
    const char *key_file;
    uint64_t chunk, shards, expire;
    bool replace; /* replace an existing filter or file (--replace, --force) */
    bool resume, as_is, plain, allow_replica, json;
} transfer_options;

/* All three return an exit status. */
int transfer_push(const transfer_options *v, const char *path, const char *address);
int transfer_pull(const transfer_options *v, const char *address, const char *path);
int transfer_drop(const transfer_options *v, const char *address);

/* ---- for transfer*.c ------------------------------------------------------------------------- */

typedef struct transfer {
    const transfer_options *v;
    const char *path;
    remote remote;
    const bly_filter *filter; /* the filter to be sent */
    bly_bitmap_spec spec;     /* for a server without the module */
    remote_content content;   /* the type of the value to be fetched */
    uint32_t shards;          /* number of strings; 0: a filter of the module */
    size_t chunk_size;
    uint64_t total;   /* bytes of the filter */
    uint64_t done;    /* bytes transferred, including those of an interrupted push */
    uint64_t resumed; /* bytes transferred by an interrupted push */
    uint64_t chunks;
    unsigned tries;
    double start; /* by progress_clock */
    progress progress;
} transfer;

/* The result of a transfer in chunks, to or from a server with the module. */
typedef enum module_result {
    MODULE_FAILED, /* reported, unless interrupted by a signal */
    MODULE_DONE,
    MODULE_ABSENT /* the server has no module, and nothing was sent */
} module_result;
module_result module_push(transfer *t);
bool module_pull(transfer *t);

#endif
