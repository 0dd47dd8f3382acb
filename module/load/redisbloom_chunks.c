/* redisbloom_chunks.c - collects the chunks of a filter in RedisBloom's layout.
 *
 * RedisBloom's chunks may arrive in any order, and repeatedly. So a staged load consists of the
 * whole structure, in which all data is 0 at first, and a list of the ranges of its data that have
 * been received. The ranges are in order and do not overlap, and there is a gap between any two.
 * The load is complete when there is one range that covers all data. There are at most MAX_RANGES
 * ranges; otherwise the list could need more memory than the data, and changing the list more time.
 *
 * The structure is in a value of its type from the beginning. At the end this becomes the value of
 * the key.
 */
#include "load/redisbloom_chunks.h"

#include "types/type_methods.h"

#include <bloomery/host/redisbloom.h>
#include <string.h>

enum { MAX_RANGES = 1 << 16 };

typedef struct range {
    uint64_t from, to;
} range;

struct bm_staged_chunks {
    bm_value *value;
    bm_account own; /* account of the list; untracked, because limits are for data */
    range *ranges;
    size_t n, capacity;
};

/* ---- begin, finish, free --------------------------------------------------------------------- */

/* Creates a staged load that owns `value`. If there is no memory, frees the value and returns
 * NULL. */
static bm_staged_chunks *staged_for(bm_value *value) {
    bm_staged_chunks *s = rm.TryAlloc(sizeof *s);
    if (!s) {
        bm_value_free(value);
        return NULL;
    }
    *s = (bm_staged_chunks){.value = value, .own = {.untracked = true}};
    bm_totals_uncount(value);
    bm_totals_staged(1);
    return s;
}

static void free_list(bm_staged_chunks *s) {
    bm_account_free_now(&s->own, s->ranges);
    s->ranges = NULL;
}

bm_value *bm_staged_chunks_finish(bm_staged_chunks *s) {
    bm_value *value = s->value;
    free_list(s);
    rm.Free(s);
    bm_totals_count(value);
    bm_totals_staged(-1);
    return value;
}

void bm_staged_chunks_free(bm_staged_chunks *s) {
    if (s)
        bm_value_free(bm_staged_chunks_finish(s));
}

static bly_status parse_header(bm_value *value, const void *header, size_t size) {
    const bly_allocator a = bm_allocator(&value->account);
    uint64_t available = bm_memory_available(&value->account);
    bly_status status = value->type == BM_RB_BLOOM
                            ? bly_rb_bloom_parse(header, size, available, &a, &value->as.bloom)
                            : bly_rb_cuckoo_parse(header, size, available, &a, &value->as.cuckoo);
    if (status == BLY_ENOMEM && value->account.refusal == BM_REFUSED_NOT)
        value->account.refusal = bm_memory_would_refuse(&value->account, available + 1);
    if (status == BLY_OK)
        bm_rb_lift_growth_limit(value);
    return status;
}

static bly_status begin(bm_account *account, bm_value_type type, const void *header, size_t size,
                        bm_staged_chunks **out) {
    *out = NULL;
    account->refusal = BM_REFUSED_SYSTEM;
    bm_value *value = bm_value_new(type);
    if (!value)
        return BLY_ENOMEM;
    value->account.unlimited = account->unlimited;
    bly_status status = parse_header(value, header, size);
    if (status != BLY_OK) {
        account->refusal = value->account.refusal;
        bm_value_free(value);
        return status;
    }
    *out = staged_for(value);
    return *out ? BLY_OK : BLY_ENOMEM;
}

bly_status bm_staged_chunks_begin_bloom(bm_account *account, const void *header, size_t size,
                                        bm_staged_chunks **out) {
    return begin(account, BM_RB_BLOOM, header, size, out);
}

bly_status bm_staged_chunks_begin_cuckoo(bm_account *account, const void *header, size_t size,
                                         bm_staged_chunks **out) {
    return begin(account, BM_RB_CUCKOO, header, size, out);
}

uint64_t bm_staged_chunks_bytes(const bm_staged_chunks *s) {
    return bm_value_bytes(s->value) + s->own.bytes + rm.MallocSize((void *)(uintptr_t)s);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static bool reserve_range(bm_staged_chunks *s) {
    if (s->n < s->capacity)
        return true;
    bly_allocator alloc = bm_allocator(&s->own);
    size_t capacity = s->capacity ? 2 * s->capacity : 8;
    range *ranges = alloc.alloc(alloc.ctx, capacity * sizeof *ranges);
    if (!ranges)
        return false;
    if (s->n)
        memcpy(ranges, s->ranges, s->n * sizeof *ranges);
    free_list(s);
    s->ranges = ranges;
    s->capacity = capacity;
    return true;
}

/* Returns the index of the first range that ends at `at` or later. */
static size_t first_ending_at(const bm_staged_chunks *s, uint64_t at) {
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->ranges[middle].to < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds a range and unites it with the ranges that it touches or overlaps. Memory must have been
 * reserved (reserve_range). */
static void add_range(bm_staged_chunks *s, range r) {
    size_t i = first_ending_at(s, r.from), j = i;
    for (; j < s->n && s->ranges[j].from <= r.to; j++) {
        r.from = s->ranges[j].from < r.from ? s->ranges[j].from : r.from;
        r.to = s->ranges[j].to > r.to ? s->ranges[j].to : r.to;
    }
    memmove(s->ranges + i + 1, s->ranges + j, (s->n - j) * sizeof r);
    s->ranges[i] = r;
    s->n = s->n - (j - i) + 1;
}

/* Whether adding the range would exceed MAX_RANGES. */
static bool is_too_many(const bm_staged_chunks *s, range r) {
    if (s->n < MAX_RANGES)
        return false;
    size_t i = first_ending_at(s, r.from);
    return i == s->n || s->ranges[i].from > r.to;
}

bly_status bm_staged_chunks_write(bm_staged_chunks *s, uint64_t offset, const void *data,
                                  size_t size) {
    if (size && is_too_many(s, (range){offset, offset + size}))
        return BLY_EFULL;
    if (!reserve_range(s))
        return BLY_ENOMEM;
    bly_status status = s->value->type == BM_RB_BLOOM
                            ? bly_rb_bloom_write(s->value->as.bloom, offset, data, size)
                            : bly_rb_cuckoo_write(s->value->as.cuckoo, offset, data, size);
    if (status == BLY_OK && size)
        add_range(s, (range){offset, offset + size});
    return status;
}

bool bm_staged_chunks_complete(const bm_staged_chunks *s) {
    return s->n == 1 && s->ranges[0].from == 0 && s->ranges[0].to == bm_rb_data_bytes(s->value);
}

/* ---- RDB, AOF, digest, copy ------------------------------------------------------------------ */

/* The structure is saved like a value of RedisBloom's type, with zeroes for missing bytes: so
 * loading it allocates no more than the stream contains. Then the ranges are saved. */
void bm_staged_chunks_save(rm_io *io, const bm_staged_chunks *s) {
    rm.SaveUnsigned(io, (uint64_t)s->value->type);
    bm_rb_save(io, s->value);
    rm.SaveUnsigned(io, s->n);
    for (size_t i = 0; i < s->n; i++) {
        rm.SaveUnsigned(io, s->ranges[i].from);
        rm.SaveUnsigned(io, s->ranges[i].to);
    }
}

static bool load_ranges(rm_io *io, bm_staged_chunks *s) {
    uint64_t n, after = 0, end = bm_rb_data_bytes(s->value);
    if (!bm_load_number(io, &n))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        range r;
        if (!bm_load_number(io, &r.from) || !bm_load_number(io, &r.to))
            return false;
        bool separate = i == 0 || r.from > after;
        if (!separate || r.from >= r.to || r.to > end || s->n == MAX_RANGES || !reserve_range(s))
            return false;
        s->ranges[s->n++] = r;
        after = r.to;
    }
    return true;
}

bm_staged_chunks *bm_staged_chunks_load(rm_io *io) {
    uint64_t type;
    if (!bm_load_number(io, &type) || (type != BM_RB_BLOOM && type != BM_RB_CUCKOO))
        return NULL;
    bm_value *value = bm_rb_load(io, (bm_value_type)type, BLY_RB_ENCODING);
    bm_staged_chunks *s = value ? staged_for(value) : NULL;
    if (s && !load_ranges(io, s)) {
        bm_staged_chunks_free(s);
        return NULL;
    }
    return s;
}

void bm_staged_chunks_emit(rm_io *io, rm_string *key, const bm_staged_chunks *s) {
    bm_rb_emit_header(io, key, s->value);
    for (size_t i = 0; i < s->n; i++)
        bm_rb_emit(io, key, s->value, s->ranges[i].from, s->ranges[i].to);
}

void bm_staged_chunks_digest(rm_digest *digest, const bm_staged_chunks *s) {
    bm_rb_digest(digest, s->value);
    for (size_t i = 0; i < s->n; i++) {
        rm.DigestAddLongLong(digest, (long long)s->ranges[i].from);
        rm.DigestAddLongLong(digest, (long long)s->ranges[i].to);
    }
}

bm_staged_chunks *bm_staged_chunks_clone(const bm_staged_chunks *s, bool unlimited) {
    bm_value *value = bm_rb_clone(s->value, unlimited);
    bm_staged_chunks *copy = value ? staged_for(value) : NULL;
    for (size_t i = 0; copy && i < s->n; i++) {
        if (!reserve_range(copy)) {
            bm_staged_chunks_free(copy);
            return NULL;
        }
        copy->ranges[copy->n++] = s->ranges[i];
    }
    return copy;
}
