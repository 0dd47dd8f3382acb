/* Making a filter on servers, by many clients at once.
 *
 * The first shard's key is the arbiter. A script makes it, if it is not there, and answers with the
 * head that it then has: all clients read the same one. Whoever finds that head to be of the shape
 * it wants takes over its stamp, and with that it can make the other shards, each by the same
 * script: they come out alike, whoever makes them. When all are there, the first one is marked
 * complete.
 *
 * Nobody may use a filter before it is complete, so a shard that is missing until then has never
 * had a key, and whoever comes by can make it: a client that dies on the way leaves nothing that
 * another could not finish. A shard that is missing from a complete filter had keys, and is an
 * error.
 */
#include "filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t blyi_remote_time_in(uint64_t ms) {
    struct timespec now;
    if (ms == 0)
        return 0;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t passed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    return ms < INT64_MAX - passed ? passed + ms : INT64_MAX;
}

/* ---- the first shard ------------------------------------------------------------------------- */

typedef struct making {
    uint64_t expire_at;
    bool complete; /* it was, before */
    bool made;     /* by us */
} making;

typedef struct described {
    char text[128];
} described;

static described describe(const bly_bitmap *b) {
    const bool keyed = b->hasher.id == BLY_HASH_SIPHASH;
    described d;
    (void)snprintf(d.text, sizeof d.text,
                   keyed ? "%s, %" PRIu64 " bits, %" PRIu64 " keys at %g, %s, key id %016" PRIx64
                           ", %" PRIu32 " shard%s"
                         : "%s, %" PRIu64 " bits, %" PRIu64 " keys at %g, %s, seed %" PRIu64
                           ", %" PRIu32 " shard%s",
                   bly_kind_name(b->geometry.kind), bly_plan_bits(&b->geometry), b->capacity,
                   b->fpr, bly_hash_name((bly_hash_id)b->hasher.id), b->hasher.seed, b->shards,
                   b->shards == 1 ? "" : "s");
    return d;
}

/* It differs only in the secret key. */
static bool other_key(const bly_bitmap *asked, const bly_bitmap *there) {
    bly_bitmap same = *there;
    if (asked->hasher.id != BLY_HASH_SIPHASH || there->hasher.id != BLY_HASH_SIPHASH)
        return false;
    same.hasher.seed = asked->hasher.seed;
    return bly_bitmap_alike(asked, &same);
}

static bly_status compare(bly_redis_filter *f, const bly_bitmap_head *head) {
    const blyi_shown name = blyi_remote_show(f, 0);
    if (head->shard != 0)
        return blyi_remote_fail(
            f, BLY_EMISMATCH, "%s is a part of another filter, number %u of %u; use another name",
            name.text, (unsigned)head->shard + 1, (unsigned)head->bitmap.shards);
    if (bly_bitmap_alike(&f->bitmap, &head->bitmap))
        return BLY_OK;
    return blyi_remote_fail(f, other_key(&f->bitmap, &head->bitmap) ? BLY_EKEY : BLY_EMISMATCH,
                            "%s is another filter: %s; asked for: %s", name.text,
                            describe(&head->bitmap).text, describe(&f->bitmap).text);
}

static bly_status make_shard(bly_redis_filter *f, void *ctx, uint64_t shard,
                             bly_bitmap_command **out) {
    const making *m = ctx;
    return bly_bitmap_create(&f->bitmap, f->name, (uint32_t)shard, m->expire_at, out);
}

/* The head stands behind a digit. It is read without its secret key: what the key is for, or that
 * it is another, is told by comparing. */
static bly_status read_first(bly_redis_filter *f, void *ctx, uint64_t shard,
                             const bly_redis_value *value, bool repeated) {
    making *m = ctx;
    bly_redis_value behind = *value;
    bly_bitmap_head head;
    bly_redis_reason why;
    (void)shard;
    (void)repeated;
    if (value->text.size <= 1)
        return blyi_remote_fail(f, BLY_ECORRUPT, "%s holds an empty string, which is no filter",
                                blyi_remote_show(f, 0).text);
    behind.text = (bly_bytes){(const char *)value->text.data + 1, value->text.size - 1};
    bly_status status = blyi_bitmap_head_peek(&behind, NULL, &head, &why);
    if (status)
        return blyi_remote_fail(f, status, "%s: %s", blyi_remote_show(f, 0).text, why.text);
    status = compare(f, &head);
    if (status)
        return status;
    m->made = *(const char *)value->text.data == '1';
    m->complete = head.complete && !m->made;
    f->bitmap.stamp = head.bitmap.stamp;
    return BLY_OK;
}

/* ---- the others ------------------------------------------------------------------------------ */

static bly_status read_other(bly_redis_filter *f, void *ctx, uint64_t shard,
                             const bly_redis_value *value, bool repeated) {
    const bly_bytes text = value->text;
    (void)ctx;
    (void)repeated;
    if (text.size > 1 &&
        blyi_remote_is_ours(f, (uint32_t)shard,
                            (bly_bytes){(const char *)text.data + 1, text.size - 1}))
        return BLY_OK;
    return blyi_remote_fail(f, BLY_EMISMATCH,
                            "%s is in the way of %s: it belongs to a filter that was there before, "
                            "or to none; delete it, and try again",
                            blyi_remote_show(f, (uint32_t)shard).text, blyi_remote_show(f, 0).text);
}

static bly_status ask_completion(bly_redis_filter *f, void *ctx, uint64_t i,
                                 bly_bitmap_command **out) {
    (void)ctx;
    (void)i;
    return bly_bitmap_complete(&f->bitmap, f->name, out);
}

/* A helper's shards shall vanish when the first one does, whatever the helper would have wanted. */
static bly_status read_expiry(bly_redis_filter *f, void *ctx, uint64_t shard,
                              const bly_redis_value *value, bool repeated) {
    making *m = ctx;
    blyi_shard_facts facts;
    (void)repeated;
    const bly_status status = blyi_remote_read_facts(f, shard, value, &facts);
    if (status == BLY_OK)
        m->expire_at = facts.pttl < 0 ? 0 : blyi_remote_time_in((uint64_t)facts.pttl + 1);
    return status;
}

/* Whether somebody else has completed it by now. */
static bly_status read_state(bly_redis_filter *f, void *ctx, uint64_t shard,
                             const bly_redis_value *value, bool repeated) {
    making *m = ctx;
    bly_bitmap_head head;
    bly_redis_reason why;
    (void)shard;
    (void)repeated;
    const bly_status status = blyi_bitmap_head_peek(value, NULL, &head, &why);
    if (status)
        return blyi_remote_fail(f, status, "%s: %s", blyi_remote_show(f, 0).text, why.text);
    if (!blyi_remote_is_ours(f, 0, value->text))
        return blyi_remote_fail(f, BLY_EMISMATCH, "%s was replaced by another filter",
                                blyi_remote_show(f, 0).text);
    m->complete = head.complete;
    return BLY_OK;
}

/* A shard may only be made as long as nobody can have added to it: once the filter is complete, one
 * that is missing is lost, and so are its keys. So the state is looked at before each step: whoever
 * slept through the completion by others does not replace what has been lost since. */
static bly_status make_rest(bly_redis_filter *f, making *m) {
    static const blyi_errand expiry = {.make = blyi_remote_ask_facts, .read = read_expiry},
                             state = {.make = blyi_remote_ask_head, .read = read_state},
                             shard = {.make = make_shard, .read = read_other},
                             completion = {.make = ask_completion,
                                           .read = blyi_remote_read_nothing};
    bly_status status = m->made ? BLY_OK : blyi_remote_run(f, &expiry, m, 0, 1);
    for (uint32_t from = 1; status == BLY_OK && from < f->bitmap.shards;) {
        const uint32_t upto = blyi_remote_group(f, from);
        status = blyi_remote_run(f, &state, m, 0, 1);
        if (status == BLY_OK && m->complete)
            return blyi_remote_check_rest(f);
        if (status == BLY_OK)
            status = blyi_remote_run(f, &shard, m, from, upto);
        from = upto;
    }
    return status ? status : blyi_remote_run(f, &completion, NULL, 0, 1);
}

bly_status bly_redis_filter_create(const bly_redis_url *url, const bly_bitmap_spec *spec,
                                   const bly_redis_filter_options *options, bly_redis_reason *why,
                                   bly_redis_filter **out) {
    static const blyi_errand first = {.make = make_shard, .read = read_first};
    making m = {.expire_at = blyi_remote_time_in(spec->expire_ms)};
    bly_bitmap bitmap;
    bly_redis_filter *f;
    *out = NULL;
    bly_status status = bly_bitmap_plan(spec, &bitmap);
    if (status) {
        if (why)
            (void)snprintf(why->text, sizeof why->text, "%s", bly_strerror(status));
        return status;
    }
    status = blyi_remote_connect(url, options, why, &f);
    if (status)
        return status;
    f->bitmap = bitmap;
    status = blyi_remote_run(f, &first, &m, 0, 1);
    if (status == BLY_OK && m.complete)
        status = blyi_remote_check_rest(f);
    else if (status == BLY_OK && bitmap.shards > 1)
        status = make_rest(f, &m);
    return blyi_remote_finish(f, status, why, out);
}
