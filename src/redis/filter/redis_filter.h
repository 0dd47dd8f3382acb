/* redis_filter.h - shared by the files that implement filters on servers. Internal.
 *
 * Every operation on such a filter is a set of commands, one or a few for each shard, that run at
 * once, and whose replies are then read. A blyi_shard_command says how to build the commands and
 * how to read the replies.
 */
#ifndef BLYI_REDIS_FILTER_REDIS_FILTER_H
#define BLYI_REDIS_FILTER_REDIS_FILTER_H

#include "redis/bitmap/bitmap_commands.h"
#include "redis/bitmap/bitmap_layout.h"
#include "redis/cluster/executor.h"

struct bly_redis_filter {
    bly_bitmap bitmap;
    blyi_executor *executor;
    bly_bytes name; /* the first shard's key, owned */
    size_t batch;   /* keys in a command; 0: the default */
    bool keyless;   /* the hasher is described, but cannot hash */
    uint32_t *tags; /* for blyi_bitmap_key_cached, one for each shard; NULL: not yet allocated */
    uint32_t retry_ms;
    bool no_retry;
    bool lost; /* the last run failed because the reply to a command with `once` was lost */
    bly_redis_reason why;
};

/* ---- the handle ------------------------------------------------------------------------------ */

/* Creates a handle with a name and a connection; the caller fills in the bitmap. `why` (may be
 * NULL) is filled in on failure. */
bly_status blyi_remote_connect(const bly_redis_url *url, const bly_redis_filter_options *options,
                               bly_redis_reason *why, bly_redis_filter **out);

/* Ends the creation of a handle: returns it in *out or, on failure, closes it and sets `why`. */
bly_status blyi_remote_finish(bly_redis_filter *f, bly_status status, bly_redis_reason *why,
                              bly_redis_filter **out);

/* Sets the reason, and returns the status. */
bly_status blyi_remote_fail(bly_redis_filter *f, bly_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- keys in reasons ------------------------------------------------------------------------- */

/* A shard's key as a reason shows it: shortened if it is long, with control characters replaced. */
typedef struct blyi_key_text {
    char text[80];
} blyi_key_text;
blyi_key_text blyi_remote_key_text(const bly_redis_filter *f, uint32_t shard);
/* The subject of a sentence about a shard: its key, or "it" for the first shard, because the reader
 * knows the filter's name. */
blyi_key_text blyi_remote_shard_text(const bly_redis_filter *f, uint32_t shard);
/* What precedes a reason about a key: "KEY: ", or nothing for the first shard. */
blyi_key_text blyi_remote_key_prefix(const bly_redis_filter *f, bly_bytes key);

/* ---- commands to shards ---------------------------------------------------------------------- */

typedef struct blyi_shard_command {
    /* Builds command i. */
    bly_status (*build)(bly_redis_filter *f, void *ctx, uint64_t i, bly_bitmap_command **out);
    /* Reads the reply to it, which is not an error. On failure, f has the reason. */
    bly_status (*read)(bly_redis_filter *f, void *ctx, uint64_t i, const bly_redis_value *value,
                       bool repeated);
    bool errors; /* `read` gets error replies, too */
    bool once;   /* a command whose reply was lost is not sent again: BLY_EIO, and f->lost */
} blyi_shard_command;

/* Runs the commands from number `from` up to, but not including, `upto`. Returns the first failure
 * in their order; replies after one that could not be read are not read. */
bly_status blyi_remote_run(bly_redis_filter *f, const blyi_shard_command *command, void *ctx,
                           uint64_t from, uint64_t upto);

/* Functions for blyi_shard_command.read: the reply must be 1; or 0 or 1, where 0 means that there
 * was nothing to do. BLY_ECORRUPT: another reply. */
bly_status blyi_remote_expect_one(bly_redis_filter *f, void *ctx, uint64_t i,
                                  const bly_redis_value *value, bool repeated);
bly_status blyi_remote_expect_zero_or_one(bly_redis_filter *f, void *ctx, uint64_t i,
                                          const bly_redis_value *value, bool repeated);
/* Sets the reason for a reply that the command cannot have, and returns BLY_ECORRUPT. */
bly_status blyi_remote_bad_reply(bly_redis_filter *f);

/* For commands that make servers clear much memory: the end of the group of shards from `from` on
 * that may run at once, so that no server is busy for long. */
uint32_t blyi_remote_group_end(const bly_redis_filter *f, uint32_t from);

/* Whether a string that begins with this head is that shard of f. */
bool blyi_remote_is_ours(const bly_redis_filter *f, uint32_t shard, bly_bytes head);

/* Checks that shards 1 and up exist and belong to this filter. */
bly_status blyi_remote_check_other_heads(bly_redis_filter *f);

/* Functions for blyi_shard_command.build: read the head of a shard, delete a shard, get the facts
 * about a shard. */
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
/* Reads the reply to blyi_remote_facts_command. BLY_ECORRUPT: not such a reply. */
bly_status blyi_remote_read_facts(bly_redis_filter *f, const bly_redis_value *value,
                                  blyi_shard_facts *out);

/* The time `ms` milliseconds from now, in ms since 1970; 0 if `ms` is 0. */
uint64_t blyi_remote_time_in(uint64_t ms);

#endif
