#include "kinds/builder/shards.h"

#include "base/memory.h"
#include "kinds/builder/sort.h"
#include "kinds/builder/workers.h"
#include <errno.h>

bly_status blyi_shards_begin(blyi_shards *s, blyi_collect *source) {
    *s = (blyi_shards){.source = source};
    bly_status status = blyi_collect_close(source);
    if (status)
        return status;
    s->parts = (uint64_t)1 << source->bits;
    s->count = blyi_alloc_array(&source->alloc, s->parts * sizeof *s->count, &s->count_block);
    if (!s->count)
        return BLY_ENOMEM;
    blyi_part_lengths(source, s->count);
    s->total = source->count;
    return BLY_OK;
}

void blyi_shards_end(blyi_shards *s) {
    blyi_free_array(&s->source->alloc, s->count_block);
}

/* ---- in order -------------------------------------------------------------------------------- */

typedef struct sorting {
    blyi_shards *s;
    bly_hash *room; /* of every worker, for two parts each */
    uint64_t most;  /* hashes in a part */
} sorting;

static bly_status sort_part(void *ctx, unsigned worker, uint64_t part) {
    sorting *j = ctx;
    const blyi_collect *c = j->s->source;
    bly_hash *h = j->room + worker * 2 * j->most;
    uint64_t n = j->s->count[part];
    bly_status status = blyi_part_get(c, part, h, n);
    if (status)
        return status;
    n = blyi_sort_unique(h, (size_t)n, h + j->most, c->bits);
    j->s->count[part] = n;
    return blyi_part_put(c, part, h, n);
}

bly_status blyi_shards_sort(blyi_shards *s, unsigned workers, uint64_t memory) {
    blyi_collect *c = s->source;
    sorting j = {.s = s, .most = 1};
    void *block;
    for (uint64_t p = 0; p < s->parts; p++)
        j.most = s->count[p] > j.most ? s->count[p] : j.most;
    uint64_t each = 2 * j.most * sizeof(bly_hash), left = memory > c->kept ? memory - c->kept : 0;
    if (memory && left / each < workers)
        workers = left < 2 * each ? 1 : (unsigned)(left / each);
    j.room = blyi_alloc_small_pages(&c->alloc, workers * each, &block);
    if (!j.room)
        return BLY_ENOMEM;
    bly_status status = blyi_work(workers, s->parts, sort_part, &j);
    int saved = errno; /* a caller's allocator may change it */
    blyi_free_array(&c->alloc, block);
    errno = saved;
    s->total = 0;
    for (uint64_t p = 0; p < s->parts; p++)
        s->total += s->count[p];
    s->sorted = true;
    return status;
}

/* ---- shard by shard -------------------------------------------------------------------------- */

uint64_t blyi_shard_count(const blyi_shards *s, unsigned shards, unsigned shard) {
    uint64_t each = s->parts / shards, n = 0;
    for (uint64_t p = shard * each; p < (shard + (uint64_t)1) * each; p++)
        n += s->count[p];
    return n;
}

bly_status blyi_shard_read(const blyi_shards *s, unsigned shards, unsigned shard, bly_hash *to) {
    uint64_t each = s->parts / shards, from = shard * each;
    bly_status status = BLY_OK;
    for (uint64_t p = from; status == BLY_OK && p < from + each; to += s->count[p++])
        status = blyi_part_get(s->source, p, to, s->count[p]);
    return status;
}

blyi_feed blyi_feed_of(const blyi_shards *s, unsigned shards, unsigned shard, bly_hash *room) {
    uint64_t each = s->parts / shards;
    return (blyi_feed){
        .from = s,
        .first = shard * each,
        .parts = each,
        .total = blyi_shard_count(s, shards, shard),
        .room = room,
    };
}

bly_status blyi_feed_part(const blyi_feed *feed, uint64_t i, size_t *n) {
    uint64_t part = feed->first + i;
    *n = (size_t)feed->from->count[part];
    return blyi_part_get(feed->from->source, part, feed->room, *n);
}
