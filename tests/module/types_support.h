/* types_support.h - checks for values of every data type. Saving and loading preserves a value.
 * Truncated streams, failing reads, changed streams and failing allocations do no harm and leak no
 * memory. */
#ifndef BLYT_TYPES_SUPPORT_H
#define BLYT_TYPES_SUPPORT_H

#include "../support/support.h"
#include "fake_host.h"
#include "load/redisbloom_chunks.h"
#include "load/staged_file.h"
#include "types/value.h"

#include <bloomery/host/redisbloom.h>
#include <time.h>

static inline rm_type *type_of(const bm_value *value) {
    return fake_type(value->type == BM_RB_BLOOM    ? "MBbloom--"
                     : value->type == BM_RB_CUCKOO ? "MBbloomCF"
                                                   : "bloomery1");
}

static inline uint64_t digest_of(bm_value *value) {
    rm_digest digest = {0};
    type_of(value)->methods.digest(&digest, value);
    return digest.sum;
}

static inline rm_io *saved(bm_value *value) {
    rm_io *io = fake_io_new();
    type_of(value)->methods.rdb_save(io, value);
    return io;
}

static inline bm_value *loaded(rm_io *io, rm_type *type) {
    fake_io_rewind(io);
    return type->methods.rdb_load(io, type->encver);
}

/* Waits until all pending big blocks have been freed. Returns the number of allocated bytes. */
static inline size_t heap_now(void) {
    for (int i = 0; i < 20000 && bm_memory_pending(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    return atomic_load(&fake_heap.live);
}

static inline void check_round_trip(bm_value *value) {
    rm_io *io = saved(value);
    bm_value *copy = loaded(io, type_of(value));
    assert_non_null(copy);
    assert_int_equal(io->at, io->size);
    assert_true(digest_of(copy) == digest_of(value));
    assert_int_equal(copy->keyless, value->keyless);
    assert_false(copy->account.unlimited);
    rm_io *again = saved(copy);
    assert_int_equal(again->size, io->size);
    assert_memory_equal(again->data, io->data, io->size);
    bm_value_free(copy);
    fake_io_free(again);
    fake_io_free(io);
}

/* Truncated streams are refused: truncated at the start of each field, one byte later, and at every
 * third byte of the beginning. */
static inline void check_truncated(bm_value *value) {
    rm_io *io = saved(value);
    size_t whole = io->size, heap = heap_now();
    for (size_t i = 0; i < io->n_fields; i++)
        for (size_t in = 0; in < 2; in++) {
            io->size = io->fields[i] + in;
            assert_null(loaded(io, type_of(value)));
        }
    for (io->size = 0; io->size < whole && io->size < 400; io->size += 3)
        assert_null(loaded(io, type_of(value)));
    assert_int_equal(heap_now(), heap);
    fake_io_free(io);
}

static inline void check_failing_reads(bm_value *value) {
    rm_io *io = saved(value);
    size_t heap = heap_now();
    for (size_t i = 1; i <= io->n_fields; i++) {
        io->fail_at = i;
        assert_null(loaded(io, type_of(value)));
    }
    assert_int_equal(heap_now(), heap);
    fake_io_free(io);
}

/* Makes each allocation fail in turn, until loading needs no more. */
static inline void check_failing_memory(bm_value *value) {
    rm_io *io = saved(value);
    size_t heap = heap_now();
    bm_value *copy = NULL;
    for (size_t i = 1; !copy; i++) {
        fake_heap_reset();
        fake_heap.fail_at = i;
        copy = loaded(io, type_of(value));
        if (copy)
            assert_true(atomic_load(&fake_heap.requests) < i);
        else
            assert_int_equal(heap_now(), heap);
    }
    fake_heap_reset();
    assert_true(digest_of(copy) == digest_of(value));
    bm_value_free(copy);
    assert_int_equal(heap_now(), heap);
    fake_io_free(io);
}

static inline bm_value *copied(const bm_value *value) {
    return type_of(value)->methods.copy(NULL, NULL, value);
}

static inline void check_copy(bm_value *value) {
    size_t heap = heap_now();
    bm_value *copy = copied(value);
    assert_non_null(copy);
    assert_true(digest_of(copy) == digest_of(value));
    assert_true(copy->stamp != value->stamp);
    bm_value_free(copy);
    copy = NULL;
    for (size_t i = 1; !copy; i++) {
        fake_heap_reset();
        fake_heap.fail_at = i;
        copy = copied(value);
    }
    assert_true(digest_of(copy) == digest_of(value));
    bm_value_free(copy);
    assert_int_equal(heap_now(), heap);
    fake_heap_reset();
}

/* Defragmentation moves blocks, one at a time and all at once. The account of the value's memory
 * follows. */
static inline void check_defrag(bm_value *value) {
    rm_type *type = type_of(value);
    uint64_t digest = digest_of(value), bytes = value->account.bytes, total = bm_memory_total();
    size_t live = heap_now();
    rm_defrag at_once = {0}, in_steps = {.late = true, .stop_after = 1}, stay = {.stay = true};
    void *ptr = value;
    assert_int_equal(type->methods.defrag(&at_once, NULL, &ptr), 0);
    size_t steps = 1;
    for (; type->methods.defrag(&in_steps, NULL, &ptr); steps++)
        assert_true(in_steps.cursor != 0);
    assert_int_equal(type->methods.defrag(&stay, NULL, &ptr), 0);
    assert_ptr_equal(ptr, value);
    if (bytes) {
        assert_true(at_once.moves >= 2);
        assert_int_equal(in_steps.moves, at_once.moves);
        assert_true(steps + 1 >= at_once.moves);
    }
    assert_true(digest_of(value) == digest);
    uint64_t grown = heap_now() - live;
    assert_true(bytes == 0 || grown > 0);
    assert_int_equal(value->account.bytes, bytes + grown);
    assert_int_equal(bm_memory_total(), total + grown);
}

/* Stores a value under a key, runs every kind of command on it, whatever the replies, and frees
 * it. */
static inline void use_up(bm_value *value) {
    static const char *const commands[][3] = {
        {"BLY.CHECK", "k", "a"},   {"BLY.ADD", "k", "a"},     {"BLY.DEL", "k", "a"},
        {"BLY.COUNT", "k", "a"},   {"BLY.CARD", "k", NULL},   {"BLY.INFO", "k", NULL},
        {"BLY.STATS", "k", NULL},  {"BLY.DUMP", "k", "0"},    {"BLY.AGE", "k", "a"},
        {"BF.ADD", "k", "b"},      {"BF.EXISTS", "k", "b"},   {"BF.INFO", "k", NULL},
        {"BF.CARD", "k", NULL},    {"BF.DEBUG", "k", NULL},   {"BF.SCANDUMP", "k", "1"},
        {"CF.ADD", "k", "c"},      {"CF.EXISTS", "k", "c"},   {"CF.COUNT", "k", "c"},
        {"CF.DEL", "k", "c"},      {"CF.INFO", "k", NULL},    {"CF.DEBUG", "k", NULL},
        {"CF.COMPACT", "k", NULL}, {"CF.SCANDUMP", "k", "1"}, {"BLY.CLEAR", "k", NULL},
    };
    fake_set("k", type_of(value), value);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        assert_true(strlen(fake_run(commands[i][0], commands[i][1], commands[i][2], NULL)) > 0);
    fake_commands_clear(&fake_replicated);
    fake_set("k", NULL, NULL);
}

/* Changes bytes of the stream at random. Whatever is loaded must be a valid value, and no request
 * for memory may be much larger than the stream. */
static inline void check_changed(bm_value *value, size_t tries) {
    rm_io *io = saved(value);
    size_t heap = heap_now();
    uint64_t state = io->size;
    fake_heap_reset();
    for (size_t i = 0; i < tries; i++) {
        uint8_t kept[4];
        size_t where[4], n = 1 + blyt_next(&state) % 4;
        for (size_t j = 0; j < n; j++) {
            /* Most small fields are near the start. */
            size_t span = blyt_next(&state) % 2 && io->size > 200 ? 200 : io->size;
            where[j] = blyt_next(&state) % span;
            kept[j] = io->data[where[j]];
            io->data[where[j]] = (uint8_t)blyt_next(&state);
        }
        bm_value *copy = loaded(io, type_of(value));
        if (copy) {
            check_round_trip(copy);
            use_up(copy);
        }
        for (size_t j = n; j--;)
            io->data[where[j]] = kept[j];
    }
    assert_true(atomic_load(&fake_heap.largest) < 4 * io->size + (4 << 20));
    assert_int_equal(heap_now(), heap);
    fake_io_free(io);
    fake_heap_reset();
}

/* The commands of an AOF rewrite must restore the value. */
static inline void check_aof(bm_value *value) {
    uint64_t digest = digest_of(value);
    fake_commands commands = {0};
    rm_io *io = fake_io_new();
    io->commands = &commands;
    rm_string *key = fake_string("aof", 3);
    type_of(value)->methods.aof_rewrite(io, key, value);
    assert_true(commands.n > 0);
    fake_flags = RM_CTX_MASTER | RM_CTX_LOADING;
    for (size_t i = 0; i < commands.n; i++) {
        const char *reply = fake_run_strings(commands.all[i].argv, commands.all[i].argc);
        if (reply[0] == '-')
            fail_msg("%s: %s", commands.all[i].argv[0]->data, reply);
    }
    fake_flags = RM_CTX_MASTER;
    rm_type *type;
    bm_value *back = fake_get("aof", &type);
    assert_non_null(back);
    assert_ptr_equal(type, type_of(value));
    assert_true(digest_of(back) == digest);
    fake_set("aof", NULL, NULL);
    fake_commands_clear(&commands);
    fake_commands_clear(&fake_replicated);
    fake_string_free(key);
    fake_io_free(io);
}

static inline void check_numbers(const bm_value *value) {
    rm_type *type = type_of(value);
    size_t usage = type->methods.mem_usage(value), effort = type->methods.free_effort(NULL, value);
    assert_true(usage >= value->account.bytes + sizeof *value);
    assert_true(effort >= 1);
    assert_true(usage < 1 << 20 || effort > 64);
}

static inline void check_value(bm_value *value) {
    check_round_trip(value);
    check_truncated(value);
    check_failing_reads(value);
    check_failing_memory(value);
    check_copy(value);
    check_defrag(value);
    check_changed(value, 300 / BLYT_SLOW);
    check_aof(value);
    check_numbers(value);
    check_round_trip(value);
    use_up(copied(value));
}

enum { KEYS = 300 };

/* Returns a value with a filter of that spec, which has `keys` keys. */
static inline bm_value *made(bly_spec spec, size_t keys) {
    bm_value *value = bm_value_new(BM_FILTER);
    assert_non_null(value);
    bly_allocator a = bm_allocator(&value->account);
    blyt_list list = blyt_list_of(KEYS_DECIMAL, 0, keys);
    spec.allocator = &a;
    value->as.filter = blyt_filled(&spec, &list);
    blyt_list_free(&list);
    return value;
}

static inline bm_value *of_kind(bly_kind kind, size_t keys) {
    return made(bly_spec_for(kind, keys, 0.01), keys);
}

/* Returns a staged load of a RedisBloom filter, which has received `parts` chunks. */
static inline bm_value *rb_staged(bm_value_type type, size_t parts) {
    bly_rb_bloom *bloom = NULL;
    bly_rb_cuckoo *cuckoo = NULL;
    uint8_t header[400];
    bm_value *value = bm_value_new(BM_FILTER);
    const bly_rb_bloom_spec spec = {.error = 0.01, .capacity = 100, .growth = 2};
    const bly_rb_cuckoo_spec table = {1000, 2, 20, 1};
    value->traits.face = type == BM_RB_BLOOM ? BM_FACE_BF : BM_FACE_CF; /* as LOADCHUNK does */
    if (type == BM_RB_BLOOM) {
        assert_ok(bly_rb_bloom_create(&spec, NULL, &bloom));
        bly_rb_bloom_header(bloom, header);
        assert_ok(bm_staged_chunks_begin_bloom(
            &value->account, header, bly_rb_bloom_header_size(bloom), &value->staged_chunks));
    } else {
        assert_ok(bly_rb_cuckoo_create(&table, NULL, &cuckoo));
        bly_rb_cuckoo_header(cuckoo, header);
        assert_ok(bm_staged_chunks_begin_cuckoo(&value->account, header, BLY_RB_CUCKOO_HEADER,
                                                &value->staged_chunks));
    }
    for (size_t i = 0; i < parts; i++)
        assert_ok(bm_staged_chunks_write(value->staged_chunks, 16 * (i * 5 % 8), "abcdefghij", 10));
    bly_rb_bloom_destroy(bloom);
    bly_rb_cuckoo_destroy(cuckoo);
    return value;
}

/* ---- invalid streams ------------------------------------------------------------------------- */

/* Checks that a stream is refused without a large request for memory, and frees it. */
static inline void check_refused(rm_io *io) {
    size_t heap = heap_now();
    fake_heap_reset();
    assert_null(loaded(io, fake_type("bloomery1")));
    assert_true(atomic_load(&fake_heap.largest) < 100000);
    assert_int_equal(heap_now(), heap);
    fake_io_free(io);
    fake_heap_reset();
}

/* Returns a stream of bloomery1 that ends after its traits. `has` says what would follow. */
static inline rm_io *begun(uint64_t has) {
    uint8_t traits[BM_TRAITS_BYTES];
    rm_io *io = fake_io_new();
    bm_traits_encode(&(bm_traits){0}, traits);
    rm.SaveUnsigned(io, has);
    rm.SaveStringBuffer(io, (const char *)traits, sizeof traits);
    return io;
}

/* ---- containers in pieces -------------------------------------------------------------------- */

typedef struct gather {
    uint8_t *data;
    uint64_t at;
} gather;

static inline void gather_chunk(void *ctx, uint64_t at, const void *data, size_t size) {
    gather *g = ctx;
    assert_int_equal(at, g->at);
    memcpy(g->data + at, data, size);
    g->at += size;
}

/* Loads a file in chunks of `step` bytes. The memory grows with the bytes received. */
static inline void stage_in(const blyt_buffer *im, size_t step, const bly_filter *want) {
    bm_account account = {0};
    bm_staged_file *s;
    bly_filter *f;
    bool keyless;
    size_t first = step < 64 ? 64 : step < im->size ? step : im->size;
    assert_ok(bm_staged_file_begin(&account, im->size, im->data, first, &(bm_traits){0}, &s));
    assert_int_equal(account.bytes, 0);
    for (size_t at = first, n; at < im->size; at += n) {
        n = im->size - at < step ? im->size - at : step;
        assert_ok(bm_staged_file_append(s, im->data + at, n));
        assert_int_equal(bm_staged_file_received(s), at + n);
        assert_true(bm_staged_file_bytes(s) < 3 * (at + n) + 4096);
    }
    assert_int_equal(bm_staged_file_append(s, im->data, 1), BLY_EINVAL);
    assert_int_equal(bm_staged_file_received(s), bm_staged_file_total(s));
    gather g = {malloc(im->size), 0};
    bm_staged_file_each(s, gather_chunk, &g);
    assert_int_equal(g.at, im->size);
    assert_memory_equal(g.data, im->data, im->size);
    free(g.data);
    assert_ok(bm_staged_file_finish(s, &f, &keyless));
    assert_false(keyless);
    assert_true(bly_filter_equal(f, want));
    assert_true(account.bytes > 0);
    bly_filter_destroy(f);
    assert_int_equal(account.bytes, 0);
}

/* Checks that the loaded filter is the same for all sizes of chunks, from `min_step` on. */
static inline void check_staged_file(bly_spec spec, size_t min_step) {
    size_t heap = heap_now();
    const size_t steps[] = {1, 63, 1000, 65536, 300000, 5 << 20};
    bm_value *value = made(spec, 3000);
    blyt_buffer im = blyt_write(value->as.filter);
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        if (steps[i] >= min_step)
            stage_in(&im, steps[i], value->as.filter);
    free(im.data);
    bm_value_free(value);
    assert_int_equal(heap_now(), heap);
}

#endif
