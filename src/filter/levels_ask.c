#include "filter/levels_ask.h"

#include <string.h>

void blyi_levels_prefetch(const bly_filter *f, const bly_hash *h, size_t n) {
    for (unsigned i = f->levels->n; i-- > 0;)
        f->levels->at[i]->ops->prefetch(f->levels->at[i], h, n);
}

/* A single key comes from a call of its own, not from a batch, so nothing has been fetched for it
 * yet: all levels' lines are, at once, instead of one by one. (Of one level there is nothing to
 * gain.) */
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
        size_t kept = 0; /* without a branch: which are found is anyone's guess */
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
