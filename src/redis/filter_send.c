/* A filter in memory becomes one on servers.
 *
 * Its shards arrive under keys of their own, in the slots of those they will have. When all of them
 * are whole, each takes its place by a rename; the first shard comes last, for with it the filter
 * is there. Until then nobody has seen anything of it, but for those who used the one it replaces:
 * to them its parts were replaced, which is an error and no wrong answer. What does not arrive is
 * deleted, or vanishes by itself within the hour.
 */
#include "filter_move.h"

#include "../filters/ops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct sending {
    blyi_move move; /* the first: errands of the move see it as their own */
    uint64_t count;
    uint64_t expire_ms;
    uint64_t expire_at; /* known when it lands */
    bool replace;
    bool begun;     /* something has arrived */
    bly_bitmap old; /* the filter that is replaced, if has_old */
    bool has_old;
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
        return blyi_remote_fail(f, status, "%s: %s", key.text, why.text);
    if (!s->replace)
        return blyi_remote_fail(
            f, BLY_EEXISTS, "%s is there already; choose to replace it, or another name", key.text);
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
    return blyi_bitmap_land(&f->bitmap, f->name, (uint32_t)shard, shard ? 0 : s->count,
                            s->expire_at, s->replace, out);
}

/* What the server says of a filter in use means something else of one that is arriving. */
static bly_status explain(bly_redis_filter *f, bly_status status) {
    const blyi_shown name = blyi_show_key(f->name);
    if (status == BLY_EMISMATCH)
        (void)blyi_remote_fail(f, status,
                               "%s: somebody else is sending a filter of that name; try again when "
                               "that is done",
                               name.text);
    else if (status == BLY_EMISSING)
        (void)blyi_remote_fail(f, status,
                               "%s: what had arrived of it is gone: deleted, evicted, or lost by "
                               "the server; send it again",
                               name.text);
    return status;
}

static bly_status deliver(bly_redis_filter *f, sending *s) {
    static const blyi_errand look = {.make = blyi_remote_ask_head,
                                     .read = read_what_is_there,
                                     .errors = true},
                             arrival = {.make = ask_arrival, .read = blyi_remote_read_nothing},
                             pieces = {.make = put_piece, .read = blyi_remote_read_nothing},
                             landing = {.make = ask_landing, .read = blyi_remote_read_nothing};
    const uint32_t shards = f->bitmap.shards;
    bly_status status = blyi_remote_run(f, &look, s, 0, shards);
    s->begun = status == BLY_OK;
    for (uint32_t from = 0; status == BLY_OK && from < shards;) {
        const uint32_t upto = blyi_remote_group(f, from);
        status = blyi_remote_run(f, &arrival, NULL, from, upto);
        from = upto;
    }
    if (status == BLY_OK)
        status = blyi_move_all(f, &s->move, &pieces);
    s->expire_at = blyi_remote_time_in(s->expire_ms);
    if (status == BLY_OK)
        status = blyi_remote_run(f, &landing, s, 1, shards);
    if (status == BLY_OK)
        status = blyi_remote_run(f, &landing, s, 0, 1);
    return s->begun ? explain(f, status) : status;
}

/* ---- what is left ---------------------------------------------------------------------------- */

static bly_status ask_old_drop(bly_redis_filter *f, void *ctx, uint64_t shard,
                               bly_bitmap_command **out) {
    const sending *s = ctx;
    return bly_bitmap_drop(&s->old, f->name, (uint32_t)shard, out);
}

static bly_status ask_drop(bly_redis_filter *f, void *ctx, uint64_t shard,
                           bly_bitmap_command **out) {
    (void)ctx;
    return bly_bitmap_drop(&f->bitmap, f->name, (uint32_t)shard, out);
}

static bly_status ask_abandon(bly_redis_filter *f, void *ctx, uint64_t shard,
                              bly_bitmap_command **out) {
    (void)ctx;
    return blyi_bitmap_abandon(&f->bitmap, f->name, (uint32_t)shard, out);
}

/* Deletes what would be left behind, as far as it can. Of a filter that was replaced, the shards
 * whose keys are not those of the new one: each command deletes only what belongs to the old one.
 * Of one that failed, all of it; but when a server is away, there is no sense in waiting for it
 * once more, nor is it then known whether the first shard is there, and with it the filter. */
static void tidy(bly_redis_filter *f, sending *s, bly_status status) {
    static const blyi_errand old = {.make = ask_old_drop, .read = blyi_remote_read_nothing},
                             landed = {.make = ask_drop, .read = blyi_remote_read_nothing},
                             arrived = {.make = ask_abandon, .read = blyi_remote_read_nothing};
    const bly_redis_reason why = f->why;
    const int saved = errno;
    if (status == BLY_OK && s->has_old)
        (void)blyi_remote_run(f, &old, s, 1, s->old.shards);
    const bool reachable = s->move.stopped || (status != BLY_EIO && status != BLY_ENOMEM);
    if (status && s->begun && reachable) {
        (void)blyi_remote_run(f, &landed, NULL, 1, f->bitmap.shards);
        (void)blyi_remote_run(f, &arrived, NULL, 0, f->bitmap.shards);
    }
    f->why = why;
    errno = saved;
}

static bly_status shape_of(const bly_filter *from, const bly_bitmap_spec *spec,
                           bly_redis_reason *why, bly_bitmap *out) {
    const bly_status status = bly_bitmap_of(from, spec, out);
    if (status && why)
        (void)snprintf(why->text, sizeof why->text, "%s",
                       status == BLY_EKIND
                           ? "only filters of the kinds sbbf and split512 can be kept as strings"
                           : bly_strerror(status));
    return status;
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
    bly_status status = shape_of(from, how, why, &bitmap);
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
