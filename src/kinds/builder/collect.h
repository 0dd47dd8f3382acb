/* collect.h - any number of hashes, gathered within a limit of memory. Internal.
 *
 * Hashes are gathered in a buffer. Whenever it is full, they are copied out of it in the order of
 * their parts, by the leading bits of lo: that is a run. Runs stay in memory; when there is not
 * enough of it, all of them become one run in an unnamed file. shards.h takes it from there.
 *
 * A buffer is small enough for the second cache, and so are the lines that its runs are written to.
 * Runs are of ordinary pages: their memory is used once, and huge pages that have been idle can be
 * slow to get (thirty times as slow, in a virtual machine that gives idle ones back).
 *
 * The default hash has 64 bits, from which both words follow (blyi_hash_from_strong64): then lo is
 * kept alone, in half the memory. With the first hash of another sort all are kept whole.
 */
#ifndef BLYI_KINDS_BUILDER_COLLECT_H
#define BLYI_KINDS_BUILDER_COLLECT_H

#include <bloomery/hash.h>

enum {
    BLYI_PART_BITS = 10,
    BLYI_PARTS = 1 << BLYI_PART_BITS,
    BLYI_RUN = 1 << 17, /* hashes, at most, of one that did not come from a file */
};

typedef struct blyi_run {
    struct blyi_run *next;
    uint64_t *words;                /* of the hashes; NULL when it is in the file */
    void *block;                    /* of the words */
    uint64_t at;                    /* its first byte in the file */
    uint64_t fence[BLYI_PARTS + 1]; /* part p has the run's hashes fence[p] .. fence[p+1]-1 */
} blyi_run;

typedef struct blyi_collect {
    bly_allocator alloc;
    uint64_t memory;  /* for runs, in bytes; 0: as much as it takes */
    uint64_t kept;    /* bytes of the runs in memory */
    uint64_t filed;   /* bytes of the file */
    uint64_t count;   /* of all hashes */
    unsigned bits;    /* a hash's part is its leading so many bits */
    unsigned stride;  /* words of a hash, in buffer and runs: 1 or 2 */
    uint32_t held;    /* hashes in the buffer */
    uint32_t room;    /* and how many fit it */
    uint64_t *buffer; /* NULL at first */
    void *buffer_block;
    blyi_run *runs; /* the newest first; those in the file last */
    blyi_run *mark; /* the newest that was there before the present call */
    char *path;     /* of the file, ending in XXXXXX */
    int file;       /* -1: there is none yet */
} blyi_collect;

/* The file, if it comes to that, is in `folder`. BLY_ENOMEM. blyi_collect_end must follow in any
 * case. */
bly_status blyi_collect_begin(blyi_collect *c, const bly_allocator *a, uint64_t memory,
                              const char *folder);
void blyi_collect_end(blyi_collect *c);

/* Takes n hashes: those of `keys`, or when that is NULL those at `h`. BLY_ENOMEM, BLY_EIO: nothing
 * has changed. */
bly_status blyi_collect_add(blyi_collect *c, const bly_hasher *hasher, const bly_bytes *keys,
                            const bly_hash *h, size_t n);

/* Nothing more will come: makes a run of what is in the buffer. Few hashes get fewer parts. */
bly_status blyi_collect_close(blyi_collect *c);

/* Adds to length[p] how many hashes the runs have of each part p. */
void blyi_part_lengths(const blyi_collect *c, uint64_t *length);

/* Copies the first n of a part's to h, or from there. May run for different parts at once.
 * BLY_EIO. */
bly_status blyi_part_get(const blyi_collect *c, uint64_t part, bly_hash *h, uint64_t n);
bly_status blyi_part_put(const blyi_collect *c, uint64_t part, const bly_hash *h, uint64_t n);

#endif
