/* redisbloom.h - RedisBloom's two structures, byte for byte: its chain of Bloom filters (BF.*) and
 * its chain of cuckoo filters (CF.*).
 *
 * For those who have such data: read it, go on using it, and write it back. What RedisBloom saved
 * (RDB fields of the encodings 0 to 4, headers and chunks of SCANDUMP) loads here, and what is
 * written here RedisBloom reads. For new data the kinds of filter.h are smaller and faster.
 *
 * A host that speaks Redis's protocol finds here everything but the protocol:
 *
 *   command, or file             calls (of a cuckoo filter the same with bly_rb_cuckoo_)
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
 * All memory of an object comes from the allocator given when it was made (NULL: calloc and free):
 * one block for the object, one for its table of links, one for each link's bits. Blocks are asked
 * for zeroed; a large one need not be touched before it is used.
 *
 * Outside bytes are checked before anything is allocated from what they say. One writer, or many
 * readers.
 */
#ifndef BLOOMERY_HOST_REDISBLOOM_H
#define BLOOMERY_HOST_REDISBLOOM_H

#include "defrag.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLY_RB_ENCODING = 4,       /* the newest RDB encoding, the one to save under */
    BLY_RB_CHUNK = 16 << 20,   /* the longest chunk that RedisBloom's SCANDUMP gives */
    BLY_RB_MAX_PARTS = 32768,  /* links, or sub-filters, that one object may have */
    BLY_RB_BLOOM_HEAD = 20,    /* bytes of a chain's header, ... */
    BLY_RB_BLOOM_LINK = 53,    /* ... and of each link in it */
    BLY_RB_CUCKOO_HEADER = 38, /* bytes of a cuckoo filter's header */
    BLY_RB_MAX_EXPANSION = 32768
};

/* ---- Bloom filters --------------------------------------------------------------------------- */

/* A chain of links, each a Bloom filter with half the error of the one before. A key is added to
 * the newest link when no link has it; when that one has as many keys as its capacity, a larger one
 * is put behind it. */
typedef struct bly_rb_bloom bly_rb_bloom;

/* Bits of `options`. New chains have the first and the third. */
enum {
    BLY_RB_NO_ROUNDING = 1, /* sizes are not rounded up to powers of two */
    BLY_RB_SIZE_IS_BITS = 2,
    BLY_RB_HASH_64 = 4, /* MurmurHash64A; without it the 32-bit MurmurHash2 of old data */
    BLY_RB_NONSCALING = 8
};

typedef struct bly_rb_bloom_spec {
    double error;      /* above 0, below 1. A chain that scales gives its first link half of it */
    uint64_t capacity; /* of the first link, 1 to 2^48 */
    uint32_t growth;   /* each link's capacity to the one's before; of a chain that scales at least
                          1 */
    bool nonscaling;   /* one link, which keeps `error` and gets full */
} bly_rb_bloom_spec;

/* BLY_ERATE, BLY_ECOUNT (the capacity), BLY_EINVAL (growth), BLY_ETOOBIG (more than 2^48 bits),
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_bloom_create(const bly_rb_bloom_spec *spec, const bly_allocator *a,
                                           bly_rb_bloom **out);
BLY_API void bly_rb_bloom_destroy(bly_rb_bloom *f); /* NULL does nothing */
/* An independent copy, in the same or another allocator. BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_bloom_clone(const bly_rb_bloom *f, const bly_allocator *a,
                                          bly_rb_bloom **out);
/* The same numbers and the same bits: two that are equal answer and grow alike. */
BLY_API bool bly_rb_bloom_equal(const bly_rb_bloom *f, const bly_rb_bloom *g);

/* *added (may be NULL): no link had the key before. For a key that no link has:
 * BLY_EFULL: the newest link is full, and the chain is nonscaling (or its growth is 0);
 * BLY_ENOMEM: there is no memory for another link;
 * BLY_ETOOBIG: another link would need more than 2^48 bits, or an error below the smallest number,
 * or there are BLY_RB_MAX_PARTS;
 * BLY_EGROWTH: it would need more memory than bly_rb_bloom_limit_growth allows.
 * Nothing has changed then; a key that is there is never refused. */
BLY_CHECKED bly_status bly_rb_bloom_add(bly_rb_bloom *f, const void *key, size_t len, bool *added);
BLY_API bool bly_rb_bloom_contains(const bly_rb_bloom *f, const void *key, size_t len);

/* Batches: the same answers as single calls in order, faster: hashing, fetching and testing
 * overlap. `added` / `found` receive one 0/1 byte per key, or are NULL. An add that fails ends the
 * batch: keys[result->done] is the one, and the call may be repeated from the next. */
BLY_CHECKED bly_status bly_rb_bloom_add_many(bly_rb_bloom *f, const bly_bytes *keys, size_t n,
                                             uint8_t *added,
                                             bly_batch_result *result /* may be NULL */);
/* Returns how many answers are 1. */
BLY_API size_t bly_rb_bloom_contains_many(const bly_rb_bloom *f, const bly_bytes *keys, size_t n,
                                          uint8_t *found);

typedef struct bly_rb_bloom_info {
    uint64_t items;      /* keys that were new when added, in all links */
    uint64_t capacity;   /* of all links */
    uint64_t links;      /* at least 1 */
    uint64_t growth;     /* as created; means nothing in a nonscaling chain */
    uint64_t options;    /* of the enum above */
    uint64_t size;       /* what BF.INFO calls Size: 32 + 64 * links + bytes of the bits */
    uint64_t memory;     /* bytes really asked of the allocator */
    uint64_t data_bytes; /* of the bits of all links: where bly_rb_bloom_read ends */
} bly_rb_bloom_info;
BLY_API bly_rb_bloom_info bly_rb_bloom_get_info(const bly_rb_bloom *f);

/* One link; in the order of the fields in an RDB file. */
typedef struct bly_rb_link {
    uint64_t capacity;
    double error;
    uint64_t hashes;  /* bits that a key sets */
    double bpe;       /* bits per key at capacity */
    uint64_t bits;    /* positions are taken modulo this ... */
    uint64_t n2;      /* ... or, when not 0, modulo 2^n2 (data older than RedisBloom 2.0) */
    bly_bytes bitmap; /* borrowed: of bly_rb_bloom_link, until the chain is changed or destroyed */
    uint64_t items;
} bly_rb_link;
BLY_API bly_rb_link bly_rb_bloom_link(const bly_rb_bloom *f, uint64_t i); /* i < links */

/* SCANDUMP's header: of this size, written to `to`. */
BLY_API size_t bly_rb_bloom_header_size(const bly_rb_bloom *f);
BLY_API void bly_rb_bloom_header(const bly_rb_bloom *f, uint8_t *to);

/* A chain with all bits clear, as such a header describes it: for LOADCHUNK, which brings the bits
 * later. BLY_ECORRUPT: not such a header, or one that describes no chain; BLY_ENOMEM: it would take
 * more than max_bytes of memory (nothing was allocated: a header can claim any size), or there is
 * none. */
BLY_CHECKED bly_status bly_rb_bloom_parse(const void *header, size_t size, uint64_t max_bytes,
                                          const bly_allocator *a, bly_rb_bloom **out);

/* The bits of all links, one after the other: those from `offset` on, as they lie; at most `most`
 * bytes, and never across the end of a link. Empty at the end and behind it. Valid until the chain
 * is changed or destroyed. */
BLY_API bly_bytes bly_rb_bloom_read(const bly_rb_bloom *f, uint64_t offset, size_t most);
/* Puts the bytes there. BLY_EINVAL: the offset is not in the chain; BLY_ETOOBIG: the bytes would
 * cross the end of the link in which they begin. */
BLY_CHECKED bly_status bly_rb_bloom_write(bly_rb_bloom *f, uint64_t offset, const void *data,
                                          size_t size);

/* A chain from the fields of an RDB file: begin with the first ones, give the links in order, end.
 * An unfinished chain is good for bly_rb_bloom_load_link, bly_rb_bloom_load_end and
 * bly_rb_bloom_destroy alone; whatever fails, it remains the caller's to destroy. */
typedef struct bly_rb_bloom_fields {
    uint64_t encoding; /* the type's encoding version, 0 to 4 */
    uint64_t items, links;
    uint64_t options; /* ignored, and taken as 0, below encoding 2 */
    uint64_t growth;  /* ignored, and taken as 2, below encoding 4 */
} bly_rb_bloom_fields;
/* BLY_EVERSION: a newer encoding; BLY_ECORRUPT; BLY_ENOMEM, also when the chain, here or with a
 * link, comes to more than max_bytes of memory. */
BLY_CHECKED bly_status bly_rb_bloom_load(const bly_rb_bloom_fields *fields, uint64_t max_bytes,
                                         const bly_allocator *a, bly_rb_bloom **out);
/* Copies the bits. `bits` and `n2` are ignored under encoding 0, which lacks them. BLY_ECORRUPT
 * (also when there are too many), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_bloom_load_link(bly_rb_bloom *f, const bly_rb_link *link);
/* BLY_ECORRUPT: links are missing, or do not add up to `items`. */
BLY_CHECKED bly_status bly_rb_bloom_load_end(bly_rb_bloom *f);

/* The most bytes that another link may take, of a chain that came from outside (bly_rb_bloom_parse,
 * bly_rb_bloom_load): as bly_filter_limit_growth. */
BLY_API void bly_rb_bloom_limit_growth(bly_rb_bloom *f, uint64_t max_bytes);

/* Offers the blocks of memory to a mover: as bly_filter_defrag and bly_filter_defrag_handle. */
BLY_API size_t bly_rb_bloom_defrag(bly_rb_bloom *f, size_t from, size_t most, bly_defrag_move move,
                                   void *ctx);
BLY_API bly_rb_bloom *bly_rb_bloom_defrag_handle(bly_rb_bloom *f, bly_defrag_move move, void *ctx);

/* ---- cuckoo filters -------------------------------------------------------------------------- */

/* A chain of sub-filters, tables of one-byte fingerprints. Every add stores a copy of the key's
 * fingerprint in a free slot of any sub-filter, or makes room in the newest, or opens another one,
 * `expansion` times as large.
 *
 * Every sub-filter adds its own false positives: with 16 of them the false-positive rate is 16
 * times as high. And a remove takes the first equal fingerprint that it finds, the newest
 * sub-filter's first. With one sub-filter that is sound, if only keys that were added are removed.
 * With several it is not: the fingerprint in the newer one may be another key's, of other buckets
 * in the older ones, and that key will then be missed. RedisBloom does so, and the same data must
 * behave alike. (The kind scalable-cuckoo does not.) */
typedef struct bly_rb_cuckoo bly_rb_cuckoo;

typedef struct bly_rb_cuckoo_spec {
    uint64_t capacity;       /* slots of the first sub-filter, at least 1; rounded up so that it has
                                a power of two of buckets */
    uint32_t bucket_size;    /* slots in a bucket, 1 to 255 */
    uint32_t max_iterations; /* fingerprints to push around before giving up, 1 to 65535 */
    uint32_t expansion;      /* 0: never grows; else up to 32768, rounded up to a power of two */
} bly_rb_cuckoo_spec;

/* BLY_ECOUNT (the capacity), BLY_EINVAL (the rest), BLY_ETOOBIG (more than 2^45 slots),
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_cuckoo_create(const bly_rb_cuckoo_spec *spec, const bly_allocator *a,
                                            bly_rb_cuckoo **out);
BLY_API void bly_rb_cuckoo_destroy(bly_rb_cuckoo *f); /* NULL does nothing */
BLY_CHECKED bly_status bly_rb_cuckoo_clone(const bly_rb_cuckoo *f, const bly_allocator *a,
                                           bly_rb_cuckoo **out);
BLY_API bool bly_rb_cuckoo_equal(const bly_rb_cuckoo *f, const bly_rb_cuckoo *g);

/* How to add. */
typedef struct bly_rb_cuckoo_how {
    bool absent;          /* only what seems not to be there (ADDNX) */
    uint64_t max_filters; /* sub-filters that there may be after the add; 0: BLY_RB_MAX_PARTS */
} bly_rb_cuckoo_how;

/* Adds a copy of the key. `how` NULL: always, and without a limit. *added (may be NULL): false only
 * for `absent`, of a key that seems to be there.
 * BLY_EFULL: no room, and another sub-filter is not allowed (expansion 0, or max_filters);
 * BLY_ETOOBIG: it would have more than 2^45 slots; BLY_EGROWTH: or more than
 * bly_rb_cuckoo_limit_growth allows; BLY_ENOMEM. Nothing has changed then. */
BLY_CHECKED bly_status bly_rb_cuckoo_add(bly_rb_cuckoo *f, const void *key, size_t len,
                                         const bly_rb_cuckoo_how *how, bool *added);
BLY_API bool bly_rb_cuckoo_contains(const bly_rb_cuckoo *f, const void *key, size_t len);
/* How many copies there seem to be. */
BLY_API uint64_t bly_rb_cuckoo_copies(const bly_rb_cuckoo *f, const void *key, size_t len);
/* As of bly_rb_bloom. */
BLY_CHECKED bly_status bly_rb_cuckoo_add_many(bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                              const bly_rb_cuckoo_how *how, uint8_t *added,
                                              bly_batch_result *result);
BLY_API size_t bly_rb_cuckoo_contains_many(const bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                           uint8_t *found);

/* Takes one copy out; false when there seems to be none. When there are several sub-filters and
 * more removes since the last compaction than a tenth of the keys, compacts as well. */
BLY_API bool bly_rb_cuckoo_remove(bly_rb_cuckoo *f, const void *key, size_t len);
/* Moves fingerprints from the newest sub-filters to free slots of older ones, gives up sub-filters
 * that become empty, and sets the count of removes to 0. Allocates nothing. */
BLY_API void bly_rb_cuckoo_compact(bly_rb_cuckoo *f);

typedef struct bly_rb_cuckoo_info {
    uint64_t items;   /* copies stored */
    uint64_t deletes; /* removed since the last compaction */
    uint64_t buckets; /* of the first sub-filter */
    uint64_t filters; /* at least 1 */
    uint64_t bucket_size, max_iterations, expansion;
    uint64_t size;       /* what CF.INFO calls Size: 40 + 16 * filters + slots */
    uint64_t memory;     /* bytes really asked of the allocator */
    uint64_t data_bytes; /* slots of all sub-filters: where bly_rb_cuckoo_read ends */
} bly_rb_cuckoo_info;
BLY_API bly_rb_cuckoo_info bly_rb_cuckoo_get_info(const bly_rb_cuckoo *f);

/* One sub-filter, in the order of the fields in an RDB file. */
typedef struct bly_rb_sub {
    uint64_t buckets;
    bly_bytes slots; /* borrowed, until the filter is changed or destroyed */
} bly_rb_sub;
BLY_API bly_rb_sub bly_rb_cuckoo_sub(const bly_rb_cuckoo *f, uint64_t i); /* i < filters */

/* SCANDUMP and LOADCHUNK, as above. (RedisBloom gives no dump of a cuckoo filter without keys.) */
BLY_API void bly_rb_cuckoo_header(const bly_rb_cuckoo *f, uint8_t to[BLY_RB_CUCKOO_HEADER]);
BLY_CHECKED bly_status bly_rb_cuckoo_parse(const void *header, size_t size, uint64_t max_bytes,
                                           const bly_allocator *a, bly_rb_cuckoo **out);
BLY_API bly_bytes bly_rb_cuckoo_read(const bly_rb_cuckoo *f, uint64_t offset, size_t most);
BLY_CHECKED bly_status bly_rb_cuckoo_write(bly_rb_cuckoo *f, uint64_t offset, const void *data,
                                           size_t size);

/* From the fields of an RDB file, as above. Encodings below 4 have only filters, buckets and items,
 * and of a sub-filter only its slots: the others of these fields are then what the host's settings
 * say (deletes is taken as 0). Where the slots tell otherwise they are right: the bucket size is
 * their number by the buckets', and sub-filters of equal size mean an expansion of 1. */
typedef struct bly_rb_cuckoo_fields {
    uint64_t encoding;
    uint64_t filters, buckets, items, deletes;
    uint64_t bucket_size, max_iterations, expansion;
} bly_rb_cuckoo_fields;
BLY_CHECKED bly_status bly_rb_cuckoo_load(const bly_rb_cuckoo_fields *fields, uint64_t max_bytes,
                                          const bly_allocator *a, bly_rb_cuckoo **out);
/* `buckets` is ignored below encoding 4. */
BLY_CHECKED bly_status bly_rb_cuckoo_load_sub(bly_rb_cuckoo *f, const bly_rb_sub *sub);
/* BLY_ECORRUPT: sub-filters are missing, or there are more items than slots. */
BLY_CHECKED bly_status bly_rb_cuckoo_load_end(bly_rb_cuckoo *f);

/* The same of another sub-filter. With 0: 64 times what was loaded, or as many bytes for each key
 * in it if that is more, or 64 MiB. (A few copies of one key make such a filter grow.) */
BLY_API void bly_rb_cuckoo_limit_growth(bly_rb_cuckoo *f, uint64_t max_bytes);

BLY_API size_t bly_rb_cuckoo_defrag(bly_rb_cuckoo *f, size_t from, size_t most,
                                    bly_defrag_move move, void *ctx);
BLY_API bly_rb_cuckoo *bly_rb_cuckoo_defrag_handle(bly_rb_cuckoo *f, bly_defrag_move move,
                                                   void *ctx);

#ifdef __cplusplus
}
#endif
#endif
