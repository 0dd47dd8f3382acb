/* bf_cf_common.c - functions that BF.* and CF.* share: which values they accept, which writes they
 * refuse, capacity limits and options.
 */
#include "commands/bf_cf_common.h"

#include "commands/command_args.h"
#include "commands/command_reply.h"
#include "config.h"
#include "runtime/server_state.h"
#include "runtime/window_timer.h"

#include <math.h>

long long bm_max_capacity(void) {
    return bm_configs.compat ? 1LL << 30 : 1LL << 40;
}

bool bm_cf_accepts(const bm_key *key) {
    if (key->type != BM_FILTER)
        return key->type == BM_RB_CUCKOO;
    const bm_value *value = key->value;
    if (value->traits.face != BM_FACE_BLY)
        return value->traits.face == BM_FACE_CF;
    return !value->as.filter || (bm_can(bm_kind(value)) & BLY_CAN_REMOVE);
}

bool bm_open_for_read(rm_ctx *ctx, rm_string *name, bool (*accepts)(const bm_key *), bm_key *key) {
    *key = bm_key_open(ctx, name, RM_READ);
    const char *error = NULL;
    if (key->type == BM_MISSING)
        error = "ERR not found";
    else if (!accepts(key))
        error = BM_WRONGTYPE;
    else if (bm_has_no_filter(key->value))
        error = bm_no_filter_error(key->value);
    if (error)
        rm.ReplyWithError(ctx, error);
    return !error;
}

bool bm_can_add(rm_ctx *ctx, const bm_value *value) {
    if (value->type != BM_FILTER || bm_can(bm_kind(value)) & BLY_CAN_ADD)
        return true;
    bm_error(ctx,
             "ERR nothing can be added to a %s filter: build a new one, or put an overlay over it "
             "(BLY.RESERVE new-key KIND overlay BASE this-key)",
             bly_kind_name(bm_kind(value)));
    return false;
}

bool bm_may_write(rm_ctx *ctx, bm_key *key) {
    bm_value *value = key->value;
    if (value->type != BM_FILTER)
        return true;
    if (!value->as.filter || value->keyless) {
        const char *why = value->keyless ? "this server lacks its secret key (bf.key-file)"
                                         : "it is not completely loaded";
        if (!bm_tombstone_if_replayed(ctx, key, why))
            rm.ReplyWithError(ctx, value->keyless ? BM_KEYLESS_ERROR : bm_no_filter_error(value));
        return false;
    }
    if (!bm_can_add(ctx, value))
        return false;
    if (bm_kind(value) == BLY_WINDOW)
        bm_window_advance(ctx, key);
    return true;
}

bool bm_write_failed(rm_ctx *ctx, bm_key *key, bly_status status) {
    bool full_on_master = status == BLY_EFULL && key->type != BM_FILTER;
    return status != BLY_OK && !full_on_master &&
           bm_tombstone_if_replayed(ctx, key, bly_strerror(status));
}

bool bm_add_always_changes(const bm_value *value) {
    if (value->type != BM_FILTER)
        return value->type == BM_RB_CUCKOO;
    bly_kind kind = bm_kind(value);
    return kind != BLY_HLL &&
           bm_can(kind) & (BLY_CAN_REMOVE | BLY_CAN_COUNT | BLY_FORGETS | BLY_CARDINALITY_ONLY);
}

bool bm_would_exceed_capacity(rm_ctx *ctx, const bm_value *value, size_t n) {
    uint64_t count = bly_filter_count(value->as.filter);
    uint64_t capacity = bly_filter_capacity(value->as.filter);
    return (count >= capacity || n > capacity - count) && !bm_is_replayed(ctx);
}

bly_status bm_add_many_capped(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                              bly_batch_result *tally) {
    uint64_t capacity = bly_filter_capacity(f);
    *tally = (bly_batch_result){0};
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
        bly_batch_result part_tally;
        bly_status status = bly_filter_add_many(f, next, part, added + tally->done, &part_tally);
        tally->done += part_tally.done;
        tally->changed += part_tally.changed;
        if (status != BLY_OK)
            return status;
    }
    return BLY_OK;
}

uint64_t bm_max_rb_filters(rm_ctx *ctx) {
    return bm_is_replayed(ctx) ? 0 : (uint64_t)bm_configs.cf_max_expansions;
}

/* ---- options --------------------------------------------------------------------------------- */

bool bm_lax_options(rm_ctx *ctx) {
    return bm_configs.compat || bm_is_replayed(ctx);
}

bool bm_parse_rate(const rm_string *arg, double *out) {
    return rm.StringToDouble(arg, out) == RM_OK && !isnan(*out);
}

double bm_clamp_rate(double rate, bool lax) {
    return lax && rate > 0.25 ? 0.25 : rate;
}
