/* redisbloom_link.h - one link of RedisBloom's chain of Bloom filters. Internal. */
#ifndef BLYI_FORMATS_REDISBLOOM_LINK_H
#define BLYI_FORMATS_REDISBLOOM_LINK_H

#include "core/bits.h"
#include "formats/redisbloom_layers.h"

typedef struct blyi_rb_link {
    blyi_rb_part part; /* the bits: bit x is byte x>>3, mask 1<<(x&7) */
    uint64_t capacity, bits, items;
    double error, bpe;
    uint32_t hashes;
    uint32_t n2;
    uint64_t modulus; /* bits, or 2^n2; at most 8 * part.bytes */
    uint64_t inverse; /* of the modulus */
} blyi_rb_link;

/* A key's two hash words: its positions are a, a + b, a + 2b and so on. */
typedef struct blyi_rb_hash {
    uint64_t a, b;
} blyi_rb_hash;

/* The shape of a new link; there are no bits yet. BLY_ETOOBIG: more than 2^48 bits, or error 0. */
bly_status blyi_rb_link_plan(uint64_t capacity, double error, blyi_rb_link *out);

/* The shape of a link from outside, with that many bytes of bits. BLY_ECORRUPT: there can be no
 * such link. */
bly_status blyi_rb_link_take(const bly_rb_link *told, uint64_t bytes, blyi_rb_link *out);

/* x modulo the link's modulus. With i = floor((2^64 - 1) / m), mulhi(x, i) is the quotient or one
 * less, so that one subtraction corrects the rest; a division would cost several times as much. */
static inline uint64_t blyi_rb_place(const blyi_rb_link *l, uint64_t x) {
    uint64_t rest = x - blyi_mulhi(x, l->inverse) * l->modulus;
    return rest >= l->modulus ? rest - l->modulus : rest;
}

/* Whether the bits of the probes from `from` up to `to` are all set. */
static inline bool blyi_rb_link_has(const blyi_rb_link *l, blyi_rb_hash h, uint32_t from,
                                    uint32_t to) {
    uint64_t x = h.a + from * h.b;
    for (uint32_t i = from; i < to; i++, x += h.b) {
        uint64_t at = blyi_rb_place(l, x);
        if (!(l->part.data[at >> 3] >> (at & 7) & 1))
            return false;
    }
    return true;
}

/* The probes that are looked at first, all of them: see redisbloom_bloom.c. */
enum { BLYI_RB_HEAD = 2 };

/* Whether those are set; with one hash the second is the first again. */
static inline bool blyi_rb_link_head(const blyi_rb_link *l, blyi_rb_hash h) {
    uint64_t one = blyi_rb_place(l, h.a);
    uint64_t two = blyi_rb_place(l, l->hashes > 1 ? h.a + h.b : h.a);
    return l->part.data[one >> 3] >> (one & 7) & l->part.data[two >> 3] >> (two & 7) & 1;
}

/* Sets all its bits; true if one was clear. */
static inline bool blyi_rb_link_set(blyi_rb_link *l, blyi_rb_hash h) {
    uint64_t x = h.a;
    bool changed = false;
    for (uint32_t i = 0; i < l->hashes; i++, x += h.b) {
        uint64_t at = blyi_rb_place(l, x);
        uint8_t mask = (uint8_t)(1u << (at & 7));
        changed |= !(l->part.data[at >> 3] & mask);
        l->part.data[at >> 3] |= mask;
    }
    return changed;
}

/* Starts the loads of those probes. */
static inline void blyi_rb_link_fetch(const blyi_rb_link *l, blyi_rb_hash h, uint32_t from,
                                      uint32_t to) {
    uint64_t x = h.a + from * h.b;
    for (uint32_t i = from; i < to; i++, x += h.b)
        blyi_prefetch_to_read(l->part.data + (blyi_rb_place(l, x) >> 3));
}

#endif
