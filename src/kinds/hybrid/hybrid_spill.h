/* hybrid_spill.h - the spill map of a hybrid filter: exact counts of classes, in a part of its
 * body. Internal. hybrid_spill.c explains it.
 *
 * Those that take a const map are memory-safe for any contents, and a look-up ends after at most
 * BLYI_FARTHEST + 1 entries. The others may assume a sound one.
 */
#ifndef BLYI_KINDS_HYBRID_HYBRID_SPILL_H
#define BLYI_KINDS_HYBRID_HYBRID_SPILL_H

#include "kinds/cuckoo/table.h"
#include "kinds/hybrid/hybrid_plan.h"

enum { BLYI_FARTHEST = 255 }; /* entries from where one belongs to where it may be */

typedef struct blyi_spilled {
    uint8_t *head; /* NULL when there is no map */
    uint64_t slots;
    unsigned rest;     /* f: bits of a remainder */
    unsigned id_bytes; /* of an entry; a count follows them */
} blyi_spilled;

/* The map of a body of that geometry. */
blyi_spilled blyi_spilled_over(const bly_geometry *g, uint8_t *body);

/* Entries in use, and how many may be. */
uint64_t blyi_spilled_used(const blyi_spilled *s);
uint64_t blyi_spilled_room(const blyi_spilled *s);

/* The place of a class; BLYI_NO_SLOT when it has none. */
uint64_t blyi_spilled_find(const blyi_spilled *s, blyi_class c);

/* The count in a place: 0 when it is free. And the same set anew, not to 0. */
uint64_t blyi_spilled_count(const blyi_spilled *s, uint64_t at);
void blyi_spilled_set(blyi_spilled *s, uint64_t at, uint64_t count);

/* Gives a class that has none a place. False when there is no room; then no byte has changed. */
bool blyi_spilled_insert(blyi_spilled *s, blyi_class c, uint64_t count);
void blyi_spilled_erase(blyi_spilled *s, uint64_t at);

/* Gives all of `from`'s classes places in `s`, which is empty. False when one found none. */
bool blyi_spilled_insert_all(blyi_spilled *s, const blyi_spilled *from);

/* The place after *at (from 0 on) that is in use, and its class; false after the last. */
bool blyi_spilled_next(const blyi_spilled *s, uint64_t *at, blyi_class *c);

/* Whether what is in use is as many as the head says, and at most the room; each where a look-up
 * finds it, so no class twice; with a class below m 2^f and a count above BLYI_BACK_INLINE; and all
 * else 0. */
bool blyi_spilled_sound(const blyi_spilled *s, uint64_t buckets);

#endif
