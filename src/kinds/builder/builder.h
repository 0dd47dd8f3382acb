/* builder.h - building a filter from all its keys at once. Internal.
 *
 * The pieces, in the order in which hashes pass through them:
 *
 *   collector   any number of hashes, gathered within a memory limit   builder_collect.c
 *   temp file   what the collector writes when memory runs out         base/temp_file.h
 *   shards      collected hashes, read and sorted shard by shard       builder_shards.c
 *   solver      what a kind supplies: hashes of a shard to its slots   fuse_solve.c, ribbon_solve.c
 *   builder     the public functions of <bloomery/build.h>             builder.c
 */
#ifndef BLYI_KINDS_BUILDER_H
#define BLYI_KINDS_BUILDER_H

#include "base/bits.h"
#include "base/temp_file.h"
#include "filter/filter.h"

#include <bloomery/hash.h>

/* ---- collector (builder_collect.c) ----------------------------------------------------------- */

enum {
    BLYI_PART_BITS = 10,
    BLYI_PARTS = 1 << BLYI_PART_BITS,
    BLYI_RUN_HASHES = 1 << 17, /* the most hashes of a run that was not merged */
};

/* Hashes grouped by part. The leading bits of a hash's lo are the number of its part. */
typedef struct blyi_run {
    struct blyi_run *next;
    uint64_t *words;                     /* the hashes; NULL if the run is in the file */
    void *block;                         /* the allocation of `words` */
    uint64_t file_offset;                /* where the run begins in the file */
    uint64_t part_start[BLYI_PARTS + 1]; /* part p: hashes part_start[p] .. part_start[p+1]-1 */
} blyi_run;

typedef struct blyi_collector {
    bly_allocator alloc;
    uint64_t memory_limit;    /* for runs, in bytes; 0: no limit */
    uint64_t memory_used;     /* bytes of the runs in memory */
    uint64_t file_bytes;      /* bytes written to the file so far */
    uint64_t count;           /* number of all hashes */
    unsigned part_bits;       /* leading bits of lo that give the part */
    unsigned stride;          /* words per hash, in buffer and runs: 1 or 2 */
    uint32_t buffered;        /* hashes in the buffer */
    uint32_t buffer_capacity; /* in hashes */
    uint64_t *buffer;         /* NULL at first */
    void *buffer_block;
    blyi_run *runs; /* the newest first; those in the file last */
    blyi_run *mark; /* the newest run that existed before the present call */
    char *path;     /* of the temporary file; a template that ends in XXXXXX */
    int file;       /* its descriptor; -1: none yet */
} blyi_collector;

/* Initialises a collector, which creates its temporary file, if it needs one, in `folder`. Returns
 * BLY_OK or BLY_ENOMEM. The caller must call blyi_collector_destroy in either case. */
bly_status blyi_collector_init(blyi_collector *c, const bly_allocator *a, uint64_t memory_limit,
                               const char *folder);
void blyi_collector_destroy(blyi_collector *c);

/* Adds n hashes: those of `keys` or, if that is NULL, those at `h`. Returns BLY_OK, BLY_ENOMEM or
 * BLY_EIO. After a failure the collector is unchanged. */
bly_status blyi_collector_add(blyi_collector *c, const bly_hasher *hasher, const bly_bytes *keys,
                              const bly_hash *h, size_t n);

/* Ends adding: makes a run of the buffer. If there are few hashes, it uses fewer parts. */
bly_status blyi_collector_finish(blyi_collector *c);

/* Adds the number of hashes of each part p in all runs to count[p]. */
void blyi_collector_count_parts(const blyi_collector *c, uint64_t *count);

/* Copies the first n hashes of a part to h. Different threads may do this for different parts.
 * Returns BLY_OK or BLY_EIO. */
bly_status blyi_collector_read_part(const blyi_collector *c, uint64_t part, bly_hash *h,
                                    uint64_t n);

/* Overwrites the first n hashes of a part with those at h. Different threads may do this for
 * different parts. Returns BLY_OK or BLY_EIO. */
bly_status blyi_collector_write_part(const blyi_collector *c, uint64_t part, const bly_hash *h,
                                     uint64_t n);

/* ---- shards (builder_shards.c) --------------------------------------------------------------- */

typedef struct blyi_shards {
    blyi_collector *source;
    bool sorted;
    uint64_t parts;
    uint64_t total;  /* hashes of all parts; after sorting, distinct ones */
    uint64_t *count; /* number of hashes in each part */
    void *count_block;
} blyi_shards;

/* Ends collecting and initialises *s. Returns BLY_OK, BLY_ENOMEM or BLY_EIO. The caller must call
 * blyi_shards_destroy in any case. */
bly_status blyi_shards_init(blyi_shards *s, blyi_collector *source);
void blyi_shards_destroy(blyi_shards *s);

/* Sorts every part by (lo, hi) and drops repeats, on at most `workers` threads and in about
 * `memory` bytes (0: no limit). Returns BLY_OK, BLY_ENOMEM or BLY_EIO. */
bly_status blyi_shards_sort(blyi_shards *s, unsigned workers, uint64_t memory);

/* The number of hashes in a shard. `shards` is a power of two up to s->parts. */
uint64_t blyi_shards_count(const blyi_shards *s, unsigned shards, unsigned shard);

/* Copies the hashes of a shard to `to`. Different threads may do this for different shards. Returns
 * BLY_OK or BLY_EIO. */
bly_status blyi_shards_read(const blyi_shards *s, unsigned shards, unsigned shard, bly_hash *to);

/* Reads one shard part by part. */
typedef struct blyi_shard_reader {
    const blyi_shards *source;
    uint64_t first_part, parts; /* of the shard */
    uint64_t total;             /* hashes in the shard */
    bly_hash *buffer;           /* with space for the largest part */
} blyi_shard_reader;

blyi_shard_reader blyi_shard_reader_for(const blyi_shards *s, unsigned shards, unsigned shard,
                                        bly_hash *buffer);

/* Copies the hashes of part i < parts to the buffer, and sets *n to their number. Returns BLY_OK or
 * BLY_EIO. */
bly_status blyi_shard_reader_part(const blyi_shard_reader *reader, uint64_t i, size_t *n);

/* Sorts by (lo, hi), drops repeats, and returns the number of hashes left. All hashes have the same
 * `common` leading bits in lo. `scratch` has space for n. */
size_t blyi_sort_unique(bly_hash *h, size_t n, bly_hash *scratch, unsigned common);

/* ---- threads (builder_shards.c) -------------------------------------------------------------- */

enum { BLYI_MAX_WORKERS = 64 };

/* Performs one task. `worker` numbers the threads that run at the same time: 0 .. workers-1. */
typedef bly_status blyi_task_fn(void *ctx, unsigned worker, uint64_t task);

/* Runs tasks 0 .. tasks-1 on at most `workers` threads, including the calling one, and returns when
 * all threads have finished. After a failure no further task is started; the first failure is
 * returned, with its errno. Threads that cannot be started are left out. */
bly_status blyi_run_tasks(unsigned workers, uint64_t tasks, blyi_task_fn *fn, void *ctx);

/* ---- solver: what a kind supplies ------------------------------------------------------------ */

/* The builder spreads hashes over shards by mulhi(lo, shards), asks for one geometry that suits the
 * fullest shard, creates a filter of that geometry, and has the shards solved, several at a time.
 * The number of shards is a power of two. Inside a shard, lo * shards (its low 64 bits) replaces
 * lo: it is spread as evenly over the shard as lo was over all of them.
 *
 * A solver has one of two functions. `solve` gets each shard sorted and without repeats.
 * `solve_parts` reads the hashes part by part, unsorted, and must notice repeats itself. Its result
 * must not depend on the order within a part. */
typedef struct blyi_solver {
    uint64_t shard_keys; /* the preferred number of keys per shard */
    unsigned max_shards;
    /* Plans the geometry of `shards` shards, each for at most `max_keys` keys (1 or more), at
     * `fpr`. `attempt` is the number of earlier plans with which some shard could not be solved. */
    bly_status (*plan)(uint64_t max_keys, unsigned shards, double fpr, unsigned attempt,
                       bly_geometry *out);
    /* Solves one shard of the filter, whose part of the body is zero, from n distinct hashes sorted
     * by lo (then hi). May overwrite the hashes. Allocates scratch memory from `a`. Other threads
     * solve other shards at the same time. Returns BLY_OK; BLY_EFULL if the shard cannot be solved
     * in this size; or BLY_ENOMEM. */
    bly_status (*solve)(bly_filter *f, unsigned shard, bly_hash *h, size_t n,
                        const bly_allocator *a);
    /* Solves one shard from the hashes of `reader`. `work` points to work_bytes(geometry) bytes of
     * any value. Returns the statuses of `solve`; BLY_EIO; or BLY_EEXISTS if a hash is repeated. In
     * that case the builder sorts all hashes, counts the distinct ones, and starts again. */
    bly_status (*solve_parts)(bly_filter *f, unsigned shard, const blyi_shard_reader *reader,
                              void *work, const bly_allocator *a);
    uint64_t (*work_bytes)(const bly_geometry *g);
    /* The approximate number of bytes of scratch memory that solving a shard of n keys takes. */
    uint64_t (*scratch_bytes)(uint64_t n);
} blyi_solver;

/* The shard of a hash. */
static inline unsigned blyi_shard_of(bly_hash h, unsigned shards) {
    return (unsigned)blyi_mulhi(h.lo, shards);
}

/* The position of a hash in its shard, as a fraction of 2^64. */
static inline uint64_t blyi_shard_position(bly_hash h, unsigned shards) {
    return h.lo * shards;
}

#endif
