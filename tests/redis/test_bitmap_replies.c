/* test_bitmap_replies.c - batches of keys, and the replies of servers.
 *
 * A server is simulated in C: the strings of a filter's shards, and the effect of the scripts for
 * adds and lookups, written from their description and not from their texts. (The Python tests run
 * the scripts on real servers.)
 */
#include "redis/bitmap_support.h"

#include <bloomery/host/chunks.h>
#include <bloomery/redis/bitmap.h>

/* ---- a server -------------------------------------------------------------------------------- */

typedef struct server {
    const bly_bitmap *b;
    bly_bytes name;
    uint8_t **strings; /* one per shard; only one for go-zero */
} server;

static server start(const bly_bitmap *b, const char *name) {
    server s = {b, blyt_text(name), calloc(b->shards, sizeof *s.strings)};
    assert_non_null(s.strings);
    for (uint32_t i = 0; i < b->shards; i++) {
        s.strings[i] = calloc(1, (size_t)bly_bitmap_shard_bytes(b, i));
        assert_non_null(s.strings[i]);
        if (b->form == BLY_BITMAP_NATIVE)
            blyi_bitmap_head_encode(b, i, true, s.strings[i]);
    }
    return s;
}

static void stop(server *s) {
    for (uint32_t i = 0; i < s->b->shards; i++)
        free(s->strings[i]);
    free(s->strings);
}

static uint32_t number_at(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool is_script(const bly_bitmap_command *c, blyi_script_id id) {
    return c->script.size == strlen(blyi_scripts[id].text) &&
           memcmp(c->script.data, blyi_scripts[id].text, c->script.size) == 0;
}

/* Returns the number of the shard whose key this is. */
static uint32_t shard_of(const server *s, bly_bytes key) {
    for (uint32_t i = 0; i < s->b->shards; i++) {
        char wanted[64];
        const size_t n = bly_bitmap_key(s->b, s->name, i, wanted, sizeof wanted);
        if (n == key.size && memcmp(wanted, key.data, n) == 0)
            return i;
    }
    fail_msg("no such key");
    return 0;
}

static size_t add_native(uint8_t *string, bly_bytes packed, size_t block, uint8_t *out) {
    size_t n = 0;
    const uint8_t *p = packed.data;
    assert_int_equal(packed.size % (4 + block), 0);
    for (size_t at = 0; at < packed.size; at += 4 + block) {
        uint8_t *to = string + BLY_BITMAP_HEAD + block * number_at(p + at);
        uint8_t fresh = 0;
        for (size_t i = 0; i < block; i++) {
            fresh |= (uint8_t)(p[at + 4 + i] & ~to[i]);
            to[i] |= p[at + 4 + i];
        }
        out[n++] = fresh ? '1' : '0';
    }
    return n;
}

static size_t blocks_native(const uint8_t *string, bly_bytes packed, size_t block, uint8_t *out) {
    const uint8_t *p = packed.data;
    for (size_t i = 0; i < packed.size / 4; i++)
        memcpy(out + i * block, string + BLY_BITMAP_HEAD + block * number_at(p + 4 * i), block);
    return packed.size / 4 * block;
}

static size_t gozero(uint8_t *string, bly_bytes packed, bool add, uint8_t *out) {
    const uint8_t *p = packed.data;
    assert_int_equal(packed.size % 56, 0);
    for (size_t i = 0; i < packed.size / 56; i++) {
        bool all = true;
        for (size_t j = 0; j < 14; j++) {
            const uint32_t bit = number_at(p + 56 * i + 4 * j);
            const uint8_t mask = (uint8_t)(0x80 >> bit % 8);
            all = all && (string[bit / 8] & mask) != 0;
            if (add)
                string[bit / 8] |= mask;
        }
        out[i] = add ? (all ? '0' : '1') : (all ? '1' : '0');
    }
    return packed.size / 56;
}

/* Executes a command and writes the reply to `out`. Returns its size. */
static size_t serve(const server *s, const bly_bitmap_command *c, uint8_t *out) {
    const uint32_t shard = shard_of(s, c->key);
    uint8_t *string = s->strings[shard];
    const size_t block = s->b->geometry.kind == BLY_SBBF ? 32 : 64;
    if (s->b->form == BLY_BITMAP_GOZERO) {
        assert_int_equal(c->count, 6);
        char most[24];
        const int digits =
            snprintf(most, sizeof most, "%llu", (unsigned long long)(s->b->geometry.size + 7) / 8);
        assert_int_equal(c->args[5].size, digits);
        assert_memory_equal(c->args[5].data, most, c->args[5].size);
        assert_int_equal(c->writes, is_script(c, BLYI_SCRIPT_GOZERO_ADD));
        assert_int_equal(!c->writes, is_script(c, BLYI_SCRIPT_GOZERO_CONTAINS));
        return gozero(string, c->args[4], c->writes, out);
    }
    assert_int_equal(c->args[4].size, BLYI_BITMAP_IDENTITY);
    assert_memory_equal(c->args[4].data, string, BLYI_BITMAP_IDENTITY);
    if (c->writes) {
        assert_int_equal(c->count, 6);
        assert_true(is_script(c, block == 32 ? BLYI_SCRIPT_ADD8 : BLYI_SCRIPT_ADD16));
        return add_native(string, c->args[5], block, out);
    }
    assert_int_equal(c->count, 7);
    assert_true(is_script(c, BLYI_SCRIPT_BLOCKS));
    assert_memory_equal(c->args[6].data, block == 32 ? "32" : "64", 2);
    return blocks_native(string, c->args[5], block, out);
}

/* ---- batches --------------------------------------------------------------------------------- */

enum { KEYS = 3000, ROOM = 64 * KEYS };

typedef struct keys {
    bly_bytes at[KEYS];
    char bytes[KEYS][24];
} keys;

/* Makes keys like "key-17". One in four repeats an earlier key. */
static void fill_keys(keys *k, uint64_t seed) {
    for (size_t i = 0; i < KEYS; i++) {
        const uint64_t number = i % 4 == 3 ? blyt_next(&seed) % i / 4 * 4 : i;
        const int n = snprintf(k->bytes[i], sizeof k->bytes[i], "key-%u", (unsigned)number);
        k->at[i] = (bly_bytes){k->bytes[i], (size_t)n};
    }
}

/* Sends one batch to the server, and collects the answers for all keys. Returns how many commands
 * reported as new or present. */
static size_t carry_out(const server *s, bly_bitmap_op what, const bly_bytes *at, size_t n,
                        size_t most, uint8_t *answers) {
    static uint8_t reply[ROOM];
    bly_bitmap_batch *batch;
    size_t sum = 0, sent = 0;
    memset(answers, 99, n);
    assert_ok(bly_bitmap_batch_open(s->b, s->name, what, at, n, most, &batch));
    const size_t commands = bly_bitmap_batch_count(batch);
    assert_true(commands <= n);
    for (size_t i = 0; i < commands; i++) {
        /* Commands run in the order of the batch, because adds of equal keys must keep their
         * order. */
        const bly_bitmap_command *c = bly_bitmap_batch_command(batch, i);
        size_t fresh = 77;
        const bly_redis_value value = blyt_says(reply, serve(s, c, reply));
        assert_ok(bly_bitmap_batch_parse(batch, i, &value, false, answers, &fresh, NULL));
        sum += fresh;
        const size_t entry = s->b->form == BLY_BITMAP_GOZERO   ? 56
                             : what == BLY_BITMAP_CONTAINS     ? 4
                             : s->b->geometry.kind == BLY_SBBF ? 36
                                                               : 68;
        const size_t count = c->args[s->b->form == BLY_BITMAP_GOZERO ? 4 : 5].size / entry;
        assert_true(count > 0 && count <= (most ? most : 512));
        sent += count;
    }
    assert_int_equal(sent, n);
    bly_bitmap_batch_close(batch);
    return sum;
}

/* Returns a filter in memory with the same geometry and hash, but without keys. */
static bly_filter *twin_of(const bly_bitmap *b) {
    bly_spec spec = {.struct_size = sizeof spec,
                     .geometry = b->geometry,
                     .capacity = b->capacity,
                     .fpr = b->fpr};
    bly_filter *f;
    spec.hasher = b->hasher;
    assert_ok(bly_filter_create(&spec, &f));
    return f;
}

/* Asserts that the server has exactly the blocks of the filter in memory. */
static void assert_same_bits(const server *s, const bly_filter *twin) {
    const size_t block = s->b->geometry.kind == BLY_SBBF ? 32 : 64;
    bly_chunks *image;
    uint64_t at = 64;
    assert_ok(bly_chunks_open(twin, NULL, &image));
    for (uint32_t i = 0; i < s->b->shards; i++) {
        const size_t bytes = (size_t)bly_bitmap_shard_blocks(s->b, i) * block;
        uint8_t *wanted = malloc(bytes + 1);
        assert_non_null(wanted);
        assert_int_equal(bly_chunks_read(image, at, wanted, bytes), bytes);
        assert_memory_equal(s->strings[i] + BLY_BITMAP_HEAD, wanted, bytes);
        free(wanted);
        at += bytes;
    }
    bly_chunks_close(image);
}

static void check_batches(const bly_bitmap_spec *spec, size_t most) {
    static keys k;
    static uint8_t answers[KEYS], wanted[KEYS];
    bly_bitmap b;
    bly_batch_result tally;
    assert_ok(bly_bitmap_plan(spec, &b));
    server s = start(&b, "crawl:seen");
    bly_filter *twin = twin_of(&b);
    fill_keys(&k, most);
    assert_ok(bly_filter_add_many(twin, k.at, KEYS / 2, wanted, &tally));
    assert_int_equal(carry_out(&s, BLY_BITMAP_ADD, k.at, KEYS / 2, most, answers), tally.changed);
    assert_memory_equal(answers, wanted, KEYS / 2);
    assert_same_bits(&s, twin);
    const size_t present = bly_filter_contains_many(twin, k.at, KEYS, wanted);
    assert_int_equal(carry_out(&s, BLY_BITMAP_CONTAINS, k.at, KEYS, most, answers), present);
    assert_memory_equal(answers, wanted, KEYS);
    assert_ok(bly_filter_add_many(twin, k.at, KEYS, wanted, &tally));
    assert_int_equal(carry_out(&s, BLY_BITMAP_ADD, k.at, KEYS, most, answers), tally.changed);
    assert_memory_equal(answers, wanted, KEYS);
    assert_same_bits(&s, twin);
    bly_filter_destroy(twin);
    stop(&s);
}

static void test_batches_do_what_a_filter_does(void **state) {
    (void)state;
    const struct {
        bly_kind kind;
        double rate;
        uint32_t shards, hashes;
    } shapes[] = {
        {BLY_SBBF, 0.01, 1, 8},       {BLY_SBBF, 0.01, 3, 8},      {BLY_SBBF, 0.1, 30, 8},
        {BLY_SPLIT512, 0.001, 1, 8},  {BLY_SPLIT512, 1e-4, 7, 12}, {BLY_SPLIT512, 1e-6, 2, 16},
        {BLY_SPLIT512, 1e-6, 90, 16},
    };
    const size_t mosts[] = {0, 1, 7, 100, KEYS, SIZE_MAX};
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (size_t j = 0; j < COUNT_OF(mosts); j++) {
            const bly_bitmap_spec spec = {.struct_size = sizeof spec,
                                          .capacity = 2000,
                                          .fpr = shapes[i].rate,
                                          .kind = shapes[i].kind,
                                          .seed = i,
                                          .shards = shapes[i].shards};
            bly_bitmap b;
            assert_ok(bly_bitmap_plan(&spec, &b));
            assert_int_equal(b.geometry.hashes, shapes[i].hashes);
            check_batches(&spec, mosts[j]);
        }
}

static void test_gozero_batches(void **state) {
    (void)state;
    static keys k;
    static uint8_t answers[KEYS];
    bly_bitmap b;
    assert_ok(bly_bitmap_gozero(100003, &b));
    server s = start(&b, "zero");
    fill_keys(&k, 5);
    size_t distinct = 0;
    assert_int_equal(carry_out(&s, BLY_BITMAP_CONTAINS, k.at, KEYS, 0, answers), 0);
    for (size_t i = 0; i < KEYS; i++)
        distinct += i % 4 != 3;
    assert_int_equal(carry_out(&s, BLY_BITMAP_ADD, k.at, KEYS, 100, answers), distinct);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(answers[i], i % 4 != 3);
    assert_int_equal(carry_out(&s, BLY_BITMAP_CONTAINS, k.at, KEYS, 0, answers), KEYS);
    stop(&s);
}

/* The test vector of docs/format.md, section 22. */
static void test_golden_entry(void **state) {
    (void)state;
    static const uint8_t entry[36] = {0xa9, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x01,
                                      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80,
                                      0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00,
                                      0x10, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x20};
    const bly_bitmap b = blyt_golden_bitmap();
    const bly_bytes key = blyt_text("bloomery");
    bly_bitmap_batch *batch;
    for (bly_bitmap_op what = BLY_BITMAP_ADD; what <= BLY_BITMAP_CONTAINS; what++) {
        assert_ok(bly_bitmap_batch_open(&b, blyt_text("crawl:seen"), what, &key, 1, 0, &batch));
        assert_int_equal(bly_bitmap_batch_count(batch), 1);
        const bly_bitmap_command *c = bly_bitmap_batch_command(batch, 0);
        assert_int_equal(c->key.size, strlen("crawl:seen:{2.0}"));
        assert_memory_equal(c->key.data, "crawl:seen:{2.0}", c->key.size);
        assert_int_equal(c->args[5].size, what == BLY_BITMAP_ADD ? sizeof entry : 4);
        assert_memory_equal(c->args[5].data, entry, c->args[5].size);
        bly_bitmap_batch_close(batch);
    }
}

static void test_batches_of_none(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 100, .fpr = 0.01};
    bly_bitmap b, zero;
    bly_bitmap_batch *batch;
    assert_ok(bly_bitmap_plan(&spec, &b));
    assert_ok(bly_bitmap_gozero(100, &zero));
    const bly_bitmap *const both[] = {&b, &zero};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(
            bly_bitmap_batch_open(both[i], blyt_text("n"), BLY_BITMAP_ADD, NULL, 0, 0, &batch));
        assert_int_equal(bly_bitmap_batch_count(batch), 0);
        bly_bitmap_batch_close(batch);
    }
    bly_bitmap_batch_close(NULL);
    const bly_bytes huge = {"", (size_t)1 << 29}, key = blyt_text("k");
    assert_int_equal(bly_bitmap_batch_open(&b, huge, BLY_BITMAP_ADD, &key, 1, 0, &batch),
                     BLY_EINVAL);
    assert_null(batch);
    assert_int_equal(
        bly_bitmap_batch_open(&b, blyt_text("n"), (bly_bitmap_op)3, &key, 1, 0, &batch),
        BLY_EINVAL);
    /* More keys than fit any memory; none of them is read. */
    assert_int_equal(
        bly_bitmap_batch_open(&b, blyt_text("n"), BLY_BITMAP_ADD, &key, SIZE_MAX / 16, 0, &batch),
        BLY_ENOMEM);
    assert_null(batch);
    b.hasher.one = NULL;
    assert_int_equal(bly_bitmap_batch_open(&b, blyt_text("n"), BLY_BITMAP_ADD, &key, 1, 0, &batch),
                     BLY_EKEY);
    assert_null(batch);
}

/* After a batch was opened, it needs neither the keys nor the name. The name may contain any
 * bytes. */
static void test_a_batch_stands_alone(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = 100, .fpr = 0.01, .shards = 2};
    bly_bitmap b;
    bly_bitmap_batch *batch;
    char *name = strdup("na\1me"), *bytes = strdup("key");
    bly_bytes *key = malloc(sizeof *key);
    assert_true(name && bytes && key);
    name[2] = 0;
    *key = (bly_bytes){bytes, 3};
    assert_ok(bly_bitmap_plan(&spec, &b));
    assert_ok(bly_bitmap_batch_open(&b, (bly_bytes){name, 5}, BLY_BITMAP_ADD, key, 1, 0, &batch));
    free(name);
    free(bytes);
    free(key);
    memset(&b, 0, sizeof b);
    const bly_bitmap_command *c = bly_bitmap_batch_command(batch, 0);
    assert_memory_equal(c->key.data, "na\0me", 5);
    uint8_t answer = 9;
    const bly_redis_value value = blyt_says("1", 1);
    assert_ok(bly_bitmap_batch_parse(batch, 0, &value, false, &answer, NULL, NULL));
    assert_int_equal(answer, BLY_YES);
    bly_bitmap_batch_close(batch);
}

/* ---- what is believed ------------------------------------------------------------------------ */

static bly_bitmap_batch *three_keys(const bly_bitmap *b, bly_bitmap_op what) {
    static const char *const words[] = {"a", "b", "c"};
    bly_bytes at[3];
    bly_bitmap_batch *batch;
    for (size_t i = 0; i < 3; i++)
        at[i] = blyt_text(words[i]);
    assert_ok(bly_bitmap_batch_open(b, blyt_text("n"), what, at, 3, 0, &batch));
    assert_int_equal(bly_bitmap_batch_count(batch), 1);
    return batch;
}

static void assert_no_answer(const bly_bitmap_batch *batch, bly_redis_value value,
                             bly_status wanted) {
    uint8_t answers[3] = {50, 51, 52};
    bly_redis_reason why = {""};
    size_t fresh = 60;
    assert_int_equal(bly_bitmap_batch_parse(batch, 0, &value, true, answers, &fresh, &why), wanted);
    assert_memory_equal(answers, "\62\63\64", 3);
    assert_int_equal(fresh, 60);
    assert_true(strlen(why.text) > 10);
    assert_int_equal(bly_bitmap_batch_parse(batch, 0, &value, true, answers, NULL, NULL), wanted);
}

static void test_answers_that_are_none(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 100, .fpr = 0.01};
    bly_bitmap native, zero;
    static const uint8_t bytes[200];
    assert_ok(bly_bitmap_plan(&spec, &native));
    assert_ok(bly_bitmap_gozero(100, &zero));
    for (unsigned i = 0; i < 4; i++) {
        const bly_bitmap_op what = i % 2 ? BLY_BITMAP_ADD : BLY_BITMAP_CONTAINS;
        bly_bitmap_batch *batch = three_keys(i < 2 ? &native : &zero, what);
        const bool blocks = i == 0;
        assert_no_answer(batch, (bly_redis_value){.type = BLY_REDIS_NIL}, BLY_ECORRUPT);
        assert_no_answer(batch, (bly_redis_value){.type = BLY_REDIS_INTEGER, .integer = 111},
                         BLY_ECORRUPT);
        assert_no_answer(batch, (bly_redis_value){.type = BLY_REDIS_ARRAY}, BLY_ECORRUPT);
        assert_no_answer(batch, (bly_redis_value){.type = (bly_redis_type)99}, BLY_ECORRUPT);
        assert_no_answer(batch, blyt_says("112", 3), BLY_ECORRUPT);
        assert_no_answer(batch, blyt_says("/10", 3), BLY_ECORRUPT);
        assert_no_answer(batch, blyt_says("\0\0\0", 3), BLY_ECORRUPT);
        for (size_t size = 0; size < sizeof bytes; size++)
            if (size != (blocks ? 96 : 3))
                assert_no_answer(batch, blyt_says(bytes, size), BLY_ECORRUPT);
        char ones[8] = "1111111";
        for (size_t size = 0; size < sizeof ones; size++)
            if (blocks || size != 3)
                assert_no_answer(batch, blyt_says(ones, size), BLY_ECORRUPT);
        assert_no_answer(batch, blyt_error("BLYMISSING there is"), BLY_EMISSING);
        assert_no_answer(batch, blyt_error("BLYOTHER the key"), BLY_EMISMATCH);
        assert_no_answer(batch, blyt_error("MOVED 1 h:1"), BLY_EREFUSED);
        assert_no_answer(batch, blyt_error("ERR whatever it was"), BLY_EREFUSED);
        bly_bitmap_batch_close(batch);
    }
}

static void test_repeated_commands(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 100, .fpr = 0.01};
    bly_bitmap b, zero;
    assert_ok(bly_bitmap_plan(&spec, &b));
    assert_ok(bly_bitmap_gozero(100, &zero));
    const bly_redis_value value = blyt_says("101", 3);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t answers[3];
        size_t fresh;
        bly_bitmap_batch *batch = three_keys(i ? &zero : &b, BLY_BITMAP_ADD);
        assert_ok(bly_bitmap_batch_parse(batch, 0, &value, false, answers, &fresh, NULL));
        assert_memory_equal(answers, "\1\0\1", 3);
        assert_int_equal(fresh, 2);
        assert_ok(bly_bitmap_batch_parse(batch, 0, &value, true, answers, &fresh, NULL));
        assert_memory_equal(answers, "\1\2\1", 3);
        assert_int_equal(fresh, 2);
        bly_bitmap_batch_fill(batch, 0, BLY_UNKNOWN, answers);
        assert_memory_equal(answers, "\3\3\3", 3);
        bly_bitmap_batch_close(batch);
    }
    /* A repeated lookup gives the same answers. */
    uint8_t answers[3];
    bly_bitmap_batch *batch = three_keys(&zero, BLY_BITMAP_CONTAINS);
    assert_ok(bly_bitmap_batch_parse(batch, 0, &value, true, answers, NULL, NULL));
    assert_memory_equal(answers, "\1\0\1", 3);
    bly_bitmap_batch_close(batch);
}

/* bly_bitmap_batch_fill changes the answers of one command only. All commands together cover all
 * keys. */
static void test_filling(void **state) {
    (void)state;
    static keys k;
    static uint8_t answers[KEYS];
    const bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = 3000, .fpr = 0.01, .shards = 5};
    bly_bitmap b;
    bly_bitmap_batch *batch;
    fill_keys(&k, 1);
    assert_ok(bly_bitmap_plan(&spec, &b));
    assert_ok(bly_bitmap_batch_open(&b, blyt_text("n"), BLY_BITMAP_ADD, k.at, KEYS, 100, &batch));
    size_t before = 0;
    memset(answers, BLY_NO, sizeof answers);
    for (size_t i = 0; i < bly_bitmap_batch_count(batch); i++) {
        size_t filled = 0;
        bly_bitmap_batch_fill(batch, i, BLY_YES, answers);
        for (size_t j = 0; j < KEYS; j++)
            filled += answers[j] == BLY_YES;
        assert_int_equal(filled - before, bly_bitmap_batch_command(batch, i)->args[5].size / 36);
        before = filled;
    }
    assert_int_equal(before, KEYS);
    bly_bitmap_batch_close(batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_do_what_a_filter_does),
        cmocka_unit_test(test_gozero_batches),
        cmocka_unit_test(test_golden_entry),
        cmocka_unit_test(test_batches_of_none),
        cmocka_unit_test(test_a_batch_stands_alone),
        cmocka_unit_test(test_answers_that_are_none),
        cmocka_unit_test(test_repeated_commands),
        cmocka_unit_test(test_filling),
    };
    return cmocka_run_group_tests_name("bitmap replies", tests, NULL, NULL);
}
