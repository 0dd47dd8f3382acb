/* redis_filter.h - shared by the files that implement filters on servers. Internal.
 *
 * Every operation on such a filter is a set of commands, one or a few for each shard. They are run
 * at once, and then their replies are read. A blyi_shard_command defines how to build the commands
 * and how to read the replies.
 */
#ifndef BLYI_REDIS_FILTER_REDIS_FILTER_H
#define BLYI_REDIS_FILTER_REDIS_FILTER_H

#include "redis/bitmap/bitmap_commands.h"
#include "redis/bitmap/bitmap_layout.h"
#include "redis/cluster/executor.h"

struct bly_redis_filter {
    bly_bitmap bitmap;
    blyi_executor *executor;
    bly_bytes name; /* the first shard's key; freed with the handle */
    size_t batch;   /* keys in a command; 0: the default */
    bool keyless;   /* opened without the secret key: the hasher has no functions */
    uint32_t *tags; /* for blyi_bitmap_key_cached, one per shard; NULL: not allocated yet */
    uint32_t retry_ms;
    bool no_retry;
    bool lost; /* the last run failed because the reply to a command with `once` was lost */
    bly_redis_reason why;
};

/* ---- the handle ------------------------------------------------------------------------------ */

/* Creates a handle with a name and a connection. The caller then fills in the bitmap. *why is
 * filled in on failure; `why` may be NULL. */
bly_status blyi_remote_connect(const bly_redis_url *url, const bly_redis_filter_options *options,
                               bly_redis_reason *why, bly_redis_filter **out);

/* Ends the creation of a handle, whose result is `status`: if it is BLY_OK, sets *out to the
 * handle; else closes the handle, and sets *out to NULL and *why to the reason. Returns
 * `status`. */
bly_status blyi_remote_finish(bly_redis_filter *f, bly_status status, bly_redis_reason *why,
                              bly_redis_filter **out);

/* Sets the reason in f, and returns the status. */
bly_status blyi_remote_fail(bly_redis_filter *f, bly_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- keys in reasons ------------------------------------------------------------------------- */

/* A shard's key as text for a reason: shortened if it is long, with control characters replaced. */
typedef struct blyi_key_text {
    char text[80];
} blyi_key_text;
/* Returns the key of a shard as such a text. */
blyi_key_text blyi_remote_key_text(const bly_redis_filter *f, uint32_t shard);
/* Returns the subject for a sentence about a shard: its key, or "it" for the first shard, because
 * the user knows the filter's name. */
blyi_key_text blyi_remote_shard_text(const bly_redis_filter *f, uint32_t shard);
/* Returns the prefix for a reason about a key: "KEY: ", or an empty text for the first shard. */
blyi_key_text blyi_remote_key_prefix(const bly_redis_filter *f, bly_bytes key);

/* ---- commands to shards ---------------------------------------------------------------------- */

typedef struct blyi_shard_command {
    /* Builds command i. */
    bly_status (*build)(bly_redis_filter *f, void *ctx, uint64_t i, bly_bitmap_command **out);
    /* Reads the reply to command i. On failure it must set the reason in f. */
    bly_status (*read)(bly_redis_filter *f, void *ctx, uint64_t i, const bly_redis_value *value,
                       bool repeated);
    bool errors; /* `read` also gets error replies; otherwise an error is a failure */
    bool once;   /* after a lost reply, fail with BLY_EIO and f->lost: do not resend */
} blyi_shard_command;

/* Runs the commands with from <= i < upto. Returns the first failure in their order. After a reply
 * that cannot be read, the remaining replies are not read. */
bly_status blyi_remote_run(bly_redis_filter *f, const blyi_shard_command *command, void *ctx,
                           uint64_t from, uint64_t upto);

/* For blyi_shard_command.read. Returns BLY_OK if the reply is 1, else BLY_ECORRUPT. */
bly_status blyi_remote_expect_one(bly_redis_filter *f, void *ctx, uint64_t i,
                                  const bly_redis_value *value, bool repeated);
/* For blyi_shard_command.read. Returns BLY_OK if the reply is 1, or 0, which means that there was
 * nothing to do; else BLY_ECORRUPT. */
bly_status blyi_remote_expect_zero_or_one(bly_redis_filter *f, void *ctx, uint64_t i,
                                          const bly_redis_value *value, bool repeated);
/* Sets the reason for a reply that the command never gives, and returns BLY_ECORRUPT. */
bly_status blyi_remote_bad_reply(bly_redis_filter *f);

/* For commands that make servers clear much memory. Returns the end (exclusive) of the group of
 * shards, beginning with `from`, for which the commands may run at once, so that no server is busy
 * for long. */
uint32_t blyi_remote_group_end(const bly_redis_filter *f, uint32_t from);

/* Whether a string that begins with `head` is shard number `shard` of f. */
bool blyi_remote_is_ours(const bly_redis_filter *f, uint32_t shard, bly_bytes head);

/* Checks that all shards except the first exist and belong to this filter. */
bly_status blyi_remote_check_other_heads(bly_redis_filter *f);

/* For blyi_shard_command.build. Their commands read the head of a shard, delete a shard, and read
 * facts about a shard. */
bly_status blyi_remote_head_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                    bly_bitmap_command **out);
bly_status blyi_remote_drop_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                    bly_bitmap_command **out);
bly_status blyi_remote_facts_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                     bly_bitmap_command **out);

typedef struct blyi_shard_facts {
    uint64_t count, bytes;
    int64_t pttl; /* -1: never expires */
} blyi_shard_facts;
/* Reads the reply to a command of blyi_remote_facts_command. Returns BLY_OK, or BLY_ECORRUPT for
 * another reply. */
bly_status blyi_remote_read_facts(bly_redis_filter *f, const bly_redis_value *value,
                                  blyi_shard_facts *out);

/* Returns the time `ms` milliseconds from now, in ms since 1970, or 0 if `ms` is 0. */
uint64_t blyi_remote_time_in(uint64_t ms);

#endif
