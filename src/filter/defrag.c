/* A filter's blocks of memory, moved one by one.
 *
 * They are numbered in the order of one walk: the list of levels, each level's handle and then what
 * that has, the body, the counters. There are a few hundred at most, so that finding the one to go
 * on with by walking from the start costs nothing beside moving it. A body lies where its block is
 * first aligned, and so may have to be shifted inside a block that begins elsewhere.
 */
#include "base/memory.h"
#include "filter/levels.h"

#include <bloomery/pieces.h>

typedef struct walk {
    bly_mover move;
    void *ctx;
    size_t at;         /* the number of the next block */
    size_t from, upto; /* those to be offered */
} walk;

/* Where the next block has been moved to, or NULL. */
static void *offer(walk *w, void *block, size_t size) {
    size_t here = w->at++;
    return here < w->from || here >= w->upto ? NULL : w->move(w->ctx, block, size);
}

/* The same for an array of blyi_alloc_array. Returns where it now is, and *block where its block.
 */
static void *offer_array(walk *w, const bly_allocator *a, void *array, uint64_t bytes,
                         void **block) {
    if (!*block)
        return array;
    size_t offset = (size_t)((uintptr_t)array - (uintptr_t)*block);
    void *moved = offer(w, *block, blyi_array_block_bytes(a, bytes));
    if (!moved)
        return array;
    *block = moved;
    return blyi_array_settle(a, bytes, moved, offset);
}

static void offer_parts(walk *w, bly_filter *f);

static void offer_levels(walk *w, bly_filter *f) {
    blyi_levels *list = offer(w, f->levels, sizeof *list);
    if (list)
        f->levels = list;
    list = f->levels;
    for (unsigned i = list->borrowed; i < list->n; i++) {
        bly_filter *level = offer(w, list->at[i], sizeof *level);
        if (level)
            list->at[i] = level;
        offer_parts(w, list->at[i]);
    }
}

/* All that a filter has. Levels may be made of levels, but those not. */
static void offer_parts(walk *w, bly_filter *f) {
    if (f->levels)
        offer_levels(w, f);
    f->body = offer_array(w, &f->alloc, f->body, f->body_bytes, &f->body_allocation);
    f->stripes = offer_array(w, &f->alloc, f->stripes, BLYI_STRIPES * sizeof *f->stripes,
                             &f->stripes_allocation);
}

size_t bly_filter_move(bly_filter *f, size_t from, size_t most, bly_mover move, void *ctx) {
    size_t upto = most < SIZE_MAX - from ? from + most : SIZE_MAX;
    walk w = {.move = move, .ctx = ctx, .from = from, .upto = upto};
    offer_parts(&w, f);
    return upto < w.at ? upto : 0;
}

bly_filter *bly_filter_move_handle(bly_filter *f, bly_mover move, void *ctx) {
    bly_filter *moved = move(ctx, f, sizeof *f);
    return moved ? moved : f;
}
