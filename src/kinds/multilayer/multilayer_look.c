/* What a multilayer filter says of itself, and whether a loaded one can be believed. */
#include "filter/rate.h"
#include "filter/set_operations.h"
#include "kinds/multilayer/multilayer.h"

#include <math.h>
#include <string.h>

/* ---- sound ----------------------------------------------------------------------------------- */

/* Its record is its own, and has counts where the base has bits, of the sum that the block says. A
 * block comes back before its sum is too small. */
static bool spilled_is_sound(const blyi_ml_table *t, const uint64_t *block, uint64_t number) {
    uint64_t record = blyi_le64(block[BLYI_ML_AT_RECORD]), sum = 0;
    if (record >= blyi_ml_records_used(t) || blyi_ml_owner(t, record) != number)
        return false;
    const uint8_t *counts = blyi_ml_record(t, record);
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++) {
        bool set = blyi_le64(block[cell >> 6]) >> (cell & 63) & 1;
        unsigned count = blyi_ml_count_at(counts, cell);
        if (set != (count > 0))
            return false;
        sum += count;
    }
    return sum == blyi_le64(block[BLYI_ML_AT_SUM]) && sum > BLYI_ML_RETURN &&
           blyi_le64(block[BLYI_ML_AT_USED]) == (uint64_t)BLYI_ML_SPILLED << 56;
}

/* Nothing but zeros behind what is in use. */
static bool rest_is_zero(const blyi_ml_table *t) {
    uint64_t used = blyi_ml_records_used(t), stray = 0;
    for (const uint8_t *at = t->list + 8 * (1 + used); at < t->records; at++)
        stray |= *at;
    for (const uint8_t *at = blyi_ml_record(t, used); at < blyi_ml_record(t, t->room); at++)
        stray |= *at;
    return stray == 0;
}

/* Every spilled block has a record of its own; when there are as many of the one as of the other,
 * every record has a block. */
bool blyi_ml_sound(const blyi_shape *shape, const uint8_t *body) {
    const blyi_ml_table t = blyi_ml_table_over(&shape->geometry, body);
    uint64_t block[BLYI_ML_BLOCK_WORDS]; /* a copy: a file in memory need not be aligned */
    uint64_t used = blyi_ml_records_used(&t), spilled = 0;
    if (used > t.room)
        return false;
    for (uint64_t i = 0; i < shape->geometry.size; i++) {
        memcpy(block, body + i * sizeof block, sizeof block);
        bool is_spilled = blyi_ml_used(block) == BLYI_ML_SPILLED;
        if (is_spilled ? !spilled_is_sound(&t, block, i) : !blyi_ml_block_sound(block))
            return false;
        spilled += is_spilled;
    }
    return spilled == used && (t.room == 0 || rest_is_zero(&t));
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* Counts that have reached their limit. Of a damaged map, in as many records as there can be. */
static uint64_t stuck_in(const bly_filter *f) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t used = blyi_ml_records_used(&t), stuck = 0;
    for (uint64_t i = 0; i < used && i < t.room; i++)
        for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++)
            stuck += blyi_ml_count_at(blyi_ml_record(&t, i), cell) == BLYI_ML_STUCK;
    return stuck;
}

/* The bits are those of the bases, which alone decide what is found. */
void blyi_ml_stats(const bly_filter *f, bly_stats *out) {
    double sum = 0, size = (double)f->geometry.size;
    uint64_t set = 0;
    for (uint64_t i = 0; i < f->geometry.size; i++) {
        const uint64_t *block = blyi_ml_block(f, i);
        unsigned here = 0;
        for (unsigned j = 0; j < BLYI_ML_BASE; j++)
            here += blyi_popcount64(block[j]);
        set += here;
        sum += pow((double)here / BLYI_ML_CELLS, f->geometry.hashes);
    }
    out->set_bits = set;
    out->fill = (double)set / (BLYI_ML_CELLS * size);
    double keys = blyi_ml_keys(&f->geometry, out->fill);
    double floor = blyi_hash_floor(isfinite(keys) ? keys : (double)out->count, f->hasher.bits);
    out->expected_fill = blyi_copies_fill(f, keys);
    out->estimated_keys = keys;
    out->predicted_fpr = isfinite(keys) ? fmin(1, blyi_rate(&f->geometry, keys) + floor) : 1;
    out->current_fpr = fmin(1, sum / size + floor);
    out->stuck = stuck_in(f);
}
