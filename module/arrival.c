/* RedisBloom's chunks may come in any order, and a chunk may come twice. So an arrival is the whole
 * structure, empty at first, and a list of the stretches of its data that have come: in order,
 * without overlaps, and with a gap between any two. It is complete when there is one stretch, which
 * is all. There are at most MOST of them, or a list of gaps would take more memory, and putting
 * into it more time, than what arrives.
 *
 * The structure lies in a value of its own from the beginning, which the key gets in the end.
 */
#include "arrival.h"

#include "types.h"

#include <string.h>

enum { MOST = 1 << 16 };

typedef struct stretch {
    uint64_t from, to;
} stretch;

struct bm_arrival {
    bm_value *value;
    bm_account own; /* of the list; apart: limits are for what comes, not for its order */
    stretch *there;
    size_t n, room;
};

/* ---- life ------------------------------------------------------------------------------------ */

/* Around a value, which is freed when that fails. */
static bm_arrival *arrival_of(bm_value *value) {
    bm_arrival *a = rm.TryAlloc(sizeof *a);
    if (!a) {
        bm_value_free(value);
        return NULL;
    }
    *a = (bm_arrival){.value = value, .own = {.apart = true}};
    bm_census_leave_out(value);
    bm_census_arriving(1);
    return a;
}

static void free_list(bm_arrival *a) {
    bm_account_free_now(&a->own, a->there);
    a->there = NULL;
}

bm_value *bm_arrival_finish(bm_arrival *a) {
    bm_value *value = a->value;
    free_list(a);
    rm.Free(a);
    bm_census_take_in(value);
    bm_census_arriving(-1);
    return value;
}

void bm_arrival_free(bm_arrival *a) {
    if (a)
        bm_value_free(bm_arrival_finish(a));
}

static bly_status parse(bm_value *value, const void *header, size_t size) {
    const bly_allocator a = bm_allocator(&value->account);
    uint64_t room = bm_memory_room(&value->account);
    bly_status status = value->what == BM_RB_BLOOM
                            ? bly_rb_bloom_parse(header, size, room, &a, &value->as.bloom)
                            : bly_rb_cuckoo_parse(header, size, room, &a, &value->as.cuckoo);
    if (status == BLY_ENOMEM && value->account.refusal == BM_REFUSED_NOT)
        value->account.refusal = bm_memory_would_refuse(&value->account, room + 1);
    if (status == BLY_OK)
        bm_rb_lift_growth_limit(value);
    return status;
}

static bly_status begin(bm_account *account, bm_what what, const void *header, size_t size,
                        bm_arrival **out) {
    *out = NULL;
    account->refusal = BM_REFUSED_SYSTEM;
    bm_value *value = bm_value_new(what);
    if (!value)
        return BLY_ENOMEM;
    value->account.unlimited = account->unlimited;
    bly_status status = parse(value, header, size);
    if (status != BLY_OK) {
        account->refusal = value->account.refusal;
        bm_value_free(value);
        return status;
    }
    *out = arrival_of(value);
    return *out ? BLY_OK : BLY_ENOMEM;
}

bly_status bm_arrival_begin_bloom(bm_account *account, const void *header, size_t size,
                                  bm_arrival **out) {
    return begin(account, BM_RB_BLOOM, header, size, out);
}

bly_status bm_arrival_begin_cuckoo(bm_account *account, const void *header, size_t size,
                                   bm_arrival **out) {
    return begin(account, BM_RB_CUCKOO, header, size, out);
}

bm_what bm_arrival_what(const bm_arrival *a) {
    return a->value->what;
}

uint64_t bm_arrival_bytes(const bm_arrival *a) {
    return bm_value_bytes(a->value) + a->own.bytes + rm.MallocSize((void *)(uintptr_t)a);
}

/* ---- stretches ------------------------------------------------------------------------------- */

static bool make_room(bm_arrival *a) {
    if (a->n < a->room)
        return true;
    bly_allocator alloc = bm_allocator(&a->own);
    size_t room = a->room ? 2 * a->room : 8;
    stretch *there = alloc.alloc(alloc.ctx, room * sizeof *there);
    if (!there)
        return false;
    if (a->n)
        memcpy(there, a->there, a->n * sizeof *there);
    free_list(a);
    a->there = there;
    a->room = room;
    return true;
}

/* The first stretch that ends at `at` or later. */
static size_t first_ending_at(const bm_arrival *a, uint64_t at) {
    size_t low = 0, high = a->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->there[middle].to < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Enters a stretch, for which there is room, and unites it with those that it touches. */
static void enter(bm_arrival *a, stretch s) {
    size_t i = first_ending_at(a, s.from), j = i;
    for (; j < a->n && a->there[j].from <= s.to; j++) {
        s.from = a->there[j].from < s.from ? a->there[j].from : s.from;
        s.to = a->there[j].to > s.to ? a->there[j].to : s.to;
    }
    memmove(a->there + i + 1, a->there + j, (a->n - j) * sizeof s);
    a->there[i] = s;
    a->n = a->n - (j - i) + 1;
}

/* Whether it would be one stretch more than there may be. */
static bool is_too_many(const bm_arrival *a, stretch s) {
    if (a->n < MOST)
        return false;
    size_t i = first_ending_at(a, s.from);
    return i == a->n || a->there[i].from > s.to;
}

bly_status bm_arrival_put(bm_arrival *a, uint64_t offset, const void *data, size_t size) {
    if (size && is_too_many(a, (stretch){offset, offset + size}))
        return BLY_EFULL;
    if (!make_room(a))
        return BLY_ENOMEM;
    bly_status status = a->value->what == BM_RB_BLOOM
                            ? bly_rb_bloom_write(a->value->as.bloom, offset, data, size)
                            : bly_rb_cuckoo_write(a->value->as.cuckoo, offset, data, size);
    if (status == BLY_OK && size)
        enter(a, (stretch){offset, offset + size});
    return status;
}

bool bm_arrival_complete(const bm_arrival *a) {
    return a->n == 1 && a->there[0].from == 0 && a->there[0].to == bm_rb_data_bytes(a->value);
}

/* ---- RDB, AOF, digest, copy ------------------------------------------------------------------ */

/* As RedisBloom's type is saved, with the bytes that are missing as zeroes: so no more is allocated
 * in loading than was really there. The stretches follow. */
void bm_arrival_save(rm_io *io, const bm_arrival *a) {
    rm.SaveUnsigned(io, (uint64_t)a->value->what);
    bm_rb_save(io, a->value);
    rm.SaveUnsigned(io, a->n);
    for (size_t i = 0; i < a->n; i++) {
        rm.SaveUnsigned(io, a->there[i].from);
        rm.SaveUnsigned(io, a->there[i].to);
    }
}

static bool load_stretches(rm_io *io, bm_arrival *a) {
    uint64_t n, after = 0, end = bm_rb_data_bytes(a->value);
    if (!bm_load_number(io, &n))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        stretch s;
        if (!bm_load_number(io, &s.from) || !bm_load_number(io, &s.to))
            return false;
        bool apart = i == 0 || s.from > after;
        if (!apart || s.from >= s.to || s.to > end || a->n == MOST || !make_room(a))
            return false;
        a->there[a->n++] = s;
        after = s.to;
    }
    return true;
}

bm_arrival *bm_arrival_load(rm_io *io) {
    uint64_t what;
    if (!bm_load_number(io, &what) || (what != BM_RB_BLOOM && what != BM_RB_CUCKOO))
        return NULL;
    bm_value *value = bm_rb_load(io, (bm_what)what, BLY_RB_ENCODING);
    bm_arrival *a = value ? arrival_of(value) : NULL;
    if (a && !load_stretches(io, a)) {
        bm_arrival_free(a);
        return NULL;
    }
    return a;
}

void bm_arrival_emit(rm_io *io, rm_string *key, const bm_arrival *a) {
    bm_rb_emit_header(io, key, a->value);
    for (size_t i = 0; i < a->n; i++)
        bm_rb_emit(io, key, a->value, a->there[i].from, a->there[i].to);
}

void bm_arrival_digest(rm_digest *digest, const bm_arrival *a) {
    bm_rb_digest(digest, a->value);
    for (size_t i = 0; i < a->n; i++) {
        rm.DigestAddLongLong(digest, (long long)a->there[i].from);
        rm.DigestAddLongLong(digest, (long long)a->there[i].to);
    }
}

bm_arrival *bm_arrival_clone(const bm_arrival *a, bool unlimited) {
    bm_value *value = bm_rb_clone(a->value, unlimited);
    bm_arrival *copy = value ? arrival_of(value) : NULL;
    for (size_t i = 0; copy && i < a->n; i++) {
        if (!make_room(copy)) {
            bm_arrival_free(copy);
            return NULL;
        }
        copy->there[copy->n++] = a->there[i];
    }
    return copy;
}
