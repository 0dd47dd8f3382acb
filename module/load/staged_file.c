/* staged_file.c - collects the chunks of a filter's file until the file is complete, then creates
 * the filter.
 *
 * The received bytes are stored in a list of blocks. A new block is as large as all bytes received
 * before it, or as the chunk to be stored if that is larger, but not larger than MAX_BLOCK, nor
 * than the rest of the file. So a file that is sent in very small chunks needs few blocks, and the
 * blocks never take more than twice the memory of the received bytes. When the file is complete,
 * the filter is created from the blocks: they are read once, in order, and each is freed after it
 * was read. So their memory becomes free while the filter is filled.
 */
#include "load/staged_file.h"

#include "runtime/keyring.h"
#include "types/type_methods.h"

#include <bloomery/host/chunks.h>
#include <string.h>

enum { MAX_BLOCK = 256 << 10 };

typedef struct chunk {
    uint8_t *data; /* NULL after the chunk was read */
    uint64_t at;
    size_t size, capacity;
} chunk;

struct bm_staged_file {
    bm_account *account; /* account of the future filter */
    bm_account own;      /* account of the chunks */
    bm_traits traits;
    uint64_t total, received;
    bool keyed, custom; /* hashed with a secret key; hashed with a custom function */
    uint64_t key_id;
    chunk *chunks;
    size_t n, capacity;
    size_t next; /* index of the first chunk that has not been read */
};

/* ---- chunks ---------------------------------------------------------------------------------- */

static bool reserve_chunk(bm_staged_file *s) {
    if (s->n < s->capacity)
        return true;
    bly_allocator a = bm_allocator(&s->own);
    size_t capacity = s->capacity ? 2 * s->capacity : 8;
    chunk *chunks = a.alloc(a.ctx, capacity * sizeof *chunks);
    if (!chunks)
        return false;
    if (s->n)
        memcpy(chunks, s->chunks, s->n * sizeof *chunks);
    a.free(a.ctx, s->chunks);
    s->chunks = chunks;
    s->capacity = capacity;
    return true;
}

/* Adds an empty block at the end, with room for all or some of the next `size` bytes. */
static bool add_block(bm_staged_file *s, size_t size) {
    uint64_t capacity = s->received > size ? s->received : size;
    if (capacity > s->total - s->received)
        capacity = s->total - s->received;
    if (capacity > MAX_BLOCK)
        capacity = MAX_BLOCK;
    if (!reserve_chunk(s))
        return false;
    bly_allocator a = bm_allocator(&s->own);
    uint8_t *data = a.alloc(a.ctx, (size_t)capacity);
    if (!data)
        return false;
    s->chunks[s->n++] = (chunk){.data = data, .at = s->received, .capacity = (size_t)capacity};
    return true;
}

/* Frees a chunk. Blocks that are not very large are freed immediately, so that memory is freed as
 * fast as the filter uses it. */
static void free_chunk(bm_staged_file *s, chunk *c) {
    bly_allocator a = bm_allocator(&s->own);
    if (c->size <= BM_BIG_BLOCK)
        bm_account_free_now(&s->own, c->data);
    else
        a.free(a.ctx, c->data);
    c->data = NULL;
}

/* Removes blocks and bytes at the end until s->n and s->received have the given values. */
static void undo(bm_staged_file *s, size_t n, uint64_t received) {
    while (s->n > n)
        free_chunk(s, &s->chunks[--s->n]);
    if (n && received < s->received)
        s->chunks[n - 1].size = (size_t)(received - s->chunks[n - 1].at);
    s->received = received;
}

/* Whether the memory limits allow `size` more bytes. They allowed the total when the load began,
 * but other filters may have been created since. */
static bool may_append(bm_staged_file *s, size_t size) {
    s->own.unlimited = s->account->unlimited;
    s->account->refusal = bm_memory_would_refuse(&s->own, size);
    return s->account->refusal == BM_REFUSED_NOT;
}

static bly_status no_memory(bm_staged_file *s) {
    s->account->refusal = s->own.refusal;
    return BLY_ENOMEM;
}

bly_status bm_staged_file_append(bm_staged_file *s, const void *data, size_t size) {
    if (size > s->total - s->received)
        return BLY_EINVAL;
    if (!may_append(s, size))
        return BLY_ENOMEM;
    size_t n = s->n;
    uint64_t received = s->received;
    for (size_t done = 0, part; done < size; done += part) {
        if ((s->n == 0 || s->chunks[s->n - 1].size == s->chunks[s->n - 1].capacity) &&
            !add_block(s, size - done)) {
            undo(s, n, received);
            return no_memory(s);
        }
        chunk *c = &s->chunks[s->n - 1];
        part = c->capacity - c->size < size - done ? c->capacity - c->size : size - done;
        memcpy(c->data + c->size, (const uint8_t *)data + done, part);
        c->size += part;
        s->received += part;
    }
    return BLY_OK;
}

bly_status bm_staged_file_adopt(bm_staged_file *s, void *block, size_t size) {
    bly_status status = size > s->total - s->received ? BLY_EINVAL : BLY_OK;
    if (status == BLY_OK && !may_append(s, rm.MallocSize(block)))
        status = BLY_ENOMEM;
    if (status == BLY_OK && !reserve_chunk(s))
        status = no_memory(s);
    if (status != BLY_OK || size == 0) {
        bm_release(block);
        return status;
    }
    bm_account_adopt(&s->own, block);
    s->chunks[s->n++] = (chunk){.data = block, .at = s->received, .size = size, .capacity = size};
    s->received += size;
    return BLY_OK;
}

/* ---- begin and finish ------------------------------------------------------------------------ */

static bly_status check_begin(bm_account *account, uint64_t total, const void *first, size_t size,
                              const bm_traits *traits, bly_file_info *info) {
    if (size < BLY_FILE_HEADER || size > total)
        return total < BLY_FILE_HEADER ? BLY_ECORRUPT : BLY_EINVAL;
    bly_status status = bly_file_parse_info(first, BLY_FILE_HEADER, info);
    if (status != BLY_OK)
        return status;
    if (info->body_bytes != total - BLY_FILE_HEADER)
        return BLY_ECORRUPT;
    if (!bm_traits_fit(traits, info->geometry.kind))
        return BLY_EMISMATCH;
    const bm_account file_account = {.unlimited = account->unlimited};
    account->refusal = bm_memory_would_refuse(&file_account, total);
    return account->refusal == BM_REFUSED_NOT ? BLY_OK : BLY_ENOMEM;
}

bly_status bm_staged_file_begin(bm_account *account, uint64_t total, const void *first, size_t size,
                                const bm_traits *traits, bm_staged_file **out) {
    bly_file_info info = {.struct_size = sizeof info};
    *out = NULL;
    bly_status status = check_begin(account, total, first, size, traits, &info);
    if (status != BLY_OK)
        return status;
    bm_staged_file *s = rm.TryAlloc(sizeof *s);
    if (!s) {
        account->refusal = BM_REFUSED_SYSTEM;
        return BLY_ENOMEM;
    }
    *s = (bm_staged_file){.account = account,
                          .own = {.staged = true},
                          .traits = *traits,
                          .total = total,
                          .keyed = info.keyed,
                          .custom = bly_hash_is_custom(info.hash),
                          .key_id = info.seed};
    bm_totals_staged(1);
    status = bm_staged_file_append(s, first, size);
    if (status == BLY_OK)
        *out = s;
    else
        bm_staged_file_free(s);
    return status;
}

void bm_staged_file_free(bm_staged_file *s) {
    if (!s)
        return;
    for (size_t i = s->next; i < s->n; i++)
        free_chunk(s, &s->chunks[i]);
    bm_account_free_now(&s->own, s->chunks);
    rm.Free(s);
    bm_totals_staged(-1);
}

/* Returns the index of the chunk that contains the byte at offset `at`. */
static size_t chunk_at(const bm_staged_file *s, uint64_t at) {
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

static bly_status source_peek(void *ctx, uint64_t at, void *to, size_t n) {
    const bm_staged_file *s = ctx;
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

static bly_status source_take(void *ctx, uint64_t at, void *to, size_t n) {
    bm_staged_file *s = ctx;
    bly_status status = source_peek(s, at, to, n);
    for (; s->next < s->n; s->next++) {
        chunk *c = &s->chunks[s->next];
        if (c->at + c->size > at + n)
            break;
        free_chunk(s, c);
    }
    return status;
}

static bly_status read_filter(bm_staged_file *s, bly_filter **out, bool *keyless) {
    const bly_hasher *hasher = s->keyed ? bm_keyring_find(s->key_id) : NULL;
    *keyless = (s->keyed || s->custom) && !hasher;
    const bly_allocator a = bm_allocator(s->account);
    const bly_open_options options = {
        .struct_size = sizeof options,
        .flags = *keyless ? BLY_OPEN_WITHOUT_KEY : 0,
        .hasher = hasher,
        .allocator = &a,
        .max_growth = UINT64_MAX, /* the account has the limits */
    };
    const bly_chunk_source source = {
        .size = s->total, .peek = source_peek, .read = source_take, .ctx = s};
    return bly_filter_read_chunks(&source, &options, out);
}

/* For a while both the filter and its chunks exist. So limits are checked at the end, when only the
 * filter is left. (It may exceed them although the file did not, because its structs need more
 * memory.) */
bly_status bm_staged_file_finish(bm_staged_file *s, bly_filter **out, bool *keyless) {
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
    bm_staged_file_free(s);
    if (status != BLY_OK || unlimited)
        return status;
    account->refusal = bm_memory_exceeded(account->bytes - before);
    if (account->refusal == BM_REFUSED_NOT)
        return BLY_OK;
    bly_filter_destroy(*out);
    *out = NULL;
    return BLY_ENOMEM;
}

/* ---- state, RDB, digest, copy ---------------------------------------------------------------- */

uint64_t bm_staged_file_total(const bm_staged_file *s) {
    return s->total;
}

uint64_t bm_staged_file_received(const bm_staged_file *s) {
    return s->received;
}

uint64_t bm_staged_file_bytes(const bm_staged_file *s) {
    return s->own.bytes + rm.MallocSize((void *)(uintptr_t)s);
}

const bm_traits *bm_staged_file_traits(const bm_staged_file *s) {
    return &s->traits;
}

void bm_staged_file_each(const bm_staged_file *s, bm_chunk_fn fn, void *ctx) {
    for (size_t i = s->next; i < s->n; i++)
        fn(ctx, s->chunks[i].at, s->chunks[i].data, s->chunks[i].size);
}

void bm_staged_file_digest(rm_digest *digest, const bm_staged_file *s) {
    uint8_t traits[BM_TRAITS_BYTES], piece[4096];
    bm_traits_encode(&s->traits, traits);
    rm.DigestAddStringBuffer(digest, (const char *)traits, sizeof traits);
    rm.DigestAddLongLong(digest, (long long)s->total);
    for (uint64_t at = 0, n; at < s->received; at += n) {
        n = s->received - at < sizeof piece ? s->received - at : sizeof piece;
        (void)source_peek((void *)(uintptr_t)s, at, piece, (size_t)n);
        rm.DigestAddStringBuffer(digest, (const char *)piece, (size_t)n);
    }
}

bly_status bm_staged_file_clone(const bm_staged_file *s, bm_account *account,
                                bm_staged_file **out) {
    const chunk *first = s->chunks;
    bly_status status =
        bm_staged_file_begin(account, s->total, first->data, first->size, &s->traits, out);
    for (size_t i = 1; status == BLY_OK && i < s->n; i++)
        status = bm_staged_file_append(*out, s->chunks[i].data, s->chunks[i].size);
    if (status != BLY_OK) {
        bm_staged_file_free(*out);
        *out = NULL;
    }
    return status;
}
