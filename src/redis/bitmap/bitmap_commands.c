/* Commands for one shard.
 *
 * A command is one block: the struct, its arguments, and the bytes that these point to, so that it
 * stands by itself and is freed at once. Nearly all of them are EVALSHA with the shard's key and
 * its identity first, which `begin` puts there.
 */
#include "redis/bitmap/bitmap_layout.h"
#include "redis/bitmap/bitmap_scripts.h"
#include "redis/bitmap/shard_keys.h"

#include "core/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_ARGS = 11,
    WORDS_ROOM = 64, /* EVALSHA, a digest, how many keys */
    NUMBER_ROOM = 24,
    MOST_NUMBERS = 3,
};

typedef struct block {
    bly_bitmap_command command;
    bly_bytes args[MOST_ARGS];
    char bytes[];
} block;

typedef struct maker {
    block *to;
    size_t n;
    char *at;
} maker;

/* ---- putting one together -------------------------------------------------------------------- */

static void put(maker *m, const void *data, size_t size) {
    m->to->args[m->n++] = (bly_bytes){m->at, size};
    if (size)
        memcpy(m->at, data, size);
    m->at += size;
}

static void put_word(maker *m, const char *text) {
    put(m, text, strlen(text));
}

static void put_number(maker *m, uint64_t number) {
    char text[NUMBER_ROOM];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    put_word(m, text);
}

/* A time that the server's own arithmetic can hold. */
static void put_time(maker *m, uint64_t ms) {
    put_number(m, ms < INT64_MAX ? ms : INT64_MAX);
}

/* Room for three keys, a head, and the usual words and numbers; and for `extra` bytes. */
static bool start(maker *m, bly_bytes name, size_t extra) {
    const size_t fixed = sizeof(block) + WORDS_ROOM + 3 * BLYI_KEY_ROOM + BLY_BITMAP_HEAD +
                         MOST_NUMBERS * NUMBER_ROOM;
    if (extra > SIZE_MAX - fixed - 3 * name.size)
        return false;
    *m = (maker){.to = malloc(fixed + 3 * name.size + extra)};
    if (!m->to)
        return false;
    m->at = m->to->bytes;
    return true;
}

typedef size_t key_writer(const bly_bitmap *, bly_bytes, uint32_t, char *, size_t);

static void put_some_key(maker *m, key_writer *write, const bly_bitmap *b, bly_bytes name,
                         uint32_t shard) {
    const size_t size = write(b, name, shard, m->at, name.size + BLYI_KEY_ROOM);
    m->to->args[m->n++] = (bly_bytes){m->at, size};
    m->at += size;
}

static void put_key(maker *m, const bly_bitmap *b, bly_bytes name, uint32_t shard) {
    put_some_key(m, bly_bitmap_key, b, name, shard);
}

static void put_arrival_key(maker *m, const bly_bitmap *b, bly_bytes name, uint32_t shard) {
    put_some_key(m, blyi_bitmap_arrival_key, b, name, shard);
}

static void put_parking_key(maker *m, const bly_bitmap *b, bly_bytes name, uint32_t shard) {
    put_some_key(m, blyi_bitmap_parking_key, b, name, shard);
}

static void put_script(maker *m, blyi_script_id id, unsigned keys) {
    const blyi_script *script = &blyi_scripts[id];
    m->to->command.script = (bly_bytes){script->text, strlen(script->text)};
    put_word(m, "EVALSHA");
    put_word(m, script->digest);
    put_number(m, keys);
}

static void put_identity(maker *m, const bly_bitmap *b, uint32_t shard) {
    uint8_t head[BLY_BITMAP_HEAD];
    if (b->form == BLY_BITMAP_NATIVE)
        blyi_bitmap_head_encode(b, shard, false, head);
    put(m, head, b->form == BLY_BITMAP_NATIVE ? BLYI_BITMAP_IDENTITY : 0);
}

/* The memory that making this shard and what follows it takes: with the first, all. */
static void put_need(maker *m, const bly_bitmap *b, uint32_t shard) {
    put_number(m, shard ? bly_bitmap_shard_bytes(b, shard) : bly_bitmap_bytes(b));
}

/* `key`: which argument is what the command is about. */
static bly_status finish(maker *m, size_t key, bool writes, bly_bitmap_command **out) {
    block *b = m->to;
    b->command = (bly_bitmap_command){
        .args = b->args,
        .count = m->n,
        .script = b->command.script,
        .key = b->args[key],
        .writes = writes,
    };
    *out = &b->command;
    return BLY_OK;
}

enum { KEY_AT = 3 }; /* after EVALSHA, the digest, and how many keys */

/* What can be said of any command before there is one. */
static bly_status check(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                        bly_bitmap_command **out) {
    *out = NULL;
    return shard < b->shards && blyi_name_fits(name) ? BLY_OK : BLY_EINVAL;
}

static bly_status check_native(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                               bly_bitmap_command **out) {
    bly_status status = check(b, name, shard, out);
    return status == BLY_OK && b->form != BLY_BITMAP_NATIVE ? BLY_EUNSUPPORTED : status;
}

/* EVALSHA digest 1 KEY IDENTITY; what follows is the caller's. */
static bly_status begin(maker *m, blyi_script_id id, const bly_bitmap *b, bly_bytes name,
                        uint32_t shard, size_t extra) {
    if (!start(m, name, extra))
        return BLY_ENOMEM;
    put_script(m, id, 1);
    put_key(m, b, name, shard);
    put_identity(m, b, shard);
    return BLY_OK;
}

void bly_bitmap_command_free(bly_bitmap_command *c) {
    free(c);
}

/* ---- life and death of a shard --------------------------------------------------------------- */

bly_status bly_bitmap_create(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             uint64_t expire_at, bly_bitmap_command **out) {
    uint8_t head[BLY_BITMAP_HEAD];
    maker m;
    bly_status status = check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!start(&m, name, 0))
        return BLY_ENOMEM;
    blyi_bitmap_head_encode(b, shard, b->shards == 1, head);
    put_script(&m, BLYI_SCRIPT_CREATE, 1);
    put_key(&m, b, name, shard);
    put(&m, head, sizeof head);
    put_number(&m, bly_bitmap_shard_bytes(b, shard));
    put_time(&m, expire_at);
    put_need(&m, b, shard);
    return finish(&m, KEY_AT, true, out);
}

bly_status bly_bitmap_complete(const bly_bitmap *b, bly_bytes name, bly_bitmap_command **out) {
    maker m;
    bly_status status = check_native(b, name, 0, out);
    if (status == BLY_OK)
        status = begin(&m, BLYI_SCRIPT_COMPLETE, b, name, 0, 0);
    return status == BLY_OK ? finish(&m, KEY_AT, true, out) : status;
}

bly_status bly_bitmap_look(bly_bytes key, bly_bitmap_command **out) {
    maker m;
    *out = NULL;
    if (key.size >= BLYI_MOST_NAME + BLYI_KEY_ROOM)
        return BLY_EINVAL;
    if (!start(&m, key, 0))
        return BLY_ENOMEM;
    m.to->command.script = (bly_bytes){NULL, 0};
    put_word(&m, "GETRANGE");
    put(&m, key.data, key.size);
    put_number(&m, 0);
    put_number(&m, BLY_BITMAP_HEAD - 1);
    return finish(&m, 1, false, out);
}

bly_status bly_bitmap_expire(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             uint64_t expire_at, bly_bitmap_command **out) {
    maker m;
    bly_status status = check(b, name, shard, out);
    if (status == BLY_OK)
        status = begin(&m, BLYI_SCRIPT_EXPIRE, b, name, shard, 0);
    if (status != BLY_OK)
        return status;
    put_time(&m, expire_at);
    return finish(&m, KEY_AT, true, out);
}

bly_status bly_bitmap_drop(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                           bly_bitmap_command **out) {
    maker m;
    bly_status status = check(b, name, shard, out);
    if (status == BLY_OK)
        status = begin(&m, BLYI_SCRIPT_DROP, b, name, shard, 0);
    return status == BLY_OK ? finish(&m, KEY_AT, true, out) : status;
}

bly_status blyi_bitmap_drop_unfinished(const bly_bitmap *b, bly_bytes name,
                                       bly_bitmap_command **out) {
    maker m;
    bly_status status = check_native(b, name, 0, out);
    if (status == BLY_OK)
        status = begin(&m, BLYI_SCRIPT_DROP, b, name, 0, 1);
    if (status != BLY_OK)
        return status;
    put(&m, "", 1);
    return finish(&m, KEY_AT, true, out);
}

bly_status blyi_bitmap_facts(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             bly_bitmap_command **out) {
    maker m;
    bly_status status = check(b, name, shard, out);
    if (status == BLY_OK)
        status = begin(&m, BLYI_SCRIPT_FACTS, b, name, shard, 0);
    return status == BLY_OK ? finish(&m, KEY_AT, false, out) : status;
}

bly_status blyi_bitmap_set_bits(const bly_bitmap *b, bly_bytes name, bly_bitmap_command **out) {
    maker m;
    bly_status status = check(b, name, 0, out);
    if (status != BLY_OK)
        return status;
    if (!start(&m, name, 0))
        return BLY_ENOMEM;
    m.to->command.script = (bly_bytes){NULL, 0};
    put_word(&m, "BITCOUNT");
    put_key(&m, b, name, 0);
    return finish(&m, 1, false, out);
}

/* ---- a whole filter on its way --------------------------------------------------------------- */

bly_status blyi_bitmap_arrive(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                              bly_bitmap_command **out) {
    uint8_t head[BLY_BITMAP_HEAD];
    maker m;
    bly_status status = check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!start(&m, name, 0))
        return BLY_ENOMEM;
    blyi_bitmap_head_encode(b, shard, false, head);
    put_script(&m, BLYI_SCRIPT_ARRIVE, 1);
    put_arrival_key(&m, b, name, shard);
    put(&m, head, sizeof head);
    put_number(&m, bly_bitmap_shard_bytes(b, shard));
    put_need(&m, b, shard);
    return finish(&m, KEY_AT, true, out);
}

/* Whether these bytes are of the shard's blocks. */
static bool inside(const bly_bitmap *b, uint32_t shard, uint64_t at, size_t bytes) {
    const uint64_t all = bly_bitmap_shard_bytes(b, shard) - BLY_BITMAP_HEAD;
    return bytes <= all && at <= all - bytes;
}

bly_status blyi_bitmap_piece(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                             bly_bytes data, bly_bitmap_command **out) {
    maker m;
    bly_status status = check_native(b, name, shard, out);
    if (status != BLY_OK || !inside(b, shard, at, data.size))
        return status ? status : BLY_EINVAL;
    if (!start(&m, name, data.size))
        return BLY_ENOMEM;
    put_script(&m, BLYI_SCRIPT_PIECE, 1);
    put_arrival_key(&m, b, name, shard);
    put_identity(&m, b, shard);
    put_number(&m, BLY_BITMAP_HEAD + at);
    put(&m, data.data, data.size);
    return finish(&m, KEY_AT, true, out);
}

bly_status blyi_bitmap_land(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                            const blyi_landing *how, bly_bitmap_command **out) {
    uint8_t state[BLYI_BITMAP_STATE_AT + 1 - BLYI_BITMAP_COUNT_AT];
    const bool parks = how->replace && shard > 0;
    maker m;
    bly_status status = check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!start(&m, name, sizeof state + 1 + BLYI_BITMAP_IDENTITY))
        return BLY_ENOMEM;
    blyi_store64le(state, how->count);
    state[sizeof state - 1] = 1;
    put_script(&m, BLYI_SCRIPT_LAND, parks ? 3 : 2);
    put_arrival_key(&m, b, name, shard);
    put_key(&m, b, name, shard);
    if (parks)
        put_parking_key(&m, b, name, shard);
    put_identity(&m, b, shard);
    put(&m, state, sizeof state);
    put_time(&m, how->expire_at);
    put_word(&m, how->replace ? "1" : "0");
    if (how->old && shard < how->old->shards)
        put_identity(&m, how->old, shard);
    else
        put_word(&m, "");
    return finish(&m, KEY_AT + 1, true, out);
}

bly_status blyi_bitmap_return(const bly_bitmap *b, bly_bytes name, uint32_t shard, bool lasting,
                              bly_bitmap_command **out) {
    maker m;
    bly_status status = check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!start(&m, name, 1))
        return BLY_ENOMEM;
    put_script(&m, BLYI_SCRIPT_RETURN, 2);
    put_parking_key(&m, b, name, shard);
    put_key(&m, b, name, shard);
    put_identity(&m, b, shard);
    put_word(&m, lasting ? "1" : "0");
    return finish(&m, KEY_AT + 1, true, out);
}

bly_status blyi_bitmap_forget(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                              bly_bitmap_command **out) {
    maker m;
    bly_status status = check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!start(&m, name, 0))
        return BLY_ENOMEM;
    m.to->command.script = (bly_bytes){NULL, 0};
    put_word(&m, "UNLINK");
    put_parking_key(&m, b, name, shard);
    return finish(&m, 1, true, out);
}

bly_status blyi_bitmap_abandon(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                               bly_bitmap_command **out) {
    maker m;
    bly_status status = check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!start(&m, name, 0))
        return BLY_ENOMEM;
    put_script(&m, BLYI_SCRIPT_DROP, 1);
    put_arrival_key(&m, b, name, shard);
    put_identity(&m, b, shard);
    return finish(&m, KEY_AT, true, out);
}

bly_status blyi_bitmap_read(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                            size_t bytes, bly_bitmap_command **out) {
    maker m;
    bly_status status = check_native(b, name, shard, out);
    if (status != BLY_OK || bytes == 0 || !inside(b, shard, at, bytes))
        return status ? status : BLY_EINVAL;
    status = begin(&m, BLYI_SCRIPT_READ, b, name, shard, 0);
    if (status != BLY_OK)
        return status;
    put_number(&m, BLY_BITMAP_HEAD + at);
    put_number(&m, BLY_BITMAP_HEAD + at + bytes - 1);
    return finish(&m, KEY_AT, false, out);
}
