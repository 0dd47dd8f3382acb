/* filter.h - what the files about a filter on servers share. Internal.
 *
 * Everything that is done to such a filter is a set of commands, one or a few for each shard, that
 * go out in one exchange; then their answers are read. An errand says how to make the one and read
 * the other.
 */
#ifndef BLYI_REDIS_FILTER_H
#define BLYI_REDIS_FILTER_H

#include "redis/bitmap/bitmap_layout.h"
#include "redis/cluster/executor.h"

struct bly_redis_filter {
    bly_bitmap bitmap;
    blyi_exchange *exchange;
    bly_bytes name; /* the first shard's key, our own copy */
    size_t batch;   /* keys in a command; 0: the usual number */
    bool keyless;   /* the hasher says what it is, but cannot hash */
    uint32_t *tags; /* of the shards' keys, as blyi_bitmap_key_again keeps them; NULL: not yet */
    uint32_t retry_ms;
    bool no_retry;
    bool lost; /* the last run failed since the answer to something it sent but once was lost */
    bly_redis_reason why;
};

/* Connects, and knows the name; the bitmap is still to be filled in. `why` (may be NULL) is filled
 * in on failure. */
bly_status blyi_remote_connect(const bly_redis_url *url, const bly_redis_filter_options *options,
                               bly_redis_reason *why, bly_redis_filter **out);

/* The end of making a handle: it is handed out, or closed, with its reason in `why`. */
bly_status blyi_remote_finish(bly_redis_filter *f, bly_status status, bly_redis_reason *why,
                              bly_redis_filter **out);

/* Sets the reason, and returns the status. */
bly_status blyi_remote_fail(bly_redis_filter *f, bly_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A key, or that of a shard, as a reason shows it: cut, if it is long, and all in one line. */
typedef struct blyi_shown {
    char text[80];
} blyi_shown;
blyi_shown blyi_show_key(bly_bytes key);
blyi_shown blyi_remote_show(const bly_redis_filter *f, uint32_t shard);
/* Where a sentence is about a shard: its key, but "it" of the first. Who reads a reason knows what
 * filter it is about. */
blyi_shown blyi_remote_it(const bly_redis_filter *f, uint32_t shard);
/* What comes before a reason: nothing where it is about the first shard, else "KEY: ". */
blyi_shown blyi_remote_before(const bly_redis_filter *f, bly_bytes key);

typedef struct blyi_errand {
    /* Command number i. */
    bly_status (*make)(bly_redis_filter *f, void *ctx, uint64_t i, bly_bitmap_command **out);
    /* The answer to it, which is no error; a failure of its own has its reason in f. */
    bly_status (*read)(bly_redis_filter *f, void *ctx, uint64_t i, const bly_redis_value *value,
                       bool repeated);
    bool errors; /* `read` takes answers that are errors, too */
    bool once;   /* nothing is sent again after its answer was lost: BLY_EIO, and f->lost */
} blyi_errand;

/* Commands number `from` up to and without `upto`, in one exchange. The first failure in their
 * order; answers after one that could not be read are not. */
bly_status blyi_remote_run(bly_redis_filter *f, const blyi_errand *errand, void *ctx, uint64_t from,
                           uint64_t upto);

/* blyi_errand.read for commands that have done what they were told when they answer 1; and for
 * those that may have found nothing to do, and answer 0 then. BLY_ECORRUPT: another answer. */
bly_status blyi_remote_read_one(bly_redis_filter *f, void *ctx, uint64_t i,
                                const bly_redis_value *value, bool repeated);
bly_status blyi_remote_read_any(bly_redis_filter *f, void *ctx, uint64_t i,
                                const bly_redis_value *value, bool repeated);
/* The reason of BLY_ECORRUPT where an answer is not what the command can have answered. */
bly_status blyi_remote_nonsense(bly_redis_filter *f);

/* For commands that make a server clear much memory: how far the shards from `from` on may go in
 * one exchange, so that no server is silent for long. */
uint32_t blyi_remote_group(const bly_redis_filter *f, uint32_t from);

/* Whether a string that begins so is that shard. */
bool blyi_remote_is_ours(const bly_redis_filter *f, uint32_t shard, bly_bytes head);

/* The heads of shards 1 and up are there, and are this filter's. */
bly_status blyi_remote_check_rest(bly_redis_filter *f);

/* Makes the command for the head of a shard: a blyi_errand.make. */
bly_status blyi_remote_ask_head(bly_redis_filter *f, void *ctx, uint64_t shard,
                                bly_bitmap_command **out);

/* Makes the command that deletes a shard: a blyi_errand.make. */
bly_status blyi_remote_ask_drop(bly_redis_filter *f, void *ctx, uint64_t shard,
                                bly_bitmap_command **out);

/* A time in ms since 1970, so many ms from now; 0 if `ms` is 0. */
uint64_t blyi_remote_time_in(uint64_t ms);

/* What a shard is worth. */
typedef struct blyi_shard_facts {
    uint64_t count, bytes;
    int64_t pttl; /* -1: for ever */
} blyi_shard_facts;
/* The command, a blyi_errand.make, and what it answered. BLY_ECORRUPT: that is no such answer. */
bly_status blyi_remote_ask_facts(bly_redis_filter *f, void *ctx, uint64_t shard,
                                 bly_bitmap_command **out);
bly_status blyi_remote_read_facts(bly_redis_filter *f, const bly_redis_value *value,
                                  blyi_shard_facts *out);

#endif
