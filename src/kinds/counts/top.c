/* The keys with the highest counts.
 *
 * A sketch of counts answers for a key, but cannot name one. So whoever adds keys offers each one
 * here with the count it has reached, and the n highest stay: in a heap with the least at its top,
 * which is where the next one to leave is found, and in a table by hash, which tells whether a key
 * is there already. Both hold the numbers of entries; entries never move.
 *
 *     table   open addressing, twice as many slots as entries or more; a slot holds an entry's
 *             number plus 1. A slot that becomes free is filled by moving up those after it that
 *             were pushed past it, so that there are no graves.
 *     heap    place i has the places 2i+1 and 2i+2 below it; every entry knows its place.
 *
 * Of keys with equal counts the one that came first stays.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include <bloomery/sketch.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 1 << 28 }; /* entries: numbers and slots fit 32 bits */

typedef struct entry {
    uint8_t *key; /* NULL when empty */
    size_t size;
    uint64_t count;
    uint32_t hash;
    uint32_t place; /* in the heap */
} entry;

struct bly_top {
    bly_allocator alloc;
    entry *entries;
    uint32_t *heap, *table;
    bly_top_entry *list;
    uint32_t n, most, mask;
};

/* ---- the heap -------------------------------------------------------------------------------- */

static void put_at(bly_top *t, uint32_t place, uint32_t number) {
    t->heap[place] = number;
    t->entries[number].place = place;
}

static uint64_t count_at(const bly_top *t, uint32_t place) {
    return t->entries[t->heap[place]].count;
}

/* Brings the entry at `place`, whose count has changed, to where it belongs. */
static void settle(bly_top *t, uint32_t place) {
    uint32_t number = t->heap[place];
    uint64_t count = t->entries[number].count;
    while (place > 0 && count < count_at(t, (place - 1) / 2)) {
        put_at(t, place, t->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        uint32_t below = 2 * place + 1;
        if (below + 1 < t->n && count_at(t, below + 1) < count_at(t, below))
            below++;
        if (below >= t->n || count_at(t, below) >= count)
            break;
        put_at(t, place, t->heap[below]);
        place = below;
    }
    put_at(t, place, number);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The slot of a key, or the free one where it would go. */
static uint32_t slot_of(const bly_top *t, uint32_t hash, const void *key, size_t size) {
    uint32_t slot = hash & t->mask;
    for (; t->table[slot] != 0; slot = (slot + 1) & t->mask) {
        const entry *e = &t->entries[t->table[slot] - 1];
        if (e->hash == hash && e->size == size && (size == 0 || memcmp(e->key, key, size) == 0))
            break;
    }
    return slot;
}

/* Moves up what was pushed past a slot that is free now. */
static void free_slot(bly_top *t, uint32_t slot) {
    for (uint32_t next = (slot + 1) & t->mask; t->table[next] != 0; next = (next + 1) & t->mask) {
        uint32_t home = t->entries[t->table[next] - 1].hash & t->mask;
        if (((next - home) & t->mask) >= ((next - slot) & t->mask)) {
            t->table[slot] = t->table[next];
            slot = next;
        }
    }
    t->table[slot] = 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void *array(bly_top *t, size_t n, size_t size) {
    return t->alloc.alloc(t->alloc.ctx, n * size);
}

bly_status bly_top_create(size_t n, const bly_allocator *a, bly_top **out) {
    bly_allocator alloc = blyi_allocator_or_default(a);
    *out = NULL;
    if (n == 0)
        return BLY_EINVAL;
    if (n > MAX)
        return BLY_ENOMEM;
    bly_top *t = alloc.alloc(alloc.ctx, sizeof *t);
    if (!t)
        return BLY_ENOMEM;
    size_t slots = 2;
    while (slots < 2 * n)
        slots *= 2;
    t->alloc = alloc;
    t->most = (uint32_t)n;
    t->mask = (uint32_t)(slots - 1);
    t->entries = array(t, n, sizeof *t->entries);
    t->heap = array(t, n, sizeof *t->heap);
    t->list = array(t, n, sizeof *t->list);
    t->table = array(t, slots, sizeof *t->table);
    if (!t->entries || !t->heap || !t->list || !t->table) {
        bly_top_destroy(t);
        return BLY_ENOMEM;
    }
    for (uint32_t i = 0; i < t->most; i++)
        t->heap[i] = i;
    *out = t;
    return BLY_OK;
}

void bly_top_destroy(bly_top *t) {
    if (!t)
        return;
    bly_allocator alloc = t->alloc;
    void *parts[] = {t->entries, t->heap, t->list, t->table, t};
    for (uint32_t i = 0; t->entries && i < t->most; i++)
        if (t->entries[i].key)
            alloc.free(alloc.ctx, t->entries[i].key);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            alloc.free(alloc.ctx, parts[i]);
}

/* ---- use ------------------------------------------------------------------------------------- */

/* Takes the entry at a place of the heap out; *number is free then. */
static void leave(bly_top *t, uint32_t place, uint32_t *number) {
    *number = t->heap[place];
    entry *e = &t->entries[*number];
    free_slot(t, slot_of(t, e->hash, e->key, e->size));
    t->alloc.free(t->alloc.ctx, e->key);
    e->key = NULL;
    t->n--;
    /* The numbers past the end of the heap are those of the free entries. */
    uint32_t last = t->heap[t->n];
    t->heap[t->n] = *number;
    if (place < t->n) {
        put_at(t, place, last);
        settle(t, place);
    }
}

static bly_status enter(bly_top *t, uint32_t hash, const void *key, size_t size, uint64_t count) {
    uint8_t *copy = t->alloc.alloc(t->alloc.ctx, size ? size : 1);
    uint32_t number = t->n < t->most ? t->heap[t->n] : 0;
    if (!copy)
        return BLY_ENOMEM;
    if (size)
        memcpy(copy, key, size);
    if (t->n == t->most)
        leave(t, 0, &number);
    t->entries[number] = (entry){.key = copy, .size = size, .count = count, .hash = hash};
    t->table[slot_of(t, hash, copy, size)] = number + 1; /* key may have lain in what left */
    put_at(t, t->n, number);
    t->n++;
    settle(t, t->n - 1);
    return BLY_OK;
}

bly_status bly_top_offer(bly_top *t, const void *key, size_t len, uint64_t count) {
    uint64_t whole = XXH3_64bits(key, len);
    uint32_t hash = (uint32_t)(whole ^ whole >> 32), found = t->table[slot_of(t, hash, key, len)];
    if (found != 0 && count > 0) {
        t->entries[found - 1].count = count;
        settle(t, t->entries[found - 1].place);
    } else if (found != 0) {
        leave(t, t->entries[found - 1].place, &found);
    } else if (count > 0 && (t->n < t->most || count > count_at(t, 0))) {
        return enter(t, hash, key, len, count);
    }
    return BLY_OK;
}

static int by_count(const void *a, const void *b) {
    const bly_top_entry *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    size_t common = x->key.size < y->key.size ? x->key.size : y->key.size;
    int order = common ? memcmp(x->key.data, y->key.data, common) : 0;
    return order ? order : (x->key.size > y->key.size) - (x->key.size < y->key.size);
}

size_t bly_top_list(bly_top *t, const bly_top_entry **out) {
    for (uint32_t i = 0; i < t->n; i++) {
        const entry *e = &t->entries[t->heap[i]];
        t->list[i] = (bly_top_entry){{e->key, e->size}, e->count};
    }
    qsort(t->list, t->n, sizeof *t->list, by_count);
    *out = t->list;
    return t->n;
}
