/* Whole sketches of counts: the sum of two, and half of one.
 *
 * Both put a number v into a cell that no code may stand for. It becomes one of the two codes whose
 * values lie around it, the upper one with the probability that keeps v right on average: (v -
 * value[c]) / (value[c+1] - value[c]). One number is drawn for a whole line. So a larger v never
 * gets a smaller code than a smaller one, and the least of a key's cells after is what became of
 * the least before: were every cell rounded by itself, the least of four would come out too low.
 *
 * The number drawn is a hash of the line and the adds that have been counted: the same sketches
 * give the same bytes.
 */
#include "kinds/counts/counts.h"

#include "base/bits.h"
#include "filter/levels.h"
#include <bloomery/sketch.h>

static uint64_t dice_of(uint64_t line, uint64_t items) {
    return blyi_fmix64(blyi_fmix64(items + 1) + line * BLYI_GOLD);
}

/* The code for v, at least `from`, whose value is not above it. */
static unsigned round_to(const uint64_t *value, uint64_t v, unsigned from, uint64_t dice) {
    unsigned code = from;
    while (code < BLYI_COUNTS_TOP && value[code + 1] <= v)
        code++;
    if (code == BLYI_COUNTS_TOP)
        return code;
    return code + (blyi_mulhi(dice, value[code + 1] - value[code]) < v - value[code]);
}

bly_status blyi_counts_unite(bly_filter *dst, const bly_filter *src) {
    const uint64_t *value = blyi_counts_values_of(dst);
    uint64_t items = blyi_sum(dst->items, src->items);
    for (uint64_t i = 0; i < dst->geometry.size; i++) {
        uint64_t dice = dice_of(i, items);
        uint8_t *to = dst->body + i * BLYI_COUNTS_LINE;
        const uint8_t *from = src->body + i * BLYI_COUNTS_LINE;
        for (unsigned j = 0; j < BLYI_COUNTS_LINE; j++) {
            if (from[j] == 0)
                continue;
            unsigned more = to[j] > from[j] ? to[j] : from[j];
            to[j] = (uint8_t)round_to(value, value[to[j]] + value[from[j]], more, dice);
        }
    }
    dst->items = items;
    dst->approximate |= src->approximate;
    return BLY_OK;
}

/* What becomes of each code when counts are halved: `least`, or one more if mulhi(dice, of) < up.
 */
typedef struct half {
    uint64_t up, of;
    unsigned least;
} half;

/* A count that is exact becomes the half of it, rounded down: that a key came once is forgotten. */
static half half_of(const uint64_t *value, unsigned code) {
    half h = {0, 1, 0};
    while (2 * value[h.least + 1] <= value[code])
        h.least++;
    if (value[code] != code) {
        h.up = value[code] - 2 * value[h.least];
        h.of = 2 * (value[h.least + 1] - value[h.least]);
    }
    return h;
}

bly_status bly_counts_age(bly_filter *f) {
    half halves[BLYI_COUNTS_CODES];
    if (f->geometry.kind != BLY_COUNTS)
        return BLY_EUNSUPPORTED;
    for (unsigned code = 0; code < BLYI_COUNTS_CODES; code++)
        halves[code] = half_of(blyi_counts_values_of(f), code);
    for (uint64_t i = 0; i < f->geometry.size; i++) {
        uint64_t dice = dice_of(i, f->items);
        uint8_t *line = f->body + i * BLYI_COUNTS_LINE;
        for (unsigned j = 0; j < BLYI_COUNTS_LINE; j++) {
            const half *h = &halves[line[j]];
            line[j] = (uint8_t)(h->least + (blyi_mulhi(dice, h->of) < h->up));
        }
    }
    /* A turn of its own, as an add has one: neither the next age nor the adds to come may meet dice
     * that were thrown before, else errors would add up instead of averaging out. */
    f->items = blyi_sum(f->items, 1);
    return BLY_OK;
}
