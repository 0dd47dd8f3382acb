/* Batches. A large filter's time goes into waiting for one random cache line per key, and a core
 * can have about twenty such loads under way. So keys move through a window: a small group is
 * hashed and its lines requested, then the group that entered a window ago, whose lines have
 * arrived, is tested. The window never drains, unlike "hash 32, then test 32", and small groups
 * keep the loads evenly spaced: bursts overflow the queue of outstanding misses. */
#include "batch.h"

enum {
    WINDOW = 32,    /* keys under way */
    GROUP = 4,      /* keys hashed, then tested, at a time */
    LONG_GROUP = 8, /* the same for long keys, whose hashing takes longer */
    LONG_KEY = 32
};

static inline size_t work(const bly_filter *f, bly_filter *writer, const bly_hash *h, size_t n,
                          uint8_t *out) {
    return writer ? blyi_filter_put(writer, h, n, out) : f->ops->contains(f, h, n, out);
}

/* One spot per key: the window holds spots, and a group costs two calls. */
static size_t batch_spots(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                          size_t group, uint8_t *out) {
    blyi_spot ring[WINDOW];
    blyi_field field = blyi_field_of(f);
    unsigned k = f->geometry.hashes;
    size_t sum = 0, head = 0, tail = 0;
    while (tail < n) {
        while (head < n && head - tail < WINDOW) {
            size_t some = n - head < group ? n - head : group;
            f->locate(&f->hasher, keys + head, some, &field, ring + head % WINDOW);
            head += some;
        }
        size_t some = n - tail < group ? n - tail : group;
        const blyi_spot *s = ring + tail % WINDOW;
        uint8_t *to = out ? out + tail : NULL;
        sum += writer ? f->set(writer->body, s, some, k, to) : f->probe(f->body, s, some, k, to);
        tail += some;
    }
    if (writer)
        blyi_filter_count_fresh(writer, sum, n ? ring[0].bits : 0);
    return sum;
}

/* Any kind: the window holds hashes. */
static size_t batch_any(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                        size_t group, uint8_t *out) {
    bly_hash ring[WINDOW];
    size_t sum = 0, head = 0, tail = 0;
    while (tail < n) {
        while (head < n && head - tail < WINDOW) {
            size_t some = n - head < group ? n - head : group;
            bly_hash *h = ring + head % WINDOW;
            f->hasher.many(&f->hasher, keys + head, some, h);
            f->ops->prefetch(f, h, some);
            head += some;
        }
        size_t some = n - tail < group ? n - tail : group;
        sum += work(f, writer, ring + tail % WINDOW, some, out ? out + tail : NULL);
        tail += some;
    }
    return sum;
}

size_t blyi_batch_keys(const bly_filter *f, bly_filter *writer, const bly_bytes *keys, size_t n,
                       uint8_t *out) {
    size_t group = n > 0 && keys[0].size >= LONG_KEY ? LONG_GROUP : GROUP;
    bool one_spot = f->ops->block_shift && !(writer && f->sharing == BLY_SHARED_ONCE);
    return one_spot ? batch_spots(f, writer, keys, n, group, out)
                    : batch_any(f, writer, keys, n, group, out);
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
