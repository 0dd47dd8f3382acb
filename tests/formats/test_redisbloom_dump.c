/* test_redisbloom_dump.c - untrusted dumps of RedisBloom: truncated and changed headers, wrong
 * fields of an RDB file, and chunks that do not fit. The result is an error or a filter that works,
 * and nothing is allocated for data that has not arrived. Also: each allocation in turn fails, and
 * blocks are moved (defragmentation). */
#include "formats/redisbloom_support.h"

#include <bloomery/host/redisbloom.h>

enum { LIMIT = 1 << 20 };

/* ---- hostile bytes --------------------------------------------------------------------------- */

/* An allocator that limits the total size of its allocations, like that of a host. */
typedef struct purse {
    uint64_t total;
    size_t live;
} purse;

static void *purse_alloc(void *ctx, size_t size) {
    purse *p = ctx;
    p->total += size;
    assert_true(p->total <= 4 * LIMIT); /* enough for the filter and one growth step */
    p->live++;
    return calloc(1, size);
}

static void purse_free(void *ctx, void *ptr) {
    ((purse *)ctx)->live--;
    free(ptr);
}

/* Asserts that adds, lookups and removes work, whatever was loaded, and that a copy is equal. */
static void assert_works(any f, purse *p) {
    char key[BLYT_KEY_MAX];
    any copy;
    assert_true(any_memory(f) <= LIMIT);
    for (uint64_t k = 0; k < 20; k++) {
        size_t len = blyt_key(KEYS_URL, k, key);
        p->total = 0;
        bool huge = f.bloom && bly_rb_bloom_get_info(f.bloom).growth > 1000;
        huge |= f.cuckoo && bly_rb_cuckoo_get_info(f.cuckoo).expansion > 64;
        bly_status status = huge ? BLY_EFULL : any_add(f, key, len, NULL);
        assert_true(status == BLY_OK || status == BLY_EFULL || status == BLY_ETOOBIG);
        assert_true(status != BLY_OK || any_contains(f, key, len));
        if (f.cuckoo && k % 3 == 0 && status == BLY_OK)
            assert_true(bly_rb_cuckoo_remove(f.cuckoo, key, len));
    }
    bly_bytes all = {"", 0};
    assert_true(any_contains_many(f, &all, 1, NULL) <= 1);
    p->total = 0;
    assert_ok(any_clone(f, NULL, &copy));
    assert_true(any_equal(f, copy));
    any_destroy(copy);
}

static unsigned refused, accepted;

/* Parses a header. If it is accepted, uses the filter. */
static bly_status try_header(bool bloom, const uint8_t *header, size_t size) {
    purse p = {0, 0};
    const bly_allocator a = {purse_alloc, purse_free, &p};
    any f = {(bly_rb_bloom *)&p, (bly_rb_cuckoo *)&p};
    bly_status status = any_parse(bloom, header, size, LIMIT, &a, &f);
    assert_true(status == BLY_OK || status == BLY_ECORRUPT || status == BLY_ENOMEM);
    if (status == BLY_OK) {
        blyt_buffer back = any_header(f);
        assert_int_equal(back.size, size);
        assert_memory_equal(back.data, header, size);
        free(back.data);
        assert_works(f, &p);
        accepted++;
    } else {
        assert_true(!f.bloom && !f.cuckoo && p.total == 0);
        refused++;
    }
    any_destroy(f);
    assert_int_equal(p.live, 0);
    return status;
}

static void bend_header(const golden *g) {
    const uint8_t values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    uint8_t *bytes = malloc(g->header.size + 1);
    memcpy(bytes, g->header.data, g->header.size);
    bytes[g->header.size] = 0;
    for (size_t size = 0; size < g->header.size; size++) {
        uint8_t *cut = malloc(size + 1); /* sanitizers report reads past the end of this copy */
        memcpy(cut, bytes, size);
        assert_int_equal(try_header(g->bloom, cut, size), BLY_ECORRUPT);
        free(cut);
    }
    assert_int_equal(try_header(g->bloom, bytes, g->header.size + 1), BLY_ECORRUPT);
    size_t reach = g->header.size < 130 ? g->header.size : 130;
    for (size_t at = 0; at < reach; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[at] ^= (uint8_t)(1 << bit);
            (void)try_header(g->bloom, bytes, g->header.size);
            bytes[at] ^= (uint8_t)(1 << bit);
        }
        for (size_t i = 0; i < sizeof values; i++) {
            uint8_t kept = bytes[at];
            bytes[at] = values[i];
            (void)try_header(g->bloom, bytes, g->header.size);
            bytes[at] = kept;
        }
    }
    assert_ok(try_header(g->bloom, bytes, g->header.size));
    free(bytes);
}

static void test_headers(void **state) {
    (void)state;
    refused = accepted = 0;
    for_each_golden(bend_header);
    assert_true(refused > 5000 && accepted > 1000);
}

/* Replaces each RDB field, one at a time, by boundary values; cuts strings. */
static void bend_fields(const golden *g) {
    const uint64_t numbers[] = {0,
                                1,
                                2,
                                63,
                                64,
                                255,
                                32768,
                                32769,
                                65536,
                                UINT32_MAX,
                                (uint64_t)UINT32_MAX + 2,
                                (uint64_t)1 << 45,
                                (uint64_t)1 << 48,
                                (uint64_t)1 << 63,
                                UINT64_MAX};
    const double doubles[] = {0, -0.0, 1, -1, 0.5, 1e-320, 1e300, INFINITY, -INFINITY, NAN};
    golden bent = *g;
    for (size_t i = 0; i < g->n; i++) {
        bool number = g->fields[i].type == 'U', string = g->fields[i].type == 'S';
        size_t n = number ? COUNT_OF(numbers) : string ? 3 : COUNT_OF(doubles);
        for (size_t k = 0; k < n; k++) {
            purse p = {0, 0};
            const bly_allocator a = {purse_alloc, purse_free, &p};
            field *f = &bent.fields[i];
            any loaded;
            if (string)
                f->bytes.size = k == 0 ? 0 : k == 1 ? f->bytes.size - 1 : f->bytes.size / 2;
            else if (number)
                f->number = numbers[k];
            else
                memcpy(&f->number, &doubles[k], sizeof f->number);
            bly_status status = golden_load(&bent, LIMIT, &a, &loaded);
            *f = g->fields[i];
            assert_true(status == BLY_OK || status == BLY_ECORRUPT || status == BLY_ENOMEM);
            if (status == BLY_OK)
                assert_works(loaded, &p);
            accepted += status == BLY_OK;
            refused += status != BLY_OK;
            any_destroy(loaded);
            assert_int_equal(p.live, 0);
        }
    }
}

/* Loads fewer or more parts than announced, wrong counts, a newer encoding, and with too little
 * memory. */
static void miscount(const golden *g) {
    golden bent = *g;
    size_t per_part = g->bloom ? (g->encoding ? 8 : 6) : (g->encoding == 4 ? 2 : 1);
    any f;
    bent.n -= per_part;
    assert_int_equal(golden_load(&bent, LIMIT, NULL, &f), BLY_ECORRUPT);
    bent = *g;
    memcpy(bent.fields + g->n, g->fields + g->n - per_part, per_part * sizeof(field));
    bent.n += per_part;
    assert_int_equal(golden_load(&bent, LIMIT, NULL, &f), BLY_ECORRUPT);
    bent = *g;
    if (g->bloom)
        bent.fields[0].number++;
    else
        bent.fields[2].number = g->data.size + 1;
    assert_int_equal(golden_load(&bent, LIMIT, NULL, &f), BLY_ECORRUPT);
    bent = *g;
    bent.encoding = 5;
    assert_int_equal(golden_load(&bent, LIMIT, NULL, &f), BLY_EVERSION);

    assert_ok(golden_load(g, LIMIT, NULL, &f));
    uint64_t memory = any_memory(f);
    any_destroy(f);
    assert_ok(golden_load(g, memory, NULL, &f));
    any_destroy(f);
    for (uint64_t most = 0; most < memory; most += memory / 7 + 1)
        assert_int_equal(golden_load(g, most, NULL, &f), BLY_ENOMEM);
    assert_ok(any_parse(g->bloom, g->header.data, g->header.size, LIMIT, NULL, &f));
    memory = any_memory(f);
    any_destroy(f);
    assert_ok(any_parse(g->bloom, g->header.data, g->header.size, memory, NULL, &f));
    any_destroy(f);
    assert_int_equal(any_parse(g->bloom, g->header.data, g->header.size, memory - 1, NULL, &f),
                     BLY_ENOMEM);
}

static void test_fields(void **state) {
    (void)state;
    refused = accepted = 0;
    for_each_golden(bend_fields);
    assert_true(refused > 1000 && accepted > 100);
    for_each_golden(miscount);
}

/* Headers with one changed field each, and the status of parsing them. */
static const struct {
    const char *what;
    bool bloom;
    size_t at, width;
    uint64_t value;
    bly_status want;
} lies[] = {
    {"no links", true, 8, 4, 0, BLY_ECORRUPT},
    {"an unknown option", true, 12, 4, 21, BLY_ECORRUPT},
    {"items do not add up", true, 0, 8, 21, BLY_ECORRUPT},
    {"no bytes", true, 20, 8, 0, BLY_ECORRUPT},
    {"a byte too few", true, 20, 8, 143, BLY_ECORRUPT},
    {"eight bytes too many", true, 20, 8, 152, BLY_ECORRUPT},
    {"a bit too many", true, 28, 8, 1153, BLY_ECORRUPT},
    {"another error", true, 44, 8, 0x3FE0000000000000, BLY_ECORRUPT},
    {"a hash too many", true, 60, 4, 9, BLY_ECORRUPT},
    {"2^32 - 1 hashes", true, 60, 4, UINT32_MAX, BLY_ECORRUPT},
    {"no capacity", true, 64, 8, 0, BLY_ECORRUPT},
    {"twice the keys", true, 64, 8, 200, BLY_ECORRUPT},
    {"a third of the keys", true, 64, 8, 33, BLY_ECORRUPT},
    {"another power of two", true, 72, 1, 11, BLY_ECORRUPT},
    {"n2 of 64", true, 72, 1, 64, BLY_ECORRUPT},
    {"nonscaling", true, 12, 4, 13, BLY_OK},
    {"no growth", true, 16, 4, 0, BLY_OK},
    {"more items than slots", false, 0, 8, 65, BLY_ECORRUPT},
    {"33 buckets", false, 8, 8, 33, BLY_ECORRUPT},
    {"no buckets", false, 8, 8, 0, BLY_ECORRUPT},
    {"2^40 buckets", false, 8, 8, (uint64_t)1 << 40, BLY_ENOMEM},
    {"2^63 buckets", false, 8, 8, (uint64_t)1 << 63, BLY_ECORRUPT},
    {"no filters", false, 24, 8, 0, BLY_ECORRUPT},
    {"2^32 filters", false, 24, 8, (uint64_t)1 << 32, BLY_ECORRUPT},
    {"32768 filters", false, 24, 8, 32768, BLY_ENOMEM},
    {"bucket size 0", false, 32, 2, 0, BLY_ECORRUPT},
    {"bucket size 256", false, 32, 2, 256, BLY_ECORRUPT},
    {"no iterations", false, 34, 2, 0, BLY_ECORRUPT},
    {"expansion 3", false, 36, 2, 3, BLY_ECORRUPT},
    {"expansion 32768", false, 36, 2, 32768, BLY_OK},
};

static void test_lies(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lies); i++) {
        static golden g;
        golden_read(lies[i].bloom ? "bloom-small.txt" : "cuckoo-small.txt", &g);
        for (size_t b = 0; b < lies[i].width; b++)
            g.header.data[lies[i].at + b] = (uint8_t)(lies[i].value >> 8 * b);
        bly_status got = try_header(lies[i].bloom, g.header.data, g.header.size);
        if (got != lies[i].want)
            fail_msg("%s: %d", lies[i].what, got);
        golden_free(&g);
    }
}

/* A Bloom header with as many keys as bits is accepted, with one more key it is refused, although
 * the sums agree. A cuckoo filter with more fingerprints than its header counts can still be
 * used. */
static void test_miscounts(void **state) {
    (void)state;
    static golden g;
    golden_read("bloom-small.txt", &g);
    for (unsigned more = 0; more < 2; more++) {
        uint64_t items = 1152 + more;
        for (unsigned b = 0; b < 8; b++)
            g.header.data[b] = g.header.data[36 + b] = (uint8_t)(items >> 8 * b);
        assert_int_equal(try_header(true, g.header.data, g.header.size),
                         more ? BLY_ECORRUPT : BLY_OK);
    }
    golden_free(&g);
    golden_read("cuckoo-small.txt", &g);
    any f;
    char key[BLYT_KEY_MAX * 2];
    g.header.data[0] = 1;
    assert_ok(any_parse(false, g.header.data, g.header.size, LIMIT, NULL, &f));
    assert_ok(any_write(f, 0, g.data.data, g.data.size));
    for (unsigned i = 1; i < 21; i++)
        assert_true(bly_rb_cuckoo_remove(f.cuckoo, key, golden_key(&g, i, key, sizeof key)));
    assert_int_equal(bly_rb_cuckoo_get_info(f.cuckoo).items, 0);
    any_destroy(f);
    golden_free(&g);
}

/* A link of 2^32 + 2 keys is full, so the next add must create a link. Capacity times growth factor
 * is 2^32 - 2 modulo 2^64: if the overflow were not noticed, a link of that capacity would be
 * created. (Most pages of the full link are never touched.) */
static void test_enormous(void **state) {
    (void)state;
    const uint64_t capacity = ((uint64_t)1 << 32) + 2;
    any f = {NULL, NULL};
    bly_rb_bloom_spec spec = {0.6, capacity, UINT32_MAX, true};
    bly_status status = BLYT_SLOW > 1 ? BLY_ENOMEM : bly_rb_bloom_create(&spec, NULL, &f.bloom);
    if (status == BLY_ENOMEM)
        skip();
    assert_ok(status);
    blyt_buffer h = any_header(f);
    any_destroy(f);
    h.data[12] = BLY_RB_NO_ROUNDING | BLY_RB_HASH_64;
    for (unsigned b = 0; b < 8; b++) /* as many items as the capacity */
        h.data[b] = h.data[36 + b] = (uint8_t)(capacity >> 8 * b);
    assert_ok(any_parse(true, h.data, h.size, UINT64_MAX, NULL, &f));
    assert_int_equal(bly_rb_bloom_get_info(f.bloom).items, capacity);
    assert_int_equal(any_add(f, "a", 1, NULL), BLY_ETOOBIG);
    assert_int_equal(any_parts(f), 1);
    any_destroy(f);
    free(h.data);
}

/* Sizes of sub-filters, each twice as large as the one before, must not overflow: up to 39 there
 * may be too little memory, from 40 on the header is invalid. Nor may a growth factor of 2^32 -
 * 1. */
static void test_towers(void **state) {
    (void)state;
    static golden g;
    golden_read("cuckoo-thinned.txt", &g);
    for (unsigned filters = 1; filters < 256; filters++) {
        g.header.data[24] = (uint8_t)filters;
        bly_status status = try_header(false, g.header.data, g.header.size);
        assert_true(filters < 5 || filters > 13 || status == BLY_OK);
        assert_true(filters < 20 || status == (filters < 40 ? BLY_ENOMEM : BLY_ECORRUPT));
    }
    golden_free(&g);
    any f = any_bloom(0.01, 100000, UINT32_MAX);
    char key[BLYT_KEY_MAX];
    bly_status status = BLY_OK;
    uint64_t k = 0;
    for (; status == BLY_OK; k++)
        status = any_add(f, key, blyt_key(KEYS_URL, k, key), NULL);
    assert_int_equal(status, BLY_ETOOBIG);
    assert_true(k > 99000);
    any_destroy(f);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void check_chunks(const golden *g) {
    any f;
    assert_ok(golden_load(g, LIMIT, NULL, &f));
    uint64_t end = any_data_bytes(f), start = 0;
    uint8_t byte = 0x55;
    for (uint64_t i = 0; i < any_parts(f); i++) {
        bly_bytes part = any_part(f, i), got = any_read(f, start, SIZE_MAX);
        assert_ptr_equal(got.data, part.data);
        assert_int_equal(got.size, part.size);
        got = any_read(f, start + part.size - 1, 100);
        assert_int_equal(got.size, 1);
        assert_int_equal(any_read(f, start, 3).size, part.size < 3 ? part.size : 3);
        uint8_t *more = calloc(1, part.size + 1);
        assert_int_equal(any_write(f, start, more, part.size + 1), BLY_ETOOBIG);
        assert_int_equal(any_write(f, start + 1, more, part.size), BLY_ETOOBIG);
        free(more);
        assert_ok(any_write(f, start + part.size - 1, &byte, 1));
        assert_int_equal(((const uint8_t *)part.data)[part.size - 1], 0x55);
        start += part.size;
    }
    assert_int_equal(start, end);
    const uint64_t behind[] = {end, end + 1, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(behind); i++) {
        assert_int_equal(any_read(f, behind[i], 100).size, 0);
        assert_int_equal(any_write(f, behind[i], &byte, 1), BLY_EINVAL);
        assert_int_equal(any_write(f, behind[i], NULL, 0), BLY_EINVAL);
    }
    any_destroy(f);
}

static void test_chunks(void **state) {
    (void)state;
    for_each_golden(check_chunks);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bly_status make_any(bool bloom, const bly_allocator *a, any *out) {
    *out = (any){NULL, NULL};
    return bloom ? bly_rb_bloom_create(&(bly_rb_bloom_spec){0.01, 20, 2, false}, a, &out->bloom)
                 : bly_rb_cuckoo_create(&(bly_rb_cuckoo_spec){16, 2, 20, 2}, a, &out->cuckoo);
}

/* Each allocation of a growth step fails in turn: the add is refused, nothing changes, and the next
 * attempt succeeds. */
static void grow_without_memory(bool bloom) {
    blyt_heap heap = {0};
    const bly_allocator a = blyt_heap_allocator(&heap);
    char key[BLYT_KEY_MAX];
    any f, before;
    unsigned failures = 0;
    assert_ok(make_any(bloom, &a, &f));
    for (uint64_t k = 0; k < 500; k++) {
        size_t len = blyt_key(KEYS_URL, k, key);
        bly_status status = BLY_ENOMEM;
        for (size_t nth = 1; status == BLY_ENOMEM; nth++) {
            assert_ok(any_clone(f, NULL, &before));
            heap.calls = 0;
            heap.fail_at = nth;
            status = any_add(f, key, len, NULL);
            assert_true(status == BLY_OK || status == BLY_ENOMEM);
            assert_true(status == BLY_OK || any_equal(f, before));
            failures += status != BLY_OK;
            any_destroy(before);
        }
    }
    heap.fail_at = 0;
    assert_true(failures >= any_parts(f));
    for (uint64_t k = 0; k < 500; k++)
        assert_true(any_contains(f, key, blyt_key(KEYS_URL, k, key)));
    any_destroy(f);
    assert_int_equal(heap.live, 0);
}

/* Creates a filter in each of four ways, while allocation `nth` fails. */
static void make_without_memory(const golden *g) {
    any source, f;
    assert_ok(golden_load(g, LIMIT, NULL, &source));
    for (int way = 0; way < 4; way++) {
        bly_status status = BLY_ENOMEM;
        for (size_t nth = 1; status == BLY_ENOMEM; nth++) {
            blyt_heap heap = {.fail_at = nth};
            const bly_allocator a = blyt_heap_allocator(&heap);
            status = way == 0   ? make_any(g->bloom, &a, &f)
                     : way == 1 ? golden_load(g, LIMIT, &a, &f)
                     : way == 2 ? any_parse(g->bloom, g->header.data, g->header.size, LIMIT, &a, &f)
                                : any_clone(source, &a, &f);
            assert_true(status == BLY_OK || status == BLY_ENOMEM);
            assert_true(status == BLY_OK || (!f.bloom && !f.cuckoo));
            assert_true(status == BLY_OK || heap.live == 0);
            if (status == BLY_OK) {
                assert_true(nth > 3);
                assert_true(way == 0 || way == 2 || any_equal(f, source));
                any_destroy(f);
                assert_int_equal(heap.live, 0);
            }
        }
    }
    any_destroy(source);
}

static void test_no_memory(void **state) {
    (void)state;
    grow_without_memory(true);
    grow_without_memory(false);
    for_each_golden(make_without_memory);
}

/* An allocator that counts its bytes and blocks, to compare with what the filter reports. */
typedef struct ledger {
    uint64_t bytes;
    size_t blocks;
} ledger;

static void *ledger_alloc(void *ctx, size_t size) {
    ledger *l = ctx;
    size_t *block = calloc(1, size + 16);
    block[0] = size;
    l->bytes += size;
    l->blocks++;
    return block + 2;
}

static void ledger_free(void *ctx, void *ptr) {
    ledger *l = ctx;
    size_t *block = (size_t *)ptr - 2;
    l->bytes -= block[0];
    l->blocks--;
    free(block);
}

/* The state of move_some, which moves every other block. */
typedef struct mover {
    ledger *books;
    unsigned offered, moved;
    uint64_t bytes;
} mover;

static void *move_some(void *ctx, void *block, size_t size) {
    mover *m = ctx;
    m->bytes += size;
    assert_int_equal(((size_t *)block)[-2], size);
    if (m->offered++ % 2)
        return NULL;
    void *to = ledger_alloc(m->books, size);
    memcpy(to, block, size);
    memset(block, 0xEE, size);
    ledger_free(m->books, block);
    m->moved++;
    return to;
}

static void move_about(const golden *g) {
    ledger books = {0, 0};
    const bly_allocator a = {ledger_alloc, ledger_free, &books};
    any source, f;
    assert_ok(golden_load(g, LIMIT, NULL, &source));
    assert_ok(any_clone(source, &a, &f));
    assert_int_equal(any_memory(f), books.bytes);
    size_t blocks = books.blocks;
    assert_int_equal(blocks, 2 + any_parts(f));
    for (size_t most = 1; most < 4; most++) {
        mover m = {&books, (unsigned)most, 0, 0};
        unsigned first = m.offered;
        f = any_move_handle(f, move_some, &m);
        size_t next = 0;
        do
            next = any_move(f, next, most, move_some, &m);
        while (next);
        assert_int_equal(m.offered - first, blocks);
        assert_true(m.moved >= blocks / 2);
        assert_int_equal(m.bytes, books.bytes);
        assert_int_equal(books.blocks, blocks);
        assert_true(any_equal(f, source));
    }
    mover m = {&books, 1, 0, 0};
    assert_int_equal(any_move(f, 1000, 5, move_some, &m), 0);
    any_destroy(f);
    assert_int_equal(books.blocks, 0);
    assert_int_equal(books.bytes, 0);
    any_destroy(source);
}

static void test_moving(void **state) {
    (void)state;
    for_each_golden(move_about);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),   cmocka_unit_test(test_fields),
        cmocka_unit_test(test_lies),      cmocka_unit_test(test_towers),
        cmocka_unit_test(test_miscounts), cmocka_unit_test(test_enormous),
        cmocka_unit_test(test_chunks),    cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_moving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
