/* A filter in memory becomes one on servers.
 *
 * Its shards arrive under keys of their own, in the slots of those they will have. When all of them
 * are whole, each takes its place by a rename; the first shard comes last, for with it the filter
 * is there. Until then nobody has seen anything of it, but for those who used the one it replaces:
 * to them its parts were replaced, which is an error and no wrong answer. What does not arrive is
 * deleted, or vanishes by itself within the hour.
 *
 * A filter that is replaced must survive a replacement that fails. The first shard is replaced in
 * one step, and nothing can fail after it. What is in the places of the others is parked under keys
 * of the same slots, and either deleted when the first shard has landed, or put back when it has
 * not. A client that dies between its first landing and its last leaves a filter of two: an error
 * for everybody, until one is sent again. That one knows the parked shards of the old filter, and
 * puts these back should it fail, too.
 */
#include "redis/filter/move.h"

#include "filters/ops.h"

#include <errno.h>
#include <string.h>

typedef struct sending {
    blyi_move move; /* the first: errands of the move see it as their own */
    uint64_t count;
    uint64_t expire_ms;
    uint64_t expire_at; /* known when it lands */
    bool replace;
    bool begun;     /* something has arrived */
    bool landing;   /* perhaps something has landed */
    bool last;      /* perhaps the first shard has, which is the last to do so */
    bly_bitmap old; /* the filter that is replaced, if has_old */
    bool has_old;
    bool lasting; /* it has no expiry */
} sending;

/* ---- what is there --------------------------------------------------------------------------- */

static bool is_wrong_type(const bly_redis_value *value) {
    static const char prefix[] = "WRONGTYPE";
    return value->type == BLY_REDIS_ERROR && value->text.size >= sizeof prefix - 1 &&
           memcmp(value->text.data, prefix, sizeof prefix - 1) == 0;
}

static bly_status read_what_is_there(bly_redis_filter *f, void *ctx, uint64_t shard,
                                     const bly_redis_value *value, bool repeated) {
    sending *s = ctx;
    bly_bitmap_head head;
    bly_redis_reason why;
    (void)repeated;
    const bly_status status = blyi_bitmap_head_peek(value, NULL, &head, &why);
    const blyi_shown key = blyi_remote_show(f, (uint32_t)shard);
    if (status == BLY_EMISSING)
        return BLY_OK;
    if (status == BLY_EREFUSED && !is_wrong_type(value))
        return blyi_remote_fail(f, status, "%s%s%s", shard ? key.text : "", shard ? ": " : "",
                                why.text);
    if (!s->replace)
        return blyi_remote_fail(f, BLY_EEXISTS,
                                "%s is there already; choose to replace it, or another name",
                                shard ? key.text : "something of that name");
    if (status == BLY_OK && shard == 0 && head.shard == 0) {
        s->old = head.bitmap;
        s->has_old = true;
    }
    return BLY_OK;
}

/* ---- arriving -------------------------------------------------------------------------------- */

static bly_status ask_arrival(bly_redis_filter *f, void *ctx, uint64_t shard,
                              bly_bitmap_command **out) {
    (void)ctx;
    return blyi_bitmap_arrive(&f->bitmap, f->name, (uint32_t)shard, out);
}

static bly_status put_piece(bly_redis_filter *f, void *ctx, uint64_t i, bly_bitmap_command **out) {
    const blyi_piece *piece = &((const blyi_move *)ctx)->round[i];
    return blyi_bitmap_piece(&f->bitmap, f->name, piece->shard, piece->at,
                             (bly_bytes){piece->here, piece->bytes}, out);
}

/* All keys are counted in the first shard: which were new in which is not known. */
static bly_status ask_landing(bly_redis_filter *f, void *ctx, uint64_t shard,
                              bly_bitmap_command **out) {
    const sending *s = ctx;
    const blyi_landing how = {
        .count = shard ? 0 : s->count,
        .expire_at = s->expire_at,
        .replace = s->replace,
        .old = s->has_old ? &s->old : NULL,
    };
    return blyi_bitmap_land(&f->bitmap, f->name, (uint32_t)shard, &how, out);
}

/* What the server says of a filter in use means something else of one that is arriving. */
static bly_status explain(bly_redis_filter *f, bly_status status) {
    if (status == BLY_EMISMATCH)
        (void)blyi_remote_fail(f, status,
                               "somebody else is sending a filter of that name; try again when "
                               "that is done");
    else if (status == BLY_EMISSING)
        (void)blyi_remote_fail(f, status,
                               "what had arrived of it is gone: deleted, evicted, or lost by the "
                               "server; send it again");
    return status;
}

/* The first shard arrives before all others: with it the server says whether it has memory. */
static bly_status arrive(bly_redis_filter *f) {
    static const blyi_errand arrival = {.make = ask_arrival, .read = blyi_remote_read_one};
    bly_status status = blyi_remote_run(f, &arrival, NULL, 0, 1);
    for (uint32_t from = 1; status == BLY_OK && from < f->bitmap.shards;) {
        const uint32_t upto = blyi_remote_group(f, from);
        status = blyi_remote_run(f, &arrival, NULL, from, upto);
        from = upto;
    }
    return status;
}

static bly_status land(bly_redis_filter *f, sending *s) {
    static const blyi_errand landing = {.make = ask_landing, .read = blyi_remote_read_one};
    s->expire_at = blyi_remote_time_in(s->expire_ms);
    s->landing = true;
    const bly_status status = blyi_remote_run(f, &landing, s, 1, f->bitmap.shards);
    if (status)
        return status;
    s->last = true;
    return blyi_remote_run(f, &landing, s, 0, 1);
}

static bly_status deliver(bly_redis_filter *f, sending *s) {
    static const blyi_errand look = {.make = blyi_remote_ask_head,
                                     .read = read_what_is_there,
                                     .errors = true},
                             pieces = {.make = put_piece, .read = blyi_remote_read_one};
    bly_status status = blyi_remote_run(f, &look, s, 0, f->bitmap.shards);
    s->begun = status == BLY_OK;
    if (status == BLY_OK)
        status = arrive(f);
    if (status == BLY_OK)
        status = blyi_move_all(f, &s->move, &pieces);
    if (status == BLY_OK)
        status = land(f, s);
    return s->begun ? explain(f, status) : status;
}

/* ---- what is left ---------------------------------------------------------------------------- */

static bly_status ask_old_drop(bly_redis_filter *f, void *ctx, uint64_t shard,
                               bly_bitmap_command **out) {
    const sending *s = ctx;
    return bly_bitmap_drop(&s->old, f->name, (uint32_t)shard, out);
}

static bly_status ask_forget(bly_redis_filter *f, void *ctx, uint64_t shard,
                             bly_bitmap_command **out) {
    (void)ctx;
    return blyi_bitmap_forget(&f->bitmap, f->name, (uint32_t)shard, out);
}

static bly_status ask_return(bly_redis_filter *f, void *ctx, uint64_t shard,
                             bly_bitmap_command **out) {
    const sending *s = ctx;
    return blyi_bitmap_return(&f->bitmap, f->name, (uint32_t)shard, s->lasting, out);
}

/* All shards of a filter expire together, so the first one, which is still there, tells. */
static bly_status ask_old_facts(bly_redis_filter *f, void *ctx, uint64_t shard,
                                bly_bitmap_command **out) {
    const sending *s = ctx;
    return blyi_bitmap_facts(&s->old, f->name, (uint32_t)shard, out);
}

static bly_status read_old_expiry(bly_redis_filter *f, void *ctx, uint64_t shard,
                                  const bly_redis_value *value, bool repeated) {
    sending *s = ctx;
    blyi_shard_facts facts;
    (void)shard;
    (void)repeated;
    const bly_status status = blyi_remote_read_facts(f, value, &facts);
    if (status == BLY_OK)
        s->lasting = facts.pttl < 0;
    return status;
}

static bly_status read_whose(bly_redis_filter *f, void *ctx, uint64_t shard,
                             const bly_redis_value *value, bool repeated) {
    bool *ours = ctx;
    (void)repeated;
    *ours = value->type == BLY_REDIS_TEXT && blyi_remote_is_ours(f, (uint32_t)shard, value->text);
    return BLY_OK;
}

static bly_status ask_abandon(bly_redis_filter *f, void *ctx, uint64_t shard,
                              bly_bitmap_command **out) {
    (void)ctx;
    return blyi_bitmap_abandon(&f->bitmap, f->name, (uint32_t)shard, out);
}

/* Of a filter that was replaced: what is parked, and the shards whose keys are not those of the new
 * one. Each of these commands deletes only what belongs to the old one. */
static void clear_old(bly_redis_filter *f, sending *s) {
    static const blyi_errand parked = {.make = ask_forget, .read = blyi_remote_read_any},
                             others = {.make = ask_old_drop, .read = blyi_remote_read_any};
    if (s->replace)
        (void)blyi_remote_run(f, &parked, NULL, 1, f->bitmap.shards);
    if (s->has_old)
        (void)blyi_remote_run(f, &others, s, 1, s->old.shards);
}

/* What has landed goes, and what was there before comes back; unless the first shard is there after
 * all, or nobody can tell. */
static void take_off(bly_redis_filter *f, sending *s) {
    static const blyi_errand look = {.make = blyi_remote_ask_head,
                                     .read = read_whose,
                                     .errors = true},
                             expiry = {.make = ask_old_facts, .read = read_old_expiry},
                             back = {.make = ask_return, .read = blyi_remote_read_any};
    bool landed = false;
    if (s->last && (blyi_remote_run(f, &look, &landed, 0, 1) || landed))
        return;
    s->lasting = true;
    if (s->has_old)
        (void)blyi_remote_run(f, &expiry, s, 0, 1);
    (void)blyi_remote_run(f, &back, s, 1, f->bitmap.shards);
}

/* Deletes what would be left behind, as far as it can, and puts back what was there before. When a
 * server is away, there is no sense in waiting for it once more to delete what vanishes by itself;
 * but a filter that is half replaced is worth the wait. */
static void tidy(bly_redis_filter *f, sending *s, bly_status status) {
    static const blyi_errand arrived = {.make = ask_abandon, .read = blyi_remote_read_any};
    const bly_redis_reason why = f->why;
    const int saved = errno;
    const bool reachable = s->move.stopped || (status != BLY_EIO && status != BLY_ENOMEM);
    if (status == BLY_OK)
        clear_old(f, s);
    else if (s->landing && (reachable || s->replace))
        take_off(f, s);
    if (status && s->begun && reachable)
        (void)blyi_remote_run(f, &arrived, NULL, 0, f->bitmap.shards);
    f->why = why;
    errno = saved;
}

bly_status bly_redis_filter_send(const bly_filter *from, const bly_redis_url *url,
                                 const bly_bitmap_spec *spec, bool replace,
                                 const bly_redis_filter_options *options,
                                 bly_redis_progress progress, void *ctx, bly_redis_reason *why,
                                 bly_redis_filter **out) {
    static const bly_bitmap_spec any;
    const bly_bitmap_spec *how = spec ? spec : &any;
    bly_bitmap bitmap;
    bly_redis_filter *f;
    if (out)
        *out = NULL;
    bly_status status = blyi_bitmap_of(from, how, &bitmap, why);
    if (status == BLY_OK)
        status = blyi_remote_connect(url, options, why, &f);
    if (status)
        return status;
    sending s = {
        .move = {.body = from->body, .progress = progress, .ctx = ctx},
        .count = bly_filter_count(from),
        .expire_ms = how->expire_ms,
        .replace = replace,
    };
    f->bitmap = bitmap;
    status = deliver(f, &s);
    tidy(f, &s, status);
    status = blyi_remote_finish(f, status, why, &f);
    if (out)
        *out = f;
    else
        bly_redis_filter_close(f);
    return status;
}
