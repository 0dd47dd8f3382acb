/* prefetch_cache.c - a small direct-mapped cache from key names to prefetch hints. */
#include "runtime/prefetch_cache.h"

#include "commands/command_args.h"

#include <bloomery/host/prefetch.h>
#include <string.h>

enum { ENTRIES = 16, MAX_NAME = 48 };

typedef struct cache_entry {
    size_t size;
    char name[MAX_NAME];
    bly_prefetch_hint hint;
} cache_entry;

/* The entries, direct-mapped by name: names with the same entry evict each other. */
static cache_entry entries[ENTRIES];
uint64_t bm_prefetch_generation;

/* Returns the entry for a name; NULL if the name is too long (or empty) to be remembered. The entry
 * depends on the length and the last byte, because most names differ in one of these. */
static cache_entry *entry_of(bly_bytes name) {
    const uint8_t *text = name.data;
    if (name.size == 0 || name.size > MAX_NAME)
        return NULL;
    return &entries[(name.size * 5 + text[name.size - 1]) % ENTRIES];
}

void bm_prefetch_begin(bm_prefetch *prefetch, const rm_string *name, bly_bytes item) {
    bly_bytes text = bm_bytes(name);
    const cache_entry *entry = entry_of(text);
    prefetch->name = name;
    prefetch->item = item;
    prefetch->hint = NULL;
    prefetch->generation = bm_prefetch_generation;
    if (!entry || entry->size != text.size || !entry->hint.count ||
        memcmp(entry->name, text.data, text.size) != 0)
        return;
    prefetch->hint = &entry->hint;
    prefetch->hash = bly_prefetch_hint_start(&entry->hint, item.data, item.size);
}

void bm_prefetch_remember(const bm_prefetch *prefetch, const bly_filter *f) {
    bly_bytes text = bm_bytes(prefetch->name);
    cache_entry *entry = entry_of(text);
    if (!entry)
        return;
    bm_prefetch_generation++;
    entry->size = text.size;
    memcpy(entry->name, text.data, text.size);
    bly_prefetch_hint_init(f, &entry->hint);
}
