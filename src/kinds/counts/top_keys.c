/* The keys with the highest counts.
 *
 * A sketch of counts returns the count of a key, but cannot list keys. So the caller offers each
 * key that it adds to the sketch, with the count that the key has reached, and the n keys with the
 * highest counts are kept. Each kept key has an entry, which never moves. A heap of entry numbers
 * has the entry with the smallest count, the next to be replaced, at its top. A hash table of entry
 * numbers finds a key that is kept already.
 *
 *     table   open addressing, at least twice as many slots as entries; a slot contains an entry's
 *             number plus 1. A slot that becomes free is filled by moving up later entries that had
 *             been pushed past it, so that no tombstones are needed.
 *     heap position i has the positions 2i+1 and 2i+2 below it. Every entry stores its position.
 *
 * A key does not replace another one with the same count.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include <bloomery/filter.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_MAX_ENTRIES = 1 << 28 }; /* so that entry and slot numbers fit 32 bits */

typedef struct top_entry {
    uint8_t *key; /* NULL if the entry is free */
    size_t size;
    uint64_t count;
    uint32_t hash;
    uint32_t position; /* in the heap */
} top_entry;

struct bly_top {
    bly_allocator alloc;
    top_entry *entries;
    uint32_t *heap, *table;
    bly_top_entry *list;
    uint32_t n, max, mask;
};

/* ---- the heap -------------------------------------------------------------------------------- */

static void top_set_position(bly_top *t, uint32_t position, uint32_t number) {
    t->heap[position] = number;
    t->entries[number].position = position;
}

static uint64_t top_count_at(const bly_top *t, uint32_t position) {
    return t->entries[t->heap[position]].count;
}

/* Moves the entry at `position`, whose count has changed, to where it belongs. */
static void top_restore_heap(bly_top *t, uint32_t position) {
    uint32_t number = t->heap[position];
    uint64_t count = t->entries[number].count;
    while (position > 0 && count < top_count_at(t, (position - 1) / 2)) {
        top_set_position(t, position, t->heap[(position - 1) / 2]);
        position = (position - 1) / 2;
    }
    for (;;) {
        uint32_t below = 2 * position + 1;
        if (below + 1 < t->n && top_count_at(t, below + 1) < top_count_at(t, below))
            below++;
        if (below >= t->n || top_count_at(t, below) >= count)
            break;
        top_set_position(t, position, t->heap[below]);
        position = below;
    }
    top_set_position(t, position, number);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The slot of a key, or the free slot into which it would be put. */
static uint32_t top_slot_of(const bly_top *t, uint32_t hash, const void *key, size_t size) {
    uint32_t slot = hash & t->mask;
    for (; t->table[slot] != 0; slot = (slot + 1) & t->mask) {
        const top_entry *e = &t->entries[t->table[slot] - 1];
        if (e->hash == hash && e->size == size && (size == 0 || memcmp(e->key, key, size) == 0))
            break;
    }
    return slot;
}

/* Frees a slot: moves up the entries that were pushed past it. */
static void top_free_slot(bly_top *t, uint32_t slot) {
    for (uint32_t next = (slot + 1) & t->mask; t->table[next] != 0; next = (next + 1) & t->mask) {
        uint32_t home = t->entries[t->table[next] - 1].hash & t->mask;
        if (((next - home) & t->mask) >= ((next - slot) & t->mask)) {
            t->table[slot] = t->table[next];
            slot = next;
        }
    }
    t->table[slot] = 0;
}

/* ---- create ---------------------------------------------------------------------------------- */

static void *top_alloc_array(bly_top *t, size_t n, size_t size) {
    return t->alloc.alloc(t->alloc.ctx, n * size);
}

bly_status bly_top_create(size_t n, const bly_allocator *a, bly_top **out) {
    bly_allocator alloc = blyi_allocator_or_default(a);
    *out = NULL;
    if (n == 0)
        return BLY_EINVAL;
    if (n > TOP_MAX_ENTRIES)
        return BLY_ENOMEM;
    bly_top *t = alloc.alloc(alloc.ctx, sizeof *t);
    if (!t)
        return BLY_ENOMEM;
    size_t slots = 2;
    while (slots < 2 * n)
        slots *= 2;
    t->alloc = alloc;
    t->max = (uint32_t)n;
    t->mask = (uint32_t)(slots - 1);
    t->entries = top_alloc_array(t, n, sizeof *t->entries);
    t->heap = top_alloc_array(t, n, sizeof *t->heap);
    t->list = top_alloc_array(t, n, sizeof *t->list);
    t->table = top_alloc_array(t, slots, sizeof *t->table);
    if (!t->entries || !t->heap || !t->list || !t->table) {
        bly_top_destroy(t);
        return BLY_ENOMEM;
    }
    for (uint32_t i = 0; i < t->max; i++)
        t->heap[i] = i;
    *out = t;
    return BLY_OK;
}

void bly_top_destroy(bly_top *t) {
    if (!t)
        return;
    bly_allocator alloc = t->alloc;
    void *parts[] = {t->entries, t->heap, t->list, t->table, t};
    for (uint32_t i = 0; t->entries && i < t->max; i++)
        if (t->entries[i].key)
            alloc.free(alloc.ctx, t->entries[i].key);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            alloc.free(alloc.ctx, parts[i]);
}

/* ---- offer and list -------------------------------------------------------------------------- */

/* Removes the entry at a position of the heap. Sets *number to the number of the entry, which is
 * then free. */
static void top_remove_entry(bly_top *t, uint32_t position, uint32_t *number) {
    *number = t->heap[position];
    top_entry *e = &t->entries[*number];
    top_free_slot(t, top_slot_of(t, e->hash, e->key, e->size));
    t->alloc.free(t->alloc.ctx, e->key);
    e->key = NULL;
    t->n--;
    /* The numbers past the end of the heap are those of the free entries. */
    uint32_t last = t->heap[t->n];
    t->heap[t->n] = *number;
    if (position < t->n) {
        top_set_position(t, position, last);
        top_restore_heap(t, position);
    }
}

static bly_status top_add_entry(bly_top *t, uint32_t hash, const void *key, size_t size,
                                uint64_t count) {
    uint8_t *copy = t->alloc.alloc(t->alloc.ctx, size ? size : 1);
    uint32_t number = t->n < t->max ? t->heap[t->n] : 0;
    if (!copy)
        return BLY_ENOMEM;
    if (size)
        memcpy(copy, key, size);
    if (t->n == t->max)
        top_remove_entry(t, 0, &number);
    t->entries[number] = (top_entry){.key = copy, .size = size, .count = count, .hash = hash};
    /* Uses `copy`, because `key` may have pointed into the entry that was removed. */
    t->table[top_slot_of(t, hash, copy, size)] = number + 1;
    top_set_position(t, t->n, number);
    t->n++;
    top_restore_heap(t, t->n - 1);
    return BLY_OK;
}

bly_status bly_top_offer(bly_top *t, const void *key, size_t len, uint64_t count) {
    uint64_t full = XXH3_64bits(key, len);
    uint32_t hash = (uint32_t)(full ^ full >> 32), found = t->table[top_slot_of(t, hash, key, len)];
    if (found != 0 && count > 0) {
        t->entries[found - 1].count = count;
        top_restore_heap(t, t->entries[found - 1].position);
    } else if (found != 0) {
        top_remove_entry(t, t->entries[found - 1].position, &found);
    } else if (count > 0 && (t->n < t->max || count > top_count_at(t, 0))) {
        return top_add_entry(t, hash, key, len, count);
    }
    return BLY_OK;
}

static int top_compare(const void *a, const void *b) {
    const bly_top_entry *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    size_t common = x->key.size < y->key.size ? x->key.size : y->key.size;
    int order = common ? memcmp(x->key.data, y->key.data, common) : 0;
    return order ? order : (x->key.size > y->key.size) - (x->key.size < y->key.size);
}

size_t bly_top_list(bly_top *t, const bly_top_entry **out) {
    for (uint32_t i = 0; i < t->n; i++) {
        const top_entry *e = &t->entries[t->heap[i]];
        t->list[i] = (bly_top_entry){{e->key, e->size}, e->count};
    }
    qsort(t->list, t->n, sizeof *t->list, top_compare);
    *out = t->list;
    return t->n;
}
