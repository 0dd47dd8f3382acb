/* The core of a fuse filter: what peeling leaves over.
 *
 * Peeling (fuse.c) needs a slot that only one key has. With 1.22 slots per key there always is one,
 * with 1.125 in a long chain of segments too; but equations of three unknowns each can be solved
 * with 1.09 (Dubois and Mandler, 2002), and a small filter is a third smaller for it. The dense
 * system of Gaussian elimination would have a row for every key. It need not: when peeling comes to
 * a halt, put one key off, and go on as if it were not there. (So do Genuzio, Ottaviano and Vigna,
 * "Fast Scalable Construction of (Minimal Perfect Hash) Functions", 2016, with the roles of keys
 * and slots exchanged.) Few keys have to be put off, about one in twenty where one slot in nine is
 * spare, or some dozens of a hundred thousand in a chain.
 *
 * When no key is left, every key peeled has a slot of its own, and the other slots are free: choose
 * their values as you like, and those of the keys peeled follow. D keys that were put off are D
 * conditions on the free slots. Which free slots does each depend on? Begin with the key's own
 * three slots, and in the order of peeling replace each slot that was left to a key by that key's
 * two others. Do so for all D at once, with D bits for a slot. Then the bits of the free slots are
 * the columns of the dense system, and it has D rows. It is solved by columns: each is reduced by
 * those before it, and kept if anything is left, until there are D.
 *
 * A set of keys whose D conditions contradict each other has no solution, and wants another seed.
 *
 * The work is n + D n / 64 + D^3 / 64 steps or so.
 */
#include "kinds/fuse/fuse_core.h"

#include "base/memory.h"
#include <string.h>

enum { MAX_OFF = 1024 }; /* keys that may be put off */

/* The keys of a slot that are left: how many, and the exclusive or of their numbers. */
typedef struct node {
    uint32_t keys, which;
} node;

typedef struct core {
    const blyi_triple *t;
    size_t n, slots;
    node *nodes;
    uint32_t *queue;      /* of slots found to have one key; each comes there once */
    uint32_t *peeled_key; /* in the order of peeling */
    uint32_t *peeled_slot;
    uint32_t off[MAX_OFF]; /* keys put off */
    size_t begin, end, peeled, offs;
} core;

/* ---- peeling --------------------------------------------------------------------------------- */

static void take_out(core *c, uint32_t key) {
    for (unsigned j = 0; j < 3; j++) {
        uint32_t at = c->t[key].at[j];
        node *s = &c->nodes[at];
        s->keys--;
        s->which ^= key;
        if (s->keys == 1)
            c->queue[c->end++] = at;
    }
}

static void peel(core *c) {
    while (c->begin < c->end) {
        uint32_t at = c->queue[c->begin++];
        if (c->nodes[at].keys != 1)
            continue; /* its key has left through another slot */
        uint32_t key = c->nodes[at].which;
        c->peeled_slot[c->peeled] = at;
        c->peeled_key[c->peeled++] = key;
        take_out(c, key);
    }
}

/* Whether a key that has not been put off is there still: a slot of its own has no other. */
static bool is_left(const core *c, uint32_t key) {
    const uint32_t *at = c->t[key].at;
    return c->nodes[at[0]].keys && c->nodes[at[1]].keys && c->nodes[at[2]].keys;
}

/* Peels all keys but those put off. False when they are too many. */
static bool peel_all(core *c) {
    for (size_t i = 0; i < c->n; i++)
        for (unsigned j = 0; j < 3; j++) {
            node *s = &c->nodes[c->t[i].at[j]];
            s->keys++;
            s->which ^= (uint32_t)i;
        }
    for (size_t at = 0; at < c->slots; at++)
        if (c->nodes[at].keys == 1)
            c->queue[c->end++] = (uint32_t)at;
    peel(c);
    for (uint32_t key = 0; c->peeled + c->offs < c->n; key++) {
        if (!is_left(c, key))
            continue;
        if (c->offs == MAX_OFF)
            return false;
        c->off[c->offs++] = key;
        take_out(c, key);
        peel(c);
    }
    return true;
}

/* The values of the slots that were left to keys follow from those of the others. */
static void substitute(const core *c, uint32_t *value) {
    for (size_t i = c->peeled; i-- > 0;) {
        const blyi_triple *t = &c->t[c->peeled_key[i]];
        value[c->peeled_slot[i]] = 0;
        value[c->peeled_slot[i]] = t->want ^ value[t->at[0]] ^ value[t->at[1]] ^ value[t->at[2]];
    }
}

/* ---- the keys put off ------------------------------------------------------------------------ */

/* The dense system. Vectors have a bit for every key put off, in `words` words. */
typedef struct dense {
    size_t size, words;
    uint64_t *column;       /* of every slot: which keys put off depend on it */
    uint64_t *kept;         /* what is left of a column, where it begins with bit d: number d */
    uint64_t *used;         /* which of these it was reduced by */
    uint32_t slot[MAX_OFF]; /* whose column that was */
    bool has[MAX_OFF];      /* whether there is one */
    uint32_t order[MAX_OFF];
    size_t rank;
} dense;

static void add_to(uint64_t *to, const uint64_t *from, size_t words) {
    for (size_t w = 0; w < words; w++)
        to[w] ^= from[w];
}

static bool bit(const uint64_t *vector, size_t i) {
    return vector[i / 64] >> i % 64 & 1;
}

static void make_columns(const core *c, dense *d) {
    for (size_t i = 0; i < c->offs; i++)
        for (unsigned j = 0; j < 3; j++)
            d->column[c->t[c->off[i]].at[j] * d->words + i / 64] ^= (uint64_t)1 << i % 64;
    for (size_t i = 0; i < c->peeled; i++) {
        uint32_t own = c->peeled_slot[i];
        uint64_t *from = d->column + own * d->words;
        for (unsigned j = 0; j < 3; j++) {
            uint32_t at = c->t[c->peeled_key[i]].at[j];
            if (at != own)
                add_to(d->column + at * d->words, from, d->words);
        }
        memset(from, 0, d->words * sizeof *from); /* so that only free slots have columns */
    }
}

/* Reduces the column of a slot, and keeps it if anything is left. */
static void reduce(dense *d, size_t slot) {
    uint64_t used[MAX_OFF / 64] = {0}, *v = d->column + slot * d->words;
    for (size_t w = 0; w < d->words; w++)
        while (v[w]) {
            size_t first = w * 64 + (size_t)__builtin_ctzll(v[w]);
            uint64_t *kept = d->kept + first * d->words;
            if (!d->has[first]) {
                memcpy(kept, v, d->words * sizeof *v);
                memcpy(d->used + first * d->words, used, d->words * sizeof *v);
                d->has[first] = true;
                d->slot[first] = (uint32_t)slot;
                d->order[d->rank++] = (uint32_t)first;
                return;
            }
            add_to(v + w, kept + w, d->words - w);
            used[w] |= (uint64_t)1 << first % 64;
        }
}

/* Sets the slots of the columns kept, so that their sum is `lack`, of one number for each key put
 * off: first as a sum of what was kept of the columns, then of the columns themselves. */
static void set_free(const dense *d, uint32_t *lack, uint32_t *value) {
    for (size_t i = 0; i < d->size; i++)
        for (size_t j = i + 1; j < d->size; j++)
            if (bit(d->kept + i * d->words, j))
                lack[j] ^= lack[i];
    for (size_t r = d->rank; r-- > 0;) {
        size_t i = d->order[r];
        value[d->slot[i]] = lack[i];
        for (size_t j = 0; j < d->size; j++)
            if (bit(d->used + i * d->words, j))
                lack[j] ^= lack[i];
    }
}

/* Gives the free slots values with which the keys put off are right too. */
static bly_status settle(const core *c, uint32_t *value, const bly_allocator *a) {
    dense d = {.size = c->offs, .words = (c->offs + 63) / 64};
    uint32_t lack[MAX_OFF];
    void *block;
    d.column =
        blyi_alloc_small_pages(a, (c->slots + 2 * d.size) * d.words * sizeof *d.column, &block);
    if (!d.column)
        return BLY_ENOMEM;
    d.kept = d.column + c->slots * d.words;
    d.used = d.kept + d.size * d.words;
    make_columns(c, &d);
    for (size_t at = 0; at < c->slots && d.rank < d.size; at++)
        reduce(&d, at);
    bool solved = d.rank == d.size;
    if (solved) {
        substitute(c, value);
        for (size_t i = 0; i < c->offs; i++) {
            const blyi_triple *t = &c->t[c->off[i]];
            lack[i] = t->want ^ value[t->at[0]] ^ value[t->at[1]] ^ value[t->at[2]];
        }
        set_free(&d, lack, value);
    }
    blyi_free_array(a, block);
    return solved ? BLY_OK : BLY_EFULL;
}

bly_status blyi_core_solve(const blyi_triple *t, size_t n, size_t slots, uint32_t *value,
                           const bly_allocator *a) {
    core c = {.t = t, .n = n, .slots = slots};
    void *block;
    c.nodes = blyi_alloc_small_pages(
        a, slots * (sizeof *c.nodes + sizeof *c.queue) + n * 2 * sizeof *c.peeled_key, &block);
    if (!c.nodes)
        return BLY_ENOMEM;
    c.queue = (uint32_t *)(c.nodes + slots);
    c.peeled_key = c.queue + slots;
    c.peeled_slot = c.peeled_key + n;
    bly_status status = peel_all(&c) ? BLY_OK : BLY_EFULL;
    if (status == BLY_OK && c.offs > 0)
        status = settle(&c, value, a);
    if (status == BLY_OK)
        substitute(&c, value);
    blyi_free_array(a, block);
    return status;
}
