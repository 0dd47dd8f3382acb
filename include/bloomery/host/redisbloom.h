/* redisbloom.h - RedisBloom's two structures, byte for byte: its chain of Bloom filters (BF.*) and
 * its chain of cuckoo filters (CF.*).
 *
 * For programs with such data: read it, continue to use it, and write it back. RDB fields of the
 * encodings 0 to 4, and headers and chunks of SCANDUMP, can be read; RedisBloom reads what is
 * written here (docs/redisbloom.md). For new data the kinds of filter.h are smaller and faster.
 *
 *   command, or file             calls (for a cuckoo filter the same with bly_rb_cuckoo_)
 *   RESERVE                      bly_rb_bloom_create
 *   ADD, MADD, EXISTS, MEXISTS   bly_rb_bloom_add, _add_many, _contains, _contains_many
 *   INFO, DEBUG, CARD            bly_rb_bloom_get_info, bly_rb_bloom_link
 *   SCANDUMP 0                   bly_rb_bloom_header_size, bly_rb_bloom_header
 *   SCANDUMP 1 + offset          bly_rb_bloom_read
 *   LOADCHUNK 1                  bly_rb_bloom_parse
 *   LOADCHUNK 1 + offset + size  bly_rb_bloom_write
 *   RDB save                     bly_rb_bloom_get_info, then bly_rb_bloom_link for each
 *   RDB load                     bly_rb_bloom_load, _load_link for each, _load_end
 *   COPY, free, defrag           bly_rb_bloom_clone, _destroy, _defrag
 *
 * All memory of an object comes from the allocator with which it was created (NULL: calloc and
 * free): one block for the object, one for its table of links, one for the bits of each link.
 *
 * Untrusted bytes are checked before anything is allocated from what they say. Threads: one writer,
 * or many readers. */
#ifndef BLOOMERY_HOST_REDISBLOOM_H
#define BLOOMERY_HOST_REDISBLOOM_H

#include "defrag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of RedisBloom's formats. */
enum {
    BLY_RB_ENCODING = 4,         /* the newest RDB encoding: save with it */
    BLY_RB_CHUNK = 16 << 20,     /* the longest chunk of RedisBloom's SCANDUMP */
    BLY_RB_MAX_PARTS = 32768,    /* links, or sub-filters, of one object at most */
    BLY_RB_BLOOM_HEAD = 20,      /* bytes of a chain's header, without its links */
    BLY_RB_BLOOM_LINK = 53,      /* bytes of each link in that header */
    BLY_RB_CUCKOO_HEADER = 38,   /* bytes of a cuckoo filter's header */
    BLY_RB_MAX_EXPANSION = 32768 /* of a cuckoo filter */
};

/* ---- Bloom filters -------------------------------------------------------------------------- */

/* A chain of links, each a Bloom filter with half the error of the one before. A key is added to
 * the newest link if no link has it. When that link has reached its capacity, a larger one is
 * appended. */
typedef struct bly_rb_bloom bly_rb_bloom;

/* Bits of bly_rb_bloom_info.options. New chains have BLY_RB_NO_ROUNDING and BLY_RB_HASH_64. */
enum {
    BLY_RB_NO_ROUNDING = 1,  /* sizes are not rounded up to powers of two */
    BLY_RB_SIZE_IS_BITS = 2, /* the capacity was given as a number of bits */
    BLY_RB_HASH_64 = 4,   /* MurmurHash64A; without this bit the 32-bit MurmurHash2 of old data */
    BLY_RB_NONSCALING = 8 /* one link only */
};

/* The parameters of a new chain. */
typedef struct bly_rb_bloom_spec {
    double error;      /* above 0, below 1. If the chain scales, its first link has half of it */
    uint64_t capacity; /* of the first link, 1 to 2^48 */
    uint32_t growth;   /* capacity of each link, as a multiple of the one before; at least 1 if the
                          chain scales */
    bool nonscaling;   /* one link, which has `error` and can be full */
} bly_rb_bloom_spec;

/* Creates a chain. `a` may be NULL. The caller destroys *out with bly_rb_bloom_destroy.
 * Errors: BLY_ERATE, BLY_ECOUNT (the capacity), BLY_EINVAL (growth), BLY_ETOOBIG (more than 2^48
 * bits), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_bloom_create(const bly_rb_bloom_spec *spec, const bly_allocator *a,
                                           bly_rb_bloom **out);
/* Destroys a chain. NULL does nothing. */
BLY_API void bly_rb_bloom_destroy(bly_rb_bloom *f);
/* Makes an independent copy, in the same or another allocator. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_bloom_clone(const bly_rb_bloom *f, const bly_allocator *a,
                                          bly_rb_bloom **out);

/* Returns true if two chains have the same numbers and the same bits: they answer alike. */
BLY_API bool bly_rb_bloom_equal(const bly_rb_bloom *f, const bly_rb_bloom *g);

/* Adds a key. *added (may be NULL) tells whether no link had it before. Only a key that no link has
 * can fail. Errors: BLY_EFULL (the newest link is full, and the chain is nonscaling or its growth
 * is 0), BLY_ENOMEM, BLY_ETOOBIG (another link would need more than 2^48 bits, or an error below
 * the smallest number, or there are BLY_RB_MAX_PARTS), BLY_EGROWTH (it would need more memory than
 * bly_rb_bloom_limit_growth allows). */
BLY_CHECKED bly_status bly_rb_bloom_add(bly_rb_bloom *f, const void *key, size_t len, bool *added);
/* Returns false if a key was certainly not added; else true. */
BLY_API bool bly_rb_bloom_contains(const bly_rb_bloom *f, const void *key, size_t len);

/* Adds a batch of keys: the same answers as bly_rb_bloom_add for each key in order, but faster.
 * `added` receives one 0/1 byte per key. `added` and `result` may be NULL. An add that fails ends
 * the batch: keys[result->done] failed, and the call may be repeated from the next key.
 * Errors: those of bly_rb_bloom_add. */
BLY_CHECKED bly_status bly_rb_bloom_add_many(bly_rb_bloom *f, const bly_bytes *keys, size_t n,
                                             uint8_t *added, bly_batch_result *result);

/* Looks a batch of keys up, faster than one by one. `found` (may be NULL) receives one 0/1 byte per
 * key. Returns the number of keys that were found. */
BLY_API size_t bly_rb_bloom_contains_many(const bly_rb_bloom *f, const bly_bytes *keys, size_t n,
                                          uint8_t *found);

/* The state of a chain, which bly_rb_bloom_get_info returns. */
typedef struct bly_rb_bloom_info {
    uint64_t items;      /* keys that were new when added, in all links */
    uint64_t capacity;   /* of all links */
    uint64_t links;      /* at least 1 */
    uint64_t growth;     /* as created; without meaning in a nonscaling chain */
    uint64_t options;    /* BLY_RB_NO_ROUNDING and so on */
    uint64_t size;       /* Size of BF.INFO: 32 + 64 * links + bytes of the bits */
    uint64_t memory;     /* bytes allocated */
    uint64_t data_bytes; /* bytes of all bits: where bly_rb_bloom_read ends */
} bly_rb_bloom_info;
BLY_API bly_rb_bloom_info bly_rb_bloom_get_info(const bly_rb_bloom *f);

/* Link i of a chain, in the order of the fields in an RDB file; i is below bly_rb_bloom_info.links.
 */
typedef struct bly_rb_link {
    uint64_t capacity;
    double error;
    uint64_t hashes;  /* bits that a key sets */
    double bpe;       /* bits per key at capacity */
    uint64_t bits;    /* positions are modulo this */
    uint64_t n2;      /* if not 0: modulo 2^n2 instead (data older than RedisBloom 2.0) */
    bly_bytes bitmap; /* borrowed, until the chain changes or is destroyed */
    uint64_t items;
} bly_rb_link;
BLY_API bly_rb_link bly_rb_bloom_link(const bly_rb_bloom *f, uint64_t i);
/* Write the header of SCANDUMP to `to`, which has room for its size. */
BLY_API size_t bly_rb_bloom_header_size(const bly_rb_bloom *f);
BLY_API void bly_rb_bloom_header(const bly_rb_bloom *f, uint8_t *to);

/* Creates a chain from the header of SCANDUMP, with all bits clear: LOADCHUNK brings the bits
 * later. `a` may be NULL. Errors: BLY_ECORRUPT (no such header, or one that describes no chain),
 * BLY_ENOMEM (also if it would take more than max_bytes of memory: a header can claim any size). */
BLY_CHECKED bly_status bly_rb_bloom_parse(const void *header, size_t size, uint64_t max_bytes,
                                          const bly_allocator *a, bly_rb_bloom **out);

/* Returns the bits of all links, one after the other, from `offset` on: at most `most` bytes, which
 * do not cross the end of a link. Empty at the end and past it. Valid until the chain changes. */
BLY_API bly_bytes bly_rb_bloom_read(const bly_rb_bloom *f, uint64_t offset, size_t most);

/* Stores bits at an offset, as bly_rb_bloom_read returns them.
 * Errors: BLY_EINVAL (the offset is not in the chain), BLY_ETOOBIG (the bytes would cross the end
 * of the link in which they begin). */
BLY_CHECKED bly_status bly_rb_bloom_write(bly_rb_bloom *f, uint64_t offset, const void *data,
                                          size_t size);

/* The first fields of a chain in an RDB file. */
typedef struct bly_rb_bloom_fields {
    uint64_t encoding; /* the type's encoding version, 0 to 4 */
    uint64_t items, links;
    uint64_t options; /* below encoding 2: ignored, 0 is used */
    uint64_t growth;  /* below encoding 4: ignored, 2 is used */
} bly_rb_bloom_fields;

/* Creates a chain from the fields of an RDB file: after this call pass the links in order to
 * bly_rb_bloom_load_link, then call bly_rb_bloom_load_end. Until then only these and
 * bly_rb_bloom_destroy may be called. Whatever fails, the caller destroys the chain. `a` may be
 * NULL. Errors: BLY_EVERSION (a newer encoding), BLY_ECORRUPT, BLY_ENOMEM (also if the chain, now
 * or with a later link, would take more than max_bytes of memory). */
BLY_CHECKED bly_status bly_rb_bloom_load(const bly_rb_bloom_fields *fields, uint64_t max_bytes,
                                         const bly_allocator *a, bly_rb_bloom **out);

/* Appends a link, and copies its bits. With encoding 0, which lacks them, `bits` and `n2` are
 * ignored. Errors: BLY_ECORRUPT (also if there are too many), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_bloom_load_link(bly_rb_bloom *f, const bly_rb_link *link);
/* Completes a chain. Errors: BLY_ECORRUPT (links are missing, or do not add up to `items`). */
BLY_CHECKED bly_status bly_rb_bloom_load_end(bly_rb_bloom *f);

/* Limits the bytes that another link may take, for a chain from bly_rb_bloom_parse or
 * bly_rb_bloom_load: as bly_filter_limit_growth. */
BLY_API void bly_rb_bloom_limit_growth(bly_rb_bloom *f, uint64_t max_bytes);

/* Offer the memory blocks, or the handle, to `move`: as bly_filter_defrag and
 * bly_filter_defrag_handle. */
BLY_API size_t bly_rb_bloom_defrag(bly_rb_bloom *f, size_t from, size_t most, bly_defrag_move move,
                                   void *ctx);
BLY_API bly_rb_bloom *bly_rb_bloom_defrag_handle(bly_rb_bloom *f, bly_defrag_move move, void *ctx);

/* ---- cuckoo filters ------------------------------------------------------------------------- */

/* A chain of sub-filters, tables of one-byte fingerprints. Every add stores a copy of the key's
 * fingerprint in a free slot of any sub-filter, or makes room in the newest one, or appends a
 * sub-filter that is `expansion` times as large.
 *
 * Every sub-filter adds its own false positives: 16 of them have 16 times the false-positive rate
 * of one. A remove takes the first equal fingerprint, from the newest sub-filter on. With several
 * sub-filters it may be that of another member, which is then missed. RedisBloom does the same; the
 * kind scalable-cuckoo does not. */
typedef struct bly_rb_cuckoo bly_rb_cuckoo;

/* The parameters of a new cuckoo filter. */
typedef struct bly_rb_cuckoo_spec {
    uint64_t capacity;       /* slots of the first sub-filter, at least 1; rounded up to a power of
                                two of buckets */
    uint32_t bucket_size;    /* slots per bucket, 1 to 255 */
    uint32_t max_iterations; /* evictions per add at most, 1 to 65535 */
    uint32_t expansion; /* 0: never grows; else up to BLY_RB_MAX_EXPANSION, rounded up to a power of
                           two */
} bly_rb_cuckoo_spec;

/* Creates a cuckoo filter. `a` may be NULL. The caller destroys *out with bly_rb_cuckoo_destroy.
 * Errors: BLY_ECOUNT (the capacity), BLY_EINVAL (the rest), BLY_ETOOBIG (more than 2^45 slots),
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_cuckoo_create(const bly_rb_cuckoo_spec *spec, const bly_allocator *a,
                                            bly_rb_cuckoo **out);
/* Destroy, copy and compare cuckoo filters, as the functions for chains do. Errors: BLY_ENOMEM. */
BLY_API void bly_rb_cuckoo_destroy(bly_rb_cuckoo *f);
BLY_CHECKED bly_status bly_rb_cuckoo_clone(const bly_rb_cuckoo *f, const bly_allocator *a,
                                           bly_rb_cuckoo **out);
BLY_API bool bly_rb_cuckoo_equal(const bly_rb_cuckoo *f, const bly_rb_cuckoo *g);

/* Options of an add. */
typedef struct bly_rb_cuckoo_how {
    bool absent;          /* only if the key seems to be absent (ADDNX) */
    uint64_t max_filters; /* sub-filters after the add, at most; 0: BLY_RB_MAX_PARTS */
} bly_rb_cuckoo_how;

/* Adds a copy of a key. `how` NULL: always, and without a limit. *added (may be NULL) is false only
 * if how->absent is set and the key seems to be present. Errors: BLY_EFULL (no room, and another
 * sub-filter is not allowed: expansion 0, or max_filters), BLY_ETOOBIG (another one would have more
 * than 2^45 slots), BLY_EGROWTH (or more than bly_rb_cuckoo_limit_growth allows), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_cuckoo_add(bly_rb_cuckoo *f, const void *key, size_t len,
                                         const bly_rb_cuckoo_how *how, bool *added);
/* Returns false if a key seems to be absent; else true. */
BLY_API bool bly_rb_cuckoo_contains(const bly_rb_cuckoo *f, const void *key, size_t len);
/* Returns how many copies of a key there seem to be. */
BLY_API uint64_t bly_rb_cuckoo_copies(const bly_rb_cuckoo *f, const void *key, size_t len);

/* Add or look up a batch of keys, as the functions for chains do. `how`, `added`, `result` and
 * `found` may be NULL. Errors: those of bly_rb_cuckoo_add. */
BLY_CHECKED bly_status bly_rb_cuckoo_add_many(bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                              const bly_rb_cuckoo_how *how, uint8_t *added,
                                              bly_batch_result *result);
BLY_API size_t bly_rb_cuckoo_contains_many(const bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                           uint8_t *found);

/* Removes one copy of a key. If there are several sub-filters, and removes since the last
 * compaction exceed a tenth of the keys, it also compacts the filter.
 * Returns false if there seems to be no copy. */
BLY_API bool bly_rb_cuckoo_remove(bly_rb_cuckoo *f, const void *key, size_t len);

/* Compacts a filter: moves fingerprints from the newest sub-filters to free slots of older ones,
 * frees sub-filters that become empty, and resets the count of removes. Allocates nothing. */
BLY_API void bly_rb_cuckoo_compact(bly_rb_cuckoo *f);

/* The state of a cuckoo filter, which bly_rb_cuckoo_get_info returns. */
typedef struct bly_rb_cuckoo_info {
    uint64_t items;   /* copies stored */
    uint64_t deletes; /* removed since the last compaction */
    uint64_t buckets; /* of the first sub-filter */
    uint64_t filters; /* at least 1 */
    uint64_t bucket_size, max_iterations, expansion;
    uint64_t size;       /* Size of CF.INFO: 40 + 16 * filters + slots */
    uint64_t memory;     /* bytes allocated */
    uint64_t data_bytes; /* bytes of all slots: where bly_rb_cuckoo_read ends */
} bly_rb_cuckoo_info;
BLY_API bly_rb_cuckoo_info bly_rb_cuckoo_get_info(const bly_rb_cuckoo *f);

/* Sub-filter i, in the order of the fields in an RDB file; i is below bly_rb_cuckoo_info.filters.
 */
typedef struct bly_rb_sub {
    uint64_t buckets;
    bly_bytes slots; /* borrowed, until the filter changes or is destroyed */
} bly_rb_sub;
BLY_API bly_rb_sub bly_rb_cuckoo_sub(const bly_rb_cuckoo *f, uint64_t i);

/* Write and read the header and the chunks of SCANDUMP and LOADCHUNK, as the functions of a chain
 * do. (RedisBloom gives no dump of a cuckoo filter without keys.)
 * Errors: those of bly_rb_bloom_parse and bly_rb_bloom_write. */
BLY_API void bly_rb_cuckoo_header(const bly_rb_cuckoo *f, uint8_t to[BLY_RB_CUCKOO_HEADER]);
BLY_CHECKED bly_status bly_rb_cuckoo_parse(const void *header, size_t size, uint64_t max_bytes,
                                           const bly_allocator *a, bly_rb_cuckoo **out);
BLY_API bly_bytes bly_rb_cuckoo_read(const bly_rb_cuckoo *f, uint64_t offset, size_t most);
BLY_CHECKED bly_status bly_rb_cuckoo_write(bly_rb_cuckoo *f, uint64_t offset, const void *data,
                                           size_t size);

/* The first fields of a cuckoo filter in an RDB file. Encodings below 4 have only filters, buckets
 * and items, and of a sub-filter only its slots. Set the other fields to the settings of the host;
 * deletes is then ignored. The slots override them: the bucket size is their number divided by that
 * of the buckets, and sub-filters of equal size mean an expansion of 1. */
typedef struct bly_rb_cuckoo_fields {
    uint64_t encoding;
    uint64_t filters, buckets, items, deletes;
    uint64_t bucket_size, max_iterations, expansion;
} bly_rb_cuckoo_fields;

/* Create a cuckoo filter from the fields of an RDB file, as bly_rb_bloom_load,
 * bly_rb_bloom_load_link and bly_rb_bloom_load_end do. Below encoding 4 `buckets` of a sub-filter
 * is ignored. Errors: those of bly_rb_bloom_load; BLY_ECORRUPT (also if sub-filters are missing, or
 * there are more items than slots). */
BLY_CHECKED bly_status bly_rb_cuckoo_load(const bly_rb_cuckoo_fields *fields, uint64_t max_bytes,
                                          const bly_allocator *a, bly_rb_cuckoo **out);
BLY_CHECKED bly_status bly_rb_cuckoo_load_sub(bly_rb_cuckoo *f, const bly_rb_sub *sub);
BLY_CHECKED bly_status bly_rb_cuckoo_load_end(bly_rb_cuckoo *f);

/* Limits the bytes that another sub-filter may take, as bly_rb_bloom_limit_growth does. 0: 64 times
 * what was loaded, or as many bytes for each key in it if that is more, or 64 MiB. (A few copies of
 * one key make such a filter grow.) */
BLY_API void bly_rb_cuckoo_limit_growth(bly_rb_cuckoo *f, uint64_t max_bytes);

/* Offer the memory blocks, or the handle, to `move`: as bly_filter_defrag and
 * bly_filter_defrag_handle. */
BLY_API size_t bly_rb_cuckoo_defrag(bly_rb_cuckoo *f, size_t from, size_t most,
                                    bly_defrag_move move, void *ctx);
BLY_API bly_rb_cuckoo *bly_rb_cuckoo_defrag_handle(bly_rb_cuckoo *f, bly_defrag_move move,
                                                   void *ctx);

#ifdef __cplusplus
}
#endif
#endif
