/* Counts, sorts and reads the collected hashes of each shard, on several threads.
 *
 * The number of shards is a power of two and at most the number of the collector's parts, so every
 * shard consists of whole parts, in order. Within a part hashes are unsorted at first, and may
 * repeat. For a solver that needs them sorted and distinct, blyi_shards_sort sorts the parts one by
 * one and writes each back to where it was read from.
 *
 * Sorting. Hashes are spread evenly, so one distribution into about as many buckets as there are
 * hashes leaves each within a step or two of its final position, and insertion sort does the rest:
 * two passes over the data, no function calls, hardly any comparisons. Equal hashes become
 * neighbours and are dropped. Hashes that are not spread evenly (the same key a million times, a
 * poor hash function of the caller) leave large buckets. These are distributed again by the bits
 * that follow. Buckets that are still large after the third distribution are sorted by heapsort,
 * which takes n log n steps at worst, and n if all hashes are equal.
 */
#include "base/memory.h"
#include "kinds/builder/builder.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct task_pool {
    blyi_task_fn *fn;
    void *ctx;
    uint64_t tasks;
    pthread_mutex_t lock; /* protects the members that follow */
    uint64_t next;
    unsigned workers;
    bly_status status;
    int error; /* errno of the thread that failed */
} task_pool;

/* Sets *task to the next task. Returns false if no task is left, or if one has failed. */
static bool task_pool_next(task_pool *p, uint64_t *task) {
    (void)pthread_mutex_lock(&p->lock);
    bool some = p->status == BLY_OK && p->next < p->tasks;
    *task = some ? p->next++ : 0;
    (void)pthread_mutex_unlock(&p->lock);
    return some;
}

static void *task_pool_work(void *ctx) {
    task_pool *p = ctx;
    uint64_t task;
    (void)pthread_mutex_lock(&p->lock);
    unsigned self = p->workers++;
    (void)pthread_mutex_unlock(&p->lock);
    while (task_pool_next(p, &task)) {
        bly_status status = p->fn(p->ctx, self, task);
        int error = errno;
        if (status == BLY_OK)
            continue;
        (void)pthread_mutex_lock(&p->lock);
        if (p->status == BLY_OK) {
            p->status = status;
            p->error = error;
        }
        (void)pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

bly_status blyi_run_tasks(unsigned workers, uint64_t tasks, blyi_task_fn *fn, void *ctx) {
    task_pool p = {.fn = fn, .ctx = ctx, .tasks = tasks, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[BLYI_MAX_WORKERS];
    unsigned started = 0;
    while (started + 1 < workers && started + 1 < tasks && started + 1 < BLYI_MAX_WORKERS &&
           pthread_create(&threads[started], NULL, task_pool_work, &p) == 0)
        started++;
    (void)task_pool_work(&p);
    while (started > 0)
        (void)pthread_join(threads[--started], NULL);
    (void)pthread_mutex_destroy(&p.lock);
    if (p.status != BLY_OK)
        errno = p.error;
    return p.status;
}

/* ---- sorting --------------------------------------------------------------------------------- */

enum {
    SORT_SMALL = 24,    /* up to this many hashes are sorted by insertion */
    SORT_MAX_BITS = 12, /* of one distribution, so that its counters fit the first-level cache */
    SORT_MAX_DEPTH = 3,
};

static inline bool hash_is_before(bly_hash a, bly_hash b) {
    return a.lo < b.lo || (a.lo == b.lo && a.hi < b.hi);
}

static inline bool hash_is_same(bly_hash a, bly_hash b) {
    return a.lo == b.lo && a.hi == b.hi;
}

/* Sorts n hashes, of which few are far from their final position, into `to`. Returns how many are
 * distinct. */
static size_t insertion_sort_unique(bly_hash *to, const bly_hash *from, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bly_hash h = from[i];
        size_t at = kept;
        while (at > 0 && !hash_is_before(to[at - 1], h))
            at--;
        if (at < kept && hash_is_same(to[at], h))
            continue;
        for (size_t j = kept++; j > at; j--)
            to[j] = to[j - 1];
        to[at] = h;
    }
    return kept;
}

static void heap_sift(bly_hash *h, size_t at, size_t n) {
    bly_hash top = h[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && hash_is_before(h[child], h[child + 1]))
            child++;
        if (!hash_is_before(top, h[child]))
            break;
        h[at] = h[child];
    }
    h[at] = top;
}

static size_t heap_sort_unique(bly_hash *h, size_t n) {
    for (size_t i = n / 2; i-- > 0;)
        heap_sift(h, i, n);
    for (size_t end = n; end-- > 1;) {
        bly_hash top = h[0];
        h[0] = h[end];
        h[end] = top;
        heap_sift(h, 0, end);
    }
    size_t kept = n > 0;
    for (size_t i = 1; i < n; i++)
        if (!hash_is_same(h[i], h[kept - 1]))
            h[kept++] = h[i];
    return kept;
}

/* The `bits` bits of lo that follow the first `skip`. */
static inline size_t sort_digit(bly_hash h, unsigned skip, unsigned bits) {
    return (size_t)(h.lo << skip >> (64 - bits));
}

static unsigned sort_digit_bits(size_t n, unsigned skip) {
    unsigned bits = 0;
    while (bits < SORT_MAX_BITS && n >> (bits + 1) > 0)
        bits++;
    return bits < 64 - skip ? bits : 64 - skip;
}

/* Sorts hashes whose first `skip` bits of lo are equal, and drops repeats. Returns the number
 * left. */
static size_t sort_unique_from(bly_hash *h, size_t n, bly_hash *scratch, unsigned skip,
                               unsigned depth) {
    uint32_t end[(1 << SORT_MAX_BITS) + 1];
    if (n <= SORT_SMALL || n > UINT32_MAX || depth == SORT_MAX_DEPTH || skip >= 64) {
        if (n > SORT_SMALL)
            return heap_sort_unique(h, n);
        memcpy(scratch, h, n * sizeof *h);
        return insertion_sort_unique(h, scratch, n);
    }
    unsigned bits = sort_digit_bits(n, skip);
    uint32_t largest = 0;
    size_t buckets = (size_t)1 << bits, kept = 0, from = 0;
    memset(end, 0, (buckets + 1) * sizeof *end);
    for (size_t i = 0; i < n; i++)
        end[sort_digit(h[i], skip, bits) + 1]++;
    for (size_t b = 1; b <= buckets; b++) {
        largest = end[b] > largest ? end[b] : largest;
        end[b] += end[b - 1];
    }
    /* end[b] is the start of bucket b, and after this loop its end. */
    for (size_t i = 0; i < n; i++)
        scratch[end[sort_digit(h[i], skip, bits)]++] = h[i];
    if (largest <= SORT_SMALL)
        return insertion_sort_unique(h, scratch, n);
    for (size_t b = 0; b < buckets; from = end[b++]) {
        size_t some = end[b] - from;
        if (some <= SORT_SMALL) {
            kept += insertion_sort_unique(h + kept, scratch + from, some);
            continue;
        }
        /* The sorted hashes in h end at or before `from`: the rest of h is free. */
        some = sort_unique_from(scratch + from, some, h + from, skip + bits, depth + 1);
        memcpy(h + kept, scratch + from, some * sizeof *h);
        kept += some;
    }
    return kept;
}

size_t blyi_sort_unique(bly_hash *h, size_t n, bly_hash *scratch, unsigned common) {
    return sort_unique_from(h, n, scratch, common, 0);
}

/* ---- shards ---------------------------------------------------------------------------------- */

bly_status blyi_shards_init(blyi_shards *s, blyi_collector *source) {
    *s = (blyi_shards){.source = source};
    bly_status status = blyi_collector_finish(source);
    if (status)
        return status;
    s->parts = (uint64_t)1 << source->part_bits;
    s->count = blyi_alloc_array(&source->alloc, s->parts * sizeof *s->count, &s->count_block);
    if (!s->count)
        return BLY_ENOMEM;
    blyi_collector_count_parts(source, s->count);
    s->total = source->count;
    return BLY_OK;
}

void blyi_shards_destroy(blyi_shards *s) {
    blyi_free_array(&s->source->alloc, s->count_block);
}

typedef struct part_sort {
    blyi_shards *s;
    bly_hash *buffers; /* one for every worker, with space for two parts */
    uint64_t max_part; /* hashes of the largest part */
} part_sort;

static bly_status shards_sort_part(void *ctx, unsigned worker, uint64_t part) {
    part_sort *j = ctx;
    const blyi_collector *c = j->s->source;
    bly_hash *h = j->buffers + worker * 2 * j->max_part;
    uint64_t n = j->s->count[part];
    bly_status status = blyi_collector_read_part(c, part, h, n);
    if (status)
        return status;
    n = blyi_sort_unique(h, (size_t)n, h + j->max_part, c->part_bits);
    j->s->count[part] = n;
    return blyi_collector_write_part(c, part, h, n);
}

bly_status blyi_shards_sort(blyi_shards *s, unsigned workers, uint64_t memory) {
    blyi_collector *c = s->source;
    part_sort j = {.s = s, .max_part = 1};
    void *block;
    for (uint64_t p = 0; p < s->parts; p++)
        j.max_part = s->count[p] > j.max_part ? s->count[p] : j.max_part;
    uint64_t each = 2 * j.max_part * sizeof(bly_hash),
             left = memory > c->memory_used ? memory - c->memory_used : 0;
    if (memory && left / each < workers)
        workers = left < 2 * each ? 1 : (unsigned)(left / each);
    j.buffers = blyi_alloc_small_pages(&c->alloc, workers * each, &block);
    if (!j.buffers)
        return BLY_ENOMEM;
    bly_status status = blyi_run_tasks(workers, s->parts, shards_sort_part, &j);
    int saved = errno; /* a caller's allocator may change it */
    blyi_free_array(&c->alloc, block);
    errno = saved;
    s->total = 0;
    for (uint64_t p = 0; p < s->parts; p++)
        s->total += s->count[p];
    s->sorted = true;
    return status;
}

uint64_t blyi_shards_count(const blyi_shards *s, unsigned shards, unsigned shard) {
    uint64_t each = s->parts / shards, n = 0;
    for (uint64_t p = shard * each; p < (shard + (uint64_t)1) * each; p++)
        n += s->count[p];
    return n;
}

bly_status blyi_shards_read(const blyi_shards *s, unsigned shards, unsigned shard, bly_hash *to) {
    uint64_t each = s->parts / shards, from = shard * each;
    bly_status status = BLY_OK;
    for (uint64_t p = from; status == BLY_OK && p < from + each; to += s->count[p++])
        status = blyi_collector_read_part(s->source, p, to, s->count[p]);
    return status;
}

blyi_shard_reader blyi_shard_reader_for(const blyi_shards *s, unsigned shards, unsigned shard,
                                        bly_hash *buffer) {
    uint64_t each = s->parts / shards;
    return (blyi_shard_reader){
        .source = s,
        .first_part = shard * each,
        .parts = each,
        .total = blyi_shards_count(s, shards, shard),
        .buffer = buffer,
    };
}

bly_status blyi_shard_reader_part(const blyi_shard_reader *reader, uint64_t i, size_t *n) {
    uint64_t part = reader->first_part + i;
    *n = (size_t)reader->source->count[part];
    return blyi_collector_read_part(reader->source->source, part, reader->buffer, *n);
}
