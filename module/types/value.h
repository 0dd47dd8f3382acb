/* value.h - the value of one of the module's keys, and how commands open and change keys.
 *
 * Three data types share one struct. MBbloom-- and MBbloomCF are RedisBloom's types, in its
 * encodings, and contain RedisBloom's structures (<bloomery/host/redisbloom.h>): keys that came
 * from RedisBloom, and those created under compat-layout. A bloomery1 value contains any filter of
 * the library, or a staged load (a filter that is still being loaded in chunks), or is a tombstone
 * (runtime/tombstone.h).
 */
#ifndef BLOOMERY_MODULE_VALUE_H
#define BLOOMERY_MODULE_VALUE_H

#include "engine_api.h"
#include "runtime/module_memory.h"

#include <bloomery/filter.h>
#include <bloomery/host/chunks.h>
#include <bloomery/host/redisbloom.h>

typedef enum bm_value_type {
    BM_MISSING,   /* no such key */
    BM_FOREIGN,   /* a key of another type */
    BM_FILTER,    /* type bloomery1 */
    BM_RB_BLOOM,  /* type MBbloom-- */
    BM_RB_CUCKOO, /* type MBbloomCF */
} bm_value_type;

/* ---- traits ---------------------------------------------------------------------------------- */

/* The commands that created a filter: BF.INFO and CF.INFO depend on it. */
typedef enum bm_face { BM_FACE_BLY = 0, BM_FACE_BF = 1, BM_FACE_CF = 2 } bm_face;
const char *bm_face_name(uint8_t face); /* "bly", "bf", "cf" */

/* Properties of a bloomery1 value beyond those of its filter. They are saved with the filter. */
typedef struct bm_traits {
    uint8_t face; /* bm_face */
    bool nonscaling;
    uint16_t bucket_size;    /* CF: as requested, for CF.INFO */
    uint16_t max_iterations; /* CF: the same */
    uint32_t expansion;      /* as requested; 0 with nonscaling */
    uint64_t deletes;        /* CF: items deleted */
    bool tombstone;          /* there is no filter any more: runtime/tombstone.h */
    uint8_t removed_kind;    /* of a tombstone whose kind was removed: its code; else 0 */
} bm_traits;

/* As bytes: in RDB files, and after META of BLY.LOAD. */
enum { BM_TRAITS_BYTES = 24 };
void bm_traits_encode(const bm_traits *traits, uint8_t out[BM_TRAITS_BYTES]);
/* false: these bytes are not valid, and *out is not changed. */
bool bm_traits_decode(const void *data, size_t size, bm_traits *out);

/* Whether a filter of that kind can have these traits: BF.* create scalable filters, or NONSCALING
 * ones of two kinds. CF.* create two kinds. Other filters are never NONSCALING. All untrusted input
 * is checked with this, so that other code can rely on it. */
bool bm_traits_fit(const bm_traits *traits, bly_kind kind);

/* ---- values ---------------------------------------------------------------------------------- */

struct bm_staged_file;   /* load/staged_file.h: a file that is loaded by BLY.LOAD */
struct bm_staged_chunks; /* load/redisbloom_chunks.h: RedisBloom's chunks, by LOADCHUNK */
struct bm_timer_entry;   /* runtime/window_timer.c: an entry of a timed window */

/* Never moved, because its filter refers to its account. RedisBloom's types use only `as` and the
 * account, because only what RedisBloom saves may be saved with them. */
typedef struct bm_value {
    bm_value_type type; /* BM_FILTER, BM_RB_BLOOM, BM_RB_CUCKOO */
    bm_account account;
    union {
        bly_filter *filter; /* NULL: only a staged load, or a tombstone */
        bly_rb_bloom *bloom;
        bly_rb_cuckoo *cuckoo;
    } as;
    bm_traits traits;
    uint64_t stamp;    /* grows with every change; unique among all values of this server */
    bly_chunks *image; /* of the filter at `image_stamp`, for BLY.DUMP; NULL: none is kept */
    uint64_t image_stamp;
    bm_account image_account;                 /* of the image, which has no limits */
    struct bm_staged_file *staged_file;       /* or NULL */
    struct bm_staged_chunks *staged_chunks;   /* or NULL */
    bool keyless;                             /* the filter's secret key is not in the ring */
    uint64_t ring_version;                    /* of the ring that was last searched for its key */
    bool counted_overfull, counted_tombstone; /* in bm_totals */
    struct bm_timer_entry *timer;             /* of a timed window; else NULL */
} bm_value;

/* bly_kind_capabilities from a table, because commands need it for every key that they open. */
enum { BM_KINDS = 32 };
extern uint32_t bm_capabilities[BM_KINDS];
static inline uint32_t bm_can(bly_kind kind) {
    return (unsigned)kind < BM_KINDS ? bm_capabilities[kind] : bly_kind_capabilities(kind);
}

static inline bly_kind bm_kind(const bm_value *value) { /* of a BM_FILTER that has a filter */
    return bly_filter_geometry(value->as.filter).kind;
}

extern rm_type *bm_type_filter, *bm_type_rb_bloom, *bm_type_rb_cuckoo;

/* Registers the three types. */
int bm_types_start(rm_ctx *ctx);

/* An empty value, whose account has limits; NULL when there is no memory. */
bm_value *bm_value_new(bm_value_type type);
/* Frees the value and its contents. May run in any thread. NULL does nothing. */
void bm_value_free(bm_value *value);

/* To be called after every change: sets a new stamp, closes the image, updates bm_totals. */
void bm_value_changed(bm_value *value);

/* Whether the filter's count exceeds warn-ratio times its capacity. False for kinds that grow, and
 * for those that do not count distinct keys. */
bool bm_value_is_overfull(const bm_value *value);

/* Closes the image, if there is one. To be called before anything that it refers to is freed or
 * moved. */
void bm_value_drop_image(bm_value *value);

/* All memory that the value uses, including the struct itself and staged loads. */
uint64_t bm_value_bytes(const bm_value *value);

/* The numbers of filters that INFO shows. */
typedef struct bm_totals {
    uint64_t filters, rb_blooms, rb_cuckoos; /* keys of each type */
    uint64_t overfull;                       /* bm_value_is_overfull */
    uint64_t tombstones;
    uint64_t staged; /* staged loads */
} bm_totals;
void bm_totals_get(bm_totals *out);

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct bm_key {
    rm_key *key; /* NULL: missing, and opened for reading */
    rm_string *name;
    bm_value_type type;
    bm_value *value; /* NULL when missing or foreign */
} bm_key;

/* Opens a key for RM_READ or RM_READ | RM_WRITE. Close it whatever its type is. A value that is
 * opened for writing has memory limits unless bm_is_replayed. A timed window is added to the timer,
 * because its key may have been renamed or copied before. */
bm_key bm_key_open(rm_ctx *ctx, rm_string *name, int mode);
void bm_key_close(bm_key *key);

/* Makes `value` the key's value. Frees the old value and keeps the expiry. The key must be open for
 * writing. */
void bm_key_set(bm_key *key, bm_value *value);

/* After a change: marks the key as modified, notifies keyspace listeners of `event`, and calls
 * bm_value_changed. The command itself replicates the change. */
void bm_key_changed(rm_ctx *ctx, bm_key *key, const char *event);

#endif
