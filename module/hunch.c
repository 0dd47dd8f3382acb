#include "hunch.h"

#include <string.h>

enum { HAUNTS = 16, NAME_ROOM = 48 };

/* A name, and where its filter was. */
typedef struct haunt {
    size_t size;
    char name[NAME_ROOM];
    bly_ahead ahead;
} haunt;

/* Names that fall to the same place take it from each other. */
static haunt haunts[HAUNTS];
uint64_t bm_hunch_learned;

/* NULL: the name is too long to be remembered. Names mostly differ in length, or at the end. */
static haunt *place_of(bly_bytes name) {
    const uint8_t *text = name.data;
    if (name.size == 0 || name.size > NAME_ROOM)
        return NULL;
    return &haunts[(name.size * 5 + text[name.size - 1]) % HAUNTS];
}

void bm_hunch_begin(bm_hunch *hunch, const rm_string *name, bly_bytes item) {
    bly_bytes text = bm_bytes(name);
    const haunt *at = place_of(text);
    hunch->name = name;
    hunch->item = item;
    hunch->ahead = NULL;
    hunch->learned = bm_hunch_learned;
    if (!at || at->size != text.size || !at->ahead.places ||
        memcmp(at->name, text.data, text.size) != 0)
        return;
    hunch->ahead = &at->ahead;
    hunch->hash = bly_ahead_fetch(&at->ahead, item.data, item.size);
}

void bm_hunch_learn(const bm_hunch *hunch, const bly_filter *f) {
    bly_bytes text = bm_bytes(hunch->name);
    haunt *at = place_of(text);
    if (!at)
        return;
    bm_hunch_learned++;
    at->size = text.size;
    memcpy(at->name, text.data, text.size);
    bly_ahead_of(f, &at->ahead);
}
