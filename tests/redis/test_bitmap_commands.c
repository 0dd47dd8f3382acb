/* test_bitmap_commands.c - the scripts, and the commands that create, transfer and drop the shards
 * of a filter. */
#include "redis/bitmap_support.h"

#include "redis/bitmap/shard_keys.h"

#include <bloomery/redis/bitmap.h>

static void test_digests(void **state) {
    (void)state;
    bly_hasher sha1;
    for (size_t i = 0; i < BLYI_SCRIPTS; i++) {
        const char *script = blyi_scripts[i].text;
        assert_int_equal(strlen(blyi_scripts[i].digest), 40);
        for (const char *c = script; *c; c++)
            assert_true(*c == '\n' || (*c >= ' ' && *c < 127));
    }
    if (bly_hasher_init(&sha1, BLY_HASH_SHA1, 0) != BLY_OK)
        skip();
    for (size_t i = 0; i < BLYI_SCRIPTS; i++) {
        uint8_t digest[20];
        char hex[41] = "";
        assert_int_equal(
            bly_hash_digest(&sha1, blyi_scripts[i].text, strlen(blyi_scripts[i].text), digest), 20);
        for (size_t j = 0; j < sizeof digest; j++)
            (void)snprintf(hex + 2 * j, 3, "%02x", digest[j]);
        assert_string_equal(blyi_scripts[i].digest, hex);
    }
}

static void assert_arg(const bly_bitmap_command *c, size_t i, const char *wanted) {
    assert_true(i < c->count);
    assert_int_equal(c->args[i].size, strlen(wanted));
    assert_memory_equal(c->args[i].data, wanted, strlen(wanted));
}

/* Asserts that the command has `count` arguments and runs that script by EVALSHA with `keys` keys,
 * the first or second of which is the key that the command belongs to. */
static void assert_script(const bly_bitmap_command *c, blyi_script_id id, unsigned keys,
                          bool writes, size_t count) {
    assert_int_equal(c->count, count);
    assert_arg(c, 0, "EVALSHA");
    assert_arg(c, 1, blyi_scripts[id].digest);
    assert_arg(c, 2, keys == 1 ? "1" : keys == 2 ? "2" : "3");
    assert_int_equal(c->script.size, strlen(blyi_scripts[id].text));
    assert_memory_equal(c->script.data, blyi_scripts[id].text, c->script.size);
    const bly_bytes key = c->args[keys == 1 ? 3 : 4];
    assert_int_equal(c->key.size, key.size);
    assert_memory_equal(c->key.data, key.data, key.size);
    assert_int_equal(c->writes, writes);
    for (unsigned k = 1; k < keys; k++)
        assert_int_equal(bly_redis_slot(c->args[3]), bly_redis_slot(c->args[3 + k]));
}

static void assert_identity(const bly_bitmap_command *c, size_t i, const bly_bitmap *b,
                            uint32_t shard) {
    uint8_t head[BLY_BITMAP_HEAD];
    blyi_bitmap_head_encode(b, shard, false, head);
    assert_int_equal(c->args[i].size, BLYI_BITMAP_IDENTITY);
    assert_memory_equal(c->args[i].data, head, BLYI_BITMAP_IDENTITY);
}

static void check_create(const bly_bitmap *b, bly_bytes name, uint32_t s) {
    char key[64];
    uint8_t head[BLY_BITMAP_HEAD];
    bly_bitmap_command *c;
    (void)bly_bitmap_key(b, name, s, key, sizeof key);
    assert_ok(bly_bitmap_create(b, name, s, 1700000000000, &c));
    assert_script(c, BLYI_SCRIPT_CREATE, 1, true, 8);
    assert_arg(c, 3, key);
    blyi_bitmap_head_encode(b, s, false, head);
    assert_int_equal(head[BLYI_BITMAP_STATE_AT], s > 0);
    assert_int_equal(c->args[4].size, sizeof head);
    assert_memory_equal(c->args[4].data, head, sizeof head);
    assert_arg(c, 5, s < 2 ? "10816" : "10752"); /* 334 or 332 blocks of 32 bytes, and 128 */
    assert_arg(c, 6, "1700000000000");
    /* The memory that must be available: for the first shard, the bytes of all shards. */
    assert_arg(c, 7, s == 0 ? "32384" : s == 1 ? "10816" : "10752");
    bly_bitmap_command_free(c);
}

static void test_life_of_a_shard(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    const bly_bytes name = blyt_text("crawl:seen");
    for (uint32_t s = 0; s < b.shards; s++) {
        bly_bitmap_command *c;
        check_create(&b, name, s);

        assert_ok(bly_bitmap_expire(&b, name, s, UINT64_MAX, &c));
        assert_script(c, BLYI_SCRIPT_EXPIRE, 1, true, 6);
        assert_identity(c, 4, &b, s);
        assert_arg(c, 5, "9223372036854775807");
        bly_bitmap_command_free(c);

        assert_ok(bly_bitmap_drop(&b, name, s, &c));
        assert_script(c, BLYI_SCRIPT_DROP, 1, true, 5);
        assert_identity(c, 4, &b, s);
        bly_bitmap_command_free(c);

        assert_ok(blyi_bitmap_facts(&b, name, s, &c));
        assert_script(c, BLYI_SCRIPT_FACTS, 1, false, 5);
        assert_identity(c, 4, &b, s);
        bly_bitmap_command_free(c);
    }
}

static void test_life_of_a_filter(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    const bly_bytes name = blyt_text("crawl:seen");
    bly_bitmap_command *c;
    assert_ok(bly_bitmap_complete(&b, name, &c));
    assert_script(c, BLYI_SCRIPT_COMPLETE, 1, true, 5);
    assert_identity(c, 4, &b, 0);
    bly_bitmap_command_free(c);
    assert_ok(blyi_bitmap_drop_unfinished(&b, name, &c));
    assert_script(c, BLYI_SCRIPT_DROP, 1, true, 6);
    assert_identity(c, 4, &b, 0);
    assert_int_equal(c->args[5].size, 1);
    assert_memory_equal(c->args[5].data, "", 1);
    bly_bitmap_command_free(c);
    assert_ok(bly_bitmap_head_command(name, &c));
    assert_int_equal(c->count, 4);
    assert_arg(c, 0, "GETRANGE");
    assert_arg(c, 1, "crawl:seen");
    assert_arg(c, 2, "0");
    assert_arg(c, 3, "127");
    assert_int_equal(c->script.size, 0);
    assert_false(c->writes);
    bly_bitmap_command_free(c);
    bly_bitmap_command_free(NULL);
}

/* A filter with a single shard is complete as soon as it is created. */
static void test_alone_is_complete(void **state) {
    (void)state;
    const bly_bitmap_spec spec = {.struct_size = sizeof spec, .capacity = 100, .fpr = 0.01};
    const bly_bitmap b = blyt_bitmap_plan(&spec);
    bly_bitmap_command *c;
    assert_ok(bly_bitmap_create(&b, blyt_text("n"), 0, 0, &c));
    assert_int_equal(((const uint8_t *)c->args[4].data)[BLYI_BITMAP_STATE_AT], 1);
    assert_arg(c, 6, "0");
    bly_bitmap_command_free(c);
}

/* Checks the command that makes a sent shard visible. `replace`: 0: it may replace nothing; 1: any
 * filter; 2: only `old`. */
static void check_commit(const bly_bitmap *b, const bly_bitmap *old, uint32_t s, unsigned replace) {
    const bly_bytes name = blyt_text("crawl:seen");
    char key[64], arrival[64], parked[64];
    const blyi_commit how = {
        .count = 0x0102, .expire_at = 5, .replace = replace > 0, .old = replace > 1 ? old : NULL};
    const bool parks = s > 0 && replace > 0;
    const size_t at = parks ? 6 : 5;
    bly_bitmap_command *c;
    (void)bly_bitmap_key(b, name, s, key, sizeof key);
    (void)blyi_bitmap_staging_key(b, name, s, arrival, sizeof arrival);
    (void)blyi_bitmap_parking_key(b, name, s, parked, sizeof parked);
    assert_ok(blyi_bitmap_commit(b, name, s, &how, &c));
    assert_script(c, BLYI_SCRIPT_COMMIT, parks ? 3 : 2, true, at + 5);
    assert_arg(c, 3, arrival);
    assert_arg(c, 4, key);
    if (parks)
        assert_arg(c, 5, parked);
    assert_identity(c, at, b, s);
    assert_int_equal(c->args[at + 1].size, 9);
    assert_memory_equal(c->args[at + 1].data, "\2\1\0\0\0\0\0\0\1", 9);
    assert_arg(c, at + 2, "5");
    assert_arg(c, at + 3, replace ? "1" : "0");
    if (replace > 1 && s < old->shards)
        assert_identity(c, at + 4, old, s);
    else
        assert_arg(c, at + 4, "");
    bly_bitmap_command_free(c);
}

static void check_rollback(const bly_bitmap *b, uint32_t s, bool lasting) {
    const bly_bytes name = blyt_text("crawl:seen");
    char key[64], parked[64];
    bly_bitmap_command *c;
    (void)bly_bitmap_key(b, name, s, key, sizeof key);
    (void)blyi_bitmap_parking_key(b, name, s, parked, sizeof parked);
    assert_ok(blyi_bitmap_rollback(b, name, s, lasting, &c));
    assert_script(c, BLYI_SCRIPT_ROLLBACK, 2, true, 7);
    assert_arg(c, 3, parked);
    assert_arg(c, 4, key);
    assert_identity(c, 5, b, s);
    assert_arg(c, 6, lasting ? "1" : "0");
    bly_bitmap_command_free(c);

    assert_ok(blyi_bitmap_drop_parked(b, name, s, &c));
    assert_int_equal(c->count, 2);
    assert_arg(c, 0, "UNLINK");
    assert_arg(c, 1, parked);
    assert_true(c->writes && c->script.size == 0);
    bly_bitmap_command_free(c);
}

/* The shards of a filter are committed one by one, the first shard last. Its commit replaces the
 * old filter in one step. The commits before it park the strings that they replace, so that they
 * can be rolled back. */
static void test_commit_and_rollback(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    bly_bitmap old = b;
    old.stamp = 7;
    old.shards = 2;
    for (uint32_t s = 0; s < b.shards; s++)
        for (unsigned replace = 0; replace < 3; replace++) {
            check_commit(&b, &old, s, replace);
            check_rollback(&b, s, replace == 1);
        }
}

static void test_a_whole_filter_on_its_way(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    const bly_bytes name = blyt_text("crawl:seen");
    const char data[] = "0123456789";
    bly_bitmap_command *c;
    for (uint32_t s = 0; s < b.shards; s++) {
        char key[64], arrival[64];
        (void)bly_bitmap_key(&b, name, s, key, sizeof key);
        (void)blyi_bitmap_staging_key(&b, name, s, arrival, sizeof arrival);
        assert_ok(blyi_bitmap_stage(&b, name, s, &c));
        assert_script(c, BLYI_SCRIPT_STAGE, 1, true, 7);
        assert_arg(c, 3, arrival);
        assert_arg(c, 5, s < 2 ? "10816" : "10752");
        assert_arg(c, 6, s == 0 ? "32384" : s == 1 ? "10816" : "10752");
        bly_bitmap_command_free(c);
        assert_ok(blyi_bitmap_write(&b, name, s, 1000, blyt_text(data), &c));
        assert_script(c, BLYI_SCRIPT_WRITE, 1, true, 7);
        assert_arg(c, 3, arrival);
        assert_identity(c, 4, &b, s);
        assert_arg(c, 5, "1128");
        assert_arg(c, 6, data);
        assert_ptr_not_equal(c->args[6].data, data);
        bly_bitmap_command_free(c);
        assert_ok(blyi_bitmap_drop_staged(&b, name, s, &c));
        assert_script(c, BLYI_SCRIPT_DROP, 1, true, 5);
        assert_arg(c, 3, arrival);
        assert_identity(c, 4, &b, s);
        bly_bitmap_command_free(c);
        assert_ok(blyi_bitmap_read(&b, name, s, 32, 64, &c));
        assert_script(c, BLYI_SCRIPT_READ, 1, false, 7);
        assert_arg(c, 3, key);
        assert_identity(c, 4, &b, s);
        assert_arg(c, 5, "160");
        assert_arg(c, 6, "223");
        bly_bitmap_command_free(c);
    }
}

static void test_bytes_that_a_shard_does_not_have(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    const bly_bytes name = blyt_text("n");
    const uint64_t all = bly_bitmap_shard_bytes(&b, 2) - BLY_BITMAP_HEAD;
    static const uint8_t data[20000];
    bly_bitmap_command *c;
    const struct {
        uint64_t at;
        size_t size;
        bool good;
    } rows[] = {
        {0, (size_t)all, true}, {0, (size_t)all + 1, false}, {all, 1, false},
        {all - 1, 1, true},     {UINT64_MAX, 2, false},      {1, SIZE_MAX, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bly_status wanted = rows[i].good ? BLY_OK : BLY_EINVAL;
        assert_int_equal(
            blyi_bitmap_write(&b, name, 2, rows[i].at, (bly_bytes){data, rows[i].size}, &c),
            wanted);
        assert_int_equal(c != NULL, rows[i].good);
        bly_bitmap_command_free(c);
        assert_int_equal(blyi_bitmap_read(&b, name, 2, rows[i].at, rows[i].size, &c), wanted);
        assert_int_equal(c != NULL, rows[i].good);
        bly_bitmap_command_free(c);
    }
    assert_int_equal(blyi_bitmap_read(&b, name, 2, 0, 0, &c), BLY_EINVAL);
}

static void test_commands_that_cannot_be(void **state) {
    (void)state;
    const bly_bitmap b = blyt_golden_bitmap();
    static const char bytes[(1 << 16) + 64];
    const bly_bytes name = blyt_text("n"), huge = {bytes, (1 << 16) + 1}, most = {bytes, 1 << 16};
    const blyi_commit landing = {.replace = true};
    bly_bitmap zero;
    bly_bitmap_command *c;
    assert_ok(bly_bitmap_gozero(1000, &zero));
#define REFUSED(call, status)                                                                      \
    do {                                                                                           \
        c = (bly_bitmap_command *)(void *)&zero;                                                   \
        assert_int_equal(call, status);                                                            \
        assert_null(c);                                                                            \
    } while (0)
    REFUSED(bly_bitmap_create(&b, name, 3, 0, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_expire(&b, name, 3, 0, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_drop(&b, name, UINT32_MAX, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_facts(&b, name, 3, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_stage(&b, name, 3, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_commit(&b, name, 3, &landing, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_rollback(&b, name, 3, true, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_drop_parked(&b, name, 3, &c), BLY_EINVAL);
    REFUSED(blyi_bitmap_drop_staged(&b, name, 3, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_create(&b, huge, 0, 0, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_complete(&b, huge, &c), BLY_EINVAL);
    REFUSED(bly_bitmap_head_command(((bly_bytes){bytes, sizeof bytes}), &c), BLY_EINVAL);
    REFUSED(bly_bitmap_create(&zero, name, 0, 0, &c), BLY_EUNSUPPORTED);
    REFUSED(bly_bitmap_complete(&zero, name, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_stage(&zero, name, 0, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_write(&zero, name, 0, 0, name, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_commit(&zero, name, 0, &landing, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_rollback(&zero, name, 0, true, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_drop_parked(&zero, name, 0, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_drop_unfinished(&zero, name, &c), BLY_EUNSUPPORTED);
    REFUSED(blyi_bitmap_read(&zero, name, 0, 0, 1, &c), BLY_EUNSUPPORTED);
#undef REFUSED
    for (uint32_t s = 0; s < b.shards; s++) {
        assert_ok(bly_bitmap_create(&b, most, s, 0, &c));
        const bly_bytes key = c->key;
        bly_bitmap_command *look;
        assert_ok(bly_bitmap_head_command(key, &look));
        bly_bitmap_command_free(look);
        bly_bitmap_command_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_life_of_a_shard),
        cmocka_unit_test(test_life_of_a_filter),
        cmocka_unit_test(test_alone_is_complete),
        cmocka_unit_test(test_commit_and_rollback),
        cmocka_unit_test(test_a_whole_filter_on_its_way),
        cmocka_unit_test(test_bytes_that_a_shard_does_not_have),
        cmocka_unit_test(test_commands_that_cannot_be),
    };
    return cmocka_run_group_tests_name("bitmap commands", tests, NULL, NULL);
}
