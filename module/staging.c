/* A container on its way.
 *
 * What has come is a row of chunks, each a block of memory. A new block is as large as what has
 * come before, within bounds, so that a container sent in crumbs does not become a crowd of them,
 * and never more than twice the bytes that came are held. When all are there they are read once,
 * from the first to the last, and each block is freed when it has been read: while the filter's
 * pages fill, the chunks go.
 */
#include "staging.h"

#include "keyring.h"
#include "types.h"

#include <string.h>

enum { LARGEST_BLOCK = 256 << 10 };

typedef struct chunk {
    uint8_t *data; /* NULL once it has been read */
    uint64_t at;
    size_t size, room;
} chunk;

struct bm_staging {
    bm_account *account; /* where the filter will be */
    bm_account own;      /* of all this */
    bm_traits traits;
    uint64_t total, received;
    bool keyed, custom; /* hashed with a secret key, with its maker's own function */
    uint64_t key_id;
    chunk *chunks;
    size_t n, room;
    size_t next; /* the first chunk that has not been read */
};

/* ---- chunks ---------------------------------------------------------------------------------- */

static bool make_room(bm_staging *s) {
    if (s->n < s->room)
        return true;
    bly_allocator a = bm_allocator(&s->own);
    size_t room = s->room ? 2 * s->room : 8;
    chunk *chunks = a.alloc(a.ctx, room * sizeof *chunks);
    if (!chunks)
        return false;
    if (s->n)
        memcpy(chunks, s->chunks, s->n * sizeof *chunks);
    a.free(a.ctx, s->chunks);
    s->chunks = chunks;
    s->room = room;
    return true;
}

/* Another block at the end, for the `size` bytes that come next or some of them. */
static bool add_block(bm_staging *s, size_t size) {
    uint64_t room = s->received > size ? s->received : size;
    if (room > s->total - s->received)
        room = s->total - s->received;
    if (room > LARGEST_BLOCK)
        room = LARGEST_BLOCK;
    if (!make_room(s))
        return false;
    bly_allocator a = bm_allocator(&s->own);
    uint8_t *data = a.alloc(a.ctx, (size_t)room);
    if (!data)
        return false;
    s->chunks[s->n++] = (chunk){.data = data, .at = s->received, .room = (size_t)room};
    return true;
}

/* At once, so that memory really goes as fast as the filter takes it; but for a monster. */
static void free_chunk(bm_staging *s, chunk *c) {
    bly_allocator a = bm_allocator(&s->own);
    if (c->size <= BM_BIG_BLOCK)
        bm_account_free_now(&s->own, c->data);
    else
        a.free(a.ctx, c->data);
    c->data = NULL;
}

/* Takes back blocks, and bytes, until `n` and `received` are as given. */
static void undo(bm_staging *s, size_t n, uint64_t received) {
    while (s->n > n)
        free_chunk(s, &s->chunks[--s->n]);
    if (n && received < s->received)
        s->chunks[n - 1].size = (size_t)(received - s->chunks[n - 1].at);
    s->received = received;
}

/* Whether there may be so many bytes more: their number was announced and allowed, but other
 * filters may have come meanwhile. */
static bool may_take(bm_staging *s, size_t size) {
    s->own.unlimited = s->account->unlimited;
    s->account->refusal = bm_memory_would_refuse(&s->own, size);
    return s->account->refusal == BM_REFUSED_NOT;
}

static bly_status no_memory(bm_staging *s) {
    s->account->refusal = s->own.refusal;
    return BLY_ENOMEM;
}

bly_status bm_staging_append(bm_staging *s, const void *data, size_t size) {
    if (size > s->total - s->received)
        return BLY_EINVAL;
    if (!may_take(s, size))
        return BLY_ENOMEM;
    size_t n = s->n;
    uint64_t received = s->received;
    for (size_t done = 0, part; done < size; done += part) {
        if ((s->n == 0 || s->chunks[s->n - 1].size == s->chunks[s->n - 1].room) &&
            !add_block(s, size - done)) {
            undo(s, n, received);
            return no_memory(s);
        }
        chunk *c = &s->chunks[s->n - 1];
        part = c->room - c->size < size - done ? c->room - c->size : size - done;
        memcpy(c->data + c->size, (const uint8_t *)data + done, part);
        c->size += part;
        s->received += part;
    }
    return BLY_OK;
}

bly_status bm_staging_adopt(bm_staging *s, void *block, size_t size) {
    bly_status status = size > s->total - s->received ? BLY_EINVAL : BLY_OK;
    if (status == BLY_OK && !may_take(s, rm.MallocSize(block)))
        status = BLY_ENOMEM;
    if (status == BLY_OK && !make_room(s))
        status = no_memory(s);
    if (status != BLY_OK || size == 0) {
        bm_release(block);
        return status;
    }
    bm_account_adopt(&s->own, block);
    s->chunks[s->n++] = (chunk){.data = block, .at = s->received, .size = size, .room = size};
    s->received += size;
    return BLY_OK;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static bly_status check_begin(bm_account *account, uint64_t total, const void *first, size_t size,
                              const bm_traits *traits, bly_file_info *info) {
    if (size < BLY_FILE_HEADER || size > total)
        return total < BLY_FILE_HEADER ? BLY_ECORRUPT : BLY_EINVAL;
    bly_status status = bly_file_info_parse(first, BLY_FILE_HEADER, info);
    if (status != BLY_OK)
        return status;
    if (info->body_bytes != total - BLY_FILE_HEADER)
        return BLY_ECORRUPT;
    if (!bm_traits_fit(traits, info->geometry.kind))
        return BLY_EMISMATCH;
    const bm_account alone = {.unlimited = account->unlimited};
    account->refusal = bm_memory_would_refuse(&alone, total);
    return account->refusal == BM_REFUSED_NOT ? BLY_OK : BLY_ENOMEM;
}

bly_status bm_staging_begin(bm_account *account, uint64_t total, const void *first, size_t size,
                            const bm_traits *traits, bm_staging **out) {
    bly_file_info info;
    *out = NULL;
    bly_status status = check_begin(account, total, first, size, traits, &info);
    if (status != BLY_OK)
        return status;
    bm_staging *s = rm.TryAlloc(sizeof *s);
    if (!s) {
        account->refusal = BM_REFUSED_SYSTEM;
        return BLY_ENOMEM;
    }
    *s = (bm_staging){.account = account,
                      .own = {.arriving = true},
                      .traits = *traits,
                      .total = total,
                      .keyed = info.keyed,
                      .custom = info.hash == BLY_HASH_CUSTOM,
                      .key_id = info.seed};
    bm_census_arriving(1);
    status = bm_staging_append(s, first, size);
    if (status == BLY_OK)
        *out = s;
    else
        bm_staging_free(s);
    return status;
}

void bm_staging_free(bm_staging *s) {
    if (!s)
        return;
    for (size_t i = s->next; i < s->n; i++)
        free_chunk(s, &s->chunks[i]);
    bm_account_free_now(&s->own, s->chunks);
    rm.Free(s);
    bm_census_arriving(-1);
}

/* The chunk that has the byte at `at`. */
static size_t chunk_at(const bm_staging *s, uint64_t at) {
    size_t low = s->next, high = s->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->chunks[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bly_status peek(void *ctx, uint64_t at, void *to, size_t n) {
    const bm_staging *s = ctx;
    uint8_t *bytes = to;
    for (size_t i = chunk_at(s, at); n; i++) {
        const chunk *c = &s->chunks[i];
        size_t in = (size_t)(at - c->at);
        size_t part = c->size - in < n ? c->size - in : n;
        memcpy(bytes, c->data + in, part);
        bytes += part;
        at += part;
        n -= part;
    }
    return BLY_OK;
}

static bly_status take(void *ctx, uint64_t at, void *to, size_t n) {
    bm_staging *s = ctx;
    bly_status status = peek(s, at, to, n);
    for (; s->next < s->n; s->next++) {
        chunk *c = &s->chunks[s->next];
        if (c->at + c->size > at + n)
            break;
        free_chunk(s, c);
    }
    return status;
}

static bly_status read_filter(bm_staging *s, bly_filter **out, bool *keyless) {
    const bly_hasher *hasher = s->keyed ? bm_keyring_find(s->key_id) : NULL;
    *keyless = (s->keyed || s->custom) && !hasher;
    const bly_allocator a = bm_allocator(s->account);
    const bly_open_options options = {
        .flags = *keyless ? BLY_OPEN_WITHOUT_KEY : 0,
        .hasher = hasher,
        .allocator = &a,
        .max_growth = UINT64_MAX, /* the account has limits, and knows whom they are for */
    };
    const bly_source source = {.size = s->total, .peek = peek, .take = take, .ctx = s};
    return bly_filter_read(&source, &options, out);
}

/* For a while there are the filter and what it is read from, so limits are held against what is
 * left in the end: the filter has handles that its file has not. */
bly_status bm_staging_finish(bm_staging *s, bly_filter **out, bool *keyless) {
    bm_account *account = s->account;
    bool unlimited = account->unlimited;
    uint64_t before = account->bytes;
    bly_status status = BLY_EINVAL;
    *out = NULL;
    *keyless = false;
    account->unlimited = true;
    if (s->received == s->total)
        status = read_filter(s, out, keyless);
    account->unlimited = unlimited;
    bm_staging_free(s);
    if (status != BLY_OK || unlimited)
        return status;
    account->refusal = bm_memory_has_passed(account->bytes - before);
    if (account->refusal == BM_REFUSED_NOT)
        return BLY_OK;
    bly_filter_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}

/* ---- looking --------------------------------------------------------------------------------- */

uint64_t bm_staging_total(const bm_staging *s) {
    return s->total;
}

uint64_t bm_staging_received(const bm_staging *s) {
    return s->received;
}

uint64_t bm_staging_bytes(const bm_staging *s) {
    return s->own.bytes + rm.MallocSize((void *)(uintptr_t)s);
}

const bm_traits *bm_staging_traits(const bm_staging *s) {
    return &s->traits;
}

void bm_staging_walk(const bm_staging *s, bm_chunk_fn fn, void *ctx) {
    for (size_t i = s->next; i < s->n; i++)
        fn(ctx, s->chunks[i].at, s->chunks[i].data, s->chunks[i].size);
}

void bm_staging_digest(rm_digest *digest, const bm_staging *s) {
    uint8_t traits[BM_TRAITS_BYTES], piece[4096];
    bm_traits_encode(&s->traits, traits);
    rm.DigestAddStringBuffer(digest, (const char *)traits, sizeof traits);
    rm.DigestAddLongLong(digest, (long long)s->total);
    for (uint64_t at = 0, n; at < s->received; at += n) {
        n = s->received - at < sizeof piece ? s->received - at : sizeof piece;
        (void)peek((void *)(uintptr_t)s, at, piece, (size_t)n);
        rm.DigestAddStringBuffer(digest, (const char *)piece, (size_t)n);
    }
}

bly_status bm_staging_clone(const bm_staging *s, bm_account *account, bm_staging **out) {
    const chunk *first = s->chunks;
    bly_status status =
        bm_staging_begin(account, s->total, first->data, first->size, &s->traits, out);
    for (size_t i = 1; status == BLY_OK && i < s->n; i++)
        status = bm_staging_append(*out, s->chunks[i].data, s->chunks[i].size);
    if (status != BLY_OK) {
        bm_staging_free(*out);
        *out = NULL;
    }
    return status;
}
