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
 *
 * So nothing here may be sent twice blindly. Say that a shard was made, that the answer was lost,
 * that others found the shard, and added keys, and that the server then lost it: to make it again
 * under the identity which they hold would turn an error into "absent". Therefore what was sent,
 * and not answered, is not sent again as it was. For the first shard every attempt has a stamp of
 * its own, and finds either what the last one has made, and joins it, or nothing, and makes another
 * filter. For the others the state of the first is looked at again before each attempt.
 *
 * What remains is the time between that look and the making of the shard: should others complete
 * the filter, add keys, and lose that very shard in it, the shard comes back empty. That is the
 * time of a round trip, or as long as a command is held up on its way by something that then still
 * delivers it.
 *
 * Where a server has no memory for a shard, its maker takes away what there is: first the first
 * shard, if it is not complete, in one step, after which nobody can complete it.
 */
#include "redis/filter/redis_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- time ------------------------------------------------------------------------------------ */

uint64_t blyi_remote_time_in(uint64_t ms) {
    struct timespec now;
    if (ms == 0)
        return 0;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t passed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    return ms < INT64_MAX - passed ? passed + ms : INT64_MAX;
}

/* How long attempts go on. */
typedef struct patience {
    struct timespec since;
    int pause; /* ms, before the next one */
} patience;

static patience begin_patience(void) {
    enum { FIRST_PAUSE_MS = 10 };
    patience p = {.pause = FIRST_PAUSE_MS};
    (void)clock_gettime(CLOCK_MONOTONIC, &p.since);
    return p;
}

/* Whether what failed is to be tried again, after a pause: an answer was lost, and there is time.
 */
static bool try_again(const bly_redis_filter *f, bly_status status, patience *p) {
    enum { RETRY_MS = 15000, MOST_PAUSE_MS = 500 };
    const int64_t most = f->retry_ms ? f->retry_ms : RETRY_MS;
    struct timespec now;
    if (status != BLY_EIO || !f->lost || f->no_retry)
        return false;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t passed =
        (int64_t)(now.tv_sec - p->since.tv_sec) * 1000 + (now.tv_nsec - p->since.tv_nsec) / 1000000;
    if (passed >= most)
        return false;
    (void)poll(NULL, 0, p->pause);
    p->pause = p->pause * 2 < MOST_PAUSE_MS ? p->pause * 2 : MOST_PAUSE_MS;
    return true;
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
    if (head->shard != 0)
        return blyi_remote_fail(
            f, BLY_EMISMATCH, "this is a part of another filter, number %u of %u; use another name",
            (unsigned)head->shard + 1, (unsigned)head->bitmap.shards);
    if (bly_bitmap_alike(&f->bitmap, &head->bitmap))
        return BLY_OK;
    return blyi_remote_fail(f, other_key(&f->bitmap, &head->bitmap) ? BLY_EKEY : BLY_EMISMATCH,
                            "there is another filter: %s; asked for: %s",
                            describe(&head->bitmap).text, describe(&f->bitmap).text);
}

static bly_status make_shard(bly_redis_filter *f, void *ctx, uint64_t shard,
                             bly_bitmap_command **out) {
    const making *m = ctx;
    return bly_bitmap_create(&f->bitmap, f->name, (uint32_t)shard, m->expire_at, out);
}

static bool has_digit(const bly_redis_value *value) {
    const char *text = value->text.data;
    return value->type == BLY_REDIS_TEXT && value->text.size > 0 &&
           (text[0] == '0' || text[0] == '1');
}

/* The head stands behind a digit. It is read without its secret key: what the key is for, or that
 * it is another, is told by comparing. */
static bly_status read_first(bly_redis_filter *f, void *ctx, uint64_t shard,
                             const bly_redis_value *value, bool repeated) {
    making *m = ctx;
    bly_bitmap_head head;
    bly_redis_reason why;
    bool made;
    (void)shard;
    (void)repeated;
    if (!has_digit(value))
        return blyi_remote_nonsense(f);
    bly_status status = blyi_bitmap_created_peek(value, &made, &head, &why);
    if (status)
        return blyi_remote_fail(f, status, "%s", why.text);
    status = compare(f, &head);
    if (status)
        return status;
    m->made = made;
    m->complete = head.complete && !made;
    f->bitmap.stamp = head.bitmap.stamp;
    f->bitmap.approximate = head.bitmap.approximate;
    f->bitmap.key_rule = head.bitmap.key_rule;
    return BLY_OK;
}

static bly_status make_first(bly_redis_filter *f, making *m) {
    static const blyi_errand first = {.make = make_shard, .read = read_first, .once = true};
    patience p = begin_patience();
    bly_status status = blyi_remote_run(f, &first, m, 0, 1);
    while (try_again(f, status, &p)) {
        status = blyi_bitmap_stamp(&f->bitmap);
        if (status)
            return blyi_remote_fail(f, status, "the system gives no random numbers");
        status = blyi_remote_run(f, &first, m, 0, 1);
    }
    return status;
}

/* ---- the others ------------------------------------------------------------------------------ */

static bly_status read_other(bly_redis_filter *f, void *ctx, uint64_t shard,
                             const bly_redis_value *value, bool repeated) {
    const bly_bytes text = value->text;
    (void)ctx;
    (void)repeated;
    if (!has_digit(value))
        return blyi_remote_nonsense(f);
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
    (void)shard;
    (void)repeated;
    const bly_status status = blyi_remote_read_facts(f, value, &facts);
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
        return blyi_remote_fail(f, status, "%s", why.text);
    if (!blyi_remote_is_ours(f, 0, value->text))
        return blyi_remote_fail(f, BLY_EMISMATCH, "the filter was replaced by another");
    m->complete = head.complete;
    return BLY_OK;
}

/* Shards `from` up to and without `upto`, unless the filter has become complete: m->complete. */
static bly_status make_some(bly_redis_filter *f, making *m, uint32_t from, uint32_t upto) {
    static const blyi_errand state = {.make = blyi_remote_ask_head, .read = read_state},
                             shard = {.make = make_shard, .read = read_other, .once = true};
    patience p = begin_patience();
    bly_status status;
    do {
        status = blyi_remote_run(f, &state, m, 0, 1);
        if (status == BLY_OK && !m->complete)
            status = blyi_remote_run(f, &shard, m, from, upto);
    } while (try_again(f, status, &p));
    return status;
}

static bly_status make_rest(bly_redis_filter *f, making *m) {
    static const blyi_errand expiry = {.make = blyi_remote_ask_facts, .read = read_expiry},
                             completion = {.make = ask_completion, .read = blyi_remote_read_one};
    bly_status status = m->made ? BLY_OK : blyi_remote_run(f, &expiry, m, 0, 1);
    for (uint32_t from = 1; status == BLY_OK && from < f->bitmap.shards;) {
        const uint32_t upto = blyi_remote_group(f, from);
        status = make_some(f, m, from, upto);
        if (status == BLY_OK && m->complete)
            return blyi_remote_check_rest(f);
        from = upto;
    }
    return status ? status : blyi_remote_run(f, &completion, NULL, 0, 1);
}

/* ---- taking it back -------------------------------------------------------------------------- */

static bly_status ask_unfinished_drop(bly_redis_filter *f, void *ctx, uint64_t i,
                                      bly_bitmap_command **out) {
    (void)ctx;
    (void)i;
    return blyi_bitmap_drop_unfinished(&f->bitmap, f->name, out);
}

static bly_status read_drop(bly_redis_filter *f, void *ctx, uint64_t i,
                            const bly_redis_value *value, bool repeated) {
    bool *gone = ctx;
    *gone = value->integer == 1;
    return blyi_remote_read_any(f, NULL, i, value, repeated);
}

/* What has been made of a filter that a server refused to make all of. */
static void take_back(bly_redis_filter *f) {
    static const blyi_errand first = {.make = ask_unfinished_drop, .read = read_drop},
                             others = {.make = blyi_remote_ask_drop, .read = blyi_remote_read_any};
    const bly_redis_reason why = f->why;
    const int saved = errno;
    bool gone = false;
    if (blyi_remote_run(f, &first, &gone, 0, 1) == BLY_OK && gone)
        (void)blyi_remote_run(f, &others, NULL, 1, f->bitmap.shards);
    f->why = why;
    errno = saved;
}

bly_status bly_redis_filter_create(const bly_redis_url *url, const bly_bitmap_spec *spec,
                                   const bly_redis_filter_options *options, bly_redis_reason *why,
                                   bly_redis_filter **out) {
    making m = {.expire_at = blyi_remote_time_in(spec->expire_ms)};
    bly_bitmap bitmap;
    bly_redis_filter *f;
    *out = NULL;
    bly_status status = blyi_bitmap_plan(spec, &bitmap, why);
    if (status == BLY_OK)
        status = blyi_remote_connect(url, options, why, &f);
    if (status)
        return status;
    f->bitmap = bitmap;
    status = make_first(f, &m);
    if (status == BLY_OK && m.complete)
        status = blyi_remote_check_rest(f);
    else if (status == BLY_OK && bitmap.shards > 1) {
        status = make_rest(f, &m);
        if (status == BLY_EREFUSED && m.made)
            take_back(f);
    }
    return blyi_remote_finish(f, status, why, out);
}
