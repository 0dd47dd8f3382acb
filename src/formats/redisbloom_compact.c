/* redisbloom_compact.c - fewer sub-filters after removes.
 *
 * A query looks into every sub-filter, and each can find a stranger. So the fingerprints of the
 * newest are moved to empty slots of older ones, the oldest first, into the buckets that they would
 * have there; if that empties it, it is given up, and it is the next one's turn. */
#include "formats/redisbloom_cuckoo.h"

/* An empty slot in one of the first n sub-filters for a fingerprint of that bucket, or NULL. */
static uint8_t *room_below(const bly_rb_cuckoo *f, uint64_t n, uint64_t bucket, uint8_t print) {
    for (uint64_t i = 0; i < n; i++) {
        const blyi_rb_sub *sub = blyi_rb_sub_at(f, i);
        uint8_t *slot = blyi_rb_find(f, sub, bucket, 0);
        if (!slot)
            slot = blyi_rb_find(f, sub, blyi_rb_other(bucket, print), 0);
        if (slot)
            return slot;
    }
    return NULL;
}

/* Moves what can be moved from the newest; true when that was all. */
static bool empty_newest(bly_rb_cuckoo *f) {
    uint64_t older = f->chain.n - 1;
    const blyi_rb_sub *sub = blyi_rb_sub_at(f, older);
    uint8_t *slot = sub->part.data;
    bool empty = true;
    for (uint64_t bucket = 0; bucket <= sub->mask; bucket++) {
        for (uint32_t i = 0; i < f->bucket_size; i++, slot++) {
            if (*slot == 0)
                continue;
            uint8_t *to = room_below(f, older, bucket, *slot);
            if (to) {
                *to = *slot;
                *slot = 0;
            } else {
                empty = false;
            }
        }
    }
    return empty;
}

void bly_rb_cuckoo_compact(bly_rb_cuckoo *f) {
    while (f->chain.n > 1 && empty_newest(f))
        blyi_rb_pop(&f->chain);
    if (f->items > f->chain.bytes) /* a header may have said so */
        f->items = f->chain.bytes;
    f->deletes = 0;
}
