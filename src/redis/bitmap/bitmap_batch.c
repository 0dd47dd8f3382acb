/* Packs many keys into the commands that add them or look them up.
 *
 * First the keys are hashed, in the given order; the hash of a key determines its shard. Then they
 * are sorted by shard with a counting sort, so that keys of one shard stay in order. Then they are
 * packed into commands, each for at most max_keys keys of one shard. In a command, each key takes:
 *
 *     native, add        4 bytes: its block in the shard; 32 or 64 bytes: its mask
 *     native, contains   4 bytes: its block in the shard
 *     go-zero            56 bytes: its 14 offsets
 *
 * All numbers are little-endian. The reply to a command is in the order of its keys, and `order`
 * maps that order to the caller's. Everything is in one block of memory, whose size is known before
 * any key is hashed: there are at most n / max_keys full commands, and at most one partial command
 * for each shard.
 */
#include "redis/bitmap/bitmap_batch.h"
#include "redis/bitmap/bitmap_commands.h"
#include "redis/bitmap/bitmap_scripts.h"
#include "redis/bitmap/shard_keys.h"

#include "base/little_endian.h"
#include "filter/filter.h"
#include "simd/block_probe.h"
#include "simd/masks.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BITMAP_BATCH_DEFAULT_KEYS = 512, /* keys in a command */
    BITMAP_BATCH_MAX_KEYS = 1 << 16, /* more would block other clients for too long */
    BITMAP_BATCH_HASH_GROUP = 64,    /* keys hashed at a time */
    BITMAP_BATCH_GOZERO_BYTES = 4 * BLY_BITMAP_HASHES,
};

size_t blyi_bitmap_batch_mask(const bly_geometry *g, uint64_t bits, uint8_t out[64]) {
    uint64_t mask[8];
    const unsigned words = g->kind == BLY_SBBF ? 4 : 8;
    if (g->kind == BLY_SBBF)
        blyi_sbbf_mask(bits, mask);
    else
        blyi_split_mask(bits, g->hashes, mask);
    for (unsigned i = 0; i < words; i++)
        blyi_store64le(out + 8 * i, mask[i]);
    return 8 * (size_t)words;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The state while a batch is built. */
typedef struct bitmap_batch_builder {
    const bly_bitmap *b;
    bly_bytes name;
    uint32_t *tags;         /* see blyi_bitmap_key_cached: one per shard; or NULL */
    size_t max_keys, entry; /* keys per command at most, bytes per key */
    bly_bitmap_batch *batch;
    uint64_t *block; /* block numbers, indexed like the caller's keys; unused for go-zero */
    size_t *starts;  /* for each shard, index of its first key in sorted order; at the end, the
                        number of keys */
    uint8_t *packed; /* the packed keys, in sorted order */
    char *names;     /* where to write the next key or identity of a shard */
} bitmap_batch_builder;

static size_t bitmap_batch_entry_bytes(const bly_bitmap *b, bly_bitmap_op what) {
    if (b->form == BLY_BITMAP_GOZERO)
        return BITMAP_BATCH_GOZERO_BYTES;
    return 4 + (what == BLY_BITMAP_ADD ? blyi_bitmap_block_bytes(b) : 0);
}

/* Allocates one block for everything, with words before bytes. With at most 2^48 keys no 64-bit sum
 * overflows.
 */
static bly_status bitmap_batch_allocate(bitmap_batch_builder *m, bly_bitmap_op what, uint64_t n) {
    const bly_bitmap *b = m->b;
    if (n > (uint64_t)1 << 48)
        return BLY_ENOMEM;
    const uint64_t shards = n < b->shards ? n : b->shards, commands = n / m->max_keys + shards;
    const uint64_t sizes[] = {
        sizeof(bly_bitmap_batch),
        commands * sizeof(blyi_batch_command),
        n * sizeof(uint64_t),
        n * sizeof(uint64_t),
        n * sizeof(size_t),
        (b->shards + (uint64_t)1) * sizeof(size_t),
        n * m->entry,
        shards * (m->name.size + BLYI_KEY_ROOM + BLYI_BITMAP_IDENTITY),
    };
    enum { PARTS = sizeof sizes / sizeof *sizes };
    uint64_t at[PARTS], total = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        at[i] = total;
        total += (sizes[i] + 15) / 16 * 16;
    }
    uint8_t *block = total > SIZE_MAX ? NULL : calloc(1, (size_t)total);
    if (!block)
        return BLY_ENOMEM;
    m->batch = (bly_bitmap_batch *)(void *)block;
    *m->batch = (bly_bitmap_batch){
        .form = b->form,
        .what = what,
        .geometry = b->geometry,
        .n = (size_t)n,
        .command = (blyi_batch_command *)(void *)(block + at[1]),
        .bits = (uint64_t *)(void *)(block + at[2]),
        .order = (size_t *)(void *)(block + at[4]),
    };
    m->block = (uint64_t *)(void *)(block + at[3]);
    m->starts = (size_t *)(void *)(block + at[5]);
    m->packed = block + at[6];
    m->names = (char *)(block + at[7]);
    return BLY_OK;
}

/* ---- from keys to shards --------------------------------------------------------------------- */

static void bitmap_batch_hash_native(bitmap_batch_builder *m, const bly_bytes *keys) {
    bly_hash h[BITMAP_BATCH_HASH_GROUP];
    const size_t n = m->batch->n;
    for (size_t done = 0; done < n; done += BITMAP_BATCH_HASH_GROUP) {
        const size_t some = n - done < BITMAP_BATCH_HASH_GROUP ? n - done : BITMAP_BATCH_HASH_GROUP;
        bly_hash_keys(&m->b->hasher, keys + done, some, h);
        for (size_t i = 0; i < some; i++) {
            const blyi_block_probe probe = blyi_block_probe_of(h[i], m->b->geometry.size, 0);
            m->block[done + i] = probe.at;
            m->batch->bits[done + i] = probe.bits;
        }
    }
}

/* Sets starts[s] to the first key of shard s in sorted order, and fills `order`. */
static void bitmap_batch_sort_by_shard(bitmap_batch_builder *m) {
    const uint64_t stride = blyi_bitmap_stride(m->b);
    const size_t n = m->batch->n;
    size_t *starts = m->starts, sum = 0;
    for (size_t i = 0; i < n; i++)
        starts[m->block[i] / stride]++;
    for (uint32_t s = 0; s <= m->b->shards; s++) {
        const size_t count = starts[s];
        starts[s] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        m->batch->order[starts[m->block[i] / stride]++] = i;
    for (uint32_t s = m->b->shards; s > 0; s--)
        starts[s] = starts[s - 1];
    starts[0] = 0;
}

static void bitmap_batch_pack_native(bitmap_batch_builder *m) {
    const uint64_t stride = blyi_bitmap_stride(m->b);
    const bool masks = m->batch->what == BLY_BITMAP_ADD;
    uint8_t *to = m->packed;
    for (size_t i = 0; i < m->batch->n; i++) {
        const size_t key = m->batch->order[i];
        blyi_store32le(to, (uint32_t)(m->block[key] % stride));
        if (masks)
            (void)blyi_bitmap_batch_mask(&m->b->geometry, m->batch->bits[key], to + 4);
        to += m->entry;
    }
}

static void bitmap_batch_pack_gozero(bitmap_batch_builder *m, const bly_bytes *keys) {
    uint64_t offsets[BLY_BITMAP_HASHES];
    uint8_t *to = m->packed;
    for (size_t i = 0; i < m->batch->n; i++) {
        m->batch->order[i] = i;
        bly_bitmap_gozero_offsets(m->b->geometry.size, keys[i].data, keys[i].size, offsets);
        for (unsigned j = 0; j < BLY_BITMAP_HASHES; j++, to += 4)
            blyi_store32le(to, (uint32_t)offsets[j]);
    }
    m->starts[1] = m->batch->n;
}

/* ---- from shards to commands ----------------------------------------------------------------- */

static const blyi_script *bitmap_batch_script(const bly_bitmap *b, bly_bitmap_op what) {
    const bool add = what == BLY_BITMAP_ADD;
    if (b->form == BLY_BITMAP_GOZERO)
        return &blyi_scripts[add ? BLYI_SCRIPT_GOZERO_ADD : BLYI_SCRIPT_GOZERO_CONTAINS];
    if (!add)
        return &blyi_scripts[BLYI_SCRIPT_BLOCKS];
    return &blyi_scripts[b->geometry.kind == BLY_SBBF ? BLYI_SCRIPT_ADD8 : BLYI_SCRIPT_ADD16];
}

/* Adds a command for `count` keys, from number `first` in sorted order on. */
static void bitmap_batch_add_command(bitmap_batch_builder *m, bly_bytes key, bly_bytes identity,
                                     size_t first, size_t count) {
    blyi_batch_command *c = &m->batch->command[m->batch->commands++];
    const blyi_script *script = bitmap_batch_script(m->b, m->batch->what);
    const bool blocks = script == &blyi_scripts[BLYI_SCRIPT_BLOCKS];
    size_t n = 0;
    c->first = first;
    c->count = count;
    c->args[n++] = blyi_arg("EVALSHA");
    c->args[n++] = blyi_arg(script->digest);
    c->args[n++] = blyi_arg("1");
    c->args[n++] = key;
    if (m->b->form == BLY_BITMAP_NATIVE)
        c->args[n++] = identity;
    c->args[n++] = (bly_bytes){m->packed + first * m->entry, count * m->entry};
    if (blocks)
        c->args[n++] = blyi_arg(blyi_bitmap_block_bytes(m->b) == 32 ? "32" : "64");
    if (m->b->form == BLY_BITMAP_GOZERO)
        c->args[n++] = identity;
    c->command = (bly_bitmap_command){
        .args = c->args,
        .count = n,
        .script = blyi_arg(script->text),
        .key = key,
        .writes = m->batch->what == BLY_BITMAP_ADD,
    };
}

static void bitmap_batch_add_shard(bitmap_batch_builder *m, uint32_t shard) {
    uint8_t head[BLY_BITMAP_HEAD];
    const size_t past = m->starts[shard + 1];
    const bly_bytes key = {
        m->names, blyi_bitmap_key_cached(m->b, m->name, shard, m->tags ? &m->tags[shard] : NULL,
                                         m->names, m->name.size + BLYI_KEY_ROOM)};
    m->names += key.size + 1;
    bly_bytes identity = {m->names, 0};
    if (m->b->form == BLY_BITMAP_NATIVE) {
        blyi_bitmap_head_encode(m->b, shard, false, head);
        memcpy(m->names, head, BLYI_BITMAP_IDENTITY);
        identity.size = BLYI_BITMAP_IDENTITY;
        m->names += BLYI_BITMAP_IDENTITY;
    } else {
        identity.size = (size_t)snprintf(m->names, BLYI_BITMAP_IDENTITY, "%llu",
                                         (unsigned long long)(m->b->geometry.size + 7) / 8);
        m->names += identity.size + 1;
    }
    for (size_t first = m->starts[shard]; first < past; first += m->max_keys)
        bitmap_batch_add_command(m, key, identity, first,
                                 past - first < m->max_keys ? past - first : m->max_keys);
}

/* ---- batches --------------------------------------------------------------------------------- */

bly_status blyi_bitmap_batch_open(const bly_bitmap *b, bly_bytes name, uint32_t *tags,
                                  bly_bitmap_op what, const bly_bytes *keys, size_t n,
                                  size_t max_keys, bly_bitmap_batch **out) {
    bitmap_batch_builder m = {
        .b = b, .name = name, .tags = tags, .entry = bitmap_batch_entry_bytes(b, what)};
    m.max_keys = max_keys == 0                      ? BITMAP_BATCH_DEFAULT_KEYS
                 : max_keys < BITMAP_BATCH_MAX_KEYS ? max_keys
                                                    : BITMAP_BATCH_MAX_KEYS;
    *out = NULL;
    if ((what != BLY_BITMAP_ADD && what != BLY_BITMAP_CONTAINS) || !blyi_key_name_fits(name))
        return BLY_EINVAL;
    if (b->hasher.id == BLY_HASH_NONE || blyi_hasher_is_empty(&b->hasher))
        return BLY_EKEY;
    bly_status status = bitmap_batch_allocate(&m, what, n);
    if (status != BLY_OK)
        return status;
    if (b->form == BLY_BITMAP_GOZERO) {
        bitmap_batch_pack_gozero(&m, keys);
    } else {
        bitmap_batch_hash_native(&m, keys);
        bitmap_batch_sort_by_shard(&m);
        bitmap_batch_pack_native(&m);
    }
    for (uint32_t shard = 0; shard < b->shards; shard++)
        if (m.starts[shard] < m.starts[shard + 1])
            bitmap_batch_add_shard(&m, shard);
    *out = m.batch;
    return BLY_OK;
}

bly_status bly_bitmap_batch_open(const bly_bitmap *b, bly_bytes name, bly_bitmap_op what,
                                 const bly_bytes *keys, size_t n, size_t max_keys,
                                 bly_bitmap_batch **out) {
    return blyi_bitmap_batch_open(b, name, NULL, what, keys, n, max_keys, out);
}

void bly_bitmap_batch_close(bly_bitmap_batch *batch) {
    free(batch);
}

size_t bly_bitmap_batch_count(const bly_bitmap_batch *batch) {
    return batch->commands;
}

const bly_bitmap_command *bly_bitmap_batch_command(const bly_bitmap_batch *batch, size_t i) {
    return &batch->command[i].command;
}
