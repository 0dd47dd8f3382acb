/* handle.h - one filter, in a file or on a server without the module, for commands that do not need
 * to know which.
 *
 * The name decides: redis://HOST/KEY (and rediss, unix, redis+unix) is a key of a server, any other
 * name is a file. What differs between the two is told by flags (HANDLE_...), so that a command
 * tests for what it needs, not for where the filter is.
 *
 * A handle may be copied and moved; one copy is to be closed. It is for one thread.
 */
#ifndef BLOOMERY_CLI_HANDLE_H
#define BLOOMERY_CLI_HANDLE_H

#include "filters/filter_file.h"
#include "filters/server_filter.h"
#include "io/lock.h"

#include <bloomery/host/lists.h>

/* How a file is opened. A server is opened in one way for all of these. */
typedef enum handle_access {
    HANDLE_MAPPED,   /* used in the file, of which only the header is checked */
    HANDLE_VERIFIED, /* the same, after all of it was read and its checksums verified */
    HANDLE_COPIED,   /* read into memory and verified: later changes of the file do not matter */
    HANDLE_HEADER,   /* the header alone: for handle_get_facts */
    HANDLE_CHANGED   /* locked, read into memory, to be saved by handle_commit */
} handle_access;

/* What a handle can do. */
enum {
    HANDLE_COMMITS = 1u << 0,   /* changes are visible to others at handle_commit, all or none;
                                   without this flag each batch is visible at once */
    HANDLE_VERIFIES = 1u << 1,  /* there are checksums: HANDLE_VERIFIED means something */
    HANDLE_MAY_FAIL = 1u << 2,  /* a lookup may get no answer: BLY_UNKNOWN */
    HANDLE_ADDS = 1u << 3,      /* keys can be added */
    HANDLE_REMOVES = 1u << 4,   /* keys can be removed */
    HANDLE_COPIES = 1u << 5,    /* a key is stored as often as it was added */
    HANDLE_LOOKS_UP = 1u << 6,  /* single keys can be looked up */
    HANDLE_DESCRIBES = 1u << 7, /* it says what it was made for; go-zero's do not */
    HANDLE_IN_MEMORY = 1u << 8  /* handle_filter is not NULL */
};

/* Zero means the default. */
typedef struct handle_options {
    handle_access access;
    const bly_hasher *key; /* of a keyed filter; must outlive the handle. NULL: it has none */
    bool without_key;      /* a keyed filter is opened without its key, to be described or copied */
    uint64_t max_growth;   /* HANDLE_CHANGED: bytes that one step of growth may take */
    /* Of a server: */
    uint64_t gozero;     /* bits of a filter of go-zero's; 0: it is one of Bloomery's */
    bool allow_replica;  /* a replica may answer lookups; keys that it has not got yet are absent */
    bool offers_replica; /* the command has --allow-replica: who meets a replica is told of it */
    uint32_t wait_ms;    /* how long a connection, an answer and a new attempt may take */
} handle_options;

typedef struct handle_ops handle_ops;

typedef struct filter_handle {
    const char *name;      /* the path, or the address without user and password: for messages */
    uint32_t capabilities; /* HANDLE_... */
    bly_status status;     /* of the last call that failed */
    handle_options options;
    /* For handle*.c alone: */
    const handle_ops *ops;
    opened file;
    bly_filter *changed;
    lock lock;
    remote remote;
} filter_handle;

/* The flags that a handle of this name may have, as far as the name tells. */
uint32_t handle_capabilities(const char *name);

/* Options that the place does not have are refused: a file has no replicas, a filter on a server
 * does not grow. false: reported; h->status says why. Close it, whatever comes. `name` must outlive
 * it. */
bool handle_open(filter_handle *h, const char *name, const handle_options *options);
/* Opens the same name again, by the same options, also after handle_open has failed; in silence
 * unless `report`. On failure it is not open. Not for HANDLE_CHANGED. */
bly_status handle_reopen(filter_handle *h, bool report);
void handle_close(filter_handle *h);

/* Reports h->status: why the last call failed. Returns CLI_ERROR. */
int handle_failed(const filter_handle *h);

/* ---- use --------------------------------------------------------------------------------------
 * None of these reports, unless it says so. */

/* Whether keys may be in it: BLY_YES, BLY_NO or, with HANDLE_MAY_FAIL, BLY_UNKNOWN. */
bly_status handle_contains(filter_handle *h, const bly_bytes *keys, size_t n, uint8_t *answers);

/* What came of keys that were added. */
typedef struct handle_added {
    uint64_t fresh;   /* they were new */
    uint64_t unsure;  /* they are in it, but whether they were new is not known */
    uint64_t unknown; /* whether they are in it is not known either */
} handle_added;
/* Adds to *out. */
bly_status handle_add(filter_handle *h, const bly_bytes *keys, size_t n, handle_added *out);

/* Saves what was changed. false: reported. Without HANDLE_COMMITS it has nothing to do. */
bool handle_commit(filter_handle *h);

/* The filter, where it is in memory or mapped; else NULL. It may be changed if it was opened so. */
const bly_filter *handle_filter(const filter_handle *h);
bly_filter *handle_changeable(const filter_handle *h);

/* For what a list says of itself: bly_list_recognise_source and the others. A failure of a lookup
 * sets h->status. *h must not move while the source is in use. */
bly_list_source handle_list(filter_handle *h);

/* ---- facts ----------------------------------------------------------------------------------- */

typedef struct handle_facts {
    bly_geometry geometry;
    bly_hash_id hash;
    uint64_t seed; /* or the key's id, or the tag of a custom function */
    bool keyed;
    bool key_missing; /* its key, or its own hash function, is not at hand */
    bly_key_rule key_rule;
    bool approximate;
    uint64_t bytes; /* of the file, or of all strings */
    /* As bly_filter_get_info. Without the bits only kind, hashes, size, capacity, count and
     * requested_fpr. Of a server the current rate is the expected one, and the bits set are known
     * of go-zero's alone. */
    bly_filter_info info;
    bool has_rates; /* info has the expected and the current rate, and an estimate of the keys */
    bool has_bits;  /* info was made from the bits, not only from numbers that are stored */
    /* Of a server: */
    uint32_t shards, nodes; /* strings, and servers that hold them; 0: a file */
    uint64_t shard_bytes;   /* of the first string */
    int64_t expires_ms;     /* -1: never */
    uint64_t stamp;
} handle_facts;

/* `bits`: what only the bits tell, too, in one pass over them. A file that was opened by its header
 * alone does not have them. */
bly_status handle_get_facts(filter_handle *h, handle_facts *out, bool bits);

/* ---- the two implementations, for handle.c ----------------------------------------------------
 */

struct handle_ops {
    uint32_t capabilities;
    bly_status (*open)(filter_handle *h, bool report);
    void (*close)(filter_handle *h); /* keeps what opening it again needs */
    void (*failed)(const filter_handle *h);
    bly_status (*contains)(filter_handle *h, const bly_bytes *keys, size_t n, uint8_t *answers);
    bly_status (*add)(filter_handle *h, const bly_bytes *keys, size_t n, handle_added *out);
    bool (*commit)(filter_handle *h);
    bly_list_source (*list)(filter_handle *h);
    bly_status (*facts)(filter_handle *h, handle_facts *out, bool bits);
};
extern const handle_ops handle_file_ops, handle_server_ops;

#endif
