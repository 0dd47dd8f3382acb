/* value.h - what a key of ours holds, and how commands get at it.
 *
 * Three data types share one struct. MBbloom-- and MBbloomCF are RedisBloom's types, in its
 * encodings, and hold RedisBloom's structures (<bloomery/redisbloom.h>): keys that came from it,
 * and those made under compat-layout. bloomery1 holds any filter of the library; or a filter that
 * is still arriving; or the mark of one that is lost (lost.h).
 */
#ifndef BLOOMERY_MODULE_VALUE_H
#define BLOOMERY_MODULE_VALUE_H

#include "api.h"
#include "memory.h"

#include <bloomery/filter.h>
#include <bloomery/pieces.h>
#include <bloomery/redisbloom.h>

typedef enum bm_what {
    BM_MISSING,   /* no such key */
    BM_FOREIGN,   /* a key that is not ours */
    BM_FILTER,    /* type bloomery1 */
    BM_RB_BLOOM,  /* type MBbloom-- */
    BM_RB_CUCKOO, /* type MBbloomCF */
} bm_what;

/* By which family of commands a filter was made: what BF.INFO and CF.INFO tell. */
typedef enum bm_face { BM_FACE_BLY = 0, BM_FACE_BF = 1, BM_FACE_CF = 2 } bm_face;
const char *bm_face_name(uint8_t face); /* "bly", "bf", "cf" */

/* What a bloomery1 value has besides its filter; saved with it. */
typedef struct bm_traits {
    uint8_t face; /* bm_face */
    bool nonscaling;
    uint16_t bucket_size;    /* CF: as asked, for CF.INFO */
    uint16_t max_iterations; /* CF: the same */
    uint32_t expansion;      /* as asked; 0 with nonscaling */
    uint64_t deletes;        /* CF: items deleted */
    bool lost;               /* there is no filter any more: lost.h */
    uint8_t removed_kind;    /* lost: the code of its kind, if that was removed; else 0 */
} bm_traits;

/* As bytes: in RDB files, and after META of BLY.LOAD. */
enum { BM_TRAITS_BYTES = 24 };
void bm_traits_encode(const bm_traits *traits, uint8_t out[BM_TRAITS_BYTES]);
/* false: these are not such bytes; *out is as it was. */
bool bm_traits_decode(const void *data, size_t size, bm_traits *out);

/* Whether a filter of that kind can have these traits: BF.* make scalable filters, or NONSCALING
 * ones of two kinds; CF.* make two kinds; and a filter with no such face is not NONSCALING. Asked
 * of everything that comes from outside, so the rest need not wonder. */
bool bm_traits_fit(const bm_traits *traits, bly_kind kind);

struct bm_staging; /* staging.h: a container arriving by BLY.LOAD */
struct bm_arrival; /* arrival.h: RedisBloom's chunks arriving by LOADCHUNK */

/* Never moved once made: what it holds refers to its account. Only a BM_FILTER has more than what
 * it holds in `as`: RedisBloom's types are saved as RedisBloom would, and nothing else with them.
 */
typedef struct bm_value {
    bm_what what; /* BM_FILTER, BM_RB_BLOOM, BM_RB_CUCKOO */
    bm_account account;
    union {
        bly_filter *filter; /* NULL: nothing but what is arriving, or it is lost */
        bly_rb_bloom *bloom;
        bly_rb_cuckoo *cuckoo;
    } as;
    bm_traits traits;
    uint64_t stamp;   /* grows with every change; never that of another value of this server */
    bly_image *image; /* of the filter at `image_stamp`, for BLY.DUMP; NULL: none kept */
    uint64_t image_stamp;
    bm_account image_account; /* the image's own: it is no part of the filter, nor has it limits */
    struct bm_staging *staging; /* NULL: nothing arriving */
    struct bm_arrival *arrival; /* the same */
    bool keyless;               /* the filter's secret key is not in the ring */
    uint64_t ring_edition;      /* of the ring in which its key was last looked for */
    bool overfull, lost;        /* and counted so in the census */
    struct bm_timed *timed;     /* clock.h: its place among the timed windows; else NULL */
} bm_value;

/* bly_kind_capabilities, at once: commands ask it of every key that they open. */
enum { BM_KINDS = 32 };
extern uint32_t bm_capabilities[BM_KINDS];
static inline uint32_t bm_can(bly_kind kind) {
    return (unsigned)kind < BM_KINDS ? bm_capabilities[kind] : bly_kind_capabilities(kind);
}

static inline bly_kind bm_kind(const bm_value *value) { /* of one that has a filter of ours */
    return bly_filter_geometry(value->as.filter).kind;
}

extern rm_type *bm_type_filter, *bm_type_rb_bloom, *bm_type_rb_cuckoo;

/* Registers the three types. */
int bm_types_start(rm_ctx *ctx);

/* An empty value, whose account has limits; NULL when there is no memory. */
bm_value *bm_value_new(bm_what what);
/* With all that it holds. May run in any thread. NULL does nothing. */
void bm_value_free(bm_value *value);

/* After every change: the stamp, the image, the alarms of INFO. */
void bm_value_changed(bm_value *value);

/* Whether a filter has warn-ratio times the keys that it was made for, or more. Not asked of those
 * that grow, nor of those whose count is not one of distinct keys. */
bool bm_value_is_overfull(const bm_value *value);

/* Closes the image that is kept, if there is one: before anything that it refers to goes. */
void bm_value_drop_image(bm_value *value);

/* All memory that it takes, itself and what is arriving included. */
uint64_t bm_value_bytes(const bm_value *value);

/* Numbers of INFO, kept as values come and go. */
typedef struct bm_census {
    uint64_t filters, rb_blooms, rb_cuckoos; /* keys of each type */
    uint64_t overfull;                       /* that hold more than they were made for */
    uint64_t lost;                           /* of which only the mark is left */
    uint64_t arriving;                       /* not all of which has come */
} bm_census;
void bm_census_take(bm_census *out);

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct bm_key {
    rm_key *key; /* NULL: not there, opened for reading */
    rm_string *name;
    bm_what what;
    bm_value *value; /* NULL when missing or foreign */
} bm_key;

/* Opens a key for RM_READ or RM_READ | RM_WRITE. Close it whatever it is. A value that is opened
 * for writing has limits, or none, as bm_is_replayed says. A timed window is known to the clock
 * from then on, whatever was done to its key before. */
bm_key bm_key_open(rm_ctx *ctx, rm_string *name, int mode);
void bm_key_close(bm_key *key);

/* Makes `value` the key's; what the key held is freed, its expiry kept. The key was opened for
 * writing. */
void bm_key_set(bm_key *key, bm_value *value);

/* A change has been made: marks the key modified, tells listeners `event`, calls bm_value_changed.
 * Replicating is the command's own business. */
void bm_key_changed(rm_ctx *ctx, bm_key *key, const char *event);

/* Whether what is done now comes from a master, or from the AOF or RDB: no limits, no clocks, no
 * second thoughts. */
bool bm_is_replayed(rm_ctx *ctx);
/* The same where there is no client to be asked, as when values are loaded or copied: the server is
 * loading, or a replica. */
bool bm_is_following(void);

#endif
