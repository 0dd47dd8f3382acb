/* Spilled blocks: the few whose counts do not fit their line.
 *
 * Such a block keeps its base, so that queries see no difference, and has its counts in a record of
 * 320 numbers of 16 bits behind the blocks. The block knows the number of its record, in the bits
 * that layers no longer need, and a list the block of each record: so finding a record takes no
 * search, and records in use lie together at the beginning. When one is given back, the last one
 * moves into its place, and its block is told. Free records are zeros.
 *
 * When all records are in use, the filter moves to a body with the next larger table (steps.h). The
 * table is a quarter to a seventh larger, so a filter that spills one block after the other moves
 * seldom; it never moves back.
 *
 * A count that has come to 65535 stays there. How many copies it stands for is not known any more,
 * and a block with such a count stays spilled.
 */
#include "base/memory.h"
#include "kinds/multilayer/multilayer.h"

#include <string.h>

blyi_ml_table blyi_ml_table_over(const bly_geometry *g, const uint8_t *body) {
    uint64_t room = blyi_ml_room(g);
    uint8_t *list = (uint8_t *)(uintptr_t)body + g->size * 64;
    return (blyi_ml_table){room, list, list + blyi_ml_list_bytes(room)};
}

static void set_used(const blyi_ml_table *t, uint64_t used) {
    blyi_store64le(t->list, used);
}

static void set_owner(const blyi_ml_table *t, uint64_t record, uint64_t number) {
    blyi_store64le(t->list + 8 * (1 + record), number);
}

static void set_count(uint8_t *record, unsigned cell, unsigned count) {
    record[2 * cell] = (uint8_t)count;
    record[2 * cell + 1] = (uint8_t)(count >> 8);
}

const uint8_t *blyi_ml_record_of(const blyi_ml_table *t, const uint64_t *block, uint64_t number) {
    uint64_t record = blyi_le64(block[BLYI_ML_AT_RECORD]);
    return record < t->room && blyi_ml_owner(t, record) == number ? blyi_ml_record(t, record)
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

/* ---- records given out and back -------------------------------------------------------------- */

/* Makes `number`, all of whose counts these are, the block of the next free record; its base is
 * right already. */
static void occupy(const blyi_ml_table *t, uint64_t *block, uint64_t number,
                   const uint16_t counts[BLYI_ML_CELLS], uint32_t sum) {
    uint64_t record = blyi_ml_records_used(t);
    uint8_t *to = blyi_ml_record(t, record);
    for (unsigned cell = 0; cell < BLYI_ML_CELLS; cell++)
        set_count(to, cell, counts[cell]);
    set_owner(t, record, number);
    set_used(t, record + 1);
    block[BLYI_ML_AT_RECORD] = blyi_le64(record);
    block[BLYI_ML_AT_SUM] = blyi_le64(sum);
    block[BLYI_ML_AT_USED] = blyi_le64((uint64_t)BLYI_ML_SPILLED << 56);
}

/* The last record in use takes the place of this one. */
static void give_back(bly_filter *f, const blyi_ml_table *t, uint64_t record) {
    uint64_t last = blyi_ml_records_used(t) - 1, moved = blyi_ml_owner(t, last);
    if (record != last) {
        memcpy(blyi_ml_record(t, record), blyi_ml_record(t, last), BLYI_ML_RECORD);
        set_owner(t, record, moved);
        blyi_ml_block(f, moved)[BLYI_ML_AT_RECORD] = blyi_le64(record);
    }
    memset(blyi_ml_record(t, last), 0, BLYI_ML_RECORD);
    set_owner(t, last, 0);
    set_used(t, last);
}

void blyi_ml_store(const bly_geometry *g, uint8_t *body, uint64_t number,
                   const uint16_t counts[BLYI_ML_CELLS], uint32_t sum) {
    uint64_t *block = (uint64_t *)(void *)(body + number * 64);
    if (sum <= BLYI_ML_LAYERS) {
        blyi_ml_encode(counts, block);
        return;
    }
    const blyi_ml_table t = blyi_ml_table_over(g, body);
    blyi_ml_encode_base(counts, block);
    occupy(&t, block, number, counts, sum);
}

/* To a body with room for more records. */
static bly_status grow(bly_filter *f) {
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
    if (from.room) {
        memcpy(to.list, from.list, (size_t)(8 * (1 + from.room)));
        memcpy(to.records, from.records, (size_t)(from.room * BLYI_ML_RECORD));
    }
    blyi_filter_replace_body(f, &g, body, block);
    return BLY_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

bly_status blyi_ml_spill_block(bly_filter *f, uint64_t number) {
    blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint16_t counts[BLYI_ML_CELLS];
    if (blyi_ml_records_used(&t) == t.room) {
        bly_status status = grow(f);
        if (status)
            return status;
        t = blyi_ml_table_over(&f->geometry, f->body);
    }
    uint64_t *block = blyi_ml_block(f, number);
    blyi_ml_counts(f, number, counts);
    occupy(&t, block, number, counts, blyi_ml_used(block));
    return BLY_OK;
}

/* Back from its record. */
static void return_block(bly_filter *f, uint64_t number) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t *block = blyi_ml_block(f, number), record = blyi_le64(block[BLYI_ML_AT_RECORD]);
    uint16_t counts[BLYI_ML_CELLS];
    blyi_ml_counts(f, number, counts);
    give_back(f, &t, record);
    blyi_ml_encode(counts, block);
}

void blyi_ml_raise_record(bly_filter *f, uint64_t number, const uint16_t *cells, unsigned n) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t *block = blyi_ml_block(f, number), sum = blyi_le64(block[BLYI_ML_AT_SUM]);
    uint8_t *record = blyi_ml_record(&t, blyi_le64(block[BLYI_ML_AT_RECORD]));
    for (unsigned i = 0; i < n; i++) {
        unsigned cell = cells[i], count = blyi_ml_count_at(record, cell);
        if (count == BLYI_ML_STUCK)
            continue;
        set_count(record, cell, count + 1);
        block[cell >> 6] |= blyi_le64((uint64_t)1 << (cell & 63));
        sum++;
    }
    block[BLYI_ML_AT_SUM] = blyi_le64(sum);
}

void blyi_ml_lower_record(bly_filter *f, uint64_t number, const uint16_t *cells, unsigned n) {
    const blyi_ml_table t = blyi_ml_table_over(&f->geometry, f->body);
    uint64_t *block = blyi_ml_block(f, number), sum = blyi_le64(block[BLYI_ML_AT_SUM]);
    uint8_t *record = blyi_ml_record(&t, blyi_le64(block[BLYI_ML_AT_RECORD]));
    for (unsigned i = 0; i < n; i++) {
        unsigned cell = cells[i], count = blyi_ml_count_at(record, cell);
        if (count == BLYI_ML_STUCK)
            continue;
        set_count(record, cell, count - 1);
        if (count == 1)
            block[cell >> 6] &= ~blyi_le64((uint64_t)1 << (cell & 63));
        sum--;
    }
    block[BLYI_ML_AT_SUM] = blyi_le64(sum);
    if (sum <= BLYI_ML_RETURN)
        return_block(f, number);
}
