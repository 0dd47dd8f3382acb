/* Collects any number of hashes within a memory limit.
 *
 * Hashes are added to a buffer. When it is full, they are copied to a new array, grouped by part,
 * which is called a run. The leading bits of lo are the number of the part. Runs stay in memory.
 * When they exceed the limit, all of them are merged into one run in an unnamed temporary file
 * (base/temp_file.c). At the end builder_shards.c reads the parts of all runs.
 *
 * The buffer, and the cache lines to which its run is being written, fit the second-level cache.
 * Runs are in ordinary pages: their memory is used once, and huge pages can be slow to get (thirty
 * times as slow in a virtual machine that returns idle pages to its host).
 *
 * The default hash has 64 bits, from which both words follow (blyi_hash_from_strong64). While all
 * hashes are of this kind only lo is stored, in half the memory. At the first other hash the
 * collector switches to storing both words of all hashes.
 */
#include "base/memory.h"
#include "hash/mix.h"
#include "kinds/builder/builder.h"

#include <errno.h>
#include <string.h>

#define SPILL_FILE_NAME "/bloomery-XXXXXX"

enum {
    MIN_BUFFER = 1 << 8,   /* hashes in the first buffer */
    HASH_GROUP = 1 << 8,   /* keys hashed at a time */
    SORTED_PART_LOG = 12,  /* a part of 2^12 hashes is sorted in the second-level cache */
    STAGE_WORDS = 1 << 15, /* words written to the file at a time */
};

bly_status blyi_collector_init(blyi_collector *c, const bly_allocator *a, uint64_t memory_limit,
                               const char *folder) {
    *c = (blyi_collector){.alloc = *a,
                          .memory_limit = memory_limit,
                          .part_bits = BLYI_PART_BITS,
                          .stride = 1,
                          .file = -1};
    size_t length = strlen(folder);
    c->path = a->alloc(a->ctx, length + sizeof SPILL_FILE_NAME);
    if (!c->path)
        return BLY_ENOMEM;
    memcpy(c->path, folder, length);
    memcpy(c->path + length, SPILL_FILE_NAME, sizeof SPILL_FILE_NAME);
    return BLY_OK;
}

static uint64_t run_bytes(const blyi_collector *c, const blyi_run *r) {
    return r->part_start[BLYI_PARTS] * c->stride * sizeof *r->words;
}

static void run_free(blyi_collector *c, blyi_run *r) {
    blyi_free_array(&c->alloc, r->block);
    c->alloc.free(c->alloc.ctx, r);
}

/* Drops the runs that are newer than `last`. */
static void collector_drop_runs(blyi_collector *c, const blyi_run *last) {
    int saved = errno; /* a caller's allocator may change it */
    while (c->runs != last) {
        blyi_run *r = c->runs;
        c->runs = r->next;
        if (r->words)
            c->memory_used -= run_bytes(c, r);
        run_free(c, r);
    }
    errno = saved;
}

static void collector_drop_buffer(blyi_collector *c) {
    blyi_free_array(&c->alloc, c->buffer_block);
    c->buffer_block = NULL;
    c->buffer = NULL;
    c->buffered = c->buffer_capacity = 0;
}

void blyi_collector_destroy(blyi_collector *c) {
    collector_drop_buffer(c);
    collector_drop_runs(c, NULL);
    if (c->path)
        c->alloc.free(c->alloc.ctx, c->path);
    if (c->file >= 0)
        blyi_temp_file_close(c->file);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static inline size_t collector_part_of(uint64_t lo, unsigned part_bits) {
    return (size_t)(lo >> 1 >> (63 - part_bits));
}

/* Copies the buffer into a run, grouped by part. */
static void run_fill(const blyi_collector *c, blyi_run *r) {
    const size_t buffered = c->buffered, stride = c->stride;
    const unsigned part_bits = c->part_bits;
    const uint64_t *from = c->buffer;
    uint32_t at[BLYI_PARTS + 1] = {0};
    for (size_t i = 0; i < buffered; i++)
        at[collector_part_of(from[i * stride], part_bits) + 1]++;
    for (size_t p = 0; p < BLYI_PARTS; p++)
        at[p + 1] += at[p];
    for (size_t p = 0; p <= BLYI_PARTS; p++)
        r->part_start[p] = at[p];
    if (stride == 1) {
        for (size_t i = 0; i < buffered; i++)
            r->words[at[collector_part_of(from[i], part_bits)]++] = from[i];
        return;
    }
    for (size_t i = 0; i < buffered; i++)
        memcpy(r->words + 2 * (size_t)at[collector_part_of(from[2 * i], part_bits)]++, from + 2 * i,
               sizeof(bly_hash));
}

static bly_status collector_open_file(blyi_collector *c) {
    const char *name = SPILL_FILE_NAME;
    if (c->file >= 0)
        return BLY_OK;
    memcpy(c->path + strlen(c->path) - strlen(name), name, strlen(name));
    return blyi_temp_file_open(c->path, &c->file);
}

/* Writes the runs from `first` up to, but not including, `end` to the file, part by part, through
 * the buffer `stage`. */
static bly_status collector_write_runs(blyi_collector *c, const blyi_run *first,
                                       const blyi_run *end, uint64_t *stage) {
    uint64_t at = c->file_bytes;
    size_t staged = 0;
    bly_status status = BLY_OK;
    for (size_t p = 0; p < BLYI_PARTS; p++)
        for (const blyi_run *r = first; r != end; r = r->next) {
            const uint64_t *from = r->words + r->part_start[p] * c->stride;
            size_t left = (size_t)(r->part_start[p + 1] - r->part_start[p]) * c->stride;
            while (left > 0 && status == BLY_OK) {
                size_t some = left < STAGE_WORDS - staged ? left : STAGE_WORDS - staged;
                memcpy(stage + staged, from, some * sizeof *stage);
                from += some;
                left -= some;
                staged += some;
                if (staged < STAGE_WORDS)
                    continue;
                status = blyi_temp_file_write(c->file, at, stage, sizeof *stage * STAGE_WORDS);
                at += sizeof *stage * STAGE_WORDS;
                staged = 0;
            }
        }
    return status ? status : blyi_temp_file_write(c->file, at, stage, staged * sizeof *stage);
}

/* Replaces the runs from *first up to, but not including, `end`, which are in memory, by one run in
 * the file. */
static bly_status collector_merge_runs(blyi_collector *c, blyi_run **first, const blyi_run *end,
                                       uint64_t *stage) {
    if (*first == end)
        return BLY_OK;
    blyi_run *all = c->alloc.alloc(c->alloc.ctx, sizeof *all);
    if (!all)
        return BLY_ENOMEM;
    *all = (blyi_run){.file_offset = c->file_bytes};
    for (const blyi_run *r = *first; r != end; r = r->next)
        for (size_t p = 0; p <= BLYI_PARTS; p++)
            all->part_start[p] += r->part_start[p];
    bly_status status = collector_write_runs(c, *first, end, stage);
    if (status) {
        run_free(c, all);
        return status;
    }
    c->file_bytes += run_bytes(c, all);
    c->memory_used -= run_bytes(c, all);
    blyi_run *r = *first;
    *first = all;
    while (r != end) {
        blyi_run *next = r->next;
        run_free(c, r);
        r = next;
    }
    all->next = r;
    return BLY_OK;
}

/* Moves every run that is in memory to the file. Merges the runs from before the present call of
 * blyi_collector_add separately from newer ones, so that the call can be undone. */
static bly_status collector_spill(blyi_collector *c) {
    bly_status status = collector_open_file(c);
    void *block = NULL;
    if (status)
        return status;
    uint64_t *stage = blyi_alloc_array(&c->alloc, STAGE_WORDS * sizeof *stage, &block);
    if (!stage)
        return BLY_ENOMEM;
    blyi_run **old = &c->runs, *in_file = c->mark;
    while (*old != c->mark)
        old = &(*old)->next;
    while (in_file && in_file->words)
        in_file = in_file->next;
    status = collector_merge_runs(c, old, in_file, stage);
    if (status == BLY_OK) {
        c->mark = *old;
        status = collector_merge_runs(c, &c->runs, c->mark, stage);
    }
    int saved = errno;
    blyi_free_array(&c->alloc, block);
    errno = saved;
    return status;
}

static bly_status collector_make_run(blyi_collector *c) {
    const uint64_t bytes = (uint64_t)c->buffered * c->stride * sizeof *c->buffer;
    if (c->memory_limit && c->memory_used && c->memory_used + bytes > c->memory_limit) {
        bly_status status = collector_spill(c);
        if (status)
            return status;
    }
    blyi_run *r = c->alloc.alloc(c->alloc.ctx, sizeof *r);
    if (!r)
        return BLY_ENOMEM;
    r->words = blyi_alloc_small_pages(&c->alloc, bytes, &r->block);
    if (!r->words) {
        c->alloc.free(c->alloc.ctx, r);
        return BLY_ENOMEM;
    }
    run_fill(c, r);
    c->memory_used += bytes;
    r->next = c->runs;
    c->runs = r;
    c->buffered = 0;
    return BLY_OK;
}

bly_status blyi_collector_finish(blyi_collector *c) {
    bly_status status = BLY_OK;
    if (!c->runs) {
        c->part_bits = 0;
        while (c->part_bits < BLYI_PART_BITS &&
               c->buffered >> (c->part_bits + 1) >= 1 << SORTED_PART_LOG)
            c->part_bits++;
    }
    c->mark = c->runs;
    if (c->buffered > 0)
        status = collector_make_run(c);
    collector_drop_buffer(c);
    return status;
}

/* ---- add ------------------------------------------------------------------------------------- */

/* Replaces the buffer by one with space for `want` hashes and at least twice its capacity, up to
 * BLYI_RUN_HASHES hashes. */
static bly_status collector_grow_buffer(blyi_collector *c, size_t want) {
    uint32_t capacity = c->buffer_capacity ? 2 * c->buffer_capacity : MIN_BUFFER;
    while (capacity < BLYI_RUN_HASHES && capacity < want)
        capacity *= 2;
    void *block;
    const size_t each = c->stride * sizeof *c->buffer;
    uint64_t *buffer = blyi_alloc_small_pages(&c->alloc, capacity * each, &block);
    if (!buffer)
        return BLY_ENOMEM;
    if (c->buffered)
        memcpy(buffer, c->buffer, c->buffered * each);
    blyi_free_array(&c->alloc, c->buffer_block);
    c->buffer = buffer;
    c->buffer_block = block;
    c->buffer_capacity = capacity;
    return BLY_OK;
}

/* Makes space in the buffer for up to n more hashes. Sets *some to the number for which there is
 * space. */
static bly_status collector_reserve(blyi_collector *c, size_t n, size_t *some) {
    bly_status status = BLY_OK;
    if (c->buffered == BLYI_RUN_HASHES)
        status = collector_make_run(c);
    if (status == BLY_OK && c->buffer_capacity < BLYI_RUN_HASHES &&
        n > c->buffer_capacity - c->buffered)
        status = collector_grow_buffer(c, c->buffered + n);
    *some = n < c->buffer_capacity - c->buffered ? n : c->buffer_capacity - c->buffered;
    return status;
}

/* Appends n hashes, for which there is space. */
static void collector_append(blyi_collector *c, const bly_hash *h, size_t n) {
    uint64_t *to = c->buffer + (size_t)c->buffered * c->stride;
    if (c->stride == 2)
        memcpy(to, h, n * sizeof *h);
    else
        for (size_t i = 0; i < n; i++)
            to[i] = h[i].lo;
    c->buffered += (uint32_t)n;
}

static void collector_append_keys(blyi_collector *c, const bly_hasher *hasher,
                                  const bly_bytes *keys, size_t n) {
    bly_hash h[HASH_GROUP];
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < HASH_GROUP ? n - done : HASH_GROUP;
        bly_hash_keys(hasher, keys + done, some, h);
        collector_append(c, h, some);
    }
}

static bly_status collector_add(blyi_collector *c, const bly_hasher *hasher, const bly_bytes *keys,
                                const bly_hash *h, size_t n) {
    bly_status status = BLY_OK;
    c->mark = c->runs;
    /* A run must have either only hashes of this call or none of them, so that a failed call can be
     * undone. */
    if (c->buffered && n > BLYI_RUN_HASHES - c->buffered)
        status = collector_make_run(c);
    if (status)
        return status;
    c->mark = c->runs;
    uint32_t buffered = c->buffered;
    for (size_t done = 0, some; done < n; done += some) {
        status = collector_reserve(c, n - done, &some);
        if (status) {
            collector_drop_runs(c, c->mark);
            c->buffered = buffered;
            return status;
        }
        if (keys)
            collector_append_keys(c, hasher, keys + done, some);
        else
            collector_append(c, h + done, some);
    }
    return BLY_OK;
}

/* ---- storing one word per hash, or both ------------------------------------------------------ */

/* Whether hi follows from lo in every hash. */
static bool hashes_are_derived(const bly_hash *h, size_t n) {
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i++)
        differ |= blyi_hash_from_strong64(h[i].lo).hi ^ h[i].hi;
    return differ == 0;
}

/* Adds all hashes of `old` to a collector that stores whole hashes. */
static bly_status collector_add_from(blyi_collector *c, const blyi_collector *old) {
    void *block = NULL;
    uint64_t count[BLYI_PARTS] = {0}, max_part = 1;
    blyi_collector_count_parts(old, count);
    for (size_t p = 0; p < BLYI_PARTS; p++)
        max_part = count[p] > max_part ? count[p] : max_part;
    bly_hash *h = blyi_alloc_array(&c->alloc, max_part * sizeof *h, &block);
    bly_status status = h ? BLY_OK : BLY_ENOMEM;
    for (size_t p = 0; status == BLY_OK && p < BLYI_PARTS; p++) {
        status = blyi_collector_read_part(old, p, h, count[p]);
        if (status == BLY_OK)
            status = collector_add(c, NULL, NULL, h, (size_t)count[p]);
    }
    for (size_t i = 0; status == BLY_OK && i < old->buffered; i++) {
        bly_hash one = blyi_hash_from_strong64(old->buffer[i]);
        status = collector_add(c, NULL, NULL, &one, 1);
    }
    int saved = errno;
    blyi_free_array(&c->alloc, block);
    errno = saved;
    return status;
}

/* Makes the collector store both words of every hash, also of those it has. If there is a file, the
 * hashes are rewritten to it after the old ones. */
static bly_status collector_use_whole_hashes(blyi_collector *c) {
    blyi_collector old = *c;
    const uint64_t before = c->memory_used;
    c->stride = 2;
    if (c->count == 0) {
        collector_drop_buffer(c);
        return BLY_OK;
    }
    c->runs = c->mark = NULL;
    c->buffer = NULL;
    c->buffer_block = NULL;
    c->buffered = c->buffer_capacity = 0;
    bly_status status = collector_add_from(c, &old);
    int saved = errno;
    blyi_collector *gone = status ? c : &old;
    if (status) {
        old.file = c->file;
        old.file_bytes = c->file_bytes;
    }
    collector_drop_buffer(gone);
    collector_drop_runs(gone, NULL);
    if (status)
        *c = old;
    else
        c->memory_used -= before;
    errno = saved;
    return status;
}

bly_status blyi_collector_add(blyi_collector *c, const bly_hasher *hasher, const bly_bytes *keys,
                              const bly_hash *h, size_t n) {
    bly_status status = BLY_OK;
    bool derived = keys ? hasher->id == BLY_HASH_XXH3 : c->stride == 1 && hashes_are_derived(h, n);
    if (c->stride == 1 && !derived)
        status = collector_use_whole_hashes(c);
    if (status == BLY_OK)
        status = collector_add(c, hasher, keys, h, n);
    if (status == BLY_OK)
        c->count += n;
    return status;
}

/* ---- parts ----------------------------------------------------------------------------------- */

void blyi_collector_count_parts(const blyi_collector *c, uint64_t *count) {
    for (const blyi_run *r = c->runs; r; r = r->next)
        for (size_t p = 0; p < (size_t)1 << c->part_bits; p++)
            count[p] += r->part_start[p + 1] - r->part_start[p];
}

/* The number of hashes in a part of a run, but at most n. */
static uint64_t run_part_count(const blyi_run *r, uint64_t part, uint64_t n) {
    uint64_t some = r->part_start[part + 1] - r->part_start[part];
    return some < n ? some : n;
}

static bly_status run_read(const blyi_collector *c, const blyi_run *r, uint64_t from, bly_hash *h,
                           size_t n) {
    const size_t bytes = n * c->stride * sizeof *r->words;
    if (c->stride == 2 && !r->words)
        return blyi_temp_file_read(c->file, r->file_offset + from * sizeof *h, h, bytes);
    if (c->stride == 2) {
        memcpy(h, r->words + 2 * from, bytes);
        return BLY_OK;
    }
    /* If the run is in the file, its words are read into the second half of h. Each word is used
     * before it is overwritten. */
    const uint64_t *words = r->words ? r->words + from : (uint64_t *)(void *)h + n;
    if (!r->words) {
        bly_status status = blyi_temp_file_read(c->file, r->file_offset + from * sizeof *words,
                                                (uint64_t *)(void *)h + n, bytes);
        if (status)
            return status;
    }
    for (size_t i = 0; i < n; i++)
        h[i] = blyi_hash_from_strong64(words[i]);
    return BLY_OK;
}

static bly_status run_write(const blyi_collector *c, const blyi_run *r, uint64_t from,
                            const bly_hash *h, size_t n) {
    uint64_t words[HASH_GROUP], at = r->file_offset + from * c->stride * sizeof *words;
    bly_status status = BLY_OK;
    if (c->stride == 2 && !r->words)
        return blyi_temp_file_write(c->file, at, h, n * sizeof *h);
    if (c->stride == 2)
        memcpy(r->words + 2 * from, h, n * sizeof *h);
    else if (r->words)
        for (size_t i = 0; i < n; i++)
            r->words[from + i] = h[i].lo;
    else
        for (size_t done = 0, some; status == BLY_OK && done < n; done += some) {
            some = n - done < HASH_GROUP ? n - done : HASH_GROUP;
            for (size_t i = 0; i < some; i++)
                words[i] = h[done + i].lo;
            status = blyi_temp_file_write(c->file, at + done * sizeof *words, words,
                                          some * sizeof *words);
        }
    return status;
}

bly_status blyi_collector_read_part(const blyi_collector *c, uint64_t part, bly_hash *h,
                                    uint64_t n) {
    bly_status status = BLY_OK;
    for (const blyi_run *r = c->runs; status == BLY_OK && n > 0; r = r->next) {
        uint64_t some = run_part_count(r, part, n);
        status = run_read(c, r, r->part_start[part], h, (size_t)some);
        h += some;
        n -= some;
    }
    return status;
}

bly_status blyi_collector_write_part(const blyi_collector *c, uint64_t part, const bly_hash *h,
                                     uint64_t n) {
    bly_status status = BLY_OK;
    for (const blyi_run *r = c->runs; status == BLY_OK && n > 0; r = r->next) {
        uint64_t some = run_part_count(r, part, n);
        status = run_write(c, r, r->part_start[part], h, (size_t)some);
        h += some;
        n -= some;
    }
    return status;
}
