/* bly_merge.c - BLY.MERGE: adds the contents of all source filters to a filter or, if that fails,
 * of none of them.
 *
 * A single union changes nothing if it fails. But with several sources, one union may fail after
 * others have succeeded. In kinds that consist only of bits or counters, a union fails only if the
 * filters do not match, which is checked before the first union. In other kinds the filter may
 * become full or memory may be missing. So these sources are united with a copy of the filter,
 * which replaces the filter at the end.
 */
#include "command_table.h"
#include "commands/bly.h"
#include "commands/command_reply.h"
#include "config.h"
#include "runtime/tombstone.h"
#include "runtime/window_timer.h"

/* Whether a union of two filters of this kind cannot fail if the filters match. */
static bool cannot_fail(bly_kind kind) {
    switch (kind) {
    case BLY_CLASSIC:
    case BLY_PARTITIONED:
    case BLY_SBBF:
    case BLY_SPLIT512:
    case BLY_BB2X512:
    case BLY_COUNTING:
    case BLY_COUNTS:
    case BLY_HLL:
        return true;
    default:
        return false;
    }
}

/* Returns why a source, which has a filter, cannot be united with the destination; NULL if it
 * can. */
static const char *mismatch(rm_ctx *ctx, const bm_key *to, bm_key *from) {
    if (from->type != BM_FILTER)
        return "it is in RedisBloom's layout";
    if (from->value == to->value)
        return "it is the destination";
    bm_window_advance(ctx, from);
    return bly_filter_why_not(BLY_OP_UNION, to->value->as.filter, from->value->as.filter);
}

/* Returns true if the source can be united with the destination; else false, after sending a
 * reply. */
static bool check_source(rm_ctx *ctx, bm_key *to, rm_string *name) {
    bm_key from = bm_key_open(ctx, name, RM_READ);
    const char *error = bm_bly_key_error(&from, false);
    const char *why = error ? error : mismatch(ctx, to, &from);
    if (why && !bm_tombstone_if_replayed(ctx, to, why)) {
        size_t size;
        const char *shown = rm.StringPtrLen(name, &size);
        if (error)
            rm.ReplyWithError(ctx, error);
        else
            bm_error(ctx, "ERR '%.*s' cannot be merged: %s", size < 64 ? (int)size : 64, shown,
                     why);
    }
    bm_key_close(&from);
    return !why;
}

static bool check_sources(rm_ctx *ctx, bm_key *to, rm_string **names, int n) {
    for (int i = 0; i < n; i++)
        if (!check_source(ctx, to, names[i]))
            return false;
    return true;
}

/* Adds the contents of the sources to `f`, which is the destination's filter or a copy of it. */
static bly_status unite(rm_ctx *ctx, bly_filter *f, rm_string **names, int n) {
    bly_status status = BLY_OK;
    for (int i = 0; i < n && status == BLY_OK; i++) {
        bm_key from = bm_key_open(ctx, names[i], RM_READ);
        status = from.type == BM_FILTER ? bly_filter_union(f, from.value->as.filter) : BLY_EINVAL;
        bm_key_close(&from);
    }
    return status;
}

/* Unites the sources with a copy of the filter. The copy is charged to the same account as the
 * filter, so the account counts both for a while. So limits are checked only at the end, for the
 * size of the copy alone. */
static bly_status unite_copy(rm_ctx *ctx, bm_value *to, rm_string **names, int n) {
    bm_account *account = &to->account;
    bool unlimited = account->unlimited;
    uint64_t before = account->bytes;
    bly_allocator a = bm_allocator(account);
    bly_filter *copy;
    account->unlimited = true;
    bly_status status = bly_filter_clone(to->as.filter, &a, &copy);
    if (status == BLY_OK) {
        status = unite(ctx, copy, names, n);
        uint64_t after = account->bytes - before;
        bm_account old = {.bytes = before, .unlimited = unlimited};
        if (status == BLY_OK && after > before) {
            account->refusal = bm_memory_would_refuse(&old, after - before);
            status = account->refusal == BM_REFUSED_NOT ? BLY_OK : BLY_ENOMEM;
        }
        bly_filter_destroy(status == BLY_OK ? to->as.filter : copy);
        if (status == BLY_OK)
            to->as.filter = copy;
    }
    account->unlimited = unlimited;
    return status;
}

static bly_status merge(rm_ctx *ctx, bm_value *to, rm_string **names, int n) {
    if (n == 1 || cannot_fail(bly_filter_geometry(to->as.filter).kind))
        return unite(ctx, to->as.filter, names, n);
    return unite_copy(ctx, to, names, n);
}

static void reply_failure(rm_ctx *ctx, const bm_value *to, bly_status status) {
    if (status == BLY_ENOMEM)
        rm.ReplyWithError(ctx, bm_refusal_text(to->account.refusal == BM_REFUSED_NOT
                                                   ? BM_REFUSED_SYSTEM
                                                   : to->account.refusal));
    else if (status == BLY_EFULL)
        rm.ReplyWithError(
            ctx, "ERR the destination is too small for the keys of all sources, so nothing was "
                 "merged; reserve a larger one");
    else
        bm_status_error(ctx, status);
}

static void reply_change(rm_ctx *ctx, const bly_filter_info *before, const bly_filter_info *after) {
    bm_reply_map map = {.n = 0};
    bm_map_number(&map, "keys_before", before->count);
    bm_map_number(&map, "keys_after", after->count);
    bm_map_double(&map, "fill_before", before->fill);
    bm_map_double(&map, "fill_after", after->fill);
    bm_map_double(&map, "rate_before", before->current_fpr);
    bm_map_double(&map, "rate_after", after->current_fpr);
    bm_map_double(&map, "rate_requested", after->requested_fpr);
    bool counts = bly_kind_capabilities(after->kind) & BLY_CARDINALITY_ONLY;
    bm_map_bool(&map, "saturated",
                !counts && after->current_fpr > bm_configs.warn_ratio * after->requested_fpr);
    bm_map_reply(ctx, &map);
}

int bm_bly_merge(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_key to;
    if (argc < 3)
        return rm.WrongArity(ctx);
    if (!bm_bly_open(ctx, argv[1], RM_READ | RM_WRITE, &to))
        return RM_OK;
    if (to.type != BM_FILTER) {
        rm.ReplyWithError(ctx, "ERR filters in RedisBloom's layout cannot be merged");
        bm_key_close(&to);
        return RM_OK;
    }
    bm_window_advance(ctx, &to);
    if (check_sources(ctx, &to, argv + 2, argc - 2)) {
        bly_filter_info before = {.struct_size = sizeof before};
        bly_filter_info after = {.struct_size = sizeof after};
        bly_filter_get_info(to.value->as.filter, &before);
        bly_status status = merge(ctx, to.value, argv + 2, argc - 2);
        if (status == BLY_OK) {
            bly_filter_get_info(to.value->as.filter, &after);
            rm.ReplicateVerbatim(ctx);
            bm_key_changed(ctx, &to, "bly.merge");
            reply_change(ctx, &before, &after);
        } else if (!bm_tombstone_if_replayed(ctx, &to, bly_strerror(status))) {
            reply_failure(ctx, to.value, status);
        }
    }
    bm_key_close(&to);
    return RM_OK;
}
