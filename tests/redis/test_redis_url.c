/* test_redis_url.c - URLs of servers: what valid URLs mean, and why others are invalid. */
#include "support.h"

#include <bloomery/redis/connection.h>

#ifdef BLYT_WITH_TLS
#define TLS_STATUS(status) status
#else
#define TLS_STATUS(status) BLY_EUNSUPPORTED
#endif

typedef struct good {
    const char *text, *host, *socket;
    unsigned port, database;
    const char *user, *password, *key; /* key NULL: none */
} good;

static const good goods[] = {
    {"redis://", "127.0.0.1", NULL, 6379, 0, NULL, NULL, NULL},
    {"redis://h", "h", NULL, 6379, 0, NULL, NULL, NULL},
    {"REDIS://h:1", "h", NULL, 1, 0, NULL, NULL, NULL},
    {"redis://h:65535/", "h", NULL, 65535, 0, NULL, NULL, NULL},
    {"redis:///key", "127.0.0.1", NULL, 6379, 0, NULL, NULL, "key"},
    {"redis://:7000/key", "127.0.0.1", NULL, 7000, 0, NULL, NULL, "key"},
    {"redis://h/2", "h", NULL, 6379, 2, NULL, NULL, NULL},
    {"redis://h/2/", "h", NULL, 6379, 2, NULL, NULL, NULL},
    {"redis://h/2/key", "h", NULL, 6379, 2, NULL, NULL, "key"},
    {"redis://h/0/2", "h", NULL, 6379, 0, NULL, NULL, "2"},
    {"redis://h/%32", "h", NULL, 6379, 0, NULL, NULL, "2"},
    {"redis://h/2/a/b", "h", NULL, 6379, 2, NULL, NULL, "a/b"},
    {"redis://h/a/b/", "h", NULL, 6379, 0, NULL, NULL, "a/b/"},
    {"redis://h/{user}:seen:x-2", "h", NULL, 6379, 0, NULL, NULL, "{user}:seen:x-2"},
    {"redis://h/a%20%2f%3F%23%25b", "h", NULL, 6379, 0, NULL, NULL, "a /?#%b"},
    {"redis://h?key=k", "h", NULL, 6379, 0, NULL, NULL, "k"},
    {"redis://h/?db=3&key=a%26b=c", "h", NULL, 6379, 3, NULL, NULL, "a&b=c"},
    {"redis://h/3?key=k", "h", NULL, 6379, 3, NULL, NULL, "k"},
    {"redis://h/k?db=2147483647", "h", NULL, 6379, 2147483647, NULL, NULL, "k"},
    {"redis://:secret@h/k", "h", NULL, 6379, 0, NULL, "secret", "k"},
    {"redis://me:secret@h:7/k", "h", NULL, 7, 0, "me", "secret", "k"},
    {"redis://me:@h/k", "h", NULL, 6379, 0, "me", "", "k"},
    {"redis://:@h/k", "h", NULL, 6379, 0, NULL, NULL, "k"},
    {"redis://m%40e:a@b:c%2F@h/k@l", "h", NULL, 6379, 0, "m@e", "a@b:c/", "k@l"},
    {"redis://[::1]/k", "::1", NULL, 6379, 0, NULL, NULL, "k"},
    {"redis://u:p@[fe80::1%25eth0]:7/k", "fe80::1%eth0", NULL, 7, 0, "u", "p", "k"},
    {"rediss://h/k", "h", NULL, 6379, 0, NULL, NULL, "k"},
    {"unix:///run/redis.sock", NULL, "/run/redis.sock", 0, 0, NULL, NULL, NULL},
    {"unix:///a%3fb?key=k&db=2", NULL, "/a?b", 0, 2, NULL, NULL, "k"},
    {"redis+unix://:pw@/s?key=k/l", NULL, "/s", 0, 0, NULL, "pw", "k/l"},
    {"Redis+Unix://u:pw@/s?", NULL, "/s", 0, 0, "u", "pw", NULL},
};

static void same_text(const char *a, const char *b) {
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_true(a == b);
}

static void test_addresses(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(goods); i++) {
        const good *g = &goods[i];
        bly_redis_url u;
        const char *why = NULL;
        assert_ok(bly_redis_url_parse(g->text, &why, &u));
        assert_null(why);
        same_text(u.host, g->host);
        same_text(u.socket, g->socket);
        same_text(u.user, g->user);
        same_text(u.password, g->password);
        same_text(u.key.data, g->key);
        assert_int_equal(u.key.size, g->key ? strlen(g->key) : 0);
        assert_int_equal(u.port, g->port);
        assert_int_equal(u.database, g->database);
        assert_int_equal(u.tls, strncmp(g->text, "rediss", 6) == 0);
        bly_redis_url_free(&u);
        bly_redis_url_free(&u);
        assert_null(u.host);
    }
}

static void test_a_key_may_be_any_bytes(void **state) {
    (void)state;
    bly_redis_url u;
    assert_ok(bly_redis_url_parse("redis://h/%00a%ff%00", NULL, &u));
    assert_int_equal(u.key.size, 4);
    assert_memory_equal(u.key.data, "\0a\xff", 4);
    bly_redis_url_free(&u);
}

static void test_tls(void **state) {
    (void)state;
    bly_redis_url u;
    assert_ok(bly_redis_url_parse("rediss://h/k?cacert=/a%20b&cert=c&certkey=d%26&servername=n&"
                                  "insecure=1&db=2",
                                  NULL, &u));
    assert_true(u.tls && u.insecure);
    assert_string_equal(u.cacert, "/a b");
    assert_string_equal(u.cert, "c");
    assert_string_equal(u.certkey, "d&");
    assert_string_equal(u.servername, "n");
    assert_int_equal(u.database, 2);
    bly_redis_url_free(&u);
    assert_ok(bly_redis_url_parse("rediss://h/k", NULL, &u));
    assert_true(u.tls && !u.insecure && !u.cacert && !u.cert && !u.certkey && !u.servername);
    bly_redis_url_free(&u);
}

static const struct {
    const char *text, *why; /* a part of the reason */
} bad_addresses[] = {
    {"", "must begin with"},
    {"host:6379/key", "must begin with"},
    {"http://h/k", "must begin with"},
    {"redi://h", "must begin with"},
    {"://h", "must begin with"},
    {"redis:/h", "must begin with"},
    {"redis://h:0/k", "port"},
    {"redis://h:65536/k", "port"},
    {"redis://h:99999999999/k", "port"},
    {"redis://h:/k", "port"},
    {"redis://h:x/k", "port"},
    {"redis://h:+1/k", "port"},
    {"redis://::1/k", "brackets"},
    {"redis://[::1/k", "brackets"},
    {"redis://[::1]x/k", "brackets"},
    {"redis://me@h/k", "USER:PASSWORD"},
    {"redis://h/k#x", "%23"},
    {"redis://h/2147483648/k", "database"},
    {"redis://h/99999999999/k", "database"},
    {"redis://h/k?db=x", "database"},
    {"redis://h/k?db=", "database"},
    {"redis://h/k?db", "known are db="},
    {"redis://h/k?color=red", "known are db="},
    {"redis://h/k?cacert=a", "rediss://"},
    {"unix:///s?insecure=1", "rediss://"},
    {"rediss://h/k?cacert=a&cacert=b", "twice"},
    {"rediss://h/k?insecure=1&insecure=1", "twice"},
    {"rediss://h/k?insecure=yes", "only be 1"},
    {"rediss://h/k?insecure=", "only be 1"},
    {"rediss://h/k?cacert=", "missing"},
    {"rediss://h/k?cert=a", "together"},
    {"rediss://h/k?certkey=a", "together"},
    {"rediss://h/k?servername=a%00b", "%00"},
    {"redis://h/2/k?db=3", "twice"},
    {"redis://h/k?key=l", "twice"},
    {"redis://h?key=k&key=l", "twice"},
    {"redis://h/%", "hexadecimal"},
    {"redis://h/%4", "hexadecimal"},
    {"redis://h/%4g", "hexadecimal"},
    {"redis://h/%g4", "hexadecimal"},
    {"redis://h%00/k", "%00"},
    {"redis://:a%00@h/k", "%00"},
    {"redis://a%00:b@h/k", "%00"},
    {"unix:///a%00b", "%00"},
    {"unix://", "slash"},
    {"unix:///", "slash"},
    {"unix://a/b", "slash"},
    {"unix://u:p@h/b", "slash"},
};

static void test_what_is_no_address(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_addresses); i++) {
        bly_redis_url u;
        const char *why = NULL;
        assert_int_equal(bly_redis_url_parse(bad_addresses[i].text, &why, &u), BLY_EINVAL);
        assert_non_null(why);
        if (!strstr(why, bad_addresses[i].why))
            fail_msg("'%s' is refused because: %s", bad_addresses[i].text, why);
        assert_null(u.block);
        assert_int_equal(bly_redis_url_parse(bad_addresses[i].text, NULL, &u), BLY_EINVAL);
    }
}

/* Any text is parsed or refused without memory errors. */
static void test_any_text(void **state) {
    (void)state;
    static const char *const pieces[] = {"redis://", "unix://",   "%",     "%4",       "1",
                                         "/",        "?",         "&",     "db=",      "key=",
                                         "@",        ":",         "[",     "]",        "#",
                                         "a",        "rediss://", "cert=", "certkey=", "insecure=1",
                                         "%00",      "=",         "//",    "::",       "2",
                                         "\xff"};
    uint64_t dice = 1;
    for (int round = 0; round < 200000 / BLYT_SLOW; round++) {
        char text[128] = "";
        for (uint64_t n = blyt_next(&dice) % 10; n > 0; n--)
            (void)strcat(text, pieces[blyt_next(&dice) % COUNT_OF(pieces)]);
        char *exact = strdup(round % 2 ? text : strstr(text, "://") ? text : "redis://[");
        bly_redis_url u;
        if (bly_redis_url_parse(exact, NULL, &u) == BLY_OK)
            assert_true((u.host != NULL) != (u.socket != NULL));
        bly_redis_url_free(&u);
        free(exact);
    }
}

static void test_no_connection(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bly_status status;
    } none[] = {
        {"redis://127.0.0.1:1/k", BLY_EIO},
        {"unix:///nowhere/to/be/found.sock?key=k", BLY_EIO},
        {"rediss://127.0.0.1:1/k", TLS_STATUS(BLY_EIO)},
        {"rediss://127.0.0.1:1/k?cacert=/nowhere", TLS_STATUS(BLY_EINVAL)},
    };
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        bly_redis_url u;
        bly_redis_reason why = {""};
        bly_redis *r = (bly_redis *)&u; /* anything but NULL */
        assert_ok(bly_redis_url_parse(none[i].text, NULL, &u));
        bly_status want = bly_redis_available() ? none[i].status : (bly_status)BLY_EUNSUPPORTED;
        assert_int_equal(bly_redis_open(&u, NULL, &why, &r), want);
        assert_null(r);
        assert_true(strlen(why.text) > 10);
        assert_int_equal(bly_redis_open(&u, NULL, NULL, &r), want);
        bly_redis_url_free(&u);
    }
    bly_redis_close(NULL);
    bly_redis_reply_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses), cmocka_unit_test(test_a_key_may_be_any_bytes),
        cmocka_unit_test(test_tls),       cmocka_unit_test(test_what_is_no_address),
        cmocka_unit_test(test_any_text),  cmocka_unit_test(test_no_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
