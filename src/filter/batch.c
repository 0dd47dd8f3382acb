/* Batches for any kind: keys move through a window of hashes, as in block_batch.c, with the kind's
 * own prefetch and probe. */
#include "filter/batch.h"
#include "hash/xxh3.h"

/* Stores a hash, its second word only if the caller needs `both`. */
static inline void store_hash(bly_hash *out, uint64_t first, bool both) {
    if (both)
        *out = blyi_hash_from_strong64(first);
    else
        out->lo = first;
}

/* Short keys have a separate loop, in which the part of the secret that they need stays in
 * registers. */
static inline __attribute__((always_inline)) void
hash_xxh3(const bly_filter *f, const bly_bytes *keys, size_t n, bly_hash *out, bool both) {
    const blyi_xxh3_secret *secret = &f->secret, near = f->secret;
    size_t i = 0;
    for (; i < n && blyi_xxh3_is_short(keys[i].size); i++)
        store_hash(out + i, blyi_xxh3_short(&near, keys[i].data, keys[i].size), both);
    for (; i < n; i++)
        store_hash(out + i, blyi_xxh3(secret, keys[i].data, keys[i].size), both);
}

void blyi_batch_hash_first(const bly_filter *f, const bly_bytes *keys, size_t n, bly_hash *out) {
    hash_xxh3(f, keys, n, out, false);
}

void blyi_batch_hash(const bly_filter *f, const bly_bytes *keys, size_t n, bly_hash *out) {
    if (f->hasher.id == BLY_HASH_XXH3)
        hash_xxh3(f, keys, n, out, true);
    else
        f->hasher.many(&f->hasher, keys, n, out);
}

static bly_status process_group(const bly_filter *f, bly_filter *writer, const bly_hash *h,
                                size_t n, uint8_t *out, bly_batch_result *sum) {
    if (writer)
        return blyi_filter_add_hashes(writer, h, n, out, sum);
    sum->changed += f->ops->contains_many(f, h, n, out);
    sum->done += n;
    return BLY_OK;
}

/* Prefetches the lines that process_group will read or write. */
static void prefetch_group(const bly_filter *f, const bly_filter *writer, const bly_hash *h,
                           size_t n) {
    if (writer && f->sharing != BLY_EXCLUSIVE) {
        if (f->sharing == BLY_SHARED_ONCE)
            blyi_key_locks_prefetch(f, h, n);
        f->ops->prefetch_add_shared(f, h, n);
    } else if (!writer && f->ops->prefetch_contains)
        f->ops->prefetch_contains(f, h, n);
    else
        f->ops->prefetch(f, h, n);
}

bly_status blyi_batch_keys(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                           uint8_t *out, bly_batch_result *sum) {
    if (f->ops->block_shift && !(writer && (!f->add_block || f->sharing == BLY_SHARED_ONCE))) {
        sum->changed += f->batch_keys(f, writer, keys, n, out);
        sum->done += n;
        return BLY_OK;
    }
    if (f->ops->contains_keys_pipelined && !writer) {
        sum->changed += f->ops->contains_keys_pipelined(f, keys, n, out);
        sum->done += n;
        return BLY_OK;
    }
    bly_filter *sole = f->ops->single_level ? f->ops->single_level(f, writer ? n : 0) : NULL;
    bly_status status = BLY_OK;
    if (sole) {
        status = blyi_batch_keys(sole, writer ? sole : NULL, keys, n, out, sum);
        if (writer)
            writer->items = sole->items;
        return status;
    }
    bly_hash ring[BLYI_BATCH_WINDOW];
    for (size_t head = 0, tail = 0, some; status == BLY_OK && tail < n; tail += some) {
        while (head < n && head - tail < BLYI_BATCH_WINDOW) {
            some = blyi_min_size(n - head, BLYI_BATCH_GROUP);
            bly_hash *h = ring + head % BLYI_BATCH_WINDOW;
            blyi_batch_hash(f, keys + head, some, h);
            prefetch_group(f, writer, h, some);
            head += some;
        }
        some = blyi_min_size(n - tail, BLYI_BATCH_GROUP);
        status = process_group(f, writer, ring + tail % BLYI_BATCH_WINDOW, some,
                               out ? out + tail : NULL, sum);
    }
    return status;
}

bly_status blyi_batch_hashes(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                             uint8_t *out, bly_batch_result *sum) {
    size_t ahead = n < BLYI_BATCH_WINDOW ? n : BLYI_BATCH_WINDOW;
    bly_status status = BLY_OK;
    if (f->ops->contains_hashes_pipelined && !writer) {
        sum->changed += f->ops->contains_hashes_pipelined(f, h, n, out);
        sum->done += n;
        return BLY_OK;
    }
    prefetch_group(f, writer, h, ahead);
    for (size_t at = 0; status == BLY_OK && at < n; at += BLYI_BATCH_GROUP) {
        size_t some = blyi_min_size(n - at, BLYI_BATCH_GROUP);
        if (ahead < n) {
            size_t next = blyi_min_size(n - ahead, BLYI_BATCH_GROUP);
            prefetch_group(f, writer, h + ahead, next);
            ahead += next;
        }
        status = process_group(f, writer, h + at, some, out ? out + at : NULL, sum);
    }
    return status;
}
