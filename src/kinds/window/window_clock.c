/* Time: moving a window on, and telling how old a key in it is. */
#include "kinds/window/window_small.h"

#include <bloomery/window.h>

/* As far into the lines as `now` is into its slice. */
static uint64_t due(const bly_filter *f, uint64_t now, uint64_t slice) {
    double part = (double)(now % slice) / (double)slice;
    return (uint64_t)(part * (double)blyi_window_lines(&f->geometry));
}

/* What was added before the clock was set counts as added now. */
static void start(bly_filter *f, uint64_t ordinal) {
    unsigned active = blyi_window_active(f);
    blyi_window_set(f, BLYI_WIN_STATE, blyi_window_get(f, BLYI_WIN_STATE) | BLYI_WIN_STARTED);
    blyi_window_set(f, BLYI_WIN_ORDINAL, ordinal);
    blyi_window_set_keys(f, active, blyi_window_keys_in(f, active), ordinal);
}

bly_status bly_window_advance(bly_filter *f, uint64_t now) {
    if (f->geometry.kind != BLY_WINDOW)
        return BLY_EKIND;
    uint64_t slice = blyi_window_slice(f);
    if (slice == 0)
        return BLY_EUNSUPPORTED;
    if (now < blyi_window_get(f, BLYI_WIN_NOW))
        return BLY_EINVAL;
    uint64_t ordinal = now / slice;
    if (!(blyi_window_get(f, BLYI_WIN_STATE) & BLYI_WIN_STARTED))
        start(f, ordinal);
    if (ordinal != blyi_window_get(f, BLYI_WIN_ORDINAL))
        blyi_window_turn(f, ordinal);
    blyi_window_set(f, BLYI_WIN_NOW, now);
    blyi_window_sweep(f, due(f, now, slice));
    return BLY_OK;
}

/* Arrivals in the generations of a window by number, from the one with that ordinal on. An older
 * one has had its quota; one that was united with that of a larger capacity may have more keys. */
static uint64_t arrivals_since(const bly_filter *f, uint64_t ordinal) {
    uint64_t quota = blyi_window_quota(f->capacity, blyi_window_generations(&f->geometry));
    uint64_t sum = blyi_window_active_arrivals(f);
    for (unsigned i = 0; i < blyi_window_slots(&f->geometry); i++) {
        uint64_t keys = blyi_window_keys_in(f, i);
        if (i != blyi_window_active(f) && keys != 0 && blyi_window_ordinal_of(f, i) >= ordinal)
            sum += keys > quota ? keys : quota;
    }
    return sum;
}

/* How long ago the oldest key of that slot came, at most. */
static uint64_t oldest(const bly_filter *f, unsigned slot) {
    uint64_t slice = blyi_window_slice(f), ordinal = blyi_window_ordinal_of(f, slot);
    return slice ? blyi_window_get(f, BLYI_WIN_NOW) - ordinal * slice : arrivals_since(f, ordinal);
}

bly_status bly_window_age_hash(const bly_filter *f, bly_hash h, uint64_t *age) {
    if (f->geometry.kind != BLY_WINDOW)
        return BLY_EKIND;
    uint64_t where =
        blyi_window_is_small(&f->geometry) ? blyi_window_small_find(f, h) : blyi_window_find(f, h);
    uint64_t least = BLY_WINDOW_ABSENT;
    for (unsigned slot = 0; slot < blyi_window_slots(&f->geometry); slot++)
        if (where >> slot & 1 && oldest(f, slot) < least)
            least = oldest(f, slot);
    /* The largest number means that it is absent. */
    *age = where != 0 && least == BLY_WINDOW_ABSENT ? BLY_WINDOW_ABSENT - 1 : least;
    return BLY_OK;
}

bly_status bly_window_age(const bly_filter *f, const void *key, size_t len, uint64_t *age) {
    if (f->geometry.kind != BLY_WINDOW)
        return BLY_EKIND;
    if (f->keyless)
        return BLY_EKEY;
    return bly_window_age_hash(f, f->hasher.one(&f->hasher, key, len), age);
}

bly_status bly_window_look(const bly_filter *f, bly_window_info *out) {
    if (f->geometry.kind != BLY_WINDOW)
        return BLY_EKIND;
    unsigned generations = blyi_window_generations(&f->geometry);
    bool by_number = blyi_window_by_number(f);
    *out = (bly_window_info){
        .generations = generations,
        .generation_keys = blyi_window_quota(f->capacity, generations),
        .active_keys = blyi_window_keys_in(f, blyi_window_active(f)),
        .ordinal = blyi_window_get(f, BLYI_WIN_ORDINAL),
        .span = blyi_window_get(f, BLYI_WIN_SPAN),
        .slice = blyi_window_slice(f),
        .now = by_number ? 0 : blyi_window_get(f, BLYI_WIN_NOW),
        .active_arrivals = by_number ? blyi_window_active_arrivals(f) : 0,
        .arrivals = by_number ? arrivals_since(f, 0) : 0,
    };
    return BLY_OK;
}
