/* Solves the core of a fuse filter: the equations that peeling leaves over.
 *
 * Peeling (fuse.c) needs a slot that only one key has. With 1.22 slots per key there always is one;
 * in a long chain of segments 1.125 are enough. But equations of three unknowns each can be solved
 * with 1.09 slots per key (Dubois and Mandler, 2002), which makes a small filter a third smaller.
 * The dense system of Gaussian elimination would have a row for every key. That is not necessary:
 * when peeling stops, one key is deferred, and peeling continues as if it were not there. (Genuzio,
 * Ottaviano and Vigna, "Fast Scalable Construction of (Minimal Perfect Hash) Functions", 2016, do
 * the same with the roles of keys and slots exchanged.) Few keys have to be deferred: about one in
 * twenty if one slot in nine is spare, and some dozens of a hundred thousand in a chain.
 *
 * When no key is left, each peeled key has a slot that is reserved for it. The other slots are
 * free: their values can be chosen, and those of the reserved slots follow. D deferred keys are D
 * conditions on the free slots. To find the free slots on which a condition depends, begin with the
 * three slots of the deferred key. Then, in the order of peeling, replace each reserved slot by the
 * other two slots of its key. This is done for all D at once, with D bits per slot. The bits of the
 * free slots are then the columns of the dense system, which has D rows. It is solved by columns:
 * each is reduced by those kept before it, and kept unless it becomes 0, until D columns are kept.
 *
 * A set of keys whose D conditions contradict each other has no solution, and needs another seed.
 *
 * The work is about n + D n / 64 + D^3 / 64 steps.
 */
#include "base/memory.h"
#include "kinds/fuse/fuse_layout.h"

#include <string.h>

enum { CORE_MAX_DEFERRED = 1024 }; /* the most keys that may be deferred */

/* The keys that a slot still has: their number, and the exclusive or of their indexes. */
typedef struct core_node {
    uint32_t keys, which;
} core_node;

typedef struct fuse_core {
    const blyi_fuse_equation *e;
    size_t n, slots;
    core_node *nodes;
    uint32_t *queue;                      /* slots found to have one key; none is in it twice */
    uint32_t *peeled_key;                 /* keys in the order of peeling */
    uint32_t *peeled_slot;                /* the slots from which they were peeled */
    uint32_t deferred[CORE_MAX_DEFERRED]; /* indexes of the deferred keys */
    size_t begin, end, peeled, deferred_count;
} fuse_core;

/* ---- peeling --------------------------------------------------------------------------------- */

static void core_remove_key(fuse_core *c, uint32_t key) {
    for (unsigned j = 0; j < 3; j++) {
        uint32_t slot = c->e[key].slot[j];
        core_node *s = &c->nodes[slot];
        s->keys--;
        s->which ^= key;
        if (s->keys == 1)
            c->queue[c->end++] = slot;
    }
}

static void core_peel(fuse_core *c) {
    while (c->begin < c->end) {
        uint32_t slot = c->queue[c->begin++];
        if (c->nodes[slot].keys != 1)
            continue; /* its key was peeled from another slot */
        uint32_t key = c->nodes[slot].which;
        c->peeled_slot[c->peeled] = slot;
        c->peeled_key[c->peeled++] = key;
        core_remove_key(c, key);
    }
}

/* Whether a key that is not deferred is still to be peeled. (The slot from which a key was peeled
 * has no keys left.) */
static bool core_is_left(const fuse_core *c, uint32_t key) {
    const uint32_t *slot = c->e[key].slot;
    return c->nodes[slot[0]].keys && c->nodes[slot[1]].keys && c->nodes[slot[2]].keys;
}

/* Peels all keys except for those that it defers. Returns false if these are too many. */
static bool core_peel_all(fuse_core *c) {
    for (size_t i = 0; i < c->n; i++)
        for (unsigned j = 0; j < 3; j++) {
            core_node *s = &c->nodes[c->e[i].slot[j]];
            s->keys++;
            s->which ^= (uint32_t)i;
        }
    for (size_t slot = 0; slot < c->slots; slot++)
        if (c->nodes[slot].keys == 1)
            c->queue[c->end++] = (uint32_t)slot;
    core_peel(c);
    for (uint32_t key = 0; c->peeled + c->deferred_count < c->n; key++) {
        if (!core_is_left(c, key))
            continue;
        if (c->deferred_count == CORE_MAX_DEFERRED)
            return false;
        c->deferred[c->deferred_count++] = key;
        core_remove_key(c, key);
        core_peel(c);
    }
    return true;
}

/* Computes the values of the peeled slots from those of the others. */
static void core_substitute(const fuse_core *c, uint32_t *value) {
    for (size_t i = c->peeled; i-- > 0;) {
        const blyi_fuse_equation *e = &c->e[c->peeled_key[i]];
        value[c->peeled_slot[i]] = 0;
        value[c->peeled_slot[i]] =
            e->sum ^ value[e->slot[0]] ^ value[e->slot[1]] ^ value[e->slot[2]];
    }
}

/* ---- deferred keys --------------------------------------------------------------------------- */

/* The dense system. Vectors have a bit for every deferred key, in `words` words. */
typedef struct core_dense {
    size_t size, words;
    uint64_t *column; /* for every slot: which deferred keys depend on it */
    uint64_t *kept;   /* vector d: a reduced column whose first bit is d */
    uint64_t *used;   /* vector d: the kept columns by which that one was reduced */
    uint32_t kept_slot[CORE_MAX_DEFERRED]; /* the slot of kept column d */
    bool is_kept[CORE_MAX_DEFERRED];       /* whether there is a kept column d */
    uint32_t order[CORE_MAX_DEFERRED];
    size_t rank;
} core_dense;

static void core_xor(uint64_t *to, const uint64_t *from, size_t words) {
    for (size_t w = 0; w < words; w++)
        to[w] ^= from[w];
}

static bool core_bit(const uint64_t *vector, size_t i) {
    return vector[i / 64] >> i % 64 & 1;
}

static void core_make_columns(const fuse_core *c, core_dense *d) {
    for (size_t i = 0; i < c->deferred_count; i++)
        for (unsigned j = 0; j < 3; j++)
            d->column[c->e[c->deferred[i]].slot[j] * d->words + i / 64] ^= (uint64_t)1 << i % 64;
    for (size_t i = 0; i < c->peeled; i++) {
        uint32_t own = c->peeled_slot[i];
        uint64_t *from = d->column + own * d->words;
        for (unsigned j = 0; j < 3; j++) {
            uint32_t slot = c->e[c->peeled_key[i]].slot[j];
            if (slot != own)
                core_xor(d->column + slot * d->words, from, d->words);
        }
        memset(from, 0, d->words * sizeof *from); /* so that only free slots have columns */
    }
}

/* Reduces the column of a slot, and keeps it unless it becomes 0. */
static void core_reduce(core_dense *d, size_t slot) {
    uint64_t used[CORE_MAX_DEFERRED / 64] = {0}, *v = d->column + slot * d->words;
    for (size_t w = 0; w < d->words; w++)
        while (v[w]) {
            size_t first = w * 64 + (size_t)__builtin_ctzll(v[w]);
            uint64_t *kept = d->kept + first * d->words;
            if (!d->is_kept[first]) {
                memcpy(kept, v, d->words * sizeof *v);
                memcpy(d->used + first * d->words, used, d->words * sizeof *v);
                d->is_kept[first] = true;
                d->kept_slot[first] = (uint32_t)slot;
                d->order[d->rank++] = (uint32_t)first;
                return;
            }
            core_xor(v + w, kept + w, d->words - w);
            used[w] |= (uint64_t)1 << first % 64;
        }
}

/* Sets the slots of the kept columns so that they add missing[i] to the equation of each deferred
 * key i. For that, expresses `missing` as a sum of the reduced columns, then as one of the columns
 * themselves. Overwrites `missing`. */
static void core_set_free(const core_dense *d, uint32_t *missing, uint32_t *value) {
    for (size_t i = 0; i < d->size; i++)
        for (size_t j = i + 1; j < d->size; j++)
            if (core_bit(d->kept + i * d->words, j))
                missing[j] ^= missing[i];
    for (size_t r = d->rank; r-- > 0;) {
        size_t i = d->order[r];
        value[d->kept_slot[i]] = missing[i];
        for (size_t j = 0; j < d->size; j++)
            if (core_bit(d->used + i * d->words, j))
                missing[j] ^= missing[i];
    }
}

/* Sets the free slots to values that satisfy the equations of the deferred keys. */
static bly_status core_solve_deferred(const fuse_core *c, uint32_t *value, const bly_allocator *a) {
    core_dense d = {.size = c->deferred_count, .words = (c->deferred_count + 63) / 64};
    uint32_t missing[CORE_MAX_DEFERRED];
    void *block;
    d.column =
        blyi_alloc_small_pages(a, (c->slots + 2 * d.size) * d.words * sizeof *d.column, &block);
    if (!d.column)
        return BLY_ENOMEM;
    d.kept = d.column + c->slots * d.words;
    d.used = d.kept + d.size * d.words;
    core_make_columns(c, &d);
    for (size_t slot = 0; slot < c->slots && d.rank < d.size; slot++)
        core_reduce(&d, slot);
    bool solved = d.rank == d.size;
    if (solved) {
        core_substitute(c, value);
        for (size_t i = 0; i < c->deferred_count; i++) {
            const blyi_fuse_equation *e = &c->e[c->deferred[i]];
            missing[i] = e->sum ^ value[e->slot[0]] ^ value[e->slot[1]] ^ value[e->slot[2]];
        }
        core_set_free(&d, missing, value);
    }
    blyi_free_array(a, block);
    return solved ? BLY_OK : BLY_EFULL;
}

bly_status blyi_fuse_solve_equations(const blyi_fuse_equation *e, size_t n, size_t slots,
                                     uint32_t *value, const bly_allocator *a) {
    fuse_core c = {.e = e, .n = n, .slots = slots};
    void *block;
    c.nodes = blyi_alloc_small_pages(
        a, slots * (sizeof *c.nodes + sizeof *c.queue) + n * 2 * sizeof *c.peeled_key, &block);
    if (!c.nodes)
        return BLY_ENOMEM;
    c.queue = (uint32_t *)(c.nodes + slots);
    c.peeled_key = c.queue + slots;
    c.peeled_slot = c.peeled_key + n;
    bly_status status = core_peel_all(&c) ? BLY_OK : BLY_EFULL;
    if (status == BLY_OK && c.deferred_count > 0)
        status = core_solve_deferred(&c, value, a);
    if (status == BLY_OK)
        core_substitute(&c, value);
    blyi_free_array(a, block);
    return status;
}
