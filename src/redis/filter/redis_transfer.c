/* Transfers a whole filter between memory and servers: send and fetch.
 *
 * The blocks are transferred in chunks, several in a round. A chunk is so small that a server is
 * never busy with it for long, and a round so large that waiting for its end costs little. The
 * blocks of the shards, one after the other, are the body of a filter in memory. So a chunk is a
 * range of one shard and also a range of the body, with the same bytes.
 *
 * To send a filter, its shards are written under staging keys, which are in the slots of their
 * final keys. When all of them are complete, each is committed by a rename. The first shard is
 * committed last; after that, the filter exists. Before that, only clients of the filter that is
 * being replaced notice anything: as some of its shards already belong to the new filter, they get
 * errors, but no wrong answers. Shards that are not committed are deleted, or expire within an
 * hour.
 *
 * If a replacement fails, the old filter must survive. The first shard is replaced in one step, and
 * nothing can fail after that. The other shards of the old filter are parked: they are renamed to
 * parking keys in the same slots. They are deleted when the first shard has been committed, or
 * renamed back if it could not be. A client that dies between its first and its last commit leaves
 * parts of two filters, so all clients get errors until a filter is sent again. That transfer
 * recognises the parked shards of the old filter, and restores them if it fails, too.
 *
 * To fetch a filter, every chunk is read by a script that also checks the shard's identity, so that
 * the copy cannot contain parts of two filters. Bits are only set, never cleared, so the copy has
 * all keys that were added before; keys that are added meanwhile may be in it or not. Memory is
 * allocated only after the servers have confirmed that all strings exist and have the right length.
 */
#include "redis/filter/redis_filter.h"

#include "filter/filter.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
    TRANSFER_CHUNK_BYTES = 1 << 20,
    TRANSFER_ROUND_CHUNKS = 8 /* transferred at the same time */
};

typedef struct transfer_chunk {
    uint32_t shard;
    uint64_t at; /* in the blocks of the shard */
    size_t bytes;
    uint8_t *here; /* position in the body; sending only reads it */
} transfer_chunk;

/* The state of a transfer. The caller initialises body, progress and ctx, and sets the rest to
 * 0. */
typedef struct transfer {
    uint8_t *body;
    bly_redis_progress progress; /* may be NULL */
    void *ctx;
    bool stopped; /* `progress` has stopped the transfer */
    transfer_chunk round[TRANSFER_ROUND_CHUNKS];
    size_t count;
    uint32_t shard; /* the next round begins at byte `at` of this shard's blocks */
    uint64_t at;
} transfer;

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Chooses the chunks of the next round. Returns false if none are left. */
static bool transfer_begin_round(const bly_redis_filter *f, transfer *t) {
    const bly_bitmap *b = &f->bitmap;
    const uint64_t block = blyi_bitmap_block_bytes(b), stride = blyi_bitmap_stride(b) * block;
    t->count = 0;
    while (t->count < TRANSFER_ROUND_CHUNKS && t->shard < b->shards) {
        const uint64_t left = bly_bitmap_shard_blocks(b, t->shard) * block - t->at;
        if (left == 0) {
            t->shard++;
            t->at = 0;
            continue;
        }
        const size_t bytes = left < TRANSFER_CHUNK_BYTES ? (size_t)left : TRANSFER_CHUNK_BYTES;
        t->round[t->count++] = (transfer_chunk){
            .shard = t->shard,
            .at = t->at,
            .bytes = bytes,
            .here = t->body + t->shard * stride + t->at,
        };
        t->at += bytes;
    }
    return t->count > 0;
}

/* Transfers all blocks of f. The functions of `command` get `t` as ctx, and command i is for
 * t->round[i]. If `progress` stops the transfer, returns BLY_EIO with errno EINTR. */
static bly_status transfer_all(bly_redis_filter *f, transfer *t,
                               const blyi_shard_command *command) {
    const uint64_t total = f->bitmap.geometry.size * blyi_bitmap_block_bytes(&f->bitmap);
    uint64_t done = 0;
    while (transfer_begin_round(f, t)) {
        const bly_status status = blyi_remote_run(f, command, t, 0, t->count);
        if (status)
            return status;
        for (size_t i = 0; i < t->count; i++)
            done += t->round[i].bytes;
        t->stopped = t->progress && !t->progress(t->ctx, done, total);
        if (t->stopped) {
            errno = EINTR;
            return blyi_remote_fail(f, BLY_EIO, "stopped");
        }
    }
    return BLY_OK;
}

/* ---- sending --------------------------------------------------------------------------------- */

typedef struct send_state {
    transfer transfer; /* the first member: transfer_all passes a pointer to it as ctx */
    uint64_t count;
    uint64_t expire_ms;
    uint64_t expire_at; /* set when the commits begin */
    bool replace;
    bool begun;      /* shards may have been staged */
    bool committing; /* shards may have been committed */
    bool last;       /* the first shard, which is the last to be committed, may have been */
    bly_bitmap old;  /* the filter that is replaced, if has_old */
    bool has_old;
    bool lasting; /* the old filter has no expiry */
} send_state;

static bool send_is_wrong_type(const bly_redis_value *value) {
    static const char prefix[] = "WRONGTYPE";
    return value->type == BLY_REDIS_ERROR && value->text.size >= sizeof prefix - 1 &&
           memcmp(value->text.data, prefix, sizeof prefix - 1) == 0;
}

static bly_status send_read_existing(bly_redis_filter *f, void *ctx, uint64_t shard,
                                     const bly_redis_value *value, bool repeated) {
    send_state *s = ctx;
    bly_bitmap_head head;
    bly_redis_reason why;
    (void)repeated;
    const bly_status status = blyi_bitmap_head_read_keyless(value, NULL, &head, &why);
    const blyi_key_text key = blyi_remote_key_text(f, (uint32_t)shard);
    if (status == BLY_EMISSING)
        return BLY_OK;
    if (status == BLY_EREFUSED && !send_is_wrong_type(value))
        return blyi_remote_fail(f, status, "%s%s%s", shard ? key.text : "", shard ? ": " : "",
                                why.text);
    if (!s->replace)
        return blyi_remote_fail(f, BLY_EEXISTS, "%s already exists; replace it or use another name",
                                shard ? key.text : "something of that name");
    if (status == BLY_OK && shard == 0 && head.shard == 0) {
        s->old = head.bitmap;
        s->has_old = true;
    }
    return BLY_OK;
}

static bly_status send_stage_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                     bly_bitmap_command **out) {
    (void)ctx;
    return blyi_bitmap_stage(&f->bitmap, f->name, (uint32_t)shard, out);
}

static bly_status send_write_command(bly_redis_filter *f, void *ctx, uint64_t i,
                                     bly_bitmap_command **out) {
    const transfer_chunk *chunk = &((const transfer *)ctx)->round[i];
    return blyi_bitmap_write(&f->bitmap, f->name, chunk->shard, chunk->at,
                             (bly_bytes){chunk->here, chunk->bytes}, out);
}

/* The first shard gets the count of all keys, because the number of keys in each shard is unknown.
 */
static bly_status send_commit_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                      bly_bitmap_command **out) {
    const send_state *s = ctx;
    const blyi_commit how = {
        .count = shard ? 0 : s->count,
        .expire_at = s->expire_at,
        .replace = s->replace,
        .old = s->has_old ? &s->old : NULL,
    };
    return blyi_bitmap_commit(&f->bitmap, f->name, (uint32_t)shard, &how, out);
}

/* Replaces the reasons for two statuses, which have another meaning while a filter is being sent.
 * Returns `status`. */
static bly_status send_explain(bly_redis_filter *f, bly_status status) {
    if (status == BLY_EMISMATCH)
        (void)blyi_remote_fail(f, status,
                               "another client is sending a filter of that name; try again when "
                               "it has finished");
    else if (status == BLY_EMISSING)
        (void)blyi_remote_fail(f, status,
                               "the part already sent is gone: deleted, evicted, or lost by the "
                               "server; send it again");
    return status;
}

/* Stages the first shard before all others, because the server then checks its memory for all. */
static bly_status send_stage(bly_redis_filter *f) {
    static const blyi_shard_command stage = {.build = send_stage_command,
                                             .read = blyi_remote_expect_one};
    bly_status status = blyi_remote_run(f, &stage, NULL, 0, 1);
    for (uint32_t from = 1; status == BLY_OK && from < f->bitmap.shards;) {
        const uint32_t upto = blyi_remote_group_end(f, from);
        status = blyi_remote_run(f, &stage, NULL, from, upto);
        from = upto;
    }
    return status;
}

static bly_status send_commit(bly_redis_filter *f, send_state *s) {
    static const blyi_shard_command commit = {.build = send_commit_command,
                                              .read = blyi_remote_expect_one};
    s->expire_at = blyi_remote_time_in(s->expire_ms);
    s->committing = true;
    const bly_status status = blyi_remote_run(f, &commit, s, 1, f->bitmap.shards);
    if (status)
        return status;
    s->last = true;
    return blyi_remote_run(f, &commit, s, 0, 1);
}

static bly_status send_all(bly_redis_filter *f, send_state *s) {
    static const blyi_shard_command head = {.build = blyi_remote_head_command,
                                            .read = send_read_existing,
                                            .errors = true},
                                    chunks = {.build = send_write_command,
                                              .read = blyi_remote_expect_one};
    bly_status status = blyi_remote_run(f, &head, s, 0, f->bitmap.shards);
    s->begun = status == BLY_OK;
    if (status == BLY_OK)
        status = send_stage(f);
    if (status == BLY_OK)
        status = transfer_all(f, &s->transfer, &chunks);
    if (status == BLY_OK)
        status = send_commit(f, s);
    return s->begun ? send_explain(f, status) : status;
}

/* ---- after sending: delete the old filter, or restore it ------------------------------------- */

static bly_status send_old_drop_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                        bly_bitmap_command **out) {
    const send_state *s = ctx;
    return bly_bitmap_drop(&s->old, f->name, (uint32_t)shard, out);
}

static bly_status send_drop_parked_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                           bly_bitmap_command **out) {
    (void)ctx;
    return blyi_bitmap_drop_parked(&f->bitmap, f->name, (uint32_t)shard, out);
}

static bly_status send_rollback_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                        bly_bitmap_command **out) {
    const send_state *s = ctx;
    return blyi_bitmap_rollback(&f->bitmap, f->name, (uint32_t)shard, s->lasting, out);
}

/* Builds the command that reads the expiry of the old filter. Its shards expire together, so facts
 * about the first one, which still exists, are enough. */
static bly_status send_old_facts_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                         bly_bitmap_command **out) {
    const send_state *s = ctx;
    return blyi_bitmap_facts(&s->old, f->name, (uint32_t)shard, out);
}

static bly_status send_read_old_expiry(bly_redis_filter *f, void *ctx, uint64_t shard,
                                       const bly_redis_value *value, bool repeated) {
    send_state *s = ctx;
    blyi_shard_facts facts;
    (void)shard;
    (void)repeated;
    const bly_status status = blyi_remote_read_facts(f, value, &facts);
    if (status == BLY_OK)
        s->lasting = facts.pttl < 0;
    return status;
}

static bly_status send_read_owner(bly_redis_filter *f, void *ctx, uint64_t shard,
                                  const bly_redis_value *value, bool repeated) {
    bool *ours = ctx;
    (void)repeated;
    *ours = value->type == BLY_REDIS_TEXT && blyi_remote_is_ours(f, (uint32_t)shard, value->text);
    return BLY_OK;
}

static bly_status send_drop_staged_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                           bly_bitmap_command **out) {
    (void)ctx;
    return blyi_bitmap_drop_staged(&f->bitmap, f->name, (uint32_t)shard, out);
}

/* Deletes the rest of the replaced filter: parked strings, and shards whose keys the new filter
 * does not use. These shards are deleted only if they belong to the old filter. */
static void send_drop_old(bly_redis_filter *f, send_state *s) {
    static const blyi_shard_command parked = {.build = send_drop_parked_command,
                                              .read = blyi_remote_expect_zero_or_one},
                                    others = {.build = send_old_drop_command,
                                              .read = blyi_remote_expect_zero_or_one};
    if (s->replace)
        (void)blyi_remote_run(f, &parked, NULL, 1, f->bitmap.shards);
    if (s->has_old)
        (void)blyi_remote_run(f, &others, s, 1, s->old.shards);
}

/* Deletes the committed shards, and restores what they replaced. Does nothing if the first shard
 * was committed, or if that cannot be found out. */
static void send_rollback(bly_redis_filter *f, send_state *s) {
    static const blyi_shard_command head = {.build = blyi_remote_head_command,
                                            .read = send_read_owner,
                                            .errors = true},
                                    expiry = {.build = send_old_facts_command,
                                              .read = send_read_old_expiry},
                                    back = {.build = send_rollback_command,
                                            .read = blyi_remote_expect_zero_or_one};
    bool committed = false;
    if (s->last && (blyi_remote_run(f, &head, &committed, 0, 1) || committed))
        return;
    s->lasting = true;
    if (s->has_old)
        (void)blyi_remote_run(f, &expiry, s, 0, 1);
    (void)blyi_remote_run(f, &back, s, 1, f->bitmap.shards);
}

/* Cleans up as far as possible: deletes what is no longer needed, and after a failure restores the
 * old filter. If a server is unreachable, this does not wait for it again just to delete staged
 * shards, because these expire. But it does wait to restore a filter that has been replaced in
 * part. */
static void send_clean_up(bly_redis_filter *f, send_state *s, bly_status status) {
    static const blyi_shard_command staged = {.build = send_drop_staged_command,
                                              .read = blyi_remote_expect_zero_or_one};
    const bly_redis_reason why = f->why;
    const int saved = errno;
    const bool reachable = s->transfer.stopped || (status != BLY_EIO && status != BLY_ENOMEM);
    if (status == BLY_OK)
        send_drop_old(f, s);
    else if (s->committing && (reachable || s->replace))
        send_rollback(f, s);
    if (status && s->begun && reachable)
        (void)blyi_remote_run(f, &staged, NULL, 0, f->bitmap.shards);
    f->why = why;
    errno = saved;
}

bly_status bly_redis_filter_push(const bly_filter *from, const bly_redis_url *url,
                                 const bly_bitmap_spec *spec, bool replace,
                                 const bly_redis_filter_options *options,
                                 bly_redis_progress progress, void *ctx, bly_redis_reason *why,
                                 bly_redis_filter **out) {
    bly_bitmap_spec how = {.struct_size = sizeof how};
    bly_bitmap bitmap;
    bly_redis_filter *f;
    if (out)
        *out = NULL;
    bly_status status = spec ? blyi_bitmap_spec_read(spec, &how, why) : BLY_OK;
    if (status == BLY_OK)
        status = blyi_bitmap_of(from, &how, &bitmap, why);
    if (status == BLY_OK)
        status = blyi_remote_connect(url, options, why, &f);
    if (status)
        return status;
    send_state s = {
        .transfer = {.body = from->body, .progress = progress, .ctx = ctx},
        .count = bly_filter_count(from),
        .expire_ms = how.expire_ms,
        .replace = replace,
    };
    f->bitmap = bitmap;
    status = send_all(f, &s);
    send_clean_up(f, &s, status);
    status = blyi_remote_finish(f, status, why, &f);
    if (out)
        *out = f;
    else
        bly_redis_filter_close(f);
    return status;
}

/* ---- fetching -------------------------------------------------------------------------------- */

static bly_status fetch_read_facts(bly_redis_filter *f, void *ctx, uint64_t shard,
                                   const bly_redis_value *value, bool repeated) {
    uint64_t *count = ctx;
    blyi_shard_facts facts;
    (void)repeated;
    const bly_status status = blyi_remote_read_facts(f, value, &facts);
    if (status)
        return status;
    const uint64_t bytes = bly_bitmap_shard_bytes(&f->bitmap, (uint32_t)shard);
    if (facts.bytes != bytes)
        return blyi_remote_fail(f, BLY_ECORRUPT,
                                "%s has %" PRIu64 " bytes instead of %" PRIu64
                                ": it is damaged; delete it, and recreate the filter",
                                blyi_remote_shard_text(f, (uint32_t)shard).text, facts.bytes,
                                bytes);
    *count = blyi_sum(*count, facts.count);
    return BLY_OK;
}

static bly_status fetch_read_command(bly_redis_filter *f, void *ctx, uint64_t i,
                                     bly_bitmap_command **out) {
    const transfer_chunk *chunk = &((const transfer *)ctx)->round[i];
    return blyi_bitmap_read(&f->bitmap, f->name, chunk->shard, chunk->at, chunk->bytes, out);
}

static bly_status fetch_read_chunk(bly_redis_filter *f, void *ctx, uint64_t i,
                                   const bly_redis_value *value, bool repeated) {
    const transfer_chunk *chunk = &((const transfer *)ctx)->round[i];
    (void)repeated;
    if (value->type != BLY_REDIS_TEXT || value->text.size != chunk->bytes)
        return blyi_remote_bad_reply(f);
    memcpy(chunk->here, value->text.data, chunk->bytes);
    return BLY_OK;
}

static bly_status fetch_create_copy(bly_redis_filter *f, uint64_t count, bly_filter **out) {
    const blyi_shape shape = {
        .geometry = f->bitmap.geometry,
        .hasher = f->bitmap.hasher,
        .capacity = f->bitmap.capacity,
        .items = count,
        .fpr = f->bitmap.fpr,
        .approximate = f->bitmap.approximate,
        .keyless = f->keyless,
        .key_rule = f->bitmap.key_rule,
    };
    const bly_status status = blyi_filter_make(&shape, NULL, NULL, out);
    return status ? blyi_remote_fail(f, status, "%s", bly_strerror(status)) : BLY_OK;
}

bly_status bly_redis_filter_pull(bly_redis_filter *f, bly_redis_progress progress, void *ctx,
                                 bly_filter **out) {
    static const blyi_shard_command facts = {.build = blyi_remote_facts_command,
                                             .read = fetch_read_facts},
                                    chunks = {.build = fetch_read_command,
                                              .read = fetch_read_chunk};
    bly_filter *copy = NULL;
    uint64_t count = 0;
    *out = NULL;
    if (f->bitmap.form != BLY_BITMAP_NATIVE)
        return blyi_remote_fail(
            f, BLY_EUNSUPPORTED,
            "a go-zero filter cannot be fetched: no kind in memory has its layout");
    bly_status status = blyi_remote_run(f, &facts, &count, 0, f->bitmap.shards);
    if (status == BLY_OK)
        status = fetch_create_copy(f, count, &copy);
    if (status)
        return status;
    transfer t = {.body = copy->body, .progress = progress, .ctx = ctx};
    status = transfer_all(f, &t, &chunks);
    if (status == BLY_OK)
        *out = copy;
    else
        bly_filter_destroy(copy);
    return status;
}
