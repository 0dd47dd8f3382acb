/* Batches for any kind: the window of stream.c, holding hashes, with the kind's own prefetch and
 * test. */
#include "batch.h"

static size_t work(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                   uint8_t *out) {
    return writer ? blyi_filter_put(writer, h, n, out) : f->ops->contains(f, h, n, out);
}

size_t blyi_batch_keys(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                       uint8_t *out) {
    if (f->ops->block_shift && !(writer && f->sharing == BLY_SHARED_ONCE))
        return f->stream(f, writer, keys, n, out);
    bly_hash ring[BLYI_WINDOW];
    size_t sum = 0, head = 0, tail = 0;
    while (tail < n) {
        while (head < n && head - tail < BLYI_WINDOW) {
            size_t some = n - head < BLYI_GROUP ? n - head : BLYI_GROUP;
            bly_hash *h = ring + head % BLYI_WINDOW;
            f->hasher.many(&f->hasher, keys + head, some, h);
            f->ops->prefetch(f, h, some);
            head += some;
        }
        size_t some = n - tail < BLYI_GROUP ? n - tail : BLYI_GROUP;
        sum += work(f, writer, ring + tail % BLYI_WINDOW, some, out ? out + tail : NULL);
        tail += some;
    }
    return sum;
}

size_t blyi_batch_hashes(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                         uint8_t *out) {
    size_t sum = 0, ahead = n < BLYI_WINDOW ? n : BLYI_WINDOW;
    f->ops->prefetch(f, h, ahead);
    for (size_t at = 0; at < n; at += BLYI_GROUP) {
        size_t some = n - at < BLYI_GROUP ? n - at : BLYI_GROUP;
        if (ahead < n) {
            size_t next = n - ahead < BLYI_GROUP ? n - ahead : BLYI_GROUP;
            f->ops->prefetch(f, h + ahead, next);
            ahead += next;
        }
        sum += work(f, writer, h + at, some, out ? out + at : NULL);
    }
    return sum;
}
