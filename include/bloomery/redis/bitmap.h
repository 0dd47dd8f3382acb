/* bitmap.h - filters on a plain Redis or Valkey server without I/O: bytes, commands and replies,
 * for programs with their own client or event loop (docs/plain-redis.md).
 *
 * Two forms:
 * - native: a blocked filter, sbbf or split512, as in a file: all bits of a key are in 32 or 64
 *   adjacent bytes. It is divided into one or more strings ("shards") of at most 512 MiB, each with
 *   its own key and slot. Every string begins with a head of 128 bytes that identifies the filter
 *   (docs/format.md, section 22). Every command compares it: a filter that was deleted, evicted or
 *   replaced is an error, never a wrong answer.
 * - go-zero: the filter of the Go framework go-zero, to share one with programs that use it: 14
 *   bits, at murmur3(key, i) mod bits. It has no head. Both sides must use the same number of bits.
 *
 * An add is one script for many keys. It reports per key whether it was new; of concurrent adds of
 * one key exactly one reports "new". The commands are arguments for any client. If the server
 * replies NOSCRIPT, send the text of the script. */
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

/* Numbers of both forms. */
enum {
    BLY_BITMAP_HEAD = 128,  /* bytes before the blocks of every native string */
    BLY_BITMAP_HASHES = 14, /* bits of a key in a filter of go-zero */
    BLY_BITMAP_MAX_SHARDS = 4096
};

/* The maximum size of a string on a server. */
#define BLY_BITMAP_MAX_BYTES ((uint64_t)1 << 29)

/* The shape of a filter: what two clients must agree about. The functions below fill it in. */
typedef struct bly_bitmap {
    bly_bitmap_form form;
    bly_geometry geometry; /* native: sbbf or split512, of all shards; go-zero: classic, its bits */
    uint64_t capacity;     /* go-zero: 0 */
    double fpr;            /* go-zero: 0 */
    bly_hasher hasher;     /* go-zero: murmur3 */
    uint32_t shards;
    uint64_t stamp;        /* random, another one for each filter that is created; go-zero: 0 */
    bool approximate;      /* a copy of an intersection (bly_filter_intersect) */
    bly_key_rule key_rule; /* what keys are made from; go-zero: not recorded */
} bly_bitmap;

/* What to create. Only struct_size, capacity and fpr must be set. */
typedef struct bly_bitmap_spec {
    size_t struct_size;
    uint64_t capacity;
    double fpr;
    bly_kind kind;         /* BLY_KIND_NONE: sbbf down to 0.4%, split512 below */
    uint64_t seed;         /* of the default hasher */
    bly_hasher hasher;     /* id BLY_HASH_NONE: bly_hasher_default */
    uint32_t shards;       /* 0: as few as shard_bytes allows */
    uint64_t shard_bytes;  /* maximum bytes in a string, head included; 0: 512 MiB */
    uint64_t expire_ms;    /* time until it expires; 0: never. Used by the client that creates it */
    bly_key_rule key_rule; /* what keys are made from; not for bly_bitmap_from_filter */
} bly_bitmap_spec;

/* Plans a new filter with a new stamp. Errors: those of bly_plan; BLY_EKIND (a kind that is neither
 * sbbf nor split512), BLY_EINVAL (shard_bytes too small, or above BLY_BITMAP_MAX_BYTES; a custom
 * hasher), BLY_ETOOBIG (more shards than BLY_BITMAP_MAX_SHARDS or than blocks; or so few that one
 * would exceed shard_bytes), BLY_EIO (no random numbers). */
BLY_CHECKED bly_status bly_bitmap_plan(const bly_bitmap_spec *spec, bly_bitmap *out);

/* Plans the shape for a filter in memory, sbbf or split512, with a new stamp. Of `spec` (may be
 * NULL), shards and shard_bytes are used.
 * Errors: those of bly_bitmap_plan; BLY_EKEY (f was opened without its hasher). */
BLY_CHECKED bly_status bly_bitmap_from_filter(const bly_filter *f, const bly_bitmap_spec *spec,
                                              bly_bitmap *out);

/* Plans a filter of go-zero with that many bits.
 * Errors: BLY_EGEOMETRY (0 bits), BLY_ETOOBIG (above 2^32, where a server's string ends). */
BLY_CHECKED bly_status bly_bitmap_gozero(uint64_t bits, bly_bitmap *out);
/* Computes where the bits of a key are in a filter of go-zero, in its order. */
BLY_API void bly_bitmap_gozero_offsets(uint64_t bits, const void *key, size_t len,
                                       uint64_t out[BLY_BITMAP_HASHES]);

/* Give the size of a shard: its blocks, ceil(blocks / shards) except in the last one, and the bytes
 * of its string with the head. */
BLY_API uint64_t bly_bitmap_shard_blocks(const bly_bitmap *b, uint32_t shard);
BLY_API uint64_t bly_bitmap_shard_bytes(const bly_bitmap *b, uint32_t shard);
/* Returns the bytes of all strings. */
BLY_API uint64_t bly_bitmap_bytes(const bly_bitmap *b);

/* Returns an estimate of the distinct keys added if `count` adds reported "new": more than `count`,
 * because false positives were not counted. At most a thousand times the capacity. */
BLY_API double bly_bitmap_keys(const bly_bitmap *b, uint64_t count);

/* Returns true if both have the same shape: everything but the stamp, the rule of the keys, and
 * `approximate`. A client that joins an existing filter must take these from its head. */
BLY_API bool bly_bitmap_compatible(const bly_bitmap *a, const bly_bitmap *b);

/* Writes the key of a shard to `out`, with a NUL: `name` for the first, name:{TAG} for the others.
 * The tags spread the shards evenly over a cluster's slots, unless the name has a {tag} itself.
 * Nothing is written if the length is not less than `room`.
 * Returns the length; 0 if there is no such shard. */
BLY_API size_t bly_bitmap_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                              size_t room);
/* Returns the slot of a key in a cluster, 0 .. 16383. */
BLY_API unsigned bly_redis_slot(bly_bytes key);

/* ---- commands ------------------------------------------------------------------------------- */

/* One command, ready to be sent. */
typedef struct bly_bitmap_command {
    const bly_bytes *args;
    size_t count;
    bly_bytes script; /* if not empty, args are "EVALSHA", its digest, ...; after NOSCRIPT send
                         "EVAL" and this text instead of those two */
    bly_bytes key;    /* the key that it works on */
    bool writes;
} bly_bitmap_command;

/* Frees a command of the functions below. NULL does nothing. */
BLY_API void bly_bitmap_command_free(bly_bitmap_command *c);

/* Make the commands that create a filter. bly_bitmap_create creates a shard, all zero, unless its
 * key exists; `expire_at` is a time in ms since 1970, 0 for none. Create shard 0 first. If it is
 * the only shard it is complete at once; otherwise bly_bitmap_complete marks it as complete when
 * the others exist. The filter must not be used before. bly_bitmap_create_parse reads the reply. An
 * error that begins with OOM means that the server lacks memory for the shard or, for shard 0, for
 * the whole filter.
 *
 * docs/format.md, section 22, has the rules that a client must follow, and that the server does not
 * enforce: whose stamp holds, and what to do if a reply is lost. Errors: BLY_ENOMEM, BLY_EINVAL (no
 * such shard; a name longer than 64 KiB), BLY_EUNSUPPORTED (a filter of go-zero). */
BLY_CHECKED bly_status bly_bitmap_create(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                         uint64_t expire_at, bly_bitmap_command **out);
BLY_CHECKED bly_status bly_bitmap_complete(const bly_bitmap *b, bly_bytes name,
                                           bly_bitmap_command **out);

/* Makes the command that reads the head of a key (GETRANGE key 0 127), for bly_bitmap_head_parse.
 * Errors: BLY_ENOMEM, BLY_EINVAL. */
BLY_CHECKED bly_status bly_bitmap_head_command(bly_bytes key, bly_bitmap_command **out);

/* Make the command that sets the expiry time of a shard (0 removes it), or that deletes it if it
 * belongs to this filter. The reply is 1 (bly_bitmap_drop: 0 if it did not belong to it), or an
 * error as for an add. Errors: those of bly_bitmap_create. */
BLY_CHECKED bly_status bly_bitmap_expire(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                         uint64_t expire_at, bly_bitmap_command **out);
BLY_CHECKED bly_status bly_bitmap_drop(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                       bly_bitmap_command **out);

/* ---- batches -------------------------------------------------------------------------------- */

/* What a batch does. */
typedef enum bly_bitmap_op { BLY_BITMAP_ADD = 1, BLY_BITMAP_CONTAINS = 2 } bly_bitmap_op;

/* The answer for one key. */
typedef enum bly_answer {
    BLY_NO = 0,     /* add: it was present; lookup: it is absent */
    BLY_YES = 1,    /* add: it was new; lookup: it is present, or a false positive */
    BLY_UNSURE = 2, /* add: it is present now. It was present before, or an earlier attempt of the
                       same call, whose reply was lost, added it */
    BLY_UNKNOWN = 3 /* no answer */
} bly_answer;

/* A batch of keys, as commands. */
typedef struct bly_bitmap_batch bly_bitmap_batch;

/* Makes the commands for a batch of keys: sorted by shard, at most `most` keys (0: 512; at most
 * 65536) in a command. `keys` is not used after the call. Finding the key of a shard takes a few
 * dozen microseconds if there are thousands. The caller closes *out with bly_bitmap_batch_close.
 * Errors: BLY_ENOMEM, BLY_EINVAL (no such `what`; a name longer than 64 KiB), BLY_EKEY (the shape
 * has no working hasher). */
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

/* A reply, of any client. */
typedef struct bly_redis_value {
    bly_redis_type type;
    int64_t integer;
    bly_bytes text; /* of BLY_REDIS_TEXT and BLY_REDIS_ERROR */
} bly_redis_value;

/* Converts a reply of bly_redis_command; valid as long as the reply. */
BLY_API bly_redis_value bly_redis_reply_value(const bly_redis_reply *reply);

/* What to do about a reply: the result of bly_redis_classify. */
typedef enum bly_redis_verdict {
    BLY_REDIS_DONE,      /* parse it */
    BLY_REDIS_NO_SCRIPT, /* nothing was done; send the text of the script */
    BLY_REDIS_MOVED,     /* nothing was done; another node has the slot (bly_redis_redirect) */
    BLY_REDIS_ASK,       /* nothing was done; send ASKING and the command to another node */
    BLY_REDIS_LATER,     /* nothing was done; the server is starting or busy: try again */
    BLY_REDIS_REFUSED    /* nothing was done, and trying again does not help */
} bly_redis_verdict;
BLY_API bly_redis_verdict bly_redis_classify(const bly_redis_value *value);

/* The node that a MOVED or ASK reply names: "MOVED 3999 127.0.0.1:6381". bly_redis_redirect_parse
 * returns false if it names none. */
typedef struct bly_redis_redirect {
    uint16_t slot, port;
    bly_bytes host; /* points into the reply, without a NUL; empty: the node that replied */
} bly_redis_redirect;
BLY_API bool bly_redis_redirect_parse(const bly_redis_value *value, bly_redis_redirect *out);

/* Tells what an error reply to a command above means. *why (may be NULL) receives the text, with
 * what to do. Returns BLY_OK if the reply is no error.
 * Errors: BLY_EMISSING, BLY_EMISMATCH (another filter's key), BLY_EREFUSED. */
BLY_API bly_status bly_bitmap_refusal(const bly_redis_value *value, bly_redis_reason *why);

/* Reads the reply to command i into `answers` (one for each key of the batch, in the order of the
 * keys), as BLY_YES and BLY_NO. `repeated`: the command was sent before, and got no reply; a key
 * that was present is then BLY_UNSURE. *changed (may be NULL) is the number of BLY_YES. On failure
 * `answers` is unchanged.
 * Errors: those of bly_bitmap_refusal; BLY_ECORRUPT (not a reply to such a command). */
BLY_CHECKED bly_status bly_bitmap_batch_parse(const bly_bitmap_batch *batch, size_t i,
                                              const bly_redis_value *value, bool repeated,
                                              uint8_t *answers, size_t *changed,
                                              bly_redis_reason *why);
/* Stores the same answer for all keys of command i. */
BLY_API void bly_bitmap_batch_fill(const bly_bitmap_batch *batch, size_t i, bly_answer answer,
                                   uint8_t *answers);

/* The head of a string. */
typedef struct bly_bitmap_head {
    bly_bitmap bitmap; /* of the whole filter */
    uint32_t shard;
    uint64_t count; /* keys that were new when added to this shard */
    bool complete;  /* shard 0: all shards exist */
} bly_bitmap_head;

/* Parses the reply to bly_bitmap_head_command. `hasher` (may be NULL) is used only for a keyed
 * filter, which needs it. `why` may be NULL. Errors: BLY_EMISSING (no such key), BLY_ECORRUPT (not
 * a filter), BLY_EVERSION, BLY_EHASHER, BLY_EKEY, BLY_EREFUSED. */
BLY_CHECKED bly_status bly_bitmap_head_parse(const bly_redis_value *value, const bly_hasher *hasher,
                                             bly_bitmap_head *out, bly_redis_reason *why);

/* Parses the reply to bly_bitmap_create: the present head of the key. *made (may be NULL) tells
 * whether the key was created. Errors: those of bly_bitmap_head_parse. */
BLY_CHECKED bly_status bly_bitmap_create_parse(const bly_redis_value *value,
                                               const bly_hasher *hasher, bool *made,
                                               bly_bitmap_head *out, bly_redis_reason *why);

#ifdef __cplusplus
}
#endif
#endif
