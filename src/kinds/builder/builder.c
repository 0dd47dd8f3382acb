/* The builder: creates filters of the kinds that are built from all their keys at once.
 *
 * The builder collects hashes (builder_collect.c), splits them into shards (builder_shards.c),
 * sorted and without repeats if the solver requires that, and the kind's solver (blyi_solver)
 * computes a filter from them. Shards are small enough to be solved within a processor's caches.
 * They are independent, so several threads can solve them at the same time. All shards have the
 * size that the fullest needs.
 *
 * The filter depends only on the set of hashes and the rate: not on the order in which they were
 * added, nor on repeats, memory or threads.
 */
#include "kinds/builder/builder.h"
#include "base/memory.h"
#include "base/struct_size.h"
#include "filter/kind.h"
#include "filter/rate.h"

#include <bloomery/build.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

enum {
    BUILDER_MAX_PLANS = 40, /* plans tried before the hash is considered too weak */
};

static const uint64_t builder_min_memory = (uint64_t)64 << 20;

/* The number of keys that the default hash must suit if no capacity is given. */
static const uint64_t builder_default_keys = (uint64_t)1 << 33;

/* ---- allocator and threads ------------------------------------------------------------------- */

/* An allocator with a lock, because the caller's allocator need not be thread-safe. */
typedef struct locked_allocator {
    pthread_mutex_t lock;
    bly_allocator inner;
} locked_allocator;

static void *locked_alloc(void *ctx, size_t size) {
    locked_allocator *l = ctx;
    (void)pthread_mutex_lock(&l->lock);
    void *ptr = l->inner.alloc(l->inner.ctx, size);
    (void)pthread_mutex_unlock(&l->lock);
    return ptr;
}

static void locked_free(void *ctx, void *ptr) {
    locked_allocator *l = ctx;
    (void)pthread_mutex_lock(&l->lock);
    l->inner.free(l->inner.ctx, ptr);
    (void)pthread_mutex_unlock(&l->lock);
}

static bly_allocator locked_allocator_init(locked_allocator *l, const bly_allocator *inner) {
    *l = (locked_allocator){.lock = PTHREAD_MUTEX_INITIALIZER, .inner = *inner};
    return (bly_allocator){locked_alloc, locked_free, l};
}

/* The default number of threads: one per processor, at most 8. */
static unsigned builder_default_workers(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > 8 ? 8 : (unsigned)online;
}

/* ---- create ---------------------------------------------------------------------------------- */

struct bly_builder {
    const blyi_solver *solver;
    bly_spec spec; /* its allocator is NULL or &own_alloc */
    bly_allocator own_alloc;
    bly_allocator alloc; /* for everything except the filter; thread-safe */
    locked_allocator locked;
    unsigned workers;
    uint64_t memory; /* 0: no limit */
    bool finished;
    blyi_collector collector;
};

static bly_status builder_check_spec(const bly_spec *spec, const blyi_ops *ops) {
    const bly_geometry *g = &spec->geometry;
    bly_geometry planned;
    if (!ops)
        return BLY_EKIND;
    if (!ops->solver)
        return BLY_EUNSUPPORTED;
    if (g->size || g->hashes || g->options || g->detail || spec->sharing != BLY_EXCLUSIVE)
        return BLY_EINVAL;
    if (blyi_spec_fields(spec))
        return BLY_EINVAL;
    if (blyi_hasher_is_empty(&spec->hasher))
        return BLY_EHASHER;
    if (!(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    return ops->solver->plan(1, 1, spec->fpr, 0, &planned);
}

/* Whether n keys have too many collisions of the hash itself for this rate. */
static bool builder_hash_is_too_weak(const bly_spec *spec, uint64_t n) {
    return !spec->allow_weak_hash && blyi_hash_floor((double)n, spec->hasher.bits) > spec->fpr / 10;
}

/* Chooses the default hash, the fastest one whose collisions do not change the plan, even if the
 * rate is a power of two, where the smallest difference could take one more bit. Returns
 * BLY_EWEAKHASH if the hash is too weak for the capacity. */
static bly_status builder_choose_hasher(bly_spec *spec) {
    uint64_t keys = spec->capacity ? spec->capacity : builder_default_keys;
    bly_status status = BLY_OK;
    if (spec->hasher.id == BLY_HASH_NONE) {
        bool enough = blyi_hash_floor((double)keys, 64) <= spec->fpr * BLYI_RATE_TOLERANCE / 2;
        status =
            bly_hasher_init(&spec->hasher, enough ? BLY_HASH_XXH3 : BLY_HASH_XXH3_128, spec->seed);
    }
    if (status == BLY_OK && spec->capacity && builder_hash_is_too_weak(spec, spec->capacity))
        status = BLY_EWEAKHASH;
    return status;
}

bly_status bly_builder_create(const bly_spec *spec, const bly_build_options *options,
                              bly_builder **out) {
    bly_build_options o = {0};
    bly_spec settled;
    *out = NULL;
    if (!blyi_read_struct(&settled, sizeof settled, sizeof settled, spec) ||
        (options && !blyi_read_struct(&o, sizeof o, sizeof o, options)))
        return BLY_EINVAL;
    const blyi_ops *ops = blyi_ops_of(settled.geometry.kind);
    bly_allocator alloc = blyi_allocator_or_default(settled.allocator);
    bly_status status = builder_check_spec(&settled, ops);
    if (status == BLY_OK)
        status = builder_choose_hasher(&settled);
    if (status)
        return status;
    bly_builder *b = alloc.alloc(alloc.ctx, sizeof *b);
    if (!b)
        return BLY_ENOMEM;
    b->solver = ops->solver;
    b->spec = settled;
    b->own_alloc = alloc;
    b->alloc = alloc;
    if (settled.allocator) { /* the default one needs no lock, and gives huge pages */
        b->spec.allocator = &b->own_alloc;
        b->alloc = locked_allocator_init(&b->locked, &alloc);
    }
    b->workers = o.threads ? o.threads : builder_default_workers();
    if (b->workers > BLYI_MAX_WORKERS)
        b->workers = BLYI_MAX_WORKERS;
    b->memory = o.memory && o.memory < builder_min_memory ? builder_min_memory : o.memory;
    status =
        blyi_collector_init(&b->collector, &b->alloc, b->memory / 2, o.folder ? o.folder : "/tmp");
    if (status) {
        bly_builder_destroy(b);
        return status;
    }
    *out = b;
    return BLY_OK;
}

void bly_builder_destroy(bly_builder *b) {
    if (!b)
        return;
    bly_allocator alloc = b->own_alloc;
    blyi_collector_destroy(&b->collector);
    if (b->spec.allocator)
        (void)pthread_mutex_destroy(&b->locked.lock);
    alloc.free(alloc.ctx, b);
}

/* ---- add ------------------------------------------------------------------------------------- */

bly_status bly_builder_add(bly_builder *b, const bly_bytes *keys, size_t n) {
    if (b->finished)
        return BLY_EINVAL;
    return n ? blyi_collector_add(&b->collector, &b->spec.hasher, keys, NULL, n) : BLY_OK;
}

bly_status bly_builder_add_hashes(bly_builder *b, const bly_hash *h, size_t n) {
    if (b->finished)
        return BLY_EINVAL;
    return n ? blyi_collector_add(&b->collector, NULL, NULL, h, n) : BLY_OK;
}

uint64_t bly_builder_count(const bly_builder *b) {
    return b->collector.count;
}

/* ---- finish ---------------------------------------------------------------------------------- */

typedef struct solve_job {
    const bly_builder *b;
    const blyi_shards *hashes;
    bly_filter *f;
    unsigned shards;
    unsigned workers;
    uint64_t max_keys;      /* keys in the fullest shard */
    uint64_t buffer_hashes; /* hashes in the buffer of a worker */
    bly_hash *buffers;      /* one for every worker */
    uint8_t *work;          /* work_bytes for every worker, for its solver */
    uint64_t work_bytes;
} solve_job;

static bly_status builder_solve_shard(void *ctx, unsigned worker, uint64_t task) {
    const solve_job *j = ctx;
    const blyi_solver *solver = j->b->solver;
    unsigned shard = (unsigned)task;
    size_t n = (size_t)blyi_shards_count(j->hashes, j->shards, shard);
    bly_hash *h = j->buffers + worker * j->buffer_hashes;
    if (n == 0) /* the body is already zero */
        return BLY_OK;
    if (solver->solve_parts) {
        blyi_shard_reader reader = blyi_shard_reader_for(j->hashes, j->shards, shard, h);
        return solver->solve_parts(j->f, shard, &reader, j->work + worker * j->work_bytes,
                                   &j->b->alloc);
    }
    bly_status status = blyi_shards_read(j->hashes, j->shards, shard, h);
    return status ? status : solver->solve(j->f, shard, h, n, &j->b->alloc);
}

/* The number of shards: the power of two with which the keys per shard come nearest to the number
 * that the solver prefers. */
static unsigned builder_choose_shards(const blyi_solver *solver, const blyi_shards *hashes) {
    double wanted = (double)hashes->total / (double)solver->shard_keys;
    unsigned shards = 1;
    while (shards * 2 <= solver->max_shards && shards * 2 <= hashes->parts &&
           wanted > shards * sqrt(2))
        shards *= 2;
    return shards;
}

/* The number of threads: as many as requested, but not more than there are shards, nor more than
 * the memory limit allows; at least one. */
static unsigned builder_choose_workers(const solve_job *j) {
    const bly_builder *b = j->b;
    uint64_t each = b->solver->scratch_bytes(j->max_keys) + j->buffer_hashes * sizeof(bly_hash);
    uint64_t left = b->memory > b->collector.memory_used ? b->memory - b->collector.memory_used : 0;
    unsigned workers = b->workers < j->shards ? b->workers : j->shards;
    if (b->memory && left / each < workers)
        workers = left < 2 * each ? 1 : (unsigned)(left / each);
    return workers;
}

/* Solves every shard of a new filter. */
static bly_status builder_solve_shards(solve_job *j, const bly_geometry *g) {
    const bly_builder *b = j->b;
    void *block = NULL;
    if (b->solver->work_bytes) {
        j->work_bytes = (b->solver->work_bytes(g) + 63) / 64 * 64;
        j->work = blyi_alloc_small_pages(&b->alloc, j->workers * j->work_bytes, &block);
        if (!j->work)
            return BLY_ENOMEM;
    }
    bly_status status = blyi_run_tasks(j->workers, j->shards, builder_solve_shard, j);
    int saved = errno;
    blyi_free_array(&b->alloc, block);
    errno = saved;
    return status;
}

/* Plans and creates filters, with a higher attempt number each time, until one can be solved. */
static bly_status builder_solve_sizes(solve_job *j, double fpr, bly_filter **out) {
    const bly_builder *b = j->b;
    bly_status status = BLY_EFULL;
    blyi_shape shape = {
        .hasher = b->spec.hasher,
        .capacity = j->hashes->total ? j->hashes->total : 1,
        .items = j->hashes->total,
        .fpr = b->spec.fpr,
    };
    for (unsigned attempt = 0; status == BLY_EFULL && attempt < BUILDER_MAX_PLANS; attempt++) {
        status = b->solver->plan(j->max_keys ? j->max_keys : 1, j->shards, fpr, attempt,
                                 &shape.geometry);
        if (status == BLY_OK)
            status = blyi_filter_make(&shape, b->spec.allocator, NULL, &j->f);
        if (status)
            return status;
        status = builder_solve_shards(j, &shape.geometry);
        if (status) {
            int saved = errno;
            bly_filter_destroy(j->f);
            errno = saved;
        }
    }
    if (status == BLY_OK)
        *out = j->f;
    return status == BLY_EFULL ? BLY_EWEAKHASH : status; /* does not happen with a good hash */
}

/* Whether the number of hashes in the fullest part is so far above the mean that most of them must
 * be repeats. Planning for all of them would waste memory. */
static bool builder_is_lopsided(const blyi_shards *hashes, uint64_t fullest) {
    enum { FEW = 4096 };
    return fullest > FEW + 4 * (hashes->total / hashes->parts);
}

/* Builds the filter. Returns BLY_EEXISTS if hashes that are not sorted yet contain repeats, or may
 * contain some. */
static bly_status builder_solve(const bly_builder *b, const blyi_shards *hashes, bly_filter **out) {
    solve_job j = {.b = b, .hashes = hashes};
    unsigned bits = b->spec.allow_weak_hash ? 128 : b->spec.hasher.bits;
    void *block;
    if (builder_hash_is_too_weak(&b->spec, hashes->total)) /* repeats included */
        return hashes->sorted ? BLY_EWEAKHASH : BLY_EEXISTS;
    j.shards = builder_choose_shards(b->solver, hashes);
    for (unsigned i = 0; i < j.shards; i++) {
        uint64_t n = blyi_shards_count(hashes, j.shards, i);
        j.max_keys = n > j.max_keys ? n : j.max_keys;
    }
    for (uint64_t p = 0; b->solver->solve_parts && p < hashes->parts; p++)
        j.buffer_hashes = hashes->count[p] > j.buffer_hashes ? hashes->count[p] : j.buffer_hashes;
    if (!hashes->sorted && builder_is_lopsided(hashes, j.buffer_hashes))
        return BLY_EEXISTS;
    if (!b->solver->solve_parts)
        j.buffer_hashes = j.max_keys;
    j.workers = builder_choose_workers(&j);
    j.buffers =
        blyi_alloc_small_pages(&b->alloc, j.workers * j.buffer_hashes * sizeof(bly_hash), &block);
    if (!j.buffers)
        return BLY_ENOMEM;
    double floor = blyi_hash_floor((double)hashes->total, bits);
    bly_status status = builder_solve_sizes(&j, b->spec.fpr - floor, out);
    int saved = errno;
    blyi_free_array(&b->alloc, block);
    errno = saved;
    /* The hashes may fit once they are sorted and repeats are dropped. */
    return status == BLY_ETOOBIG && !hashes->sorted ? BLY_EEXISTS : status;
}

bly_status bly_builder_finish(bly_builder *b, bly_filter **out) {
    blyi_shards hashes;
    *out = NULL;
    if (b->finished)
        return BLY_EINVAL;
    b->finished = true;
    bly_status status = blyi_shards_init(&hashes, &b->collector);
    if (status == BLY_OK)
        status = b->solver->solve_parts ? builder_solve(b, &hashes, out) : BLY_EEXISTS;
    if (status == BLY_EEXISTS) {
        status = blyi_shards_sort(&hashes, b->workers, b->memory);
        if (status == BLY_OK)
            status = builder_solve(b, &hashes, out);
    }
    int saved = errno;
    blyi_shards_destroy(&hashes);
    errno = saved;
    return status;
}

bly_status bly_filter_build(const bly_spec *spec, const bly_bytes *keys, size_t n,
                            bly_filter **out) {
    bly_spec sized;
    bly_builder *b;
    *out = NULL;
    if (!blyi_read_struct(&sized, sizeof sized, sizeof sized, spec))
        return BLY_EINVAL;
    if (sized.capacity == 0)
        sized.capacity = n;
    bly_status status = bly_builder_create(&sized, NULL, &b);
    if (status)
        return status;
    status = bly_builder_add(b, keys, n);
    if (status == BLY_OK)
        status = bly_builder_finish(b, out);
    bly_builder_destroy(b);
    return status;
}
