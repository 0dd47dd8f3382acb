/* Records of spilled blocks: the few blocks whose counts do not fit their cache line.
 *
 * A spilled block keeps its base, so that lookups see no difference, and has its counts in a record
 * of 320 numbers of 16 bits after the blocks. The block stores the number of its record, in the
 * bits that its layers no longer need. A list stores the number of each record's block. So finding
 * a record takes no search. The records in use are the first ones: when a record is freed, the last
 * one moves to its position, and the block of the moved record is updated. Free records are zeros.
 *
 * When all records are in use, the filter moves to a body with the next larger size class of
 * records (size_class.h). That is a seventh to a quarter larger, so a filter whose blocks spill one
 * after the other moves seldom. The number of records never shrinks.
 *
 * A count of 65535 is stuck: it does not change any more, because the number of copies that it
 * stands for is not known. A block with such a count stays spilled.
 */
#include "base/memory.h"
#include "kinds/multilayer/multilayer_layout.h"

#include <string.h>

blyi_ml_table blyi_ml_table_over(const bly_geometry *g, const uint8_t *body) {
    uint64_t records = blyi_ml_max_records(g);
    uint8_t *list = (uint8_t *)(uintptr_t)body + g->size * 64;
    return (blyi_ml_table){records, list, list + blyi_ml_list_bytes(records)};
}

static void ml_set_records_used(const blyi_ml_table *t, uint64_t used) {
    blyi_store64le(t->list, used);
}

static void ml_set_owner(const blyi_ml_table *t, uint64_t record, uint64_t number) {
    blyi_store64le(t->list + 8 * (1 + record), number);
}

static void ml_set_count(uint8_t *record, unsigned cell, unsigned count) {
    record[2 * cell] = (uint8_t)count;
    record[2 * cell + 1] = (uint8_t)(count >> 8);
}

const uint8_t *blyi_ml_record_of(const blyi_ml_table *t, const uint64_t *block, uint64_t number) {
    uint64_t record = blyi_le64(block[BLYI_ML_RECORD_WORD]);
    return record < t->max_records && blyi_ml_owner(t, record) == number ? blyi_ml_record(t, record)
                                                                         : NULL;
}

void blyi_ml_counts(const bly_filter *f, uint64_t number, uint16_t counts[BLYI_ML_CELLS]) {
    const uint64_t *block = blyi_ml_block(f, number);
    const uint8_t *record = NULL;
    if (blyi_ml_used(block) == BLYI_ML_SPILLED) {
        const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
        record = blyi_ml_record_of(&t, block, number);
    }
    if (!record) {
        blyi_ml_decode(block, counts);
        return;
    }
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++) {
        bool set = blyi_le64(block[cell >> 6]) >> (cell & 63) & 1;
        unsigned count = blyi_ml_count_at(record, cell);
        counts[cell] = (uint16_t)(!set ? 0 : count > 0 ? count : 1);
    }
}

/* ---- allocating and freeing records ---------------------------------------------------------- */

/* Writes the counts of a block, whose sum is `sum`, to the next free record, and marks the block as
 * spilled. Its base must be up to date. */
static void ml_record_allocate(const blyi_ml_table *t, uint64_t *block, uint64_t number,
                               const uint16_t counts[BLYI_ML_CELLS], uint32_t sum) {
    uint64_t record = blyi_ml_records_used(t);
    uint8_t *to = blyi_ml_record(t, record);
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++)
        ml_set_count(to, cell, counts[cell]);
    ml_set_owner(t, record, number);
    ml_set_records_used(t, record + 1);
    block[BLYI_ML_RECORD_WORD] = blyi_le64(record);
    block[BLYI_ML_SUM_WORD] = blyi_le64(sum);
    block[BLYI_ML_USED_WORD] = blyi_le64((uint64_t)BLYI_ML_SPILLED << 56);
}

/* Frees a record: the last one in use moves to its position. */
static void ml_record_free(bly_filter *f, const blyi_ml_table *t, uint64_t record) {
    uint64_t last = blyi_ml_records_used(t) - 1, moved = blyi_ml_owner(t, last);
    if (record != last) {
        memcpy(blyi_ml_record(t, record), blyi_ml_record(t, last), BLYI_ML_RECORD_BYTES);
        ml_set_owner(t, record, moved);
        blyi_ml_block(f, moved)[BLYI_ML_RECORD_WORD] = blyi_le64(record);
    }
    memset(blyi_ml_record(t, last), 0, BLYI_ML_RECORD_BYTES);
    ml_set_owner(t, last, 0);
    ml_set_records_used(t, last);
}

void blyi_ml_write_block(const bly_geometry *g, uint8_t *body, uint64_t number,
                         const uint16_t counts[BLYI_ML_CELLS], uint32_t sum) {
    uint64_t *block = (uint64_t *)(void *)(body + number * 64);
    if (sum <= BLYI_ML_LAYER_BITS) {
        blyi_ml_encode(counts, block);
        return;
    }
    const blyi_ml_table t = blyi_ml_table_over(g, body);
    blyi_ml_encode_base(counts, block);
    ml_record_allocate(&t, block, number, counts, sum);
}

/* Moves the filter to a body with more records. */
static bly_status ml_grow(bly_filter *f) {
    bly_geometry g = f->geometry;
    void *block;
    g.detail++;
    bly_status status = bly_plan_check(&g);
    if (status == BLY_OK)
        status = blyi_filter_may_grow(f, bly_plan_bytes(&g));
    if (status)
        return status;
    uint8_t *body = blyi_alloc_array(&f->alloc, bly_plan_bytes(&g), &block);
    if (!body)
        return BLY_ENOMEM;
    const blyi_ml_table from = blyi_ml_table_over(&f->geometry, f->body);
    const blyi_ml_table to = blyi_ml_table_over(&g, body);
    memcpy(body, f->body, (size_t)(g.size * 64));
    if (from.max_records) {
        memcpy(to.list, from.list, (size_t)(8 * (1 + from.max_records)));
        memcpy(to.records, from.records, (size_t)(from.max_records * BLYI_ML_RECORD_BYTES));
    }
    blyi_filter_replace_body(f, &g, body, block);
    return BLY_OK;
}

/* ---- spilled blocks -------------------------------------------------------------------------- */

bly_status blyi_ml_spill_block(bly_filter *f, uint64_t number) {
    blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint16_t counts[BLYI_ML_CELLS];
    if (blyi_ml_records_used(&t) == t.max_records) {
        bly_status status = ml_grow(f);
        if (status)
            return status;
        t = blyi_ml_table_over(&f->geometry, f->body);
    }
    uint64_t *block = blyi_ml_block(f, number);
    blyi_ml_counts(f, number, counts);
    ml_record_allocate(&t, block, number, counts, blyi_ml_used(block));
    return BLY_OK;
}

/* Moves the counts of a block from its record back into the block. */
static void ml_unspill_block(bly_filter *f, uint64_t number) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t *block = blyi_ml_block(f, number), record = blyi_le64(block[BLYI_ML_RECORD_WORD]);
    uint16_t counts[BLYI_ML_CELLS];
    blyi_ml_counts(f, number, counts);
    ml_record_free(f, &t, record);
    blyi_ml_encode(counts, block);
}

void blyi_ml_raise_spilled(bly_filter *f, uint64_t number, const uint16_t *cells, unsigned n) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t *block = blyi_ml_block(f, number), sum = blyi_le64(block[BLYI_ML_SUM_WORD]);
    uint8_t *record = blyi_ml_record(&t, blyi_le64(block[BLYI_ML_RECORD_WORD]));
    for (unsigned i = 0; i < n; i++) {
        unsigned cell = cells[i], count = blyi_ml_count_at(record, cell);
        if (count == BLYI_ML_STUCK)
            continue;
        ml_set_count(record, cell, count + 1);
        block[cell >> 6] |= blyi_le64((uint64_t)1 << (cell & 63));
        sum++;
    }
    block[BLYI_ML_SUM_WORD] = blyi_le64(sum);
}

void blyi_ml_lower_spilled(bly_filter *f, uint64_t number, const uint16_t *cells, unsigned n) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t *block = blyi_ml_block(f, number), sum = blyi_le64(block[BLYI_ML_SUM_WORD]);
    uint8_t *record = blyi_ml_record(&t, blyi_le64(block[BLYI_ML_RECORD_WORD]));
    for (unsigned i = 0; i < n; i++) {
        unsigned cell = cells[i], count = blyi_ml_count_at(record, cell);
        if (count == BLYI_ML_STUCK)
            continue;
        ml_set_count(record, cell, count - 1);
        if (count == 1)
            block[cell >> 6] &= ~blyi_le64((uint64_t)1 << (cell & 63));
        sum--;
    }
    block[BLYI_ML_SUM_WORD] = blyi_le64(sum);
    if (sum <= BLYI_ML_MAX_RETURN_SUM)
        ml_unspill_block(f, number);
}

/* ---- validity -------------------------------------------------------------------------------- */

/* Whether a spilled block is valid. It must own its record. The counts in the record must be
 * nonzero exactly where the base has a bit set, and must have the sum that the block states. That
 * sum must be above BLYI_ML_MAX_RETURN_SUM, because a block with a smaller sum is moved back out of
 * its record. */
static bool ml_spilled_is_valid(const blyi_ml_table *t, const uint64_t *block, uint64_t number) {
    uint64_t record = blyi_le64(block[BLYI_ML_RECORD_WORD]), sum = 0;
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
    return sum == blyi_le64(block[BLYI_ML_SUM_WORD]) && sum > BLYI_ML_MAX_RETURN_SUM &&
           blyi_le64(block[BLYI_ML_USED_WORD]) == (uint64_t)BLYI_ML_SPILLED << 56;
}

/* Whether the list and the records are zeros after those in use. */
static bool ml_free_records_are_zero(const blyi_ml_table *t) {
    uint64_t used = blyi_ml_records_used(t), stray = 0;
    for (const uint8_t *at = t->list + 8 * (1 + used); at < t->records; at++)
        stray |= *at;
    for (const uint8_t *at = blyi_ml_record(t, used); at < blyi_ml_record(t, t->max_records); at++)
        stray |= *at;
    return stray == 0;
}

/* Each spilled block must own a record. So if there are as many spilled blocks as records in use,
 * each of these records has a block. */
bool blyi_ml_body_is_valid(const blyi_shape *shape, const uint8_t *body) {
    const blyi_ml_table t = blyi_ml_table_over(&shape->geometry, body);
    uint64_t block[BLYI_ML_BLOCK_WORDS]; /* a copy: a file in memory need not be aligned */
    uint64_t used = blyi_ml_records_used(&t), spilled = 0;
    if (used > t.max_records)
        return false;
    for (uint64_t i = 0; i < shape->geometry.size; i++) {
        memcpy(block, body + i * sizeof block, sizeof block);
        bool is_spilled = blyi_ml_used(block) == BLYI_ML_SPILLED;
        if (is_spilled ? !ml_spilled_is_valid(&t, block, i) : !blyi_ml_block_is_valid(block))
            return false;
        spilled += is_spilled;
    }
    return spilled == used && (t.max_records == 0 || ml_free_records_are_zero(&t));
}
