/* transfer.h - filters on their way from files to servers and back, and filters that leave a
 * server: `bloomery push`, `pull` and `drop`. */
#ifndef BLOOMERY_CLI_TRANSFER_H
#define BLOOMERY_CLI_TRANSFER_H

#include "filters/server_filter.h"
#include "text/progress.h"

#include <bloomery/host/lists.h>

/* Options; each command has some of them. */
typedef struct transfer_values {
    const char *key_file;
    uint64_t chunk, shards, expire;
    bool replace; /* what is there already: --replace, --force */
    bool resume, as_is, plain, json;
} transfer_values;

/* All three return an exit status. */
int transfer_push(const transfer_values *v, const char *path, const char *address);
int transfer_pull(const transfer_values *v, const char *address, const char *path);
int transfer_drop(const transfer_values *v, const char *address);

/* ---- for transfer*.c ------------------------------------------------------------------------- */

typedef struct transfer {
    const transfer_values *v;
    const char *path;
    remote remote;
    const bly_filter *filter; /* that is sent */
    remote_content holds;     /* what the key holds that is fetched */
    uint32_t shards;          /* strings; 0: the module's own key */
    size_t chunk_size;
    uint64_t total; /* bytes of the filter */
    uint64_t done;  /* bytes that are there, those of an earlier run included */
    uint64_t resumed, chunks;
    unsigned tries;
    double start; /* by progress_clock */
    progress progress;
} transfer;

/* "list of type", "state of", before the type in words. */
const char *transfer_what(bly_list_type type);

/* With the module, in chunks. */
typedef enum module_result {
    MODULE_FAILED, /* reported, unless a signal came */
    MODULE_DONE,
    MODULE_ABSENT /* the server has no module, and nothing was sent */
} module_result;
module_result module_push(transfer *t);
bool module_pull(transfer *t);

#endif
