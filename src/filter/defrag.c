/* Defragmentation: moves a filter's allocations one by one.
 *
 * They are numbered in the order of one traversal: the list of levels, each level's handle followed
 * by its own allocations, the body, the counts of a shared filter (stripes). There are a few
 * hundred at most, so finding the next one by a traversal from the start costs little compared with
 * moving it. A body begins at the first aligned address of its allocation, so it may have to be
 * shifted within an allocation that has moved.
 */
#include "base/memory.h"
#include "filter/levels.h"

#include <bloomery/host/defrag.h>

typedef struct traversal {
    bly_defrag_move move;
    void *ctx;
    size_t at;         /* the number of the next allocation */
    size_t from, upto; /* the allocations to offer: from <= number < upto */
} traversal;

/* Offers the next allocation to `move`, if its number is in the range. Returns its new address, or
 * NULL if it was not moved. */
static void *offer_allocation(traversal *w, void *block, size_t size) {
    size_t here = w->at++;
    return here < w->from || here >= w->upto ? NULL : w->move(w->ctx, block, size);
}

/* Offers the allocation *block of an array from blyi_alloc_array. Returns the address of the array,
 * and sets *block to the address of its allocation. */
static void *offer_array(traversal *w, const bly_allocator *a, void *array, uint64_t bytes,
                         void **block) {
    if (!*block)
        return array;
    size_t offset = (size_t)((uintptr_t)array - (uintptr_t)*block);
    void *moved = offer_allocation(w, *block, blyi_array_block_bytes(a, bytes));
    if (!moved)
        return array;
    *block = moved;
    return blyi_array_realign(a, bytes, moved, offset);
}

static void offer_parts(traversal *w, bly_filter *f);

static void offer_levels(traversal *w, bly_filter *f) {
    blyi_levels *list = offer_allocation(w, f->levels, sizeof *list);
    if (list)
        f->levels = list;
    list = f->levels;
    for (unsigned i = list->borrowed; i < list->n; i++) {
        bly_filter *level = offer_allocation(w, list->at[i], sizeof *level);
        if (level)
            list->at[i] = level;
        offer_parts(w, list->at[i]);
    }
}

/* Visits every allocation of f except its handle. Levels nest at most two deep. */
static void offer_parts(traversal *w, bly_filter *f) {
    if (f->levels)
        offer_levels(w, f);
    f->body = offer_array(w, &f->alloc, f->body, f->body_bytes, &f->body_allocation);
    f->stripes = offer_array(w, &f->alloc, f->stripes, BLYI_STRIPES * sizeof *f->stripes,
                             &f->stripes_allocation);
}

size_t bly_filter_defrag(bly_filter *f, size_t from, size_t most, bly_defrag_move move, void *ctx) {
    size_t upto = most < SIZE_MAX - from ? from + most : SIZE_MAX;
    traversal w = {.move = move, .ctx = ctx, .from = from, .upto = upto};
    offer_parts(&w, f);
    return upto < w.at ? upto : 0;
}

bly_filter *bly_filter_defrag_handle(bly_filter *f, bly_defrag_move move, void *ctx) {
    bly_filter *moved = move(ctx, f, sizeof *f);
    return moved ? moved : f;
}
