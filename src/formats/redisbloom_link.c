/* redisbloom_link.c - how large a link is.
 *
 * For n keys and an error p:  bpe = -ln p / ln(2)^2,  hashes = ceil(ln(2) * bpe),  and
 * floor(n * bpe) bits, rounded up to whole 64-bit words. The two constants are rounded where
 * RedisBloom rounds them, since bpe is stored and compared.
 *
 * A link from outside must obey the same formulas, but for what older versions did otherwise: a
 * size that is a power of two (with more bits than the keys need, up to twice as many), and one
 * that is no multiple of 8 (encoding 0). What remains in doubt is memory safety, so that every
 * place a key can have is in the array; and time, so that there are no more hashes than the
 * smallest error a number can hold asks for, which is 1075.
 */
#include "formats/redisbloom_link.h"

#include <math.h>

static const double LN2 = 0.693147180559945, LN2_SQUARED = 0.480453013918201;

#define MAX_BITS (8 * BLYI_RB_MAX_BYTES)

static double bpe_for(double error) {
    return -(log(error) / LN2_SQUARED);
}

static void set_modulus(blyi_rb_link *l) {
    l->modulus = l->n2 ? (uint64_t)1 << l->n2 : l->bits;
    l->inverse = UINT64_MAX / l->modulus;
}

bly_status blyi_rb_link_plan(uint64_t capacity, double error, blyi_rb_link *out) {
    if (!(error > 0))
        return BLY_ETOOBIG;
    double bpe = bpe_for(error), wanted = (double)capacity * bpe;
    if (capacity > MAX_BITS || wanted > (double)(MAX_BITS - 64))
        return BLY_ETOOBIG;
    uint64_t words = ((uint64_t)wanted + 63) / 64;
    *out = (blyi_rb_link){.capacity = capacity, .error = error, .bpe = bpe};
    out->bits = 64 * (words ? words : 1);
    out->part.bytes = out->bits / 8;
    out->hashes = (uint32_t)ceil(LN2 * bpe);
    set_modulus(out);
    return BLY_OK;
}

/* Equal but for rounding. */
static bool near(double x, double y) {
    return fabs(x - y) <= 1e-9 * y;
}

/* The number of hashes that bpe asks for; either of two where rounding decides. */
static bool right_hashes(uint64_t hashes, double bpe) {
    double exact = LN2 * bpe;
    return (double)hashes >= ceil(exact * (1 - 1e-9)) && (double)hashes <= ceil(exact * (1 + 1e-9));
}

/* NaN is refused by each of the comparisons that it meets first. */
static bool sound_numbers(const bly_rb_link *t) {
    if (!(t->error > 0 && t->error < 1) || !near(t->bpe, bpe_for(t->error)) ||
        !right_hashes(t->hashes, t->bpe))
        return false;
    if (t->capacity == 0 || t->capacity > MAX_BITS || t->bits == 0 || t->bits > MAX_BITS)
        return false;
    double wanted = (double)t->capacity * t->bpe, bits = (double)t->bits;
    return wanted < bits + 64 && bits <= 2 * wanted + 64;
}

bly_status blyi_rb_link_take(const bly_rb_link *t, uint64_t bytes, blyi_rb_link *out) {
    if (bytes == 0 || bytes > BLYI_RB_MAX_BYTES || !sound_numbers(t))
        return BLY_ECORRUPT;
    bool filled = t->bits <= 8 * bytes && 8 * bytes - t->bits < 64;
    bool rounded = t->n2 <= 48 && ((uint64_t)1 << t->n2 == t->bits || (t->bits == 64 && t->n2 < 6));
    if (!filled || (t->n2 > 0 && !rounded) || t->items > t->bits)
        return BLY_ECORRUPT;
    *out = (blyi_rb_link){.part.bytes = bytes,
                          .capacity = t->capacity,
                          .bits = t->bits,
                          .items = t->items,
                          .error = t->error,
                          .bpe = t->bpe,
                          .hashes = (uint32_t)t->hashes,
                          .n2 = (uint32_t)t->n2};
    set_modulus(out);
    return BLY_OK;
}
