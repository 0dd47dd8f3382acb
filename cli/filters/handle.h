/* handle.h - one interface to a filter in a file or on a server without the module.
 *
 * The name decides: redis://HOST/KEY (and rediss, unix, redis+unix) is a key on a server, any other
 * name is a file. Flags (HANDLE_...) describe the differences, so that a command tests for the
 * capability that it needs, not for where the filter is.
 *
 * A handle may be copied and moved, but only one copy may be closed. It is not thread-safe.
 */
#ifndef BLOOMERY_CLI_HANDLE_H
#define BLOOMERY_CLI_HANDLE_H

#include "filters/filter_file.h"
#include "filters/server_filter.h"
#include "io/lock.h"

#include <bloomery/host/lists.h>

/* How a file is opened. For a server, these make no difference. */
typedef enum handle_access {
    HANDLE_MAPPED,   /* mapped if its kind can be; only the header is checked */
    HANDLE_VERIFIED, /* the same, and its checksums are verified */
    HANDLE_COPIED,   /* read into memory and verified; later changes of the file have no effect */
    HANDLE_HEADER,   /* only the header, for handle_get_facts */
    HANDLE_CHANGED   /* locked and read into memory; handle_commit saves it */
} handle_access;

/* Capabilities of a handle. */
enum {
    HANDLE_COMMITS = 1u << 0,  /* handle_commit makes all changes visible to others at once;
                                  without this flag, each batch is visible immediately */
    HANDLE_VERIFIES = 1u << 1, /* it has checksums, so HANDLE_VERIFIED has an effect */
    HANDLE_MAY_FAIL = 1u << 2, /* a lookup may get no answer: BLY_UNKNOWN */
    HANDLE_ADDS = 1u << 3,     /* keys can be added */
    HANDLE_REMOVES = 1u << 4,  /* keys can be removed */
    HANDLE_COPIES = 1u << 5,   /* a key is stored as often as it was added */
    HANDLE_LOOKS_UP = 1u << 6, /* single keys can be looked up */
    HANDLE_DESCRIBES = 1u << 7 /* it has a header with its parameters; go-zero filters have none */
};

/* Zero means the default. */
typedef struct handle_options {
    handle_access access;
    const bly_hasher *key; /* for a keyed filter; must outlive the handle. NULL: none */
    bool without_key;      /* open a keyed filter without its key, to describe or copy it */
    uint64_t max_growth;   /* HANDLE_CHANGED: the maximum memory for one step of growth */
    /* For a server: */
    uint64_t gozero;     /* bits of a go-zero filter; 0: a Bloomery filter */
    bool allow_replica;  /* a replica may answer lookups; it may lack recent keys */
    bool offers_replica; /* the command has --allow-replica, so messages may suggest it */
    uint32_t wait_ms;    /* the timeout of a connection, of a command and of retries */
} handle_options;

typedef struct handle_ops handle_ops;

typedef struct filter_handle {
    const char *name;      /* the path, or the address without user and password, for messages */
    uint32_t capabilities; /* HANDLE_... */
    bly_status status;     /* the result of the last call that returns a status */
    handle_options options;
    /* For handle*.c alone: */
    const handle_ops *ops;
    opened file;
    lock lock;
    remote remote;
} filter_handle;

/* The capabilities that a handle of this name may have; only the name is examined. */
uint32_t handle_capabilities(const char *name);

/* Opens the filter. Refuses options that do not apply: a file has no replicas, a filter on a server
 * does not grow. On failure, reports the error, sets h->status and returns false. Close *h in any
 * case. `name` must outlive *h. */
bool handle_open(filter_handle *h, const char *name, const handle_options *options);
/* Opens the same name again with the same options, also after handle_open failed. On failure, *h is
 * not open; for a server, this is reported only with `report`. Not for HANDLE_CHANGED. */
bly_status handle_reopen(filter_handle *h, bool report);
void handle_close(filter_handle *h);
/* Makes a handle of a filter in memory. It behaves as after opening a file with HANDLE_CHANGED. The
 * caller still owns the filter: do not close the handle, and do not commit. */
void handle_borrow(filter_handle *h, const char *name, bly_filter *f);

/* Reports why the last call failed (h->status). Returns CLI_ERROR. */
int handle_failed(const filter_handle *h);

/* ---- use --------------------------------------------------------------------------------------
 * These functions print no messages, unless stated. */

/* Looks up n keys: answers[i] is BLY_YES, BLY_NO or, with HANDLE_MAY_FAIL, BLY_UNKNOWN. */
bly_status handle_contains(filter_handle *h, const bly_bytes *keys, size_t n, uint8_t *answers);

/* The results of adding keys. */
typedef struct handle_added {
    uint64_t fresh;   /* keys that were new */
    uint64_t unsure;  /* keys that are now in the filter, but may have been there before */
    uint64_t unknown; /* keys without an answer: whether they were added is unknown */
} handle_added;
/* Adds n keys, and increases the counts in *out. */
bly_status handle_add(filter_handle *h, const bly_bytes *keys, size_t n, handle_added *out);

/* Saves the changes; without HANDLE_COMMITS, does nothing. On failure, reports the error and
 * returns false. */
bool handle_commit(filter_handle *h);

/* Returns the filter if it is in memory or mapped, else NULL. */
const bly_filter *handle_filter(const filter_handle *h);
/* Returns the filter if the handle was opened with HANDLE_CHANGED, else NULL. */
bly_filter *handle_changeable(const filter_handle *h);

/* Makes a source for bly_list_recognise_source and similar functions. A failed lookup sets
 * h->status. *h must not move while the source is in use. */
bly_list_source handle_list(filter_handle *h);

/* ---- facts ----------------------------------------------------------------------------------- */

typedef struct handle_facts {
    bly_geometry geometry;
    bly_hash_id hash;
    uint64_t seed; /* or, if keyed, an id of the key; or the tag of a custom hash function */
    bool keyed;
    bool key_missing; /* the secret key, or the custom hash function, is not available */
    bly_key_rule key_rule;
    bool approximate;
    uint64_t bytes; /* size of the file, or of all strings on the server */
    /* See bly_filter_get_info. Without the bits, only kind, hashes, size, capacity, count and
     * requested_fpr are set. For a server, the current rate is the expected one, and the number of
     * set bits is known only for go-zero filters. */
    bly_filter_info info;
    bool has_rates; /* info has the expected and the current rate, and the estimated keys */
    bool has_bits;  /* info was computed from the bits, not only from the header */
    /* For a server: */
    uint32_t shards, nodes; /* number of strings, and of servers that store them; 0 for a file */
    uint64_t shard_bytes;   /* size of the first string */
    int64_t expires_ms;     /* -1: never */
    uint64_t stamp;
} handle_facts;

/* Gets the facts. With `bits`, also computes those that need a pass over the bits, except after
 * HANDLE_HEADER, where they stay unknown. */
bly_status handle_get_facts(filter_handle *h, handle_facts *out, bool bits);

/* ---- the two implementations, for handle.c --------------------------------------------------- */

struct handle_ops {
    uint32_t capabilities;
    bly_status (*open)(filter_handle *h, bool report);
    void (*close)(filter_handle *h); /* `open` may be called again afterwards */
    void (*failed)(const filter_handle *h);
    bly_status (*contains)(filter_handle *h, const bly_bytes *keys, size_t n, uint8_t *answers);
    bly_status (*add)(filter_handle *h, const bly_bytes *keys, size_t n, handle_added *out);
    bool (*commit)(filter_handle *h); /* NULL: there is nothing to commit */
    bly_list_source (*list)(filter_handle *h);
    bly_status (*facts)(filter_handle *h, handle_facts *out, bool bits);
};
extern const handle_ops handle_file_ops, handle_server_ops;

#endif
