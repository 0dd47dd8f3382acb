#include "kinds/builder/collect.h"

#include "base/memory.h"
#include "base/temp_file.h"
#include "hash/mix.h"
#include <errno.h>
#include <string.h>

#define FILE_NAME "/bloomery-XXXXXX"

enum {
    MIN_ROOM = 1 << 8, /* hashes in the first buffer */
    GROUP = 1 << 8,    /* keys hashed at a time */
    PART_LOG = 12,     /* a part of about 2^12 hashes is sorted within the second cache */
    STAGE = 1 << 15,   /* words on their way to the file */
};

bly_status blyi_collect_begin(blyi_collect *c, const bly_allocator *a, uint64_t memory,
                              const char *folder) {
    *c = (blyi_collect){
        .alloc = *a, .memory = memory, .bits = BLYI_PART_BITS, .stride = 1, .file = -1};
    size_t length = strlen(folder);
    c->path = a->alloc(a->ctx, length + sizeof FILE_NAME);
    if (!c->path)
        return BLY_ENOMEM;
    memcpy(c->path, folder, length);
    memcpy(c->path + length, FILE_NAME, sizeof FILE_NAME);
    return BLY_OK;
}

static uint64_t run_bytes(const blyi_collect *c, const blyi_run *r) {
    return r->fence[BLYI_PARTS] * c->stride * sizeof *r->words;
}

static void free_run(blyi_collect *c, blyi_run *r) {
    blyi_free_array(&c->alloc, r->block);
    c->alloc.free(c->alloc.ctx, r);
}

/* Drops the runs that are newer than `last`. */
static void drop_runs(blyi_collect *c, const blyi_run *last) {
    int saved = errno; /* a caller's allocator may change it */
    while (c->runs != last) {
        blyi_run *r = c->runs;
        c->runs = r->next;
        if (r->words)
            c->kept -= run_bytes(c, r);
        free_run(c, r);
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
        blyi_temp_file_close(c->file);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static inline size_t part_of(uint64_t lo, unsigned bits) {
    return (size_t)(lo >> 1 >> (63 - bits));
}

/* Copies what is held into a run, part by part. */
static void scatter(const blyi_collect *c, blyi_run *r) {
    const size_t held = c->held, stride = c->stride;
    const unsigned bits = c->bits;
    const uint64_t *from = c->buffer;
    uint32_t at[BLYI_PARTS + 1] = {0};
    for (size_t i = 0; i < held; i++)
        at[part_of(from[i * stride], bits) + 1]++;
    for (size_t p = 0; p < BLYI_PARTS; p++)
        at[p + 1] += at[p];
    for (size_t p = 0; p <= BLYI_PARTS; p++)
        r->fence[p] = at[p];
    if (stride == 1) {
        for (size_t i = 0; i < held; i++)
            r->words[at[part_of(from[i], bits)]++] = from[i];
        return;
    }
    for (size_t i = 0; i < held; i++)
        memcpy(r->words + 2 * (size_t)at[part_of(from[2 * i], bits)]++, from + 2 * i,
               sizeof(bly_hash));
}

static bly_status open_file(blyi_collect *c) {
    const char *name = FILE_NAME;
    if (c->file >= 0)
        return BLY_OK;
    memcpy(c->path + strlen(c->path) - strlen(name), name, strlen(name));
    return blyi_temp_file_open(c->path, &c->file);
}

/* Writes the runs from *first to before `end` to the file, part by part. `stage` holds what is not
 * yet written. */
static bly_status write_runs(blyi_collect *c, const blyi_run *first, const blyi_run *end,
                             uint64_t *stage) {
    uint64_t at = c->filed;
    size_t staged = 0;
    bly_status status = BLY_OK;
    for (size_t p = 0; p < BLYI_PARTS; p++)
        for (const blyi_run *r = first; r != end; r = r->next) {
            const uint64_t *from = r->words + r->fence[p] * c->stride;
            size_t left = (size_t)(r->fence[p + 1] - r->fence[p]) * c->stride;
            while (left > 0 && status == BLY_OK) {
                size_t some = left < STAGE - staged ? left : STAGE - staged;
                memcpy(stage + staged, from, some * sizeof *stage);
                from += some;
                left -= some;
                staged += some;
                if (staged < STAGE)
                    continue;
                status = blyi_temp_file_write(c->file, at, stage, sizeof *stage * STAGE);
                at += sizeof *stage * STAGE;
                staged = 0;
            }
        }
    return status ? status : blyi_temp_file_write(c->file, at, stage, staged * sizeof *stage);
}

/* Makes one run in the file of those from *first to before `end`, which are in memory, and puts it
 * in their place. */
static bly_status merge(blyi_collect *c, blyi_run **first, const blyi_run *end, uint64_t *stage) {
    if (*first == end)
        return BLY_OK;
    blyi_run *all = c->alloc.alloc(c->alloc.ctx, sizeof *all);
    if (!all)
        return BLY_ENOMEM;
    *all = (blyi_run){.at = c->filed};
    for (const blyi_run *r = *first; r != end; r = r->next)
        for (size_t p = 0; p <= BLYI_PARTS; p++)
            all->fence[p] += r->fence[p];
    bly_status status = write_runs(c, *first, end, stage);
    if (status) {
        free_run(c, all);
        return status;
    }
    c->filed += run_bytes(c, all);
    c->kept -= run_bytes(c, all);
    blyi_run *r = *first;
    *first = all;
    while (r != end) {
        blyi_run *next = r->next;
        free_run(c, r);
        r = next;
    }
    all->next = r;
    return BLY_OK;
}

/* Moves every run in memory to the file. Those that were there before the present call stay apart
 * from the others, so that it can be undone. */
static bly_status spill(blyi_collect *c) {
    bly_status status = open_file(c);
    void *block = NULL;
    if (status)
        return status;
    uint64_t *stage = blyi_alloc_array(&c->alloc, STAGE * sizeof *stage, &block);
    if (!stage)
        return BLY_ENOMEM;
    blyi_run **old = &c->runs, *filed = c->mark;
    while (*old != c->mark)
        old = &(*old)->next;
    while (filed && filed->words)
        filed = filed->next;
    status = merge(c, old, filed, stage);
    if (status == BLY_OK) {
        c->mark = *old;
        status = merge(c, &c->runs, c->mark, stage);
    }
    int saved = errno;
    blyi_free_array(&c->alloc, block);
    errno = saved;
    return status;
}

static bly_status make_run(blyi_collect *c) {
    const uint64_t bytes = (uint64_t)c->held * c->stride * sizeof *c->buffer;
    if (c->memory && c->kept && c->kept + bytes > c->memory) {
        bly_status status = spill(c);
        if (status)
            return status;
    }
    blyi_run *r = c->alloc.alloc(c->alloc.ctx, sizeof *r);
    if (!r)
        return BLY_ENOMEM;
    r->words = blyi_alloc_small_pages(&c->alloc, bytes, &r->block);
    if (!r->words) {
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
    c->mark = c->runs;
    if (c->held > 0)
        status = make_run(c);
    drop_buffer(c);
    return status;
}

/* ---- add ------------------------------------------------------------------------------------- */

/* A buffer of at least twice the room, up to that of a run. */
static bly_status widen(blyi_collect *c, size_t want) {
    uint32_t room = c->room ? 2 * c->room : MIN_ROOM;
    while (room < BLYI_RUN && room < want)
        room *= 2;
    void *block;
    const size_t each = c->stride * sizeof *c->buffer;
    uint64_t *buffer = blyi_alloc_small_pages(&c->alloc, room * each, &block);
    if (!buffer)
        return BLY_ENOMEM;
    if (c->held)
        memcpy(buffer, c->buffer, c->held * each);
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

/* Appends n hashes, for which there is room. */
static void append(blyi_collect *c, const bly_hash *h, size_t n) {
    uint64_t *to = c->buffer + (size_t)c->held * c->stride;
    if (c->stride == 2)
        memcpy(to, h, n * sizeof *h);
    else
        for (size_t i = 0; i < n; i++)
            to[i] = h[i].lo;
    c->held += (uint32_t)n;
}

static void append_keys(blyi_collect *c, const bly_hasher *hasher, const bly_bytes *keys,
                        size_t n) {
    bly_hash h[GROUP];
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < GROUP ? n - done : GROUP;
        bly_hash_keys(hasher, keys + done, some, h);
        append(c, h, some);
    }
}

static bly_status add(blyi_collect *c, const bly_hasher *hasher, const bly_bytes *keys,
                      const bly_hash *h, size_t n) {
    bly_status status = BLY_OK;
    c->mark = c->runs;
    /* A run has hashes of this call alone or none of it, so that a failure can be undone. */
    if (c->held && n > BLYI_RUN - c->held)
        status = make_run(c);
    if (status)
        return status;
    c->mark = c->runs;
    uint32_t held = c->held;
    for (size_t done = 0, some; done < n; done += some) {
        status = make_room(c, n - done, &some);
        if (status) {
            drop_runs(c, c->mark);
            c->held = held;
            return status;
        }
        if (keys)
            append_keys(c, hasher, keys + done, some);
        else
            append(c, h + done, some);
    }
    return BLY_OK;
}

/* ---- one word or two ------------------------------------------------------------------------- */

/* Whether both words of every hash follow from the first. */
static bool all_derived(const bly_hash *h, size_t n) {
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i++)
        differ |= blyi_hash_from_strong64(h[i].lo).hi ^ h[i].hi;
    return differ == 0;
}

/* Collects again what `old` has, in a collector that keeps whole hashes. */
static bly_status add_again(blyi_collect *c, const blyi_collect *old) {
    void *block = NULL;
    uint64_t length[BLYI_PARTS] = {0}, most = 1;
    blyi_part_lengths(old, length);
    for (size_t p = 0; p < BLYI_PARTS; p++)
        most = length[p] > most ? length[p] : most;
    bly_hash *h = blyi_alloc_array(&c->alloc, most * sizeof *h, &block);
    bly_status status = h ? BLY_OK : BLY_ENOMEM;
    for (size_t p = 0; status == BLY_OK && p < BLYI_PARTS; p++) {
        status = blyi_part_get(old, p, h, length[p]);
        if (status == BLY_OK)
            status = add(c, NULL, NULL, h, (size_t)length[p]);
    }
    for (size_t i = 0; status == BLY_OK && i < old->held; i++) {
        bly_hash one = blyi_hash_from_strong64(old->buffer[i]);
        status = add(c, NULL, NULL, &one, 1);
    }
    int saved = errno;
    blyi_free_array(&c->alloc, block);
    errno = saved;
    return status;
}

/* From now on hashes are kept whole. What there is comes to lie behind the old in the file, if it
 * is there. */
static bly_status keep_whole(blyi_collect *c) {
    blyi_collect old = *c;
    const uint64_t before = c->kept;
    c->stride = 2;
    if (c->count == 0) {
        drop_buffer(c);
        return BLY_OK;
    }
    c->runs = c->mark = NULL;
    c->buffer = NULL;
    c->buffer_block = NULL;
    c->held = c->room = 0;
    bly_status status = add_again(c, &old);
    int saved = errno;
    blyi_collect *gone = status ? c : &old;
    if (status) {
        old.file = c->file;
        old.filed = c->filed;
    }
    drop_buffer(gone);
    drop_runs(gone, NULL);
    if (status)
        *c = old;
    else
        c->kept -= before;
    errno = saved;
    return status;
}

bly_status blyi_collect_add(blyi_collect *c, const bly_hasher *hasher, const bly_bytes *keys,
                            const bly_hash *h, size_t n) {
    bly_status status = BLY_OK;
    bool derived = keys ? hasher->id == BLY_HASH_XXH3 : c->stride == 1 && all_derived(h, n);
    if (c->stride == 1 && !derived)
        status = keep_whole(c);
    if (status == BLY_OK)
        status = add(c, hasher, keys, h, n);
    if (status == BLY_OK)
        c->count += n;
    return status;
}

/* ---- parts ----------------------------------------------------------------------------------- */

void blyi_part_lengths(const blyi_collect *c, uint64_t *length) {
    for (const blyi_run *r = c->runs; r; r = r->next)
        for (size_t p = 0; p < (size_t)1 << c->bits; p++)
            length[p] += r->fence[p + 1] - r->fence[p];
}

/* How many of at most n hashes a run has of a part. */
static uint64_t share(const blyi_run *r, uint64_t part, uint64_t n) {
    uint64_t some = r->fence[part + 1] - r->fence[part];
    return some < n ? some : n;
}

static bly_status get(const blyi_collect *c, const blyi_run *r, uint64_t from, bly_hash *h,
                      size_t n) {
    const size_t bytes = n * c->stride * sizeof *r->words;
    if (c->stride == 2 && !r->words)
        return blyi_temp_file_read(c->file, r->at + from * sizeof *h, h, bytes);
    if (c->stride == 2) {
        memcpy(h, r->words + 2 * from, bytes);
        return BLY_OK;
    }
    /* What is behind the middle of h is read before it is written over. */
    const uint64_t *words = r->words ? r->words + from : (uint64_t *)(void *)h + n;
    if (!r->words) {
        bly_status status = blyi_temp_file_read(c->file, r->at + from * sizeof *words,
                                                (uint64_t *)(void *)h + n, bytes);
        if (status)
            return status;
    }
    for (size_t i = 0; i < n; i++)
        h[i] = blyi_hash_from_strong64(words[i]);
    return BLY_OK;
}

static bly_status put(const blyi_collect *c, const blyi_run *r, uint64_t from, const bly_hash *h,
                      size_t n) {
    uint64_t words[GROUP], at = r->at + from * c->stride * sizeof *words;
    bly_status status = BLY_OK;
    if (c->stride == 2 && !r->words)
        return blyi_temp_file_write(c->file, at, h, n * sizeof *h);
    if (c->stride == 2)
        memcpy(r->words + 2 * from, h, n * sizeof *h);
    else if (r->words)
        for (size_t i = 0; i < n; i++)
            r->words[from + i] = h[i].lo;
    else
        for (size_t done = 0, some; status == BLY_OK && done < n; done += some) {
            some = n - done < GROUP ? n - done : GROUP;
            for (size_t i = 0; i < some; i++)
                words[i] = h[done + i].lo;
            status = blyi_temp_file_write(c->file, at + done * sizeof *words, words,
                                          some * sizeof *words);
        }
    return status;
}

bly_status blyi_part_get(const blyi_collect *c, uint64_t part, bly_hash *h, uint64_t n) {
    bly_status status = BLY_OK;
    for (const blyi_run *r = c->runs; status == BLY_OK && n > 0; r = r->next) {
        uint64_t some = share(r, part, n);
        status = get(c, r, r->fence[part], h, (size_t)some);
        h += some;
        n -= some;
    }
    return status;
}

bly_status blyi_part_put(const blyi_collect *c, uint64_t part, const bly_hash *h, uint64_t n) {
    bly_status status = BLY_OK;
    for (const blyi_run *r = c->runs; status == BLY_OK && n > 0; r = r->next) {
        uint64_t some = share(r, part, n);
        status = put(c, r, r->fence[part], h, (size_t)some);
        h += some;
        n -= some;
    }
    return status;
}
