/* bitmap.h - a filter as strings of a plain Redis or Valkey server: bytes, commands, replies. No
 * I/O: for programs with a client or an event loop of their own.
 *
 * Two forms:
 *
 *   native    a blocked filter, sbbf or split512, as it lies in a file: all bits of a key are in 32
 *             or 64 adjacent bytes. It is divided into one or more strings ("shards") of at most
 *             512 MiB, each a key of its own, in a slot of its own. Every string begins with a head
 *             of 128 bytes that identifies the filter (docs/format.md, section 22), and every
 *             command compares it: a filter that was deleted, evicted, replaced or created with
 *             other parameters is an error, never a wrong answer.
 *
 *   go-zero   the filter of the Go framework go-zero, to share one with programs that use it: 14
 *             bits, at murmur3(key, i) mod bits. It has no head. Both sides must be told the same
 *             number of bits.
 *
 * An add is one script for many keys: it reports per key whether it was new, and of concurrent adds
 * of one key exactly one reports "new". What these functions give are arguments for any client. A
 * server that does not know the script answers NOSCRIPT: then send its text.
 */
#ifndef BLOOMERY_REDIS_BITMAP_H
#define BLOOMERY_REDIS_BITMAP_H

#include "../filter.h"
#include "connection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the shape --------------------------------------------------------------------------------
 */

typedef enum bly_bitmap_form { BLY_BITMAP_NATIVE = 1, BLY_BITMAP_GOZERO = 2 } bly_bitmap_form;

enum {
    BLY_BITMAP_HEAD = 128,  /* bytes before the blocks of every native string */
    BLY_BITMAP_HASHES = 14, /* bits of a key, go-zero */
    BLY_BITMAP_MAX_SHARDS = 4096
};
#define BLY_BITMAP_MAX_BYTES ((uint64_t)1 << 29) /* of one string: what a server allows */

/* All that two clients must agree about. Filled in by the functions below. */
typedef struct bly_bitmap {
    bly_bitmap_form form;
    bly_geometry geometry; /* native: sbbf or split512, of all shards; go-zero: classic, its bits */
    uint64_t capacity;     /* go-zero: 0 */
    double fpr;            /* go-zero: 0 */
    bly_hasher hasher;     /* go-zero: murmur3 */
    uint32_t shards;
    uint64_t stamp;        /* random, of this filter alone: recreated, it has another; go-zero: 0 */
    bool approximate;      /* it was sent from one that is an intersection (bly_filter_intersect) */
    bly_key_rule key_rule; /* what its keys are made from; go-zero: not recorded */
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
    uint64_t expire_ms;    /* after how long the filter vanishes; 0: never. Used by the client that
                              makes it */
    bly_key_rule key_rule; /* what its keys will be made from; not for bly_bitmap_from_filter */
} bly_bitmap_spec;

/* A new filter, with a stamp of its own. bly_plan's statuses; BLY_EKIND (of plain bits, but not one
 * block per key); BLY_EINVAL (shard_bytes too small, or above BLY_BITMAP_MAX_BYTES; a custom
 * hasher); BLY_ETOOBIG (more than BLY_BITMAP_MAX_SHARDS, or than blocks; or `shards` so few that
 * one would exceed shard_bytes); BLY_EIO (no random numbers). */
BLY_CHECKED bly_status bly_bitmap_plan(const bly_bitmap_spec *spec, bly_bitmap *out);

/* The shape of a filter in memory, sbbf or split512, with a stamp of its own. Of `spec` (may be
 * NULL), shards and shard_bytes are used. BLY_EKIND, BLY_EKEY (opened without its hasher), and as
 * above. */
BLY_CHECKED bly_status bly_bitmap_from_filter(const bly_filter *f, const bly_bitmap_spec *spec,
                                              bly_bitmap *out);

/* go-zero's, of that many bits. BLY_EGEOMETRY: 0; BLY_ETOOBIG: above 2^32, where a server's string
 * ends and an offset would be an error. */
BLY_CHECKED bly_status bly_bitmap_gozero(uint64_t bits, bly_bitmap *out);

/* Where the bits of a key are in go-zero's filter, in its order. */
BLY_API void bly_bitmap_gozero_offsets(uint64_t bits, const void *key, size_t len,
                                       uint64_t out[BLY_BITMAP_HASHES]);

/* Blocks in a shard: ceil(blocks / shards), what is left in the last one. Bytes of its string, head
 * included. */
BLY_API uint64_t bly_bitmap_shard_blocks(const bly_bitmap *b, uint32_t shard);
BLY_API uint64_t bly_bitmap_shard_bytes(const bly_bitmap *b, uint32_t shard);
BLY_API uint64_t bly_bitmap_bytes(const bly_bitmap *b); /* of all of them */

/* An estimate of the distinct keys added if `count` adds reported "new". It is higher than `count`,
 * because false positives were not counted. At most a thousand times the capacity. */
BLY_API double bly_bitmap_keys(const bly_bitmap *b, uint64_t count);

/* Whether both have the same shape: everything but the stamp, the rule of the keys, and whether it
 * is approximate. A client that joins an existing filter must adopt these from its head. */
BLY_API bool bly_bitmap_compatible(const bly_bitmap *a, const bly_bitmap *b);

/* The key of a shard: `name` itself of the first, and of the others name:{TAG}, with tags that
 * spread them evenly over a cluster's slots (unless the name has a {tag} itself: then all are in
 * its slot). Returns the length; writes a NUL after it, and nothing when it is not less than
 * `room`. 0: there is no such shard. */
BLY_API size_t bly_bitmap_key(const bly_bitmap *b, bly_bytes name, uint32_t shard, char *out,
                              size_t room);

/* The slot of a key in a cluster, 0 .. 16383. */
BLY_API unsigned bly_redis_slot(bly_bytes key);

/* ---- commands ---------------------------------------------------------------------------------
 */

/* One command, ready to be sent. */
typedef struct bly_bitmap_command {
    const bly_bytes *args;
    size_t count;
    bly_bytes script; /* when not empty, args are "EVALSHA", its digest, ...; after NOSCRIPT send
                         "EVAL" and this instead of those two */
    bly_bytes key;    /* the key it is about */
    bool writes;
} bly_bitmap_command;

/* The commands below are owned by the caller until bly_bitmap_command_free. BLY_ENOMEM, BLY_EINVAL
 * (no such shard; a name longer than 64 KiB), BLY_EUNSUPPORTED (go-zero's is neither
 * created nor completed). */
BLY_API void bly_bitmap_command_free(bly_bitmap_command *c); /* NULL does nothing */

/* Creates a shard, all zero, unless its key exists; `expire_at` is a time in ms since 1970, 0:
 * none. Create shard 0 first. It is marked complete at once if it is the only one; otherwise
 * bly_bitmap_complete marks it when the others exist. Until then the filter may not be used. The
 * reply is for bly_bitmap_create_parse. An error that begins with OOM means that the server has no
 * memory for the shard, or, for shard 0, for the whole filter.
 *
 * The server does not enforce this protocol. A client that did not create shard 0 adopts the stamp
 * of the returned head if the shapes are compatible; all other shards must then have that stamp.
 * Check `complete` before using the filter. If the reply to shard 0 is lost, plan again to get
 * another stamp, and do not send the same command again. Before creating another shard, check
 * whether the filter has become complete: a shard that is missing then was lost with its keys. */
BLY_CHECKED bly_status bly_bitmap_create(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                         uint64_t expire_at, bly_bitmap_command **out);
BLY_CHECKED bly_status bly_bitmap_complete(const bly_bitmap *b, bly_bytes name,
                                           bly_bitmap_command **out);
/* The head of a key, for bly_bitmap_head_parse: GETRANGE key 0 127. */
BLY_CHECKED bly_status bly_bitmap_head_command(bly_bytes key, bly_bitmap_command **out);
/* Sets the expiry time; 0 removes it. The reply is 1, or an error as for an add. */
BLY_CHECKED bly_status bly_bitmap_expire(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                         uint64_t expire_at, bly_bitmap_command **out);
/* Deletes a shard, if it belongs to this filter; the answer is 1 if it did. */
BLY_CHECKED bly_status bly_bitmap_drop(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                       bly_bitmap_command **out);

/* ---- batches ----------------------------------------------------------------------------------
 */

typedef enum bly_bitmap_op { BLY_BITMAP_ADD = 1, BLY_BITMAP_CONTAINS = 2 } bly_bitmap_op;

/* What is known of a key. */
typedef enum bly_answer {
    BLY_NO = 0,     /* added: it was there already; asked: it is not there */
    BLY_YES = 1,    /* added: it was new;           asked: it is there, or a false positive */
    BLY_UNSURE = 2, /* added: it is there now. It was there before, or an earlier attempt of this
                       very call, whose answer was lost, has added it */
    BLY_UNKNOWN = 3 /* no answer */
} bly_answer;

typedef struct bly_bitmap_batch bly_bitmap_batch;

/* The keys, sorted by shard, at most `most` (0: 512; never above 65536) in a command. It keeps
 * nothing of `keys`. With thousands of shards it takes some time to find their keys: a few dozen
 * microseconds for each that occurs.
 * BLY_ENOMEM, BLY_EINVAL (no such `what`; a name longer than 64 KiB), BLY_EKEY (the shape
 * has no working hasher). */
BLY_CHECKED bly_status bly_bitmap_batch_open(const bly_bitmap *b, bly_bytes name,
                                             bly_bitmap_op what, const bly_bytes *keys, size_t n,
                                             size_t most, bly_bitmap_batch **out);
BLY_API void bly_bitmap_batch_close(bly_bitmap_batch *batch); /* NULL does nothing */

BLY_API size_t bly_bitmap_batch_count(const bly_bitmap_batch *batch); /* of commands */
/* Good until the batch is closed. */
BLY_API const bly_bitmap_command *bly_bitmap_batch_command(const bly_bitmap_batch *batch, size_t i);

/* ---- answers ----------------------------------------------------------------------------------
 */

/* An answer, of whatever client. */
typedef struct bly_redis_value {
    bly_redis_type type;
    int64_t integer;
    bly_bytes text; /* of BLY_REDIS_TEXT and BLY_REDIS_ERROR */
} bly_redis_value;

/* One of bly_redis_command's; good as long as the reply. */
BLY_API bly_redis_value bly_redis_reply_value(const bly_redis_reply *reply);

/* What is to be done about an answer. */
typedef enum bly_redis_verdict {
    BLY_REDIS_DONE,      /* read it */
    BLY_REDIS_NO_SCRIPT, /* nothing was done; send the script's text */
    BLY_REDIS_MOVED,     /* nothing was done; another node has the slot: bly_redis_redirect */
    BLY_REDIS_ASK,       /* nothing was done; send ASKING and this to another node */
    BLY_REDIS_LATER,     /* nothing was done; the server is starting, or busy: try again */
    BLY_REDIS_REFUSED    /* nothing was done, and trying again would not help */
} bly_redis_verdict;
BLY_API bly_redis_verdict bly_redis_classify(const bly_redis_value *value);

/* Where MOVED and ASK point: "MOVED 3999 127.0.0.1:6381". false: the text names no place. An empty
 * host is the one that was asked. */
typedef struct bly_redis_redirect {
    uint16_t slot, port;
    bly_bytes host; /* inside the value's text; no NUL follows */
} bly_redis_redirect;
BLY_API bool bly_redis_redirect_parse(const bly_redis_value *value, bly_redis_redirect *out);

/* What the error answers of commands above mean. BLY_EMISSING, BLY_EMISMATCH (another filter's),
 * BLY_EREFUSED; `why` (may be NULL) has it in words, with what to do. BLY_OK: it is no error. */
BLY_API bly_status bly_bitmap_refusal(const bly_redis_value *value, bly_redis_reason *why);

/* Reads the answer to command i into `answers` (of all n keys, in the order they were given), as
 * BLY_YES and BLY_NO. `repeated`: the command had been sent before, without an answer; then what
 * was there already is BLY_UNSURE. *changed (may be NULL): how many are BLY_YES. On failure
 * `answers` is as before: as bly_bitmap_refusal; BLY_ECORRUPT: no answer to such a command. */
BLY_CHECKED bly_status bly_bitmap_batch_parse(const bly_bitmap_batch *batch, size_t i,
                                              const bly_redis_value *value, bool repeated,
                                              uint8_t *answers, size_t *changed,
                                              bly_redis_reason *why);
/* Gives all keys of command i the same answer. */
BLY_API void bly_bitmap_batch_fill(const bly_bitmap_batch *batch, size_t i, bly_answer answer,
                                   uint8_t *answers);

/* The head of a string. */
typedef struct bly_bitmap_head {
    bly_bitmap bitmap; /* of the whole filter */
    uint32_t shard;
    uint64_t count; /* keys that were new when added to this shard */
    bool complete;  /* of shard 0: all shards are there */
} bly_bitmap_head;

/* Of the answer to bly_bitmap_head_command. `hasher` (may be NULL) is needed for a keyed filter,
 * and not looked at for others. BLY_EMISSING (no such key), BLY_ECORRUPT (no filter of ours),
 * BLY_EVERSION, BLY_EHASHER, BLY_EKEY, BLY_EREFUSED; `why` (may be NULL) says it in words. */
BLY_CHECKED bly_status bly_bitmap_head_parse(const bly_redis_value *value, const bly_hasher *hasher,
                                             bly_bitmap_head *out, bly_redis_reason *why);

/* Of the answer to bly_bitmap_create: the head that the key has now. *made (may be NULL): it was
 * not there before. Statuses as above. */
BLY_CHECKED bly_status bly_bitmap_create_parse(const bly_redis_value *value,
                                               const bly_hasher *hasher, bool *made,
                                               bly_bitmap_head *out, bly_redis_reason *why);

#ifdef __cplusplus
}
#endif
#endif
