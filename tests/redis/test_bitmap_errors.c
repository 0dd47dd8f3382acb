/* test_bitmap_errors.c - error replies of servers of several versions: what they mean for a filter,
 * and the node to which a redirection points. */
#include "redis/bitmap_support.h"

#include <bloomery/redis/bitmap.h>

/* Error texts of servers of several versions, and how each is understood. */
static const struct {
    const char *words;
    bly_redis_verdict verdict;
    bly_status status;
    const char *reason; /* a part of it */
} errors[] = {
    {"BLYMISSING there is no such filter", BLY_REDIS_REFUSED, BLY_EMISSING, "create it again"},
    {"BLYMISSING", BLY_REDIS_REFUSED, BLY_EMISSING, "create it again"},
    {"BLYOTHER the key holds something else", BLY_REDIS_REFUSED, BLY_EMISMATCH, "open it again"},
    {"BLYEXISTS there is", BLY_REDIS_REFUSED, BLY_EEXISTS, "another key"},
    {"BLYGONE what was sent", BLY_REDIS_REFUSED, BLY_EMISSING, "send it again"},
    {"BLYRIVAL somebody", BLY_REDIS_REFUSED, BLY_EMISMATCH, "then send again"},
    {"NOSCRIPT No matching script. Please use EVAL.", BLY_REDIS_NO_SCRIPT, BLY_EREFUSED, "EVAL"},
    {"MOVED 3999 127.0.0.1:6381", BLY_REDIS_MOVED, BLY_EREFUSED, "cluster"},
    {"ASK 3999 127.0.0.1:6381", BLY_REDIS_ASK, BLY_EREFUSED, "cluster"},
    {"LOADING Redis is loading the dataset in memory", BLY_REDIS_LATER, BLY_EREFUSED, "loading"},
    {"TRYAGAIN Multiple keys request during rehashing of slot", BLY_REDIS_LATER, BLY_EREFUSED,
     "try again"},
    {"CLUSTERDOWN Hash slot not served", BLY_REDIS_LATER, BLY_EREFUSED, "CLUSTER INFO"},
    {"CLUSTERDOWN The cluster is down", BLY_REDIS_LATER, BLY_EREFUSED, "CLUSTER INFO"},
    {"MASTERDOWN Link with MASTER is down", BLY_REDIS_LATER, BLY_EREFUSED, "master"},
    {"BUSY Redis is busy running a script.", BLY_REDIS_LATER, BLY_EREFUSED, "SCRIPT KILL"},
    {"READONLY You can't write against a read only replica. script: 12, on @user_script:9.",
     BLY_REDIS_LATER, BLY_EREFUSED, "master"},
    {"ERR Error running script (call to f_12): @user_script:9: @user_script: 9: -READONLY You "
     "can't "
     "write against a read only replica.",
     BLY_REDIS_LATER, BLY_EREFUSED, "master"},
    {"NOREPLICAS Not enough good replicas to write.", BLY_REDIS_LATER, BLY_EREFUSED, "replicas"},
    {"ERR max number of clients reached", BLY_REDIS_LATER, BLY_EREFUSED, "maxclients"},
    {"WRONGTYPE Operation against a key holding the wrong kind of value", BLY_REDIS_REFUSED,
     BLY_EREFUSED, "another key"},
    {"ERR Error running script (call to f_12): @user_script:2: WRONGTYPE Operation against a key "
     "holding the wrong kind of value",
     BLY_REDIS_REFUSED, BLY_EREFUSED, "another key"},
    {"NOAUTH Authentication required.", BLY_REDIS_REFUSED, BLY_EREFUSED, "password"},
    {"WRONGPASS invalid username-password pair or user is disabled.", BLY_REDIS_REFUSED,
     BLY_EREFUSED, "password"},
    {"NOPERM this user has no permissions to run the 'evalsha' command", BLY_REDIS_REFUSED,
     BLY_EREFUSED, "ACL"},
    {"ERR The user executing the script can't run this command or subcommand script: 106e, on "
     "@user_script:21.",
     BLY_REDIS_REFUSED, BLY_EREFUSED, "subcommand; the user needs"},
    {"OOM command not allowed when used memory > 'maxmemory'. script: 12", BLY_REDIS_REFUSED,
     BLY_EREFUSED, "'maxmemory'; the server is out of"},
    {"ERR Error running script (call to f_12): @user_script:9: @user_script: 9: -OOM command not "
     "allowed when used memory > 'maxmemory'.",
     BLY_REDIS_REFUSED, BLY_EREFUSED, "nothing was added"},
    {"MISCONF Redis is configured to save RDB snapshots", BLY_REDIS_REFUSED, BLY_EREFUSED, "disk"},
    {"CROSSSLOT Keys in request don't hash to the same slot", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "slots"},
    {"ERR string exceeds maximum allowed size (proto-max-bulk-len)", BLY_REDIS_REFUSED,
     BLY_EREFUSED, "more shards"},
    {"ERR unknown command 'EVALSHA', with args beginning with: ", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "lacks a command"},
    {"ERR syntax error", BLY_REDIS_REFUSED, BLY_EREFUSED, "ERR syntax error"},
    {"SOMETHING new", BLY_REDIS_REFUSED, BLY_EREFUSED, "SOMETHING new"},
    {"", BLY_REDIS_REFUSED, BLY_EREFUSED, "without a reason"},
    /* A known word counts only at the beginning, or inside the wrapped error of a script. */
    {"ERR the MOVED of yesterday", BLY_REDIS_REFUSED, BLY_EREFUSED, "ERR the MOVED"},
    {"MOVEDX 1 h:1", BLY_REDIS_REFUSED, BLY_EREFUSED, "MOVEDX"},
    {"BUSYGROUP Consumer Group name already exists", BLY_REDIS_REFUSED, BLY_EREFUSED, "BUSYGROUP"},
    {"ERR Error running script (call to f_12): NOTBUSY at all", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "NOTBUSY"},
};

static void test_errors(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        const bly_redis_value value = blyt_error(errors[i].words);
        bly_redis_reason why = {""};
        assert_int_equal(bly_redis_classify(&value), errors[i].verdict);
        assert_int_equal(bly_bitmap_refusal(&value, &why), errors[i].status);
        assert_int_equal(bly_bitmap_refusal(&value, NULL), errors[i].status);
        if (!strstr(why.text, errors[i].reason))
            fail_msg("\"%s\" gives \"%s\"", errors[i].words, why.text);
        assert_true(strlen(why.text) < sizeof why.text - 1);
    }
}

static void test_what_is_no_error(void **state) {
    (void)state;
    for (bly_redis_type type = BLY_REDIS_NIL; type <= BLY_REDIS_ARRAY; type++) {
        const bly_redis_value value = {.type = type, .text = blyt_text("MOVED 1 h:1")};
        bly_redis_reason why = {"as before"};
        bly_redis_redirect place;
        if (type == BLY_REDIS_ERROR)
            continue;
        assert_int_equal(bly_redis_classify(&value), BLY_REDIS_DONE);
        assert_ok(bly_bitmap_refusal(&value, &why));
        assert_string_equal(why.text, "as before");
        assert_false(bly_redis_redirect_parse(&value, &place));
    }
}

/* However long an error text is and whatever it contains: the reason is cut to fit, ends with a
 * NUL, and has no control characters. */
static void test_words_of_any_length(void **state) {
    (void)state;
    static char words[2000];
    uint64_t seed = 4;
    for (size_t size = 0; size < sizeof words; size += size < 400 ? 1 : 37) {
        bly_redis_reason why;
        memset(&why, 'x', sizeof why);
        for (size_t i = 0; i < size; i++)
            words[i] = (char)blyt_next(&seed);
        if (size > 4 && size % 3 == 0)
            memcpy(words, "OOM ", 4);
        const bly_redis_value value = {.type = BLY_REDIS_ERROR, .text = {words, size}};
        assert_int_equal(bly_bitmap_refusal(&value, &why), BLY_EREFUSED);
        assert_non_null(memchr(why.text, 0, sizeof why.text));
        assert_true(strlen(why.text) > 0);
        for (const char *c = why.text; *c; c++)
            assert_true((uint8_t)*c >= ' ' && *c != 127);
    }
}

static void test_places(void **state) {
    (void)state;
    const struct {
        const char *words, *host; /* NULL: not a redirection */
        unsigned slot, port;
    } rows[] = {
        {"MOVED 3999 127.0.0.1:6381", "127.0.0.1", 3999, 6381},
        {"ASK 0 redis-7.example.com:65535", "redis-7.example.com", 0, 65535},
        {"MOVED 16383 ::1:7000", "::1", 16383, 7000},
        {"MOVED 16383 fe80::1:1", "fe80::1", 16383, 1},
        {"MOVED 5 :7000", "", 5, 7000},
        {"MOVED 5 h:7000 extra", NULL, 0, 0},
        {"MOVED 16384 h:1", NULL, 0, 0},
        {"MOVED 99999999999999999999 h:1", NULL, 0, 0},
        {"MOVED -1 h:1", NULL, 0, 0},
        {"MOVED 1 h:0", NULL, 0, 0},
        {"MOVED 1 h:65536", NULL, 0, 0},
        {"MOVED 1 h:99999999999999999999", NULL, 0, 0},
        {"MOVED 1 h:", NULL, 0, 0},
        {"MOVED 1 h:7x", NULL, 0, 0},
        {"MOVED 1 h", NULL, 0, 0},
        {"MOVED 1 ?:7000", NULL, 0, 0},
        {"MOVED 1 ", NULL, 0, 0},
        {"MOVED 1", NULL, 0, 0},
        {"MOVED  h:1", NULL, 0, 0},
        {"MOVED ", NULL, 0, 0},
        {"MOVED", NULL, 0, 0},
        {"ASK", NULL, 0, 0},
        {"ASK 1 a b:7", NULL, 0, 0},
        {"", NULL, 0, 0},
        {"LOADING 1 h:1", NULL, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        /* A copy in a block of exactly its size, so that a sanitizer reports reads past its end. */
        const size_t size = strlen(rows[i].words);
        char *exact = malloc(size ? size : 1);
        assert_non_null(exact);
        memcpy(exact, rows[i].words, size);
        const bly_redis_value value = {.type = BLY_REDIS_ERROR, .text = {exact, size}};
        bly_redis_redirect place = {.slot = 7, .port = 8};
        assert_int_equal(bly_redis_redirect_parse(&value, &place), rows[i].host != NULL);
        assert_int_equal(place.slot, rows[i].host ? rows[i].slot : 7);
        assert_int_equal(place.port, rows[i].host ? rows[i].port : 8);
        if (rows[i].host) {
            assert_int_equal(place.host.size, strlen(rows[i].host));
            assert_memory_equal(place.host.data, rows[i].host, place.host.size);
        }
        free(exact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_what_is_no_error),
        cmocka_unit_test(test_words_of_any_length),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests_name("bitmap errors", tests, NULL, NULL);
}
