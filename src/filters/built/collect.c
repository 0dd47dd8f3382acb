#include "collect.h"

#include "../../core/memory.h"
#include "spill.h"
#include <errno.h>
#include <string.h>

#define FILE_NAME "/bloomery-XXXXXX"

enum {
    LEAST_ROOM = 1 << 8, /* hashes in the first buffer */
    PART_LOG = 12,       /* a part of about 2^12 hashes is sorted within the second cache */
};

bly_status blyi_collect_begin(blyi_collect *c, const bly_allocator *a, uint64_t memory,
                              const char *folder) {
    *c = (blyi_collect){.alloc = *a, .memory = memory, .bits = BLYI_PART_BITS, .file = -1};
    size_t length = strlen(folder);
    c->path = a->alloc(a->ctx, length + sizeof FILE_NAME);
    if (!c->path)
        return BLY_ENOMEM;
    memcpy(c->path, folder, length);
    memcpy(c->path + length, FILE_NAME, sizeof FILE_NAME);
    return BLY_OK;
}

static uint64_t run_bytes(const blyi_run *r) {
    return r->fence[BLYI_PARTS] * sizeof(bly_hash);
}

/* Drops the runs that are newer than `last`. */
static void drop_runs(blyi_collect *c, const blyi_run *last) {
    int saved = errno; /* a caller's allocator may change it */
    while (c->runs != last) {
        blyi_run *r = c->runs;
        c->runs = r->next;
        if (r->hashes)
            c->kept -= run_bytes(r);
        blyi_free_array(&c->alloc, r->block);
        c->alloc.free(c->alloc.ctx, r);
    }
    errno = saved;
}

static void drop_buffer(blyi_collect *c) {
    blyi_free_array(&c->alloc, c->buffer_block);
    c->buffer_block = NULL;
    c->buffer = NULL;
    c->held = c->room = 0;
}

void blyi_collect_end(blyi_collect *c) {
    drop_buffer(c);
    drop_runs(c, NULL);
    if (c->path)
        c->alloc.free(c->alloc.ctx, c->path);
    if (c->file >= 0)
        blyi_spill_close(c->file);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static inline size_t part_of(bly_hash h, unsigned bits) {
    return (size_t)(h.lo >> 1 >> (63 - bits));
}

/* Copies what is held into a run, part by part. */
static void scatter(const blyi_collect *c, blyi_run *r) {
    uint32_t at[BLYI_PARTS + 1] = {0};
    for (uint32_t i = 0; i < c->held; i++)
        at[part_of(c->buffer[i], c->bits) + 1]++;
    for (size_t p = 0; p < BLYI_PARTS; p++)
        at[p + 1] += at[p];
    memcpy(r->fence, at, sizeof at);
    for (uint32_t i = 0; i < c->held; i++)
        r->hashes[at[part_of(c->buffer[i], c->bits)]++] = c->buffer[i];
}

static bly_status open_file(blyi_collect *c) {
    const char *name = FILE_NAME;
    if (c->file >= 0)
        return BLY_OK;
    memcpy(c->path + strlen(c->path) - strlen(name), name, strlen(name));
    return blyi_spill_open(c->path, &c->file);
}

/* Moves every run in memory to the file. */
static bly_status spill(blyi_collect *c) {
    bly_status status = open_file(c);
    for (blyi_run *r = c->runs; status == BLY_OK && r; r = r->next) {
        if (!r->hashes)
            continue;
        status = blyi_spill_write(c->file, c->filed, r->hashes, run_bytes(r));
        if (status)
            break;
        r->at = c->filed;
        c->filed += run_bytes(r);
        c->kept -= run_bytes(r);
        blyi_free_array(&c->alloc, r->block);
        r->hashes = NULL;
        r->block = NULL;
    }
    return status;
}

static bly_status make_run(blyi_collect *c) {
    const uint64_t bytes = c->held * sizeof(bly_hash);
    if (c->memory && c->kept && c->kept + bytes > c->memory) {
        bly_status status = spill(c);
        if (status)
            return status;
    }
    blyi_run *r = c->alloc.alloc(c->alloc.ctx, sizeof *r);
    if (!r)
        return BLY_ENOMEM;
    r->hashes = blyi_alloc_array(&c->alloc, bytes, &r->block);
    if (!r->hashes) {
        c->alloc.free(c->alloc.ctx, r);
        return BLY_ENOMEM;
    }
    scatter(c, r);
    c->kept += bytes;
    r->next = c->runs;
    c->runs = r;
    c->held = 0;
    return BLY_OK;
}

bly_status blyi_collect_close(blyi_collect *c) {
    bly_status status = BLY_OK;
    if (!c->runs) {
        c->bits = 0;
        while (c->bits < BLYI_PART_BITS && c->held >> (c->bits + 1) >= 1 << PART_LOG)
            c->bits++;
    }
    if (c->held > 0)
        status = make_run(c);
    drop_buffer(c);
    return status;
}

/* ---- add ------------------------------------------------------------------------------------- */

/* A buffer of at least twice the room, up to that of a run. */
static bly_status widen(blyi_collect *c, size_t want) {
    uint32_t room = c->room ? 2 * c->room : LEAST_ROOM;
    while (room < BLYI_RUN && room < want)
        room *= 2;
    void *block;
    bly_hash *buffer = blyi_alloc_array(&c->alloc, room * sizeof *buffer, &block);
    if (!buffer)
        return BLY_ENOMEM;
    if (c->held)
        memcpy(buffer, c->buffer, c->held * sizeof *buffer);
    blyi_free_array(&c->alloc, c->buffer_block);
    c->buffer = buffer;
    c->buffer_block = block;
    c->room = room;
    return BLY_OK;
}

/* Makes room for up to n hashes more; *some becomes for how many. */
static bly_status make_room(blyi_collect *c, size_t n, size_t *some) {
    bly_status status = BLY_OK;
    if (c->held == BLYI_RUN)
        status = make_run(c);
    if (status == BLY_OK && c->room < BLYI_RUN && n > c->room - c->held)
        status = widen(c, c->held + n);
    *some = n < c->room - c->held ? n : c->room - c->held;
    return status;
}

bly_status blyi_collect_add(blyi_collect *c, const bly_hasher *hasher, const bly_bytes *keys,
                            const bly_hash *h, size_t n) {
    bly_status status = BLY_OK;
    /* A run has hashes of this call alone or none of it, so that a failure can be undone. */
    if (c->held && n > BLYI_RUN - c->held)
        status = make_run(c);
    if (status)
        return status;
    const blyi_run *last = c->runs;
    uint32_t held = c->held;
    for (size_t done = 0, some; done < n; done += some) {
        status = make_room(c, n - done, &some);
        if (status) {
            drop_runs(c, last);
            c->held = held;
            return status;
        }
        if (keys)
            bly_hash_keys(hasher, keys + done, some, c->buffer + c->held);
        else
            memcpy(c->buffer + c->held, h + done, some * sizeof *h);
        c->held += (uint32_t)some;
    }
    c->count += n;
    return BLY_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

uint64_t blyi_part_length(const blyi_collect *c, uint64_t part) {
    uint64_t n = 0;
    for (const blyi_run *r = c->runs; r; r = r->next)
        n += r->fence[part + 1] - r->fence[part];
    return n;
}

/* How many of at most n hashes a run has of a part. */
static uint64_t share(const blyi_run *r, uint64_t part, uint64_t n) {
    uint64_t some = r->fence[part + 1] - r->fence[part];
    return some < n ? some : n;
}

bly_status blyi_part_get(const blyi_collect *c, uint64_t part, bly_hash *h, uint64_t n) {
    bly_status status = BLY_OK;
    for (const blyi_run *r = c->runs; status == BLY_OK && n > 0; r = r->next) {
        uint64_t some = share(r, part, n), from = r->fence[part];
        if (r->hashes)
            memcpy(h, r->hashes + from, (size_t)some * sizeof *h);
        else
            status = blyi_spill_read(c->file, r->at + from * sizeof *h, h, some * sizeof *h);
        h += some;
        n -= some;
    }
    return status;
}

bly_status blyi_part_put(const blyi_collect *c, uint64_t part, const bly_hash *h, uint64_t n) {
    bly_status status = BLY_OK;
    for (const blyi_run *r = c->runs; status == BLY_OK && n > 0; r = r->next) {
        uint64_t some = share(r, part, n), from = r->fence[part];
        if (r->hashes)
            memcpy(r->hashes + from, h, (size_t)some * sizeof *h);
        else
            status = blyi_spill_write(c->file, r->at + from * sizeof *h, h, some * sizeof *h);
        h += some;
        n -= some;
    }
    return status;
}
