/* Filters made of filters: the list of levels, and lookups in all of them. */
#include "filter/level_growth.h"

#include <math.h>
#include <string.h>

void blyi_levels_recompute(bly_filter *f) {
    const blyi_levels *l = f->levels;
    f->geometry.hashes = l->n;
    f->geometry.size = 0;
    for (unsigned i = 0; i < l->n; i++)
        f->geometry.size += BLYI_LEVEL_HEADER + l->at[i]->body_bytes;
    f->body_bytes = f->geometry.size;
    f->ops->level_rules->update_totals(f);
}

void blyi_levels_push(bly_filter *f, bly_filter *level) {
    blyi_levels *l = f->levels;
    l->at[l->n++] = level;
    blyi_levels_recompute(f);
}

void blyi_levels_truncate(bly_filter *f, unsigned n) {
    blyi_levels *l = f->levels;
    for (; l->n > n; l->n--)
        if (l->n > 1 || !l->borrowed)
            bly_filter_destroy(l->at[l->n - 1]);
    blyi_levels_recompute(f);
}

bly_status blyi_levels_append(bly_filter *f, const bly_filter *from) {
    bly_filter *level;
    bly_status status = bly_filter_clone(from, &f->alloc, &level);
    if (status)
        return status;
    /* `from`, or a level of it, may have been opened without its hasher. */
    blyi_filter_set_hasher(level, &f->hasher, f->keyless);
    blyi_levels_push(f, level);
    return BLY_OK;
}

bly_status blyi_levels_copy(bly_filter *f, const bly_filter *from, unsigned first) {
    unsigned had = f->levels->n;
    for (unsigned i = first; i < from->levels->n; i++) {
        bly_status status = blyi_levels_append(f, from->levels->at[i]);
        if (status) {
            blyi_levels_truncate(f, had);
            return status;
        }
    }
    return BLY_OK;
}

bool blyi_levels_compatible(const bly_filter *a, const bly_filter *b) {
    const blyi_levels *la = a->levels, *lb = b->levels;
    bool same = a->fpr == b->fpr;
    for (unsigned i = 0; same && i < la->n && i < lb->n; i++)
        same = bly_filter_compatible(la->at[i], lb->at[i]) == BLY_OK &&
               la->at[i]->fpr == lb->at[i]->fpr && la->at[i]->capacity == lb->at[i]->capacity;
    return same;
}

bool blyi_levels_equal(const bly_filter *a, const bly_filter *b) {
    bool same = a->levels->n == b->levels->n;
    for (unsigned i = 0; same && i < a->levels->n; i++)
        same = bly_filter_equal(a->levels->at[i], b->levels->at[i]);
    return same;
}

bly_status blyi_levels_union(bly_filter *dst, const bly_filter *src) {
    unsigned common = dst->levels->n < src->levels->n ? dst->levels->n : src->levels->n;
    /* Levels that only src has are copied first, because copying can fail. */
    bly_status status = blyi_levels_copy(dst, src, dst->levels->n);
    for (unsigned i = 0; status == BLY_OK && i < common; i++)
        status = bly_filter_union(dst->levels->at[i], src->levels->at[i]);
    blyi_levels_recompute(dst);
    return status;
}

void blyi_levels_sum_stats(const bly_filter *f, bly_filter_info *each, bly_filter_info *out) {
    double expected_bits = 0;
    *out = (bly_filter_info){
        .kind = f->geometry.kind,
        .hashes = f->geometry.hashes,
        .size = f->geometry.size,
        .capacity = f->capacity,
        .count = f->items,
        .requested_fpr = f->fpr,
        .approximate = f->approximate,
    };
    for (unsigned i = 0; i < f->levels->n; i++) {
        blyi_filter_info(f->levels->at[i], &each[i]);
        out->bits += each[i].bits;
        out->set_bits += each[i].set_bits;
        out->bytes += each[i].bytes;
        expected_bits += each[i].expected_fill * (double)each[i].bits;
        out->hash_name = each[i].hash_name;
    }
    out->fill = (double)out->set_bits / (double)out->bits;
    out->expected_fill = expected_bits / (double)out->bits;
}

void blyi_levels_stats(const bly_filter *f, bly_filter_info *out) {
    bly_filter_info each[BLYI_MAX_LEVELS];
    blyi_levels_sum_stats(f, each, out);
    for (unsigned i = 0; i < f->levels->n; i++) {
        out->estimated_keys += each[i].estimated_keys;
        out->expected_fpr = blyi_combined_rate(out->expected_fpr, each[i].expected_fpr);
        out->current_fpr = blyi_combined_rate(out->current_fpr, each[i].current_fpr);
    }
}

/* ---- lookups --------------------------------------------------------------------------------- */

void blyi_levels_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (unsigned i = f->levels->n; i-- > 0;)
        f->levels->at[i]->ops->prefetch(f->levels->at[i], h, n);
}

/* A single key comes from a call for one key, not from a batch, so nothing has been prefetched for
 * it. Therefore the lines of all levels are prefetched at once here, instead of being loaded one
 * after the other. (With one level this would gain nothing.) */
void blyi_levels_find_absent(const bly_filter *f, unsigned levels, const bly_hash *h, size_t n,
                             blyi_absent *out) {
    if (n == 1 && f->levels->n > 1)
        blyi_levels_prefetch(f, h, 1);
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        out->h[i] = h[i];
        out->from[i] = (uint8_t)i;
    }
    for (unsigned level = levels; level-- > 0 && out->n > 0;) {
        const bly_filter *l = f->levels->at[level];
        uint8_t found[BLYI_BATCH_GROUP];
        if (l->ops->contains_many(l, out->h, out->n, found) == 0)
            continue;
        size_t kept = 0; /* without a branch, which could not be predicted */
        for (size_t i = 0; i < out->n; i++) {
            out->h[kept] = out->h[i];
            out->from[kept] = out->from[i];
            kept += !found[i];
        }
        out->n = kept;
    }
}

size_t blyi_levels_contains_many(const bly_filter *f, const bly_hash *h, size_t n, uint8_t *found) {
    size_t hits = 0;
    if (n == 1 && f->levels->n == 1 && !found)
        return bly_filter_contains_hash(f->levels->at[0], h[0]);
    for (size_t done = 0, some; done < n; done += some) {
        blyi_absent none;
        some = n - done < BLYI_BATCH_GROUP ? n - done : BLYI_BATCH_GROUP;
        blyi_levels_find_absent(f, f->levels->n, h + done, some, &none);
        hits += some - none.n;
        if (!found)
            continue;
        memset(found + done, 1, some);
        for (size_t i = 0; i < none.n; i++)
            found[done + none.from[i]] = 0;
    }
    return hits;
}
