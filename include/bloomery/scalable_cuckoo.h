/* scalable_cuckoo.h - keys can be taken out again, and it grows without end and without a pause.
 *
 *   bly_filter *f;
 *   if (bly_scalable_cuckoo_create(1000, 0.01, &f) == BLY_OK) {
 *       bly_status status = bly_filter_add(f, "key", 3, NULL);
 *       ...
 *       status = bly_filter_remove(f, "key", 3, NULL);
 *       bly_filter_destroy(f);
 *   }
 *
 * A list of levels, each a cuckoo filter (cuckoo.h) with the same hasher. The first holds the keys
 * expected; when no level has a place for one more, a level for `growth` times as many as the last
 * (bly_spec; rounded up to a power of two, at least 2) is opened. That is one allocation: nothing
 * is moved, so no add takes longer than the others, whatever the size. A key is present when any
 * level has it. The levels' rates add up: the first takes `first_share` (bly_spec) of the rate
 * asked, each new one at most 15% of what is left, and however often the filter grows, the sum
 * never reaches it. scalable.h says how to choose the share.
 *
 * At 1% it takes 10.4 bits per key when it is full as reserved, with a first share of 0.8 (at 0.75,
 * 11.5 for a million: remainders have whole bits).
 * Grown from a thousand keys to a million: 15.2 with the default share, 17.4 with 0.8. Just after a
 * level was opened about twice as many.
 *
 * Compare growable-cuckoo: that is one table, so a query reads two cache lines at any size, but
 * doubling it stops the program for as long as it takes to move all keys, needs both tables in
 * memory at once, and has an end. Here a query reads two cache lines in every level.
 *
 * What it promises is what cuckoo does: no false negative, the rate asked, every add stores a copy
 * (BLY_EFULL where copies of one key fill their places, and more levels would only chase them), a
 * remove takes one out, and only what was added may be removed. That a remove never takes the
 * wrong copy, whichever level it is in, is not obvious; scalable_cuckoo.c has the proof.
 *
 * Room. An add goes to the newest level, when that is full to an older one that removals have
 * brought below 90% of its capacity, and else opens one. A level that has become empty is given up
 * when it is the newest and the one before it has room again. bly_scalable_cuckoo_compact does
 * more. Opening a level is the only time an add allocates; one that cannot be opened (BLY_ENOMEM)
 * leaves the filter as it was, and the add may be tried again. After 48 levels, or where the next
 * would have a rate below 2^-40, or where its classes were so many that they need more bits of the
 * hash than the first level has looked at (keys / rate beyond 2^54, about), the answer is
 * BLY_EFULL; past 2^48 bits BLY_ETOOBIG; and BLY_EGROWTH where a filter that was loaded may not
 * grow so much (bly_filter_limit_growth).
 *
 * Union puts the levels of both into one list, and joins those that fit into one table (BLY_EFULL:
 * more than 48; BLY_ENOMEM); the rates of both then add up, and statistics tell. bly_filter_clear
 * goes back to the first level. Exclusive (BLY_EXCLUSIVE); it can be saved, loaded and mapped; not
 * intersected, subtracted, overlapped or folded: what is left of a key in a level does not tell
 * which of the finer classes of a newer level it would have.
 */
#ifndef BLOOMERY_SCALABLE_CUCKOO_H
#define BLOOMERY_SCALABLE_CUCKOO_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A filter whose first level holds `first_keys` copies, with every default, that answers wrongly at
 * a rate of at most `fpr` however many keys come. */
BLY_CHECKED bly_status bly_scalable_cuckoo_create(uint64_t first_keys, double fpr,
                                                  bly_filter **out);

/* Moves entries of the newest level into the room that older ones have, where there is enough of it
 * to take all of them; gives the level up; and goes on with the next. For filters from which much
 * has been removed: fewer levels, less memory, faster queries, and the rate stays within the one
 * asked.
 *
 * Looks at `slots` slots at most (0: at all of them), so that it can be done in steps between other
 * calls. *cursor is 0 at first, and 0 again when there is nothing more to do. *moved (may be NULL)
 * is the number of entries moved in this call. BLY_EUNSUPPORTED for another kind. */
BLY_CHECKED bly_status bly_scalable_cuckoo_compact(bly_filter *f, uint64_t slots, uint64_t *cursor,
                                                   uint64_t *moved);

#ifdef __cplusplus
}
#endif
#endif
