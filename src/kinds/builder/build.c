/* The builder.
 *
 * Hashes are collected (collect.c), dealt out by shards (shards.c), where the solver asks for it in
 * order and without repeats, and the kind's solver (solver.h) works a filter out of them. Shards
 * are small enough to be solved within a processor's caches, independent, so that several threads
 * can work at once, and all of one size, which the fullest of them decides.
 *
 * The filter depends on nothing but the set of hashes and the rate: neither on the order in which
 * they came nor on repeats, memory or threads.
 */
#include "base/memory.h"
#include "filter/kind.h"
#include "filter/rate.h"
#include "kinds/builder/shards.h"
#include "kinds/builder/solver.h"
#include "kinds/builder/workers.h"

#include <bloomery/build.h>
#include <errno.h>
#include <math.h>

enum {
    MAX_PLANS = 40, /* sizes tried before the hash is blamed */
};

static const uint64_t least_memory = (uint64_t)64 << 20;

/* So many keys the default hash must be good for when nobody says how many will come. */
static const uint64_t many_keys = (uint64_t)1 << 33;

struct bly_builder {
    const blyi_solver *solver;
    bly_spec spec; /* its allocator is NULL or own_alloc */
    bly_allocator own_alloc;
    bly_allocator alloc; /* of everything but the filter: for several threads at once */
    blyi_guard guard;
    unsigned workers;
    uint64_t memory; /* 0: any */
    bool finished;
    blyi_collect collect;
};

/* ---- create ---------------------------------------------------------------------------------- */

static bly_status check_spec(const bly_spec *spec, const blyi_ops *ops) {
    const bly_geometry *g = &spec->geometry;
    bly_geometry planned;
    if (!ops)
        return BLY_EKIND;
    if (!ops->solver)
        return BLY_EUNSUPPORTED;
    if (g->size || g->hashes || g->options || g->detail || spec->sharing != BLY_EXCLUSIVE)
        return BLY_EINVAL;
    if (spec->first_share != 0 || spec->growth || spec->horizon || spec->generations ||
        spec->span || spec->counter_bits || spec->changes || spec->marker != BLY_KIND_NONE)
        return BLY_EINVAL;
    if (blyi_hasher_is_empty(&spec->hasher))
        return BLY_EHASHER;
    if (!(spec->fpr >= 0x1p-40 && spec->fpr < 1))
        return BLY_ERATE;
    return ops->solver->plan(1, 1, spec->fpr, 0, &planned);
}

/* Whether the hash's own collisions are too many for n keys at this rate. */
static bool too_weak(const bly_spec *spec, uint64_t n) {
    return !spec->allow_weak_hash && blyi_hash_floor((double)n, spec->hasher.bits) > spec->fpr / 10;
}

/* The default hash is the fastest whose collisions do not show, in rates that may be powers of
 * two. */
static bly_status choose_hasher(bly_spec *spec) {
    uint64_t keys = spec->capacity ? spec->capacity : many_keys;
    bly_status status = BLY_OK;
    if (spec->hasher.id == BLY_HASH_NONE) {
        bool enough = blyi_hash_floor((double)keys, 64) <= spec->fpr * BLYI_RATE_TOLERANCE / 2;
        status =
            bly_hasher_init(&spec->hasher, enough ? BLY_HASH_XXH3 : BLY_HASH_XXH3_128, spec->seed);
    }
    if (status == BLY_OK && spec->capacity && too_weak(spec, spec->capacity))
        status = BLY_EWEAKHASH;
    return status;
}

bly_status bly_builder_create(const bly_spec *spec, const bly_build_options *options,
                              bly_builder **out) {
    const bly_build_options o = options ? *options : (bly_build_options){0};
    const blyi_ops *ops = blyi_ops_of(spec->geometry.kind);
    bly_allocator alloc = blyi_allocator_or_default(spec->allocator);
    bly_spec settled = *spec;
    *out = NULL;
    bly_status status = check_spec(spec, ops);
    if (status == BLY_OK)
        status = choose_hasher(&settled);
    if (status)
        return status;
    bly_builder *b = alloc.alloc(alloc.ctx, sizeof *b);
    if (!b)
        return BLY_ENOMEM;
    b->solver = ops->solver;
    b->spec = settled;
    b->own_alloc = alloc;
    b->alloc = alloc;
    if (spec->allocator) { /* else it bears threads, and gives huge pages */
        b->spec.allocator = &b->own_alloc;
        b->alloc = blyi_guard_allocator(&b->guard, &alloc);
    }
    b->workers = o.threads ? o.threads : blyi_default_workers();
    if (b->workers > BLYI_MAX_WORKERS)
        b->workers = BLYI_MAX_WORKERS;
    b->memory = o.memory && o.memory < least_memory ? least_memory : o.memory;
    status =
        blyi_collect_begin(&b->collect, &b->alloc, b->memory / 2, o.folder ? o.folder : "/tmp");
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
    blyi_collect_end(&b->collect);
    if (b->spec.allocator)
        (void)pthread_mutex_destroy(&b->guard.lock);
    alloc.free(alloc.ctx, b);
}

/* ---- add ------------------------------------------------------------------------------------- */

bly_status bly_builder_add(bly_builder *b, const bly_bytes *keys, size_t n) {
    if (b->finished)
        return BLY_EINVAL;
    return n ? blyi_collect_add(&b->collect, &b->spec.hasher, keys, NULL, n) : BLY_OK;
}

bly_status bly_builder_add_hashes(bly_builder *b, const bly_hash *h, size_t n) {
    if (b->finished)
        return BLY_EINVAL;
    return n ? blyi_collect_add(&b->collect, NULL, NULL, h, n) : BLY_OK;
}

uint64_t bly_builder_count(const bly_builder *b) {
    return b->collect.count;
}

/* ---- finish ---------------------------------------------------------------------------------- */

typedef struct solving {
    const bly_builder *b;
    const blyi_shards *hashes;
    bly_filter *f;
    unsigned shards;
    unsigned workers;
    uint64_t most;  /* keys in the fullest shard */
    uint64_t piece; /* hashes that a worker has before it at once */
    bly_hash *room; /* of every worker, for them */
    uint8_t *work;  /* of every worker, work_bytes that its solver wants */
    uint64_t work_bytes;
} solving;

static bly_status solve_shard(void *ctx, unsigned worker, uint64_t task) {
    const solving *j = ctx;
    const blyi_solver *solver = j->b->solver;
    unsigned shard = (unsigned)task;
    size_t n = (size_t)blyi_shard_count(j->hashes, j->shards, shard);
    bly_hash *h = j->room + worker * j->piece;
    if (n == 0) /* zeros will do */
        return BLY_OK;
    if (solver->solve_parts) {
        blyi_feed feed = blyi_feed_of(j->hashes, j->shards, shard, h);
        return solver->solve_parts(j->f, shard, &feed, j->work + worker * j->work_bytes,
                                   &j->b->alloc);
    }
    bly_status status = blyi_shard_read(j->hashes, j->shards, shard, h);
    return status ? status : solver->solve(j->f, shard, h, n, &j->b->alloc);
}

/* The power of two that brings the keys of a shard nearest to what the solver likes. */
static unsigned choose_shards(const blyi_solver *solver, const blyi_shards *hashes) {
    double wanted = (double)hashes->total / (double)solver->shard_keys;
    unsigned shards = 1;
    while (shards * 2 <= solver->max_shards && shards * 2 <= hashes->parts &&
           wanted > shards * sqrt(2))
        shards *= 2;
    return shards;
}

/* As many as may work at once within the memory. */
static unsigned choose_workers(const solving *j) {
    const bly_builder *b = j->b;
    uint64_t each = b->solver->scratch(j->most) + j->piece * sizeof(bly_hash);
    uint64_t left = b->memory > b->collect.kept ? b->memory - b->collect.kept : 0;
    unsigned workers = b->workers < j->shards ? b->workers : j->shards;
    if (b->memory && left / each < workers)
        workers = left < 2 * each ? 1 : (unsigned)(left / each);
    return workers;
}

/* Has every shard of a new filter solved. */
static bly_status solve_in(solving *j, const bly_geometry *g) {
    const bly_builder *b = j->b;
    void *block = NULL;
    if (b->solver->work) {
        j->work_bytes = (b->solver->work(g) + 63) / 64 * 64;
        j->work = blyi_alloc_small_pages(&b->alloc, j->workers * j->work_bytes, &block);
        if (!j->work)
            return BLY_ENOMEM;
    }
    bly_status status = blyi_work(j->workers, j->shards, solve_shard, j);
    int saved = errno;
    blyi_free_array(&b->alloc, block);
    errno = saved;
    return status;
}

/* Makes filters until one can be solved: each is larger than that before. */
static bly_status solve_all(solving *j, double fpr, bly_filter **out) {
    const bly_builder *b = j->b;
    bly_status status = BLY_EFULL;
    blyi_shape shape = {
        .hasher = b->spec.hasher,
        .capacity = j->hashes->total ? j->hashes->total : 1,
        .items = j->hashes->total,
        .fpr = b->spec.fpr,
    };
    for (unsigned again = 0; status == BLY_EFULL && again < MAX_PLANS; again++) {
        status = b->solver->plan(j->most ? j->most : 1, j->shards, fpr, again, &shape.geometry);
        if (status == BLY_OK)
            status = blyi_filter_make(&shape, b->spec.allocator, NULL, &j->f);
        if (status)
            return status;
        status = solve_in(j, &shape.geometry);
        if (status) {
            int saved = errno;
            bly_filter_destroy(j->f);
            errno = saved;
        }
    }
    if (status == BLY_OK)
        *out = j->f;
    return status == BLY_EFULL ? BLY_EWEAKHASH : status; /* good hashes do not get here */
}

/* Whether the fullest part has so many more hashes than others that most of them must be repeats:
 * to plan for them all would take memory that nobody needs. */
static bool is_lopsided(const blyi_shards *hashes, uint64_t fullest) {
    enum { FEW = 4096 };
    return fullest > FEW + 4 * (hashes->total / hashes->parts);
}

/* BLY_EEXISTS: there are repeats among hashes that were not sorted. */
static bly_status solve(const bly_builder *b, const blyi_shards *hashes, bly_filter **out) {
    solving j = {.b = b, .hashes = hashes};
    unsigned bits = b->spec.allow_weak_hash ? 128 : b->spec.hasher.bits;
    void *block;
    if (too_weak(&b->spec, hashes->total)) /* unless some are the same */
        return hashes->sorted ? BLY_EWEAKHASH : BLY_EEXISTS;
    j.shards = choose_shards(b->solver, hashes);
    for (unsigned i = 0; i < j.shards; i++) {
        uint64_t n = blyi_shard_count(hashes, j.shards, i);
        j.most = n > j.most ? n : j.most;
    }
    for (uint64_t p = 0; b->solver->solve_parts && p < hashes->parts; p++)
        j.piece = hashes->count[p] > j.piece ? hashes->count[p] : j.piece;
    if (!hashes->sorted && is_lopsided(hashes, j.piece))
        return BLY_EEXISTS;
    if (!b->solver->solve_parts)
        j.piece = j.most;
    j.workers = choose_workers(&j);
    j.room = blyi_alloc_small_pages(&b->alloc, j.workers * j.piece * sizeof(bly_hash), &block);
    if (!j.room)
        return BLY_ENOMEM;
    double floor = blyi_hash_floor((double)hashes->total, bits);
    bly_status status = solve_all(&j, b->spec.fpr - floor, out);
    int saved = errno;
    blyi_free_array(&b->alloc, block);
    errno = saved;
    /* What is too much with repeats may be little without. */
    return status == BLY_ETOOBIG && !hashes->sorted ? BLY_EEXISTS : status;
}

bly_status bly_builder_finish(bly_builder *b, bly_filter **out) {
    blyi_shards hashes;
    *out = NULL;
    if (b->finished)
        return BLY_EINVAL;
    b->finished = true;
    bly_status status = blyi_shards_begin(&hashes, &b->collect);
    if (status == BLY_OK)
        status = b->solver->solve_parts ? solve(b, &hashes, out) : BLY_EEXISTS;
    if (status == BLY_EEXISTS) {
        status = blyi_shards_sort(&hashes, b->workers, b->memory);
        if (status == BLY_OK)
            status = solve(b, &hashes, out);
    }
    int saved = errno;
    blyi_shards_end(&hashes);
    errno = saved;
    return status;
}

bly_status bly_filter_build(const bly_spec *spec, const bly_bytes *keys, size_t n,
                            bly_filter **out) {
    bly_spec sized = *spec;
    bly_builder *b;
    *out = NULL;
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
