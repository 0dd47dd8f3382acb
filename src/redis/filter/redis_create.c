/* Creates a filter on servers. Many clients may create the same filter at once.
 *
 * The first shard decides which filter is created. A script creates it if its key does not exist,
 * and replies with the head that it then has, so that all clients read the same head. If the head
 * has the shape that a client requests, the client adopts the stamp in it, and creates the other
 * shards, each with the same script. So the result does not depend on which client creates which
 * shard. When all shards exist, the first one is marked complete.
 *
 * No client may use a filter before it is complete. So a shard that is missing before that has
 * never had a key, and any client can create it: if a client dies halfway, another one can finish.
 * If a shard of a complete filter is missing, its keys are lost, and that is an error.
 *
 * So no command here may simply be sent twice. Suppose that a shard was created, that the reply was
 * lost, that other clients found the shard and added keys, and that the server then lost it. If the
 * shard were created again with the same identity, lookups would answer "not a member" instead of
 * failing. Therefore a command that was sent, but has no reply, is not sent again unchanged. For
 * the first shard, every attempt has another stamp: it either finds what an earlier attempt has
 * created, and adopts that, or finds nothing, and creates another filter. For the other shards, the
 * state of the first one is read again before each attempt.
 *
 * One gap remains, between that read and the creation of the shard. If in between other clients
 * complete the filter and add keys, and the server loses that same shard, the shard is created
 * again, empty. The gap lasts for a round trip, or longer if the network delays the command.
 *
 * If a server has no memory for a shard, the client that created the first shard deletes all of
 * them. It begins with the first one, which is deleted only if it is not marked complete. After
 * that, no client can complete the filter.
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

/* Limits the time of repeated attempts. */
typedef struct remote_create_timer {
    struct timespec since;
    int pause; /* ms, before the next attempt */
} remote_create_timer;

static remote_create_timer remote_create_timer_start(void) {
    enum { FIRST_PAUSE_MS = 10 };
    remote_create_timer p = {.pause = FIRST_PAUSE_MS};
    (void)clock_gettime(CLOCK_MONOTONIC, &p.since);
    return p;
}

/* Returns whether to try again, because a reply was lost and time is left. If so, pauses first. */
static bool remote_create_try_again(const bly_redis_filter *f, bly_status status,
                                    remote_create_timer *p) {
    enum { RETRY_MS = 15000, MAX_PAUSE_MS = 500 };
    const int64_t max_ms = f->retry_ms ? f->retry_ms : RETRY_MS;
    struct timespec now;
    if (status != BLY_EIO || !f->lost || f->no_retry)
        return false;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t passed =
        (int64_t)(now.tv_sec - p->since.tv_sec) * 1000 + (now.tv_nsec - p->since.tv_nsec) / 1000000;
    if (passed >= max_ms)
        return false;
    (void)poll(NULL, 0, p->pause);
    p->pause = p->pause * 2 < MAX_PAUSE_MS ? p->pause * 2 : MAX_PAUSE_MS;
    return true;
}

/* ---- the first shard ------------------------------------------------------------------------- */

typedef struct remote_create_state {
    uint64_t expire_at;
    bool complete; /* the filter was complete already */
    bool made;     /* this client created the first shard */
} remote_create_state;

typedef struct remote_create_description {
    char text[128];
} remote_create_description;

static remote_create_description remote_create_describe(const bly_bitmap *b) {
    const bool keyed = b->hasher.id == BLY_HASH_SIPHASH;
    remote_create_description d;
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

/* Whether the two filters differ only in the secret key. */
static bool remote_create_other_key(const bly_bitmap *requested, const bly_bitmap *there) {
    bly_bitmap same = *there;
    if (requested->hasher.id != BLY_HASH_SIPHASH || there->hasher.id != BLY_HASH_SIPHASH)
        return false;
    same.hasher.seed = requested->hasher.seed;
    return bly_bitmap_compatible(requested, &same);
}

static bly_status remote_create_compare(bly_redis_filter *f, const bly_bitmap_head *head) {
    if (head->shard != 0)
        return blyi_remote_fail(f, BLY_EMISMATCH,
                                "the key is shard %u of %u of another filter; use another key",
                                (unsigned)head->shard + 1, (unsigned)head->bitmap.shards);
    if (bly_bitmap_compatible(&f->bitmap, &head->bitmap))
        return BLY_OK;
    return blyi_remote_fail(
        f, remote_create_other_key(&f->bitmap, &head->bitmap) ? BLY_EKEY : BLY_EMISMATCH,
        "a different filter exists: %s; requested: %s", remote_create_describe(&head->bitmap).text,
        remote_create_describe(&f->bitmap).text);
}

static bly_status remote_create_shard_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                              bly_bitmap_command **out) {
    const remote_create_state *m = ctx;
    return bly_bitmap_create(&f->bitmap, f->name, (uint32_t)shard, m->expire_at, out);
}

static bool remote_create_has_digit(const bly_redis_value *value) {
    const char *text = value->text.data;
    return value->type == BLY_REDIS_TEXT && value->text.size > 0 &&
           (text[0] == '0' || text[0] == '1');
}

/* The reply is a digit, then the head. The head is read without the secret key.
 * remote_create_compare finds out whether the filter has another key. */
static bly_status remote_create_read_first(bly_redis_filter *f, void *ctx, uint64_t shard,
                                           const bly_redis_value *value, bool repeated) {
    remote_create_state *m = ctx;
    bly_bitmap_head head;
    bly_redis_reason why;
    bool made;
    (void)shard;
    (void)repeated;
    if (!remote_create_has_digit(value))
        return blyi_remote_bad_reply(f);
    bly_status status = blyi_bitmap_created_keyless(value, &made, &head, &why);
    if (status)
        return blyi_remote_fail(f, status, "%s", why.text);
    status = remote_create_compare(f, &head);
    if (status)
        return status;
    m->made = made;
    m->complete = head.complete && !made;
    f->bitmap.stamp = head.bitmap.stamp;
    f->bitmap.approximate = head.bitmap.approximate;
    f->bitmap.key_rule = head.bitmap.key_rule;
    return BLY_OK;
}

static bly_status remote_create_first_shard(bly_redis_filter *f, remote_create_state *m) {
    static const blyi_shard_command first = {
        .build = remote_create_shard_command, .read = remote_create_read_first, .once = true};
    remote_create_timer p = remote_create_timer_start();
    bly_status status = blyi_remote_run(f, &first, m, 0, 1);
    while (remote_create_try_again(f, status, &p)) {
        status = blyi_bitmap_stamp(&f->bitmap);
        if (status)
            return blyi_remote_fail(f, status, "cannot get random numbers from the system");
        status = blyi_remote_run(f, &first, m, 0, 1);
    }
    return status;
}

/* ---- the others ------------------------------------------------------------------------------ */

static bly_status remote_create_read_other(bly_redis_filter *f, void *ctx, uint64_t shard,
                                           const bly_redis_value *value, bool repeated) {
    const bly_bytes text = value->text;
    (void)ctx;
    (void)repeated;
    if (!remote_create_has_digit(value))
        return blyi_remote_bad_reply(f);
    if (text.size > 1 &&
        blyi_remote_is_ours(f, (uint32_t)shard,
                            (bly_bytes){(const char *)text.data + 1, text.size - 1}))
        return BLY_OK;
    const blyi_key_text first = blyi_remote_key_text(f, 0),
                        here = blyi_remote_key_text(f, (uint32_t)shard);
    return blyi_remote_fail(f, BLY_EMISMATCH,
                            "key %s blocks the filter %s and is not part of it; delete that "
                            "key and try again",
                            here.text, first.text);
}

static bly_status remote_create_completion_command(bly_redis_filter *f, void *ctx, uint64_t i,
                                                   bly_bitmap_command **out) {
    (void)ctx;
    (void)i;
    return bly_bitmap_complete(&f->bitmap, f->name, out);
}

/* Reads the expiry of the first shard. If the client did not create it, the client creates the
 * other shards with that expiry, and not with the one that it requested.
 */
static bly_status remote_create_read_expiry(bly_redis_filter *f, void *ctx, uint64_t shard,
                                            const bly_redis_value *value, bool repeated) {
    remote_create_state *m = ctx;
    blyi_shard_facts facts;
    (void)shard;
    (void)repeated;
    const bly_status status = blyi_remote_read_facts(f, value, &facts);
    if (status == BLY_OK)
        m->expire_at = facts.pttl < 0 ? 0 : blyi_remote_time_in((uint64_t)facts.pttl + 1);
    return status;
}

/* Reads whether another client has completed the filter. */
static bly_status remote_create_read_state(bly_redis_filter *f, void *ctx, uint64_t shard,
                                           const bly_redis_value *value, bool repeated) {
    remote_create_state *m = ctx;
    bly_bitmap_head head;
    bly_redis_reason why;
    (void)shard;
    (void)repeated;
    const bly_status status = blyi_bitmap_head_read_keyless(value, NULL, &head, &why);
    if (status)
        return blyi_remote_fail(f, status, "%s", why.text);
    if (!blyi_remote_is_ours(f, 0, value->text))
        return blyi_remote_fail(f, BLY_EMISMATCH, "the filter was replaced by another");
    m->complete = head.complete;
    return BLY_OK;
}

/* Creates the shards with from <= number < upto. If another client has completed the filter
 * meanwhile, sets m->complete instead. */
static bly_status remote_create_some_shards(bly_redis_filter *f, remote_create_state *m,
                                            uint32_t from, uint32_t upto) {
    static const blyi_shard_command state = {.build = blyi_remote_head_command,
                                             .read = remote_create_read_state},
                                    shard = {.build = remote_create_shard_command,
                                             .read = remote_create_read_other,
                                             .once = true};
    remote_create_timer p = remote_create_timer_start();
    bly_status status;
    do {
        status = blyi_remote_run(f, &state, m, 0, 1);
        if (status == BLY_OK && !m->complete)
            status = blyi_remote_run(f, &shard, m, from, upto);
    } while (remote_create_try_again(f, status, &p));
    return status;
}

static bly_status remote_create_other_shards(bly_redis_filter *f, remote_create_state *m) {
    static const blyi_shard_command expiry = {.build = blyi_remote_facts_command,
                                              .read = remote_create_read_expiry},
                                    completion = {.build = remote_create_completion_command,
                                                  .read = blyi_remote_expect_one};
    bly_status status = m->made ? BLY_OK : blyi_remote_run(f, &expiry, m, 0, 1);
    for (uint32_t from = 1; status == BLY_OK && from < f->bitmap.shards;) {
        const uint32_t upto = blyi_remote_group_end(f, from);
        status = remote_create_some_shards(f, m, from, upto);
        if (status == BLY_OK && m->complete)
            return blyi_remote_check_other_heads(f);
        from = upto;
    }
    return status ? status : blyi_remote_run(f, &completion, NULL, 0, 1);
}

/* ---- undoing it -------------------------------------------------------------------------------
 */

static bly_status remote_create_drop_unfinished_command(bly_redis_filter *f, void *ctx, uint64_t i,
                                                        bly_bitmap_command **out) {
    (void)ctx;
    (void)i;
    return blyi_bitmap_drop_unfinished(&f->bitmap, f->name, out);
}

static bly_status remote_create_read_drop(bly_redis_filter *f, void *ctx, uint64_t i,
                                          const bly_redis_value *value, bool repeated) {
    bool *gone = ctx;
    *gone = value->integer == 1;
    return blyi_remote_expect_zero_or_one(f, NULL, i, value, repeated);
}

/* Deletes the shards that were created, because a server refused to create another. */
static void remote_create_undo(bly_redis_filter *f) {
    static const blyi_shard_command first = {.build = remote_create_drop_unfinished_command,
                                             .read = remote_create_read_drop},
                                    others = {.build = blyi_remote_drop_command,
                                              .read = blyi_remote_expect_zero_or_one};
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
    bly_bitmap_spec own;
    bly_bitmap bitmap;
    bly_redis_filter *f;
    *out = NULL;
    bly_status status = blyi_bitmap_spec_read(spec, &own, why);
    remote_create_state m = {.expire_at = status ? 0 : blyi_remote_time_in(own.expire_ms)};
    if (status == BLY_OK)
        status = blyi_bitmap_plan(&own, &bitmap, why);
    if (status == BLY_OK)
        status = blyi_remote_connect(url, options, why, &f);
    if (status)
        return status;
    f->bitmap = bitmap;
    status = remote_create_first_shard(f, &m);
    if (status == BLY_OK && m.complete)
        status = blyi_remote_check_other_heads(f);
    else if (status == BLY_OK && bitmap.shards > 1) {
        status = remote_create_other_shards(f, &m);
        if (status == BLY_EREFUSED && m.made)
            remote_create_undo(f);
    }
    return blyi_remote_finish(f, status, why, out);
}
