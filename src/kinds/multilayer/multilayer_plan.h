/* plan_multilayer.h - the shape of a multilayer filter, for those who size one and those who use
 * it. Internal. plan_multilayer.c explains the numbers, filters/counting/multilayer.c the idea.
 *
 * Body: `size` blocks of 64 bytes. Then, when there is room for any spilled block, the list: a word
 * with the number of records in use, and a word for each record with the number of its block; then
 * zeros up to a multiple of 64 bytes. Then the records, 640 bytes each.
 */
#ifndef BLYI_KINDS_MULTILAYER_MULTILAYER_PLAN_H
#define BLYI_KINDS_MULTILAYER_MULTILAYER_PLAN_H

#include "base/size_class.h"
#include "filter/kind.h"
#include <bloomery/plan.h>

enum {
    BLYI_ML_CELLS = 320,     /* of a block */
    BLYI_ML_LAYERS = 184,    /* bits for the layers of a block */
    BLYI_ML_MAX_HASHES = 32, /* cells of a key */
    BLYI_ML_RECORD = 640,    /* bytes: a count of two bytes for every cell */
    BLYI_ML_BLOCK_WORDS = 8,
};

/* Records that there is room for. */
static inline uint64_t blyi_ml_room(const bly_geometry *g) {
    return blyi_size_of_class(g->detail);
}

/* Bytes of the list. */
static inline uint64_t blyi_ml_list_bytes(uint64_t room) {
    return room ? 64 * ((room + 8) / 8) : 0;
}

/* The chance that a key sets a given one of the bits that queries see. */
double blyi_ml_chance(const bly_geometry *g);

/* How many distinct keys leave a share `fill` of these bits set; INFINITY for all of them. */
double blyi_ml_keys(const bly_geometry *g, double fill);

/* The share of blocks that n distinct keys make spill. */
double blyi_ml_spill(const bly_geometry *g, double n);

extern const blyi_planner blyi_multilayer_planner;

#endif
