/* Batches for any kind: the window of stream.c, holding hashes, with the kind's own prefetch and
 * test. */
#include "batch.h"

enum {
    WINDOW = 64, /* keys under way */
    GROUP = 16,  /* keys hashed, then tested, at a time */
};

static size_t work(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                   uint8_t *out) {
    return writer ? blyi_filter_put(writer, h, n, out) : f->ops->contains(f, h, n, out);
}

size_t blyi_batch_keys(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                       uint8_t *out) {
    if (f->ops->block_shift && !(writer && f->sharing == BLY_SHARED_ONCE))
        return f->stream(f, writer, keys, n, out);
    bly_hash ring[WINDOW];
    size_t sum = 0, head = 0, tail = 0;
    while (tail < n) {
        while (head < n && head - tail < WINDOW) {
            size_t some = n - head < GROUP ? n - head : GROUP;
            bly_hash *h = ring + head % WINDOW;
            f->hasher.many(&f->hasher, keys + head, some, h);
            f->ops->prefetch(f, h, some);
            head += some;
        }
        size_t some = n - tail < GROUP ? n - tail : GROUP;
        sum += work(f, writer, ring + tail % WINDOW, some, out ? out + tail : NULL);
        tail += some;
    }
    return sum;
}

size_t blyi_batch_hashes(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                         uint8_t *out) {
    size_t sum = 0, ahead = n < WINDOW ? n : WINDOW;
    f->ops->prefetch(f, h, ahead);
    for (size_t at = 0; at < n; at += GROUP) {
        size_t some = n - at < GROUP ? n - at : GROUP;
        if (ahead < n) {
            size_t next = n - ahead < GROUP ? n - ahead : GROUP;
            f->ops->prefetch(f, h + ahead, next);
            ahead += next;
        }
        sum += work(f, writer, h + at, some, out ? out + at : NULL);
    }
    return sum;
}
