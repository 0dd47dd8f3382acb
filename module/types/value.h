/* value.h - the values of the module's keys, and how commands open and change keys.
 *
 * Three data types share one struct. MBbloom-- and MBbloomCF are RedisBloom's types, in its
 * encodings, and contain RedisBloom's structures (<bloomery/host/redisbloom.h>). They are used for
 * keys that came from RedisBloom, and for new filters if compat-layout is on. A bloomery1 value
 * contains a filter of the library, or a staged load (a filter that is still being loaded in
 * chunks), or both; or it is a tombstone (runtime/tombstone.h).
 */
#ifndef BLOOMERY_MODULE_VALUE_H
#define BLOOMERY_MODULE_VALUE_H

#include "engine_api.h"
#include "runtime/module_memory.h"

#include <bloomery/filter.h>
#include <bloomery/host/chunks.h>
#include <bloomery/host/redisbloom.h>

typedef enum bm_value_type {
    BM_MISSING,   /* the key does not exist */
    BM_FOREIGN,   /* the key has a type that is not the module's */
    BM_FILTER,    /* the key has the type bloomery1 */
    BM_RB_BLOOM,  /* the key has the type MBbloom-- */
    BM_RB_CUCKOO, /* the key has the type MBbloomCF */
} bm_value_type;

/* ---- traits ---------------------------------------------------------------------------------- */

/* The family of commands that created a filter. It determines which commands accept the filter, and
 * what CF.INFO shows. */
typedef enum bm_face { BM_FACE_BLY = 0, BM_FACE_BF = 1, BM_FACE_CF = 2 } bm_face;
const char *bm_face_name(uint8_t face); /* returns "bly", "bf" or "cf" */

/* Properties of a bloomery1 value that its filter does not have. They are saved with the filter. */
typedef struct bm_traits {
    uint8_t face; /* a bm_face */
    bool nonscaling;
    uint16_t bucket_size;    /* CF.*: the requested number, for CF.INFO */
    uint16_t max_iterations; /* CF.*: the requested number, for CF.INFO */
    uint32_t expansion;      /* the requested number; 0 if nonscaling */
    uint64_t deletes;        /* CF.*: number of deleted items */
    bool tombstone;          /* true: the value is a tombstone (runtime/tombstone.h) */
    uint8_t removed_kind;    /* for a tombstone whose kind was removed: the code of the kind; else
                                0 */
} bm_traits;

/* Encodes traits as bytes, which are used in RDB files and after META of BLY.LOAD. */
enum { BM_TRAITS_BYTES = 24 };
void bm_traits_encode(const bm_traits *traits, uint8_t out[BM_TRAITS_BYTES]);
/* Decodes traits. Returns false, without changing *out, if the bytes are not valid. */
bool bm_traits_decode(const void *data, size_t size, bm_traits *out);

/* Whether a filter of this kind can have these traits. BF.* create scalable filters and, if
 * NONSCALING, filters of two kinds. CF.* create filters of two kinds. Filters that were not created
 * by BF.* are never NONSCALING. All untrusted input is checked with this function, so other code
 * can rely on the result. */
bool bm_traits_fit(const bm_traits *traits, bly_kind kind);

/* ---- values ---------------------------------------------------------------------------------- */

struct bm_staged_file;   /* load/staged_file.h: a filter's file that is being loaded */
struct bm_staged_chunks; /* load/redisbloom_chunks.h: RedisBloom's chunks that are being loaded */
struct bm_timer_entry;   /* runtime/window_timer.c: an entry for a timed window */

/* The value of a key. It must never be moved in memory, because its filter refers to its account.
 * Values of RedisBloom's types use only `as` and the account, because nothing may be saved with
 * them that RedisBloom does not save. */
typedef struct bm_value {
    bm_value_type type; /* BM_FILTER, BM_RB_BLOOM or BM_RB_CUCKOO */
    bm_account account;
    union {
        bly_filter *filter; /* NULL: the value has only a staged load, or is a tombstone */
        bly_rb_bloom *bloom;
        bly_rb_cuckoo *cuckoo;
    } as;
    bm_traits traits;
    uint64_t stamp;    /* increases with every change; different for all values of this server */
    bly_chunks *image; /* the file of the filter as it was at `image_stamp`, for BLY.DUMP; may be
                          NULL */
    uint64_t image_stamp;
    bm_account image_account;                 /* account of the image, without limits */
    struct bm_staged_file *staged_file;       /* or NULL */
    struct bm_staged_chunks *staged_chunks;   /* or NULL */
    bool keyless;                             /* true: the filter's secret key is not in the ring */
    uint64_t ring_version;                    /* version of the ring that was last searched for the
                                                 filter's key */
    bool counted_overfull, counted_tombstone; /* whether bm_totals counts the value */
    struct bm_timer_entry *timer;             /* for a timed window; else NULL */
} bm_value;

/* bm_can does what bly_kind_capabilities does, by a table, because commands call it for every key
 * that they open. */
enum { BM_KINDS = 32 };
extern uint32_t bm_capabilities[BM_KINDS];
static inline uint32_t bm_can(bly_kind kind) {
    return (unsigned)kind < BM_KINDS ? bm_capabilities[kind] : bly_kind_capabilities(kind);
}

static inline bly_kind bm_kind(const bm_value *value) { /* for a BM_FILTER with a filter */
    return bly_filter_geometry(value->as.filter).kind;
}

extern rm_type *bm_type_filter, *bm_type_rb_bloom, *bm_type_rb_cuckoo;

/* Registers the three types. */
int bm_types_start(rm_ctx *ctx);

/* Returns an empty value, whose account has limits; NULL if there is no memory. */
bm_value *bm_value_new(bm_value_type type);
/* Frees the value and its contents. May run in any thread. NULL does nothing. */
void bm_value_free(bm_value *value);

/* Must be called after every change of a value: sets a new stamp, closes the image, and updates
 * bm_totals. */
void bm_value_changed(bm_value *value);

/* Whether the count of the filter exceeds its capacity times warn-ratio. False for kinds that grow,
 * and for kinds whose count is not the number of distinct keys. */
bool bm_value_is_overfull(const bm_value *value);

/* Closes the image, if there is one. Must be called before memory to which the image refers is
 * freed or moved. */
void bm_value_drop_image(bm_value *value);

/* Returns the number of bytes that the value uses, including the struct itself and staged loads. */
uint64_t bm_value_bytes(const bm_value *value);

/* The numbers of filters that INFO shows. */
typedef struct bm_totals {
    uint64_t filters, rb_blooms, rb_cuckoos; /* number of keys of each type */
    uint64_t overfull;                       /* number of filters for which bm_value_is_overfull is
                                                true */
    uint64_t tombstones;
    uint64_t staged; /* number of staged loads */
} bm_totals;
void bm_totals_get(bm_totals *out);

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct bm_key {
    rm_key *key; /* NULL: the key does not exist and was opened for reading */
    rm_string *name;
    bm_value_type type;
    bm_value *value; /* NULL if the type is BM_MISSING or BM_FOREIGN */
} bm_key;

/* Opens a key for RM_READ or RM_READ | RM_WRITE. The caller must close it, whatever its type is. A
 * value that is opened for writing gets memory limits, unless the command is replayed. A timed
 * window is added to the timer, because its key may have been renamed or copied since. */
bm_key bm_key_open(rm_ctx *ctx, rm_string *name, int mode);
void bm_key_close(bm_key *key);

/* Makes `value` the value of the key, and frees the old value. The expiry time of the key does not
 * change. The key must be open for writing. */
void bm_key_set(bm_key *key, bm_value *value);

/* To be called after a change: calls bm_value_changed, marks the key as modified, and notifies
 * keyspace listeners of `event`. The command must replicate the change itself. */
void bm_key_changed(rm_ctx *ctx, bm_key *key, const char *event);

#endif
