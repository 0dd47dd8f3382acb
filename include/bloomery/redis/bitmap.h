/* bitmap.h - filters on a plain Redis or Valkey server, without I/O: functions that make commands
 * and parse replies, for programs that have their own client or event loop (docs/plain-redis.md).
 *
 * Two forms:
 * - native: a blocked filter (sbbf or split512) with the same bits as in a file: all bits of a key
 *   are in 32 or 64 adjacent bytes. It is divided into one or more strings ("shards") of at most
 *   512 MiB, each with its own key and cluster slot. Every string begins with a head of 128 bytes
 *   that identifies the filter (docs/format.md, section 22). Every command compares the head, so a
 *   filter that was deleted, evicted or replaced causes an error, never a wrong answer.
 * - go-zero: the filter of the Go framework go-zero, for sharing a filter with programs that use
 *   go-zero. A key sets 14 bits, at murmur3(key, i) mod bits. The string has no head. All programs
 *   must use the same number of bits.
 *
 * Adds are sent as scripts, one script for many keys. It reports per key whether the key was new;
 * of concurrent adds of one key exactly one reports "new". A command is a list of arguments, which
 * any client can send. If the server replies NOSCRIPT, send the text of the script instead of its
 * digest (bly_bitmap_command.script). */
#ifndef BLOOMERY_REDIS_BITMAP_H
#define BLOOMERY_REDIS_BITMAP_H

#include "../filter.h"
#include "connection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shape ---------------------------------------------------------------------------------- */

/* The form of a filter. */
typedef enum bly_bitmap_form { BLY_BITMAP_NATIVE = 1, BLY_BITMAP_GOZERO = 2 } bly_bitmap_form;

/* Constants of both forms. */
enum {
    BLY_BITMAP_HEAD = 128,  /* native: bytes of the head of every string */
    BLY_BITMAP_HASHES = 14, /* go-zero: number of bits that a key sets */
    BLY_BITMAP_MAX_SHARDS = 4096
};

/* The maximum size of a string on a server, in bytes. */
#define BLY_BITMAP_MAX_BYTES ((uint64_t)1 << 29)

/* The shape of a filter: everything that its clients must agree on. The functions below fill it
 * in. */
typedef struct bly_bitmap {
    bly_bitmap_form form;
    bly_geometry geometry; /* native: sbbf or split512, with the size of all shards together;
                              go-zero: classic, with the number of bits */
    uint64_t capacity;     /* go-zero: 0 */
    double fpr;            /* go-zero: 0 */
    bly_hasher hasher;     /* go-zero: murmur3 */
    uint32_t shards;
    uint64_t stamp;   /* random number that identifies the filter: each new filter has another one;
                         go-zero: 0 */
    bool approximate; /* true: the filter is a copy of an intersection (bly_filter_intersect) */
    bly_key_rule key_rule; /* what keys are made from; go-zero: not recorded */
} bly_bitmap;

/* The parameters of a new filter. Only struct_size, capacity and fpr must be set. */
typedef struct bly_bitmap_spec {
    size_t struct_size;
    uint64_t capacity;
    double fpr;
    bly_kind kind;        /* BLY_KIND_NONE: sbbf for rates of 0.4% and more, else split512 */
    uint64_t seed;        /* of the default hasher */
    bly_hasher hasher;    /* id BLY_HASH_NONE: the one of bly_hasher_default */
    uint32_t shards;      /* number of shards; 0: as few as shard_bytes allows */
    uint64_t shard_bytes; /* maximum number of bytes in a string, including the head; 0: 512 MiB */
    uint64_t expire_ms; /* time until the filter expires; 0: never. Has an effect only in the client
                           that creates the filter */
    bly_key_rule key_rule; /* what keys are made from; bly_bitmap_from_filter ignores it */
} bly_bitmap_spec;

/* Plans a new filter with a new stamp. Errors: those of bly_plan; BLY_EKIND (the kind is neither
 * sbbf nor split512), BLY_EINVAL (shard_bytes too small, or above BLY_BITMAP_MAX_BYTES; a custom
 * hasher), BLY_ETOOBIG (there would be more shards than BLY_BITMAP_MAX_SHARDS, or more than blocks;
 * or so few that one would exceed shard_bytes), BLY_EIO (no random numbers). */
BLY_CHECKED bly_status bly_bitmap_plan(const bly_bitmap_spec *spec, bly_bitmap *out);

/* Plans the shape of a copy of f, which must be an sbbf or split512 filter, with a new stamp. Of
 * `spec` (may be NULL) only shards and shard_bytes are used.
 * Errors: those of bly_bitmap_plan; BLY_EKEY (f was opened without its hasher). */
BLY_CHECKED bly_status bly_bitmap_from_filter(const bly_filter *f, const bly_bitmap_spec *spec,
                                              bly_bitmap *out);

/* Plans a filter of go-zero with `bits` bits. Errors: BLY_EGEOMETRY (`bits` is 0), BLY_ETOOBIG
 * (`bits` exceeds 2^32, the number of bits in the largest string of a server). */
BLY_CHECKED bly_status bly_bitmap_gozero(uint64_t bits, bly_bitmap *out);
/* Computes the positions of a key's bits in a filter of go-zero, in the order in which go-zero
 * computes them. */
BLY_API void bly_bitmap_gozero_offsets(uint64_t bits, const void *key, size_t len,
                                       uint64_t out[BLY_BITMAP_HASHES]);

/* Returns the number of blocks of a shard: ceil(blocks / shards), except in the last one. */
BLY_API uint64_t bly_bitmap_shard_blocks(const bly_bitmap *b, uint32_t shard);
/* Returns the number of bytes of a shard's string, including the head. */
BLY_API uint64_t bly_bitmap_shard_bytes(const bly_bitmap *b, uint32_t shard);
/* Returns the number of bytes of all strings together. */
BLY_API uint64_t bly_bitmap_bytes(const bly_bitmap *b);

/* Returns the estimated number of distinct keys that were added if `count` adds reported "new". It
 * is higher than `count`, because keys that were false positives when added were not reported as
 * new. It is at most a thousand times the capacity. */
BLY_API double bly_bitmap_keys(const bly_bitmap *b, uint64_t count);

/* Returns true if both have the same shape. The stamp, key_rule and `approximate` are not compared;
 * a client that joins an existing filter must take them from the head of that filter. */
BLY_API bool bly_bitmap_compatible(const bly_bitmap *a, const bly_bitmap *b);

/* Writes the key of a shard and a NUL to `out`, which has room for `room` bytes. The key is `name`
 * for shard 0, and name:{TAG} for the others. The tags spread the shards evenly over the slots of a
 * cluster, unless the name itself contains a {tag}. Nothing is written if `room` is too small.
 * Returns the length of the key without the NUL; 0 if there is no such shard. */
BLY_API size_t bly_bitmap_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                              size_t room);
/* Returns the slot of a key in a cluster, from 0 to 16383. */
BLY_API unsigned bly_redis_slot(bly_bytes key);

/* ---- commands ------------------------------------------------------------------------------- */

/* One command, ready to be sent. */
typedef struct bly_bitmap_command {
    const bly_bytes *args;
    size_t count;
    bly_bytes script; /* if not empty, the first two args are "EVALSHA" and the digest of this
                         script. If the server replies NOSCRIPT, send "EVAL" and this text instead
                         of those two */
    bly_bytes key;    /* the key that the command reads or writes */
    bool writes;
} bly_bitmap_command;

/* Frees a command that one of the functions below has made. NULL does nothing. */
BLY_API void bly_bitmap_command_free(bly_bitmap_command *c);

/* Makes the command that creates a shard with all bits 0, unless its key exists already.
 * `expire_at` is the time at which the shard expires, in ms since 1970; 0 means never.
 * bly_bitmap_create_parse reads the reply. An error that begins with OOM means that the server
 * lacks memory for the shard or, in the case of shard 0, for the whole filter.
 *
 * To create a filter, create shard 0 first. If it is the only shard, the filter is complete.
 * Otherwise create the others, then send the command of bly_bitmap_complete. The filter must not be
 * used before it is complete. docs/format.md, section 22, has rules that every client must follow,
 * and that the server does not enforce: which client's stamp is valid, and what to do if a reply is
 * lost. Errors: BLY_ENOMEM, BLY_EINVAL (no
 * such shard; a name longer than 64 KiB), BLY_EUNSUPPORTED (a filter of go-zero). */
BLY_CHECKED bly_status bly_bitmap_create(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                         uint64_t expire_at, bly_bitmap_command **out);
/* Makes the command that marks a filter as complete (in shard 0) when all of its shards exist.
 * Errors: those of bly_bitmap_create. */
BLY_CHECKED bly_status bly_bitmap_complete(const bly_bitmap *b, bly_bytes name,
                                           bly_bitmap_command **out);

/* Makes the command that reads the head of a key (GETRANGE key 0 127). bly_bitmap_head_parse reads
 * the reply.
 * Errors: BLY_ENOMEM, BLY_EINVAL. */
BLY_CHECKED bly_status bly_bitmap_head_command(bly_bytes key, bly_bitmap_command **out);

/* Makes the command that sets the time at which a shard expires, in ms since 1970; 0 means never.
 * The reply is 1, or an error as for an add. Errors: those of bly_bitmap_create. */
BLY_CHECKED bly_status bly_bitmap_expire(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                         uint64_t expire_at, bly_bitmap_command **out);
/* Makes the command that deletes a shard. The reply is 1; 0 if the key has no shard of this filter,
 * and is therefore not deleted; or an error as for an add. Errors: those of bly_bitmap_create. */
BLY_CHECKED bly_status bly_bitmap_drop(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                       bly_bitmap_command **out);

/* ---- batches -------------------------------------------------------------------------------- */

/* What a batch does. */
typedef enum bly_bitmap_op { BLY_BITMAP_ADD = 1, BLY_BITMAP_CONTAINS = 2 } bly_bitmap_op;

/* The answer for one key. */
typedef enum bly_answer {
    BLY_NO = 0,     /* add: the key was present before; lookup: the key is absent */
    BLY_YES = 1,    /* add: the key was new; lookup: the key is present, or a false positive */
    BLY_UNSURE = 2, /* add: the key is present now, but it is unknown whether it was new: it was
                       present before, or an earlier attempt of the same call, whose reply was lost,
                       added it */
    BLY_UNKNOWN = 3 /* there is no answer: the state of the key is unknown */
} bly_answer;

/* The commands that add or look up a batch of keys. */
typedef struct bly_bitmap_batch bly_bitmap_batch;

/* Makes the commands for a batch of keys. The keys are grouped by shard, with at most `most` keys
 * per command (0 means 512; the maximum is 65536). `keys` is not used after the call. If there are
 * thousands of shards, computing the key of a shard takes a few dozen microseconds. The caller
 * closes *out with bly_bitmap_batch_close.
 * Errors: BLY_ENOMEM, BLY_EINVAL (no such `what`; a name longer than 64 KiB), BLY_EKEY (b has no
 * hasher that can be used). */
BLY_CHECKED bly_status bly_bitmap_batch_open(const bly_bitmap *b, bly_bytes name,
                                             bly_bitmap_op what, const bly_bytes *keys, size_t n,
                                             size_t most, bly_bitmap_batch **out);
/* Closes a batch. NULL does nothing. */
BLY_API void bly_bitmap_batch_close(bly_bitmap_batch *batch);
/* Returns the number of commands. */
BLY_API size_t bly_bitmap_batch_count(const bly_bitmap_batch *batch);
/* Returns command i, valid until the batch is closed. */
BLY_API const bly_bitmap_command *bly_bitmap_batch_command(const bly_bitmap_batch *batch, size_t i);

/* ---- replies -------------------------------------------------------------------------------- */

/* A reply of a server, received by any client. */
typedef struct bly_redis_value {
    bly_redis_type type;
    int64_t integer;
    bly_bytes text; /* the text, if the type is BLY_REDIS_TEXT or BLY_REDIS_ERROR */
} bly_redis_value;

/* Converts a reply of bly_redis_command. The result is valid as long as the reply. */
BLY_API bly_redis_value bly_redis_reply_value(const bly_redis_reply *reply);

/* What to do after a reply, as bly_redis_classify returns it. */
typedef enum bly_redis_verdict {
    BLY_REDIS_DONE,      /* the command was executed; parse the reply */
    BLY_REDIS_NO_SCRIPT, /* the command was not executed; send the text of the script */
    BLY_REDIS_MOVED,     /* the command was not executed; send it to the node that has the slot
                            (bly_redis_redirect) */
    BLY_REDIS_ASK,    /* the command was not executed; send ASKING and the command to another node
                         (bly_redis_redirect) */
    BLY_REDIS_LATER,  /* the command was not executed, because the server is starting or busy; try
                         again */
    BLY_REDIS_REFUSED /* the command was not executed, and trying again does not help */
} bly_redis_verdict;
BLY_API bly_redis_verdict bly_redis_classify(const bly_redis_value *value);

/* The node that a MOVED or ASK reply names, such as "MOVED 3999 127.0.0.1:6381".
 * bly_redis_redirect_parse reads it from a reply, and returns false if the reply names no node. */
typedef struct bly_redis_redirect {
    uint16_t slot, port;
    bly_bytes host; /* points into the reply, without a NUL; empty means the node that replied */
} bly_redis_redirect;
BLY_API bool bly_redis_redirect_parse(const bly_redis_value *value, bly_redis_redirect *out);

/* Returns the status that corresponds to an error reply to one of the commands above; BLY_OK if the
 * reply is not an error. *why (may be NULL) receives a text that says what is wrong and what to do.
 * Errors: BLY_EMISSING (no such filter), BLY_EMISMATCH (the key has another filter), BLY_EREFUSED
 * (any other error). */
BLY_API bly_status bly_bitmap_refusal(const bly_redis_value *value, bly_redis_reason *why);

/* Reads the reply to command i. `answers` has one byte for each key of the batch, in the order of
 * the keys; those of the keys in command i become BLY_YES or BLY_NO. Set `repeated` to true if the
 * command was sent before and got no reply: the answer for a key that was present is then
 * BLY_UNSURE. *changed (may be NULL) becomes the number of BLY_YES. If the call fails, `answers` is
 * unchanged.
 * Errors: those of bly_bitmap_refusal; BLY_ECORRUPT (not a reply to such a command). */
BLY_CHECKED bly_status bly_bitmap_batch_parse(const bly_bitmap_batch *batch, size_t i,
                                              const bly_redis_value *value, bool repeated,
                                              uint8_t *answers, size_t *changed,
                                              bly_redis_reason *why);
/* Stores the same answer for all keys in command i. */
BLY_API void bly_bitmap_batch_fill(const bly_bitmap_batch *batch, size_t i, bly_answer answer,
                                   uint8_t *answers);

/* The head of a string. */
typedef struct bly_bitmap_head {
    bly_bitmap bitmap; /* the shape of the whole filter */
    uint32_t shard;
    uint64_t count; /* number of keys that were new when added to this shard */
    bool complete;  /* in shard 0: true if all shards exist */
} bly_bitmap_head;

/* Parses the reply to bly_bitmap_head_command. `hasher` is needed for a keyed filter, and may be
 * NULL for any other. `why` may be NULL. Errors: BLY_EMISSING (no such key), BLY_ECORRUPT (the key
 * is not a filter), BLY_EVERSION, BLY_EHASHER, BLY_EKEY, BLY_EREFUSED. */
BLY_CHECKED bly_status bly_bitmap_head_parse(const bly_redis_value *value, const bly_hasher *hasher,
                                             bly_bitmap_head *out, bly_redis_reason *why);

/* Parses the reply to the command of bly_bitmap_create, which contains the present head of the key.
 * *made (may be NULL) becomes true if the command created the key, and false if it existed. Errors:
 * those of bly_bitmap_head_parse. */
BLY_CHECKED bly_status bly_bitmap_create_parse(const bly_redis_value *value,
                                               const bly_hasher *hasher, bool *made,
                                               bly_bitmap_head *out, bly_redis_reason *why);

#ifdef __cplusplus
}
#endif
#endif
