#include "family.h"

#include "clock.h"
#include "config.h"
#include "reply.h"

#include <math.h>

long long bm_family_most(void) {
    return bm_configs.compat ? 1LL << 30 : 1LL << 40;
}

bool bm_cf_takes(const bm_key *key) {
    if (key->what != BM_FILTER)
        return key->what == BM_RB_CUCKOO;
    const bm_value *value = key->value;
    if (value->traits.face != BM_FACE_BLY)
        return value->traits.face == BM_FACE_CF;
    return !value->as.filter || (bm_can(bm_kind(value)) & BLY_CAN_REMOVE);
}

bool bm_family_look(rm_ctx *ctx, rm_string *name, bool (*takes)(const bm_key *), bm_key *key) {
    *key = bm_key_open(ctx, name, RM_READ);
    const char *error = NULL;
    if (key->what == BM_MISSING)
        error = "ERR not found";
    else if (!takes(key))
        error = BM_WRONGTYPE;
    else if (bm_is_hollow(key->value))
        error = bm_hollow_text(key->value);
    if (error)
        rm.ReplyWithError(ctx, error);
    return !error;
}

static void reply_built(rm_ctx *ctx, bly_kind kind) {
    bm_error(
        ctx,
        "ERR a %s filter was made from all its keys and takes no more: build a new one, or lay "
        "an overlay over it (BLY.RESERVE other-key KIND overlay BASE this-key)",
        bly_kind_name(kind));
}

bool bm_family_takes_more(rm_ctx *ctx, const bm_value *value) {
    bool takes = value->what != BM_FILTER || bm_can(bm_kind(value)) & BLY_CAN_ADD;
    if (!takes)
        reply_built(ctx, bm_kind(value));
    return takes;
}

bool bm_family_may_write(rm_ctx *ctx, bm_key *key) {
    bm_value *value = key->value;
    if (value->what != BM_FILTER)
        return true;
    if (!value->as.filter || value->keyless) {
        const char *why = value->keyless ? "its secret key is not in the ring (key-file)"
                                         : "it has not arrived whole";
        if (!bm_lose(ctx, key, why))
            rm.ReplyWithError(ctx, value->keyless ? BM_KEYLESS : bm_hollow_text(value));
        return false;
    }
    bly_kind kind = bm_kind(value);
    bool takes = bm_can(kind) & BLY_CAN_ADD;
    if (!takes)
        reply_built(ctx, kind);
    else if (kind == BLY_WINDOW)
        bm_clock_advance(ctx, key);
    return takes;
}

bool bm_family_lose(rm_ctx *ctx, bm_key *key, bly_status status) {
    bool shared = status == BLY_EFULL && key->what != BM_FILTER;
    return status != BLY_OK && !shared && bm_lose(ctx, key, bly_strerror(status));
}

bool bm_family_adds_always(const bm_value *value) {
    if (value->what != BM_FILTER)
        return value->what == BM_RB_CUCKOO;
    bly_kind kind = bm_kind(value);
    return kind != BLY_HLL &&
           bm_can(kind) & (BLY_CAN_REMOVE | BLY_TELLS_COPIES | BLY_FORGETS | BLY_ONLY_COUNTS);
}

bool bm_family_reaches(rm_ctx *ctx, const bm_value *value, size_t n) {
    uint64_t count = bly_filter_count(value->as.filter);
    uint64_t capacity = bly_filter_capacity(value->as.filter);
    return (count >= capacity || n > capacity - count) && !bm_is_replayed(ctx);
}

bly_status bm_family_add_capped(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                                bly_tally *tally) {
    uint64_t capacity = bly_filter_capacity(f);
    *tally = (bly_tally){0};
    while (tally->done < n) {
        const bly_bytes *next = keys + tally->done;
        uint64_t count = bly_filter_count(f);
        if (count >= capacity) {
            if (!bly_filter_contains(f, next->data, next->size))
                return BLY_EFULL;
            added[tally->done++] = 0;
            continue;
        }
        size_t part = n - tally->done;
        if (part > capacity - count)
            part = (size_t)(capacity - count);
        bly_tally some;
        bly_status status = bly_filter_add_many(f, next, part, added + tally->done, &some);
        tally->done += some.done;
        tally->fresh += some.fresh;
        if (status != BLY_OK)
            return status;
    }
    return BLY_OK;
}

uint64_t bm_family_max_filters(rm_ctx *ctx) {
    return bm_is_replayed(ctx) ? 0 : (uint64_t)bm_configs.cf_max_expansions;
}

/* ---- options --------------------------------------------------------------------------------- */

bool bm_family_lax(rm_ctx *ctx) {
    return bm_configs.compat || bm_is_replayed(ctx);
}

int bm_find_word(rm_string **argv, int argc, int from, int step, const char *word) {
    for (int i = from; i < argc; i += step)
        if (bm_is(argv[i], word))
            return i;
    return 0;
}

int bm_unknown_word(rm_ctx *ctx, const rm_string *word) {
    bly_bytes bytes = bm_bytes(word);
    int shown = bytes.size < 64 ? (int)bytes.size : 63;
    return bm_error(ctx, "ERR unknown argument '%.*s'", shown, (const char *)bytes.data);
}

bool bm_family_rate(const rm_string *arg, double *out) {
    return rm.StringToDouble(arg, out) == RM_OK && !isnan(*out);
}

double bm_family_cap(double rate, bool lax) {
    return lax && rate > 0.25 ? 0.25 : rate;
}
