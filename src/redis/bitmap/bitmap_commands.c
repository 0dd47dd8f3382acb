/* Builds the commands for one shard: create, expire, drop, and the transfer of a whole filter.
 *
 * A command is one block of memory: the struct, its arguments, and the bytes that the arguments
 * point to. So it does not depend on other memory, and one call frees it. Nearly all commands are
 * EVALSHA, with the shard's key and its identity (the first bytes of its head, bitmap_layout.h) as
 * the first arguments, which `command_begin` adds.
 */
#include "redis/bitmap/bitmap_commands.h"

#include "redis/bitmap/bitmap_layout.h"
#include "redis/bitmap/bitmap_scripts.h"
#include "redis/bitmap/shard_keys.h"

#include "base/little_endian.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COMMAND_MAX_ARGS = 11,
    COMMAND_WORDS_BYTES = 64, /* EVALSHA, a digest, the number of keys */
    COMMAND_NUMBER_BYTES = 24,
    COMMAND_MAX_NUMBERS = 3,
};

typedef struct command_block {
    bly_bitmap_command command;
    bly_bytes args[COMMAND_MAX_ARGS];
    char bytes[];
} command_block;

typedef struct command_writer {
    command_block *to;
    size_t n;
    char *at;
} command_writer;

/* ---- arguments ------------------------------------------------------------------------------- */

static void command_add(command_writer *m, const void *data, size_t size) {
    m->to->args[m->n++] = (bly_bytes){m->at, size};
    if (size)
        memcpy(m->at, data, size);
    m->at += size;
}

static void command_add_word(command_writer *m, const char *text) {
    command_add(m, text, strlen(text));
}

static void command_add_number(command_writer *m, uint64_t number) {
    char text[COMMAND_NUMBER_BYTES];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    command_add_word(m, text);
}

/* Adds a time, limited to what a server's 64-bit arithmetic can represent. */
static void command_add_time(command_writer *m, uint64_t ms) {
    command_add_number(m, ms < INT64_MAX ? ms : INT64_MAX);
}

/* Allocates space for three keys, a head, the usual words and numbers, and `extra` bytes. */
static bool command_start(command_writer *m, bly_bytes name, size_t extra) {
    const size_t fixed = sizeof(command_block) + COMMAND_WORDS_BYTES + 3 * BLYI_KEY_ROOM +
                         BLY_BITMAP_HEAD + COMMAND_MAX_NUMBERS * COMMAND_NUMBER_BYTES;
    if (extra > SIZE_MAX - fixed - 3 * name.size)
        return false;
    *m = (command_writer){.to = malloc(fixed + 3 * name.size + extra)};
    if (!m->to)
        return false;
    m->at = m->to->bytes;
    return true;
}

typedef size_t command_key_function(const bly_bitmap *, bly_bytes, uint32_t, char *, size_t);

static void command_add_some_key(command_writer *m, command_key_function *write,
                                 const bly_bitmap *b, bly_bytes name, uint32_t shard) {
    const size_t size = write(b, name, shard, m->at, name.size + BLYI_KEY_ROOM);
    m->to->args[m->n++] = (bly_bytes){m->at, size};
    m->at += size;
}

static void command_add_key(command_writer *m, const bly_bitmap *b, bly_bytes name,
                            uint32_t shard) {
    command_add_some_key(m, bly_bitmap_key, b, name, shard);
}

static void command_add_staging_key(command_writer *m, const bly_bitmap *b, bly_bytes name,
                                    uint32_t shard) {
    command_add_some_key(m, blyi_bitmap_staging_key, b, name, shard);
}

static void command_add_parking_key(command_writer *m, const bly_bitmap *b, bly_bytes name,
                                    uint32_t shard) {
    command_add_some_key(m, blyi_bitmap_parking_key, b, name, shard);
}

static void command_add_script(command_writer *m, blyi_script_id id, unsigned keys) {
    const blyi_script *script = &blyi_scripts[id];
    m->to->command.script = (bly_bytes){script->text, strlen(script->text)};
    command_add_word(m, "EVALSHA");
    command_add_word(m, script->digest);
    command_add_number(m, keys);
}

static void command_add_identity(command_writer *m, const bly_bitmap *b, uint32_t shard) {
    uint8_t head[BLY_BITMAP_HEAD];
    if (b->form == BLY_BITMAP_NATIVE)
        blyi_bitmap_head_encode(b, shard, false, head);
    command_add(m, head, b->form == BLY_BITMAP_NATIVE ? BLYI_BITMAP_IDENTITY : 0);
}

/* Adds the number of bytes for which the server must have memory: those of this shard or, for the
 * first shard, those of all shards. */
static void command_add_need(command_writer *m, const bly_bitmap *b, uint32_t shard) {
    command_add_number(m, shard ? bly_bitmap_shard_bytes(b, shard) : bly_bitmap_bytes(b));
}

/* Completes a command. `key` is the index of the argument that is the key of the shard. */
static bly_status command_finish(command_writer *m, size_t key, bool writes,
                                 bly_bitmap_command **out) {
    command_block *b = m->to;
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

enum { COMMAND_KEY_AT = 3 }; /* after EVALSHA, the digest, and the number of keys */

/* Does the checks that every command needs. Returns BLY_OK or BLY_EINVAL. */
static bly_status command_check(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                bly_bitmap_command **out) {
    *out = NULL;
    return shard < b->shards && blyi_key_name_fits(name) ? BLY_OK : BLY_EINVAL;
}

static bly_status command_check_native(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                       bly_bitmap_command **out) {
    bly_status status = command_check(b, name, shard, out);
    return status == BLY_OK && b->form != BLY_BITMAP_NATIVE ? BLY_EUNSUPPORTED : status;
}

/* Begins a command: EVALSHA digest 1 KEY IDENTITY. The caller adds the rest. */
static bly_status command_begin(command_writer *m, blyi_script_id id, const bly_bitmap *b,
                                bly_bytes name, uint32_t shard, size_t extra) {
    if (!command_start(m, name, extra))
        return BLY_ENOMEM;
    command_add_script(m, id, 1);
    command_add_key(m, b, name, shard);
    command_add_identity(m, b, shard);
    return BLY_OK;
}

void bly_bitmap_command_free(bly_bitmap_command *c) {
    free(c);
}

/* ---- creating and dropping a shard ----------------------------------------------------------- */

bly_status bly_bitmap_create(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             uint64_t expire_at, bly_bitmap_command **out) {
    uint8_t head[BLY_BITMAP_HEAD];
    command_writer m;
    bly_status status = command_check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!command_start(&m, name, 0))
        return BLY_ENOMEM;
    blyi_bitmap_head_encode(b, shard, b->shards == 1, head);
    command_add_script(&m, BLYI_SCRIPT_CREATE, 1);
    command_add_key(&m, b, name, shard);
    command_add(&m, head, sizeof head);
    command_add_number(&m, bly_bitmap_shard_bytes(b, shard));
    command_add_time(&m, expire_at);
    command_add_need(&m, b, shard);
    return command_finish(&m, COMMAND_KEY_AT, true, out);
}

bly_status bly_bitmap_complete(const bly_bitmap *b, bly_bytes name, bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check_native(b, name, 0, out);
    if (status == BLY_OK)
        status = command_begin(&m, BLYI_SCRIPT_COMPLETE, b, name, 0, 0);
    return status == BLY_OK ? command_finish(&m, COMMAND_KEY_AT, true, out) : status;
}

bly_status bly_bitmap_head_command(bly_bytes key, bly_bitmap_command **out) {
    command_writer m;
    *out = NULL;
    if (key.size >= BLYI_MAX_KEY_NAME + BLYI_KEY_ROOM)
        return BLY_EINVAL;
    if (!command_start(&m, key, 0))
        return BLY_ENOMEM;
    m.to->command.script = (bly_bytes){NULL, 0};
    command_add_word(&m, "GETRANGE");
    command_add(&m, key.data, key.size);
    command_add_number(&m, 0);
    command_add_number(&m, BLY_BITMAP_HEAD - 1);
    return command_finish(&m, 1, false, out);
}

bly_status bly_bitmap_expire(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             uint64_t expire_at, bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check(b, name, shard, out);
    if (status == BLY_OK)
        status = command_begin(&m, BLYI_SCRIPT_EXPIRE, b, name, shard, 0);
    if (status != BLY_OK)
        return status;
    command_add_time(&m, expire_at);
    return command_finish(&m, COMMAND_KEY_AT, true, out);
}

bly_status bly_bitmap_drop(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                           bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check(b, name, shard, out);
    if (status == BLY_OK)
        status = command_begin(&m, BLYI_SCRIPT_DROP, b, name, shard, 0);
    return status == BLY_OK ? command_finish(&m, COMMAND_KEY_AT, true, out) : status;
}

bly_status blyi_bitmap_drop_unfinished(const bly_bitmap *b, bly_bytes name,
                                       bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check_native(b, name, 0, out);
    if (status == BLY_OK)
        status = command_begin(&m, BLYI_SCRIPT_DROP, b, name, 0, 1);
    if (status != BLY_OK)
        return status;
    command_add(&m, "", 1);
    return command_finish(&m, COMMAND_KEY_AT, true, out);
}

bly_status blyi_bitmap_facts(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check(b, name, shard, out);
    if (status == BLY_OK)
        status = command_begin(&m, BLYI_SCRIPT_FACTS, b, name, shard, 0);
    return status == BLY_OK ? command_finish(&m, COMMAND_KEY_AT, false, out) : status;
}

bly_status blyi_bitmap_set_bits(const bly_bitmap *b, bly_bytes name, bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check(b, name, 0, out);
    if (status != BLY_OK)
        return status;
    if (!command_start(&m, name, 0))
        return BLY_ENOMEM;
    m.to->command.script = (bly_bytes){NULL, 0};
    command_add_word(&m, "BITCOUNT");
    command_add_key(&m, b, name, 0);
    return command_finish(&m, 1, false, out);
}

/* ---- transferring a whole filter ------------------------------------------------------------- */

bly_status blyi_bitmap_stage(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                             bly_bitmap_command **out) {
    uint8_t head[BLY_BITMAP_HEAD];
    command_writer m;
    bly_status status = command_check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!command_start(&m, name, 0))
        return BLY_ENOMEM;
    blyi_bitmap_head_encode(b, shard, false, head);
    command_add_script(&m, BLYI_SCRIPT_STAGE, 1);
    command_add_staging_key(&m, b, name, shard);
    command_add(&m, head, sizeof head);
    command_add_number(&m, bly_bitmap_shard_bytes(b, shard));
    command_add_need(&m, b, shard);
    return command_finish(&m, COMMAND_KEY_AT, true, out);
}

/* Whether `bytes` bytes from position `at` on are within the shard's blocks. */
static bool command_in_shard(const bly_bitmap *b, uint32_t shard, uint64_t at, size_t bytes) {
    const uint64_t all = bly_bitmap_shard_bytes(b, shard) - BLY_BITMAP_HEAD;
    return bytes <= all && at <= all - bytes;
}

bly_status blyi_bitmap_write(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                             bly_bytes data, bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check_native(b, name, shard, out);
    if (status != BLY_OK || !command_in_shard(b, shard, at, data.size))
        return status ? status : BLY_EINVAL;
    if (!command_start(&m, name, data.size))
        return BLY_ENOMEM;
    command_add_script(&m, BLYI_SCRIPT_WRITE, 1);
    command_add_staging_key(&m, b, name, shard);
    command_add_identity(&m, b, shard);
    command_add_number(&m, BLY_BITMAP_HEAD + at);
    command_add(&m, data.data, data.size);
    return command_finish(&m, COMMAND_KEY_AT, true, out);
}

bly_status blyi_bitmap_commit(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                              const blyi_commit *how, bly_bitmap_command **out) {
    uint8_t state[BLYI_BITMAP_STATE_AT + 1 - BLYI_BITMAP_COUNT_AT];
    const bool parks = how->replace && shard > 0;
    command_writer m;
    bly_status status = command_check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!command_start(&m, name, sizeof state + 1 + BLYI_BITMAP_IDENTITY))
        return BLY_ENOMEM;
    blyi_store64le(state, how->count);
    state[sizeof state - 1] = 1;
    command_add_script(&m, BLYI_SCRIPT_COMMIT, parks ? 3 : 2);
    command_add_staging_key(&m, b, name, shard);
    command_add_key(&m, b, name, shard);
    if (parks)
        command_add_parking_key(&m, b, name, shard);
    command_add_identity(&m, b, shard);
    command_add(&m, state, sizeof state);
    command_add_time(&m, how->expire_at);
    command_add_word(&m, how->replace ? "1" : "0");
    if (how->old && shard < how->old->shards)
        command_add_identity(&m, how->old, shard);
    else
        command_add_word(&m, "");
    return command_finish(&m, COMMAND_KEY_AT + 1, true, out);
}

bly_status blyi_bitmap_rollback(const bly_bitmap *b, bly_bytes name, uint32_t shard, bool lasting,
                                bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!command_start(&m, name, 1))
        return BLY_ENOMEM;
    command_add_script(&m, BLYI_SCRIPT_ROLLBACK, 2);
    command_add_parking_key(&m, b, name, shard);
    command_add_key(&m, b, name, shard);
    command_add_identity(&m, b, shard);
    command_add_word(&m, lasting ? "1" : "0");
    return command_finish(&m, COMMAND_KEY_AT + 1, true, out);
}

bly_status blyi_bitmap_drop_parked(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                   bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!command_start(&m, name, 0))
        return BLY_ENOMEM;
    m.to->command.script = (bly_bytes){NULL, 0};
    command_add_word(&m, "UNLINK");
    command_add_parking_key(&m, b, name, shard);
    return command_finish(&m, 1, true, out);
}

bly_status blyi_bitmap_drop_staged(const bly_bitmap *b, bly_bytes name, uint32_t shard,
                                   bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check_native(b, name, shard, out);
    if (status != BLY_OK)
        return status;
    if (!command_start(&m, name, 0))
        return BLY_ENOMEM;
    command_add_script(&m, BLYI_SCRIPT_DROP, 1);
    command_add_staging_key(&m, b, name, shard);
    command_add_identity(&m, b, shard);
    return command_finish(&m, COMMAND_KEY_AT, true, out);
}

bly_status blyi_bitmap_read(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint64_t at,
                            size_t bytes, bly_bitmap_command **out) {
    command_writer m;
    bly_status status = command_check_native(b, name, shard, out);
    if (status != BLY_OK || bytes == 0 || !command_in_shard(b, shard, at, bytes))
        return status ? status : BLY_EINVAL;
    status = command_begin(&m, BLYI_SCRIPT_READ, b, name, shard, 0);
    if (status != BLY_OK)
        return status;
    command_add_number(&m, BLY_BITMAP_HEAD + at);
    command_add_number(&m, BLY_BITMAP_HEAD + at + bytes - 1);
    return command_finish(&m, COMMAND_KEY_AT, false, out);
}
