/* redisbloom.h - RedisBloom's two data structures, byte for byte: its chain of Bloom filters
 * (commands BF.*) and its chain of cuckoo filters (commands CF.*).
 *
 * For programs that read, use and write RedisBloom's data. RDB fields of encodings 0 to 4, and
 * headers and chunks of SCANDUMP, can be read; RedisBloom reads what is written here
 * (docs/redisbloom.md). For new data use filter.h, whose kinds are smaller and faster.
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
 * free): one block for the object, one for its table of links, and one for the bits of each link.
 *
 * Untrusted bytes are checked before memory is allocated according to them. Threads: either one
 * thread that changes an object, or any number of threads that only read it. */
#ifndef BLOOMERY_HOST_REDISBLOOM_H
#define BLOOMERY_HOST_REDISBLOOM_H

#include "defrag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of RedisBloom's formats. */
enum {
    BLY_RB_ENCODING = 4,         /* the newest RDB encoding, which saving must use */
    BLY_RB_CHUNK = 16 << 20,     /* maximum number of bytes in a chunk of RedisBloom's SCANDUMP */
    BLY_RB_MAX_PARTS = 32768,    /* maximum number of links, or of sub-filters, of one object */
    BLY_RB_BLOOM_HEAD = 20,      /* bytes of a chain's header, without its links */
    BLY_RB_BLOOM_LINK = 53,      /* bytes of each link in that header */
    BLY_RB_CUCKOO_HEADER = 38,   /* bytes of a cuckoo filter's header */
    BLY_RB_MAX_EXPANSION = 32768 /* maximum expansion of a cuckoo filter */
};

/* ---- Bloom filters -------------------------------------------------------------------------- */

/* A chain of links. Each link is a Bloom filter with half the false-positive rate ("error") of the
 * previous one. A key is added to the newest link if no link contains it. When that link has
 * reached its capacity, a larger one is appended. */
typedef struct bly_rb_bloom bly_rb_bloom;

/* Bits of bly_rb_bloom_info.options. New chains have BLY_RB_NO_ROUNDING and BLY_RB_HASH_64. */
enum {
    BLY_RB_NO_ROUNDING = 1,  /* sizes are not rounded up to powers of two */
    BLY_RB_SIZE_IS_BITS = 2, /* the capacity was specified as a number of bits */
    BLY_RB_HASH_64 = 4,      /* the hash is MurmurHash64A; without this bit it is the 32-bit
                                MurmurHash2 of old data */
    BLY_RB_NONSCALING = 8    /* the chain has one link, and does not grow */
};

/* The parameters of a new chain. */
typedef struct bly_rb_bloom_spec {
    double error;      /* false-positive rate, above 0 and below 1. If the chain grows, its first
                          link has half of it */
    uint64_t capacity; /* capacity of the first link, 1 to 2^48 */
    uint32_t growth;   /* capacity of each link, as a multiple of the previous one's; at least 1 if
                          the chain grows */
    bool nonscaling;   /* true: the chain has one link, with the rate `error`, and can be full */
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

/* Returns true if two chains have the same parameters, counts and bits, so that they give the same
 * answers. */
BLY_API bool bly_rb_bloom_equal(const bly_rb_bloom *f, const bly_rb_bloom *g);

/* Adds a key. *added (may be NULL) becomes true if no link contained it before. A key that a link
 * contains is never refused. Errors: BLY_EFULL (the newest link is full, and the chain is
 * nonscaling or its growth is 0), BLY_ENOMEM, BLY_ETOOBIG (another link would need more than 2^48
 * bits or an error that is too small for a double, or the chain has BLY_RB_MAX_PARTS links),
 * BLY_EGROWTH (another link would need more memory than bly_rb_bloom_limit_growth allows). */
BLY_CHECKED bly_status bly_rb_bloom_add(bly_rb_bloom *f, const void *key, size_t len, bool *added);
/* Returns false if a key was certainly not added; else true. */
BLY_API bool bly_rb_bloom_contains(const bly_rb_bloom *f, const void *key, size_t len);

/* Adds a batch of keys, faster than bly_rb_bloom_add for each key in order, and with the same
 * answers. `added` receives one byte per key: 1 if it was new, else 0. `added` and `result` may be
 * NULL. The batch ends at the first key that fails, keys[result->done]; the caller may continue
 * with the key after it.
 * Errors: those of bly_rb_bloom_add. */
BLY_CHECKED bly_status bly_rb_bloom_add_many(bly_rb_bloom *f, const bly_bytes *keys, size_t n,
                                             uint8_t *added, bly_batch_result *result);

/* Looks a batch of keys up, faster than one by one. `found` (may be NULL) receives one 0/1 byte per
 * key. Returns the number of keys that were found. */
BLY_API size_t bly_rb_bloom_contains_many(const bly_rb_bloom *f, const bly_bytes *keys, size_t n,
                                          uint8_t *found);

/* The state of a chain, which bly_rb_bloom_get_info returns. */
typedef struct bly_rb_bloom_info {
    uint64_t items;      /* number of keys that were new when added, in all links */
    uint64_t capacity;   /* capacity of all links together */
    uint64_t links;      /* number of links, at least 1 */
    uint64_t growth;     /* bly_rb_bloom_spec.growth; meaningless in a nonscaling chain */
    uint64_t options;    /* BLY_RB_NO_ROUNDING and so on */
    uint64_t size;       /* what BF.INFO shows as Size: 32 + 64 * links + data_bytes */
    uint64_t memory;     /* bytes allocated */
    uint64_t data_bytes; /* number of bytes of the bits of all links: the offset at which
                            bly_rb_bloom_read ends */
} bly_rb_bloom_info;
BLY_API bly_rb_bloom_info bly_rb_bloom_get_info(const bly_rb_bloom *f);

/* A link of a chain. The members are in the order of the fields in an RDB file. bly_rb_bloom_link
 * returns link i, which must be below bly_rb_bloom_info.links. */
typedef struct bly_rb_link {
    uint64_t capacity;
    double error;
    uint64_t hashes;  /* number of bits that a key sets */
    double bpe;       /* bits per key when the link is full */
    uint64_t bits;    /* number of bits; a position is the hash modulo this */
    uint64_t n2;      /* if not 0, a position is the hash modulo 2^n2 instead (data older than
                         RedisBloom 2.0) */
    bly_bytes bitmap; /* borrowed, until the chain changes or is destroyed */
    uint64_t items;
} bly_rb_link;
BLY_API bly_rb_link bly_rb_bloom_link(const bly_rb_bloom *f, uint64_t i);
/* Returns the number of bytes of the chain's header in SCANDUMP. */
BLY_API size_t bly_rb_bloom_header_size(const bly_rb_bloom *f);
/* Writes that header to `to`, which has room for bly_rb_bloom_header_size bytes. */
BLY_API void bly_rb_bloom_header(const bly_rb_bloom *f, uint8_t *to);

/* Creates a chain from a header of SCANDUMP. All bits are 0; bly_rb_bloom_write stores them later.
 * `a` may be NULL. Errors: BLY_ECORRUPT (not a header of a chain, or its numbers are not possible),
 * BLY_ENOMEM (also if the chain would take more than max_bytes of memory, since an untrusted header
 * can claim any size). */
BLY_CHECKED bly_status bly_rb_bloom_parse(const void *header, size_t size, uint64_t max_bytes,
                                          const bly_allocator *a, bly_rb_bloom **out);

/* Returns a part of the bits of all links, which are numbered as if they followed one another: at
 * most `most` bytes, starting at `offset`, and none after the end of the link in which they start.
 * The result is empty if `offset` is at the end or past it. It is valid until the chain changes. */
BLY_API bly_bytes bly_rb_bloom_read(const bly_rb_bloom *f, uint64_t offset, size_t most);

/* Stores bytes that bly_rb_bloom_read has returned for the same offset. Errors: BLY_EINVAL (the
 * offset is not in the chain), BLY_ETOOBIG (the bytes go past the end of the link in which they
 * start). */
BLY_CHECKED bly_status bly_rb_bloom_write(bly_rb_bloom *f, uint64_t offset, const void *data,
                                          size_t size);

/* The first fields of a chain in an RDB file. */
typedef struct bly_rb_bloom_fields {
    uint64_t encoding; /* the type's encoding version, 0 to 4 */
    uint64_t items, links;
    uint64_t options; /* ignored if the encoding is below 2: 0 is used */
    uint64_t growth;  /* ignored if the encoding is below 4: 2 is used */
} bly_rb_bloom_fields;

/* Creates a chain from the fields of an RDB file. Afterwards pass the links in order to
 * bly_rb_bloom_load_link, then call bly_rb_bloom_load_end. Until then only these two and
 * bly_rb_bloom_destroy may be called for the chain. If one of them fails, the caller destroys the
 * chain. `a` may be NULL. Errors: BLY_EVERSION (a newer encoding), BLY_ECORRUPT, BLY_ENOMEM (also
 * if the chain would take more than max_bytes of memory; bly_rb_bloom_load_link has the same
 * limit). */
BLY_CHECKED bly_status bly_rb_bloom_load(const bly_rb_bloom_fields *fields, uint64_t max_bytes,
                                         const bly_allocator *a, bly_rb_bloom **out);

/* Appends a link, and copies its bits. With encoding 0, which has no `bits` and `n2`, these two are
 * ignored. Errors: BLY_ECORRUPT (also if there are too many links), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_bloom_load_link(bly_rb_bloom *f, const bly_rb_link *link);
/* Completes a chain. Errors: BLY_ECORRUPT (links are missing, or their items do not add up to the
 * items of the chain). */
BLY_CHECKED bly_status bly_rb_bloom_load_end(bly_rb_bloom *f);

/* Limits the number of bytes that another link may take, as bly_filter_limit_growth does. For a
 * chain created by bly_rb_bloom_parse or bly_rb_bloom_load. */
BLY_API void bly_rb_bloom_limit_growth(bly_rb_bloom *f, uint64_t max_bytes);

/* Offers at most `most` memory blocks of a chain to `move`, as bly_filter_defrag does. */
BLY_API size_t bly_rb_bloom_defrag(bly_rb_bloom *f, size_t from, size_t most, bly_defrag_move move,
                                   void *ctx);
/* Offers the handle of a chain to `move`, as bly_filter_defrag_handle does. */
BLY_API bly_rb_bloom *bly_rb_bloom_defrag_handle(bly_rb_bloom *f, bly_defrag_move move, void *ctx);

/* ---- cuckoo filters ------------------------------------------------------------------------- */

/* A chain of sub-filters. Each is a table of one-byte fingerprints. Every add stores a copy of the
 * key's fingerprint: in a free slot of any sub-filter; otherwise in a slot of the newest one, freed
 * by moving other fingerprints; otherwise in a new sub-filter that is `expansion` times as large.
 *
 * Every sub-filter adds its own false positives: 16 of them have 16 times the false-positive rate
 * of one. A remove deletes the first equal fingerprint that it finds, beginning with the newest
 * sub-filter. With several sub-filters, this may be the fingerprint of another member, which is
 * then missed. RedisBloom does the same; the kind scalable-cuckoo does not. */
typedef struct bly_rb_cuckoo bly_rb_cuckoo;

/* The parameters of a new cuckoo filter. */
typedef struct bly_rb_cuckoo_spec {
    uint64_t capacity;       /* number of slots of the first sub-filter, at least 1. It is rounded
                                up, so that the number of buckets is a power of two */
    uint32_t bucket_size;    /* number of slots per bucket, 1 to 255 */
    uint32_t max_iterations; /* maximum number of evictions per add, 1 to 65535 */
    uint32_t expansion;      /* size of a new sub-filter as a multiple of the previous one's: 1 to
                                BLY_RB_MAX_EXPANSION, rounded up to a power of two. 0: the filter never
                                grows */
} bly_rb_cuckoo_spec;

/* Creates a cuckoo filter. `a` may be NULL. The caller destroys *out with bly_rb_cuckoo_destroy.
 * Errors: BLY_ECOUNT (the capacity is out of range), BLY_EINVAL (another member is out of range),
 * BLY_ETOOBIG (more than 2^45 slots), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_cuckoo_create(const bly_rb_cuckoo_spec *spec, const bly_allocator *a,
                                            bly_rb_cuckoo **out);
/* Destroys a cuckoo filter. NULL does nothing. */
BLY_API void bly_rb_cuckoo_destroy(bly_rb_cuckoo *f);
/* Makes an independent copy, in the same or another allocator. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_cuckoo_clone(const bly_rb_cuckoo *f, const bly_allocator *a,
                                           bly_rb_cuckoo **out);
/* Returns true if two cuckoo filters have the same parameters, counts and slots. */
BLY_API bool bly_rb_cuckoo_equal(const bly_rb_cuckoo *f, const bly_rb_cuckoo *g);

/* Options of an add to a cuckoo filter. */
typedef struct bly_rb_cuckoo_how {
    bool absent;          /* true: add the key only if it seems to be absent, as CF.ADDNX does */
    uint64_t max_filters; /* maximum number of sub-filters after the add; 0: BLY_RB_MAX_PARTS */
} bly_rb_cuckoo_how;

/* Adds a copy of a key. If `how` is NULL, the copy is always added, and the number of sub-filters
 * is not limited. *added (may be NULL) becomes false only if how->absent is true and the key seems
 * to be present. Errors: BLY_EFULL (there is no free slot, and another sub-filter is not allowed,
 * because of expansion 0 or max_filters), BLY_ETOOBIG (another sub-filter would have more than 2^45
 * slots), BLY_EGROWTH (another sub-filter would need more memory than bly_rb_cuckoo_limit_growth
 * allows), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_cuckoo_add(bly_rb_cuckoo *f, const void *key, size_t len,
                                         const bly_rb_cuckoo_how *how, bool *added);
/* Returns false if a key seems to be absent; else true. */
BLY_API bool bly_rb_cuckoo_contains(const bly_rb_cuckoo *f, const void *key, size_t len);
/* Returns the number of copies of a key that the filter seems to contain. */
BLY_API uint64_t bly_rb_cuckoo_copies(const bly_rb_cuckoo *f, const void *key, size_t len);

/* Adds a batch of keys, as bly_rb_bloom_add_many does for chains. `how`, `added` and `result` may
 * be NULL. Errors: those of bly_rb_cuckoo_add. */
BLY_CHECKED bly_status bly_rb_cuckoo_add_many(bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                              const bly_rb_cuckoo_how *how, uint8_t *added,
                                              bly_batch_result *result);
/* Looks a batch of keys up, as bly_rb_bloom_contains_many does for chains. */
BLY_API size_t bly_rb_cuckoo_contains_many(const bly_rb_cuckoo *f, const bly_bytes *keys, size_t n,
                                           uint8_t *found);

/* Removes one copy of a key. If there are several sub-filters, and there were more removes since
 * the last compaction than a tenth of the keys, the call also compacts the filter. Returns false if
 * the filter contains no copy of the key. */
BLY_API bool bly_rb_cuckoo_remove(bly_rb_cuckoo *f, const void *key, size_t len);

/* Compacts a filter: moves fingerprints from the newest sub-filters to free slots of older ones,
 * frees sub-filters that become empty, and resets the count of removes. Allocates nothing. */
BLY_API void bly_rb_cuckoo_compact(bly_rb_cuckoo *f);

/* The state of a cuckoo filter, which bly_rb_cuckoo_get_info returns. */
typedef struct bly_rb_cuckoo_info {
    uint64_t items;   /* number of copies stored */
    uint64_t deletes; /* number of copies removed since the last compaction */
    uint64_t buckets; /* number of buckets of the first sub-filter */
    uint64_t filters; /* number of sub-filters, at least 1 */
    uint64_t bucket_size, max_iterations, expansion;
    uint64_t size;       /* what CF.INFO shows as Size: 40 + 16 * filters + slots */
    uint64_t memory;     /* bytes allocated */
    uint64_t data_bytes; /* number of bytes of all slots: the offset at which bly_rb_cuckoo_read
                            ends */
} bly_rb_cuckoo_info;
BLY_API bly_rb_cuckoo_info bly_rb_cuckoo_get_info(const bly_rb_cuckoo *f);

/* A sub-filter. The members are in the order of the fields in an RDB file. bly_rb_cuckoo_sub
 * returns sub-filter i, which must be below bly_rb_cuckoo_info.filters. */
typedef struct bly_rb_sub {
    uint64_t buckets;
    bly_bytes slots; /* borrowed, until the filter changes or is destroyed */
} bly_rb_sub;
BLY_API bly_rb_sub bly_rb_cuckoo_sub(const bly_rb_cuckoo *f, uint64_t i);

/* Writes the header of a cuckoo filter in SCANDUMP. (RedisBloom does not dump a cuckoo filter
 * without keys.) */
BLY_API void bly_rb_cuckoo_header(const bly_rb_cuckoo *f, uint8_t to[BLY_RB_CUCKOO_HEADER]);
/* Creates a cuckoo filter from a header of SCANDUMP, as bly_rb_bloom_parse creates a chain. All
 * slots are empty. Errors: those of bly_rb_bloom_parse. */
BLY_CHECKED bly_status bly_rb_cuckoo_parse(const void *header, size_t size, uint64_t max_bytes,
                                           const bly_allocator *a, bly_rb_cuckoo **out);
/* Returns a part of the slots of all sub-filters, as bly_rb_bloom_read does for bits. */
BLY_API bly_bytes bly_rb_cuckoo_read(const bly_rb_cuckoo *f, uint64_t offset, size_t most);
/* Stores bytes that bly_rb_cuckoo_read has returned for the same offset.
 * Errors: those of bly_rb_bloom_write. */
BLY_CHECKED bly_status bly_rb_cuckoo_write(bly_rb_cuckoo *f, uint64_t offset, const void *data,
                                           size_t size);

/* The first fields of a cuckoo filter in an RDB file. Encodings below 4 have only filters, buckets
 * and items, and for each sub-filter only its slots. For such data, set the other fields to the
 * settings of the host; `deletes` is ignored. The slots override these settings: the bucket size
 * becomes the number of slots divided by the number of buckets, and the expansion becomes 1 if the
 * sub-filters have equal sizes. */
typedef struct bly_rb_cuckoo_fields {
    uint64_t encoding;
    uint64_t filters, buckets, items, deletes;
    uint64_t bucket_size, max_iterations, expansion;
} bly_rb_cuckoo_fields;

/* Creates a cuckoo filter from the fields of an RDB file. Afterwards pass the sub-filters in order
 * to bly_rb_cuckoo_load_sub, then call bly_rb_cuckoo_load_end, by the rules of bly_rb_bloom_load.
 * Errors: those of bly_rb_bloom_load. */
BLY_CHECKED bly_status bly_rb_cuckoo_load(const bly_rb_cuckoo_fields *fields, uint64_t max_bytes,
                                          const bly_allocator *a, bly_rb_cuckoo **out);

/* Appends a sub-filter, and copies its slots. If the encoding is below 4, `buckets` is ignored.
 * Errors: BLY_ECORRUPT (also if there are too many sub-filters), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_rb_cuckoo_load_sub(bly_rb_cuckoo *f, const bly_rb_sub *sub);
/* Completes a cuckoo filter.
 * Errors: BLY_ECORRUPT (sub-filters are missing, or there are more items than slots). */
BLY_CHECKED bly_status bly_rb_cuckoo_load_end(bly_rb_cuckoo *f);

/* Limits the number of bytes that another sub-filter may take, as bly_rb_bloom_limit_growth does. 0
 * means 64 times the bytes that were loaded, or 64 bytes for each key that was loaded, or 64 MiB,
 * whichever is largest. (The limit matters, because a few copies of one key suffice to make such a
 * filter grow.) */
BLY_API void bly_rb_cuckoo_limit_growth(bly_rb_cuckoo *f, uint64_t max_bytes);

/* Offers at most `most` memory blocks of a filter to `move`, as bly_filter_defrag does. */
BLY_API size_t bly_rb_cuckoo_defrag(bly_rb_cuckoo *f, size_t from, size_t most,
                                    bly_defrag_move move, void *ctx);
/* Offers the handle of a filter to `move`, as bly_filter_defrag_handle does. */
BLY_API bly_rb_cuckoo *bly_rb_cuckoo_defrag_handle(bly_rb_cuckoo *f, bly_defrag_move move,
                                                   void *ctx);

#ifdef __cplusplus
}
#endif
#endif
