/* test_slot_map.c - the slot map of a cluster: valid and invalid replies to CLUSTER SLOTS, and
 * nodes that are added and removed. */
#include "support.h"

#include "redis/cluster/slot_map.h"

#include <bloomery/redis/connection.h>
#include <hiredis.h>

/* Parses a reply from the bytes that a server sends. */
static bly_redis_reply *reply_of(const char *text) {
    void *reply = NULL;
    redisReader *reader = redisReaderCreate();
    assert_non_null(reader);
    assert_int_equal(redisReaderFeed(reader, text, strlen(text)), REDIS_OK);
    assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
    assert_non_null(reply);
    redisReaderFree(reader);
    return reply;
}

static bly_status read_text(blyi_slot_map *n, const char *text) {
    bly_redis_reply *reply = reply_of(text);
    bly_status status = blyi_slot_map_read(n, n->list[0], reply);
    bly_redis_reply_free(reply);
    return status;
}

static void make(const char *address, blyi_slot_map *n) {
    bly_redis_url u;
    assert_ok(bly_redis_url_parse(address, NULL, &u));
    assert_ok(blyi_slot_map_init(&u, n));
    bly_redis_url_free(&u);
}

static void owned_by(const blyi_slot_map *n, unsigned slot, const char *name) {
    assert_string_equal(blyi_slot_map_owner(n, slot)->address.name, name);
}

#define BULK(n, text)       "$" #n "\r\n" text "\r\n"
#define RANGE(first, last)  "*3\r\n:" #first "\r\n:" #last "\r\n"
#define NODE(n, host, port) "*2\r\n" BULK(n, host) ":" #port "\r\n"

/* A valid reply: three ranges of slots, whose nodes have ids, metadata and replicas. */
static const char three[] = "*3\r\n"
                            "*4\r\n:0\r\n:5460\r\n"
                            "*4\r\n$8\r\n10.0.0.1\r\n:7000\r\n$2\r\nid\r\n*0\r\n"
                            "*4\r\n$8\r\n10.0.0.2\r\n:7003\r\n$2\r\nid\r\n*0\r\n"
                            "*3\r\n:5461\r\n:10922\r\n"
                            "*4\r\n$1\r\nb\r\n:7001\r\n$2\r\nid\r\n*2\r\n$2\r\nip\r\n$1\r\n1\r\n"
                            "*3\r\n:10923\r\n:16383\r\n*3\r\n$3\r\n::1\r\n:7002\r\n$2\r\nid\r\n";

static void test_a_map(void **state) {
    (void)state;
    blyi_slot_map n;
    make("redis://way.in:7000", &n);
    owned_by(&n, 0, "way.in:7000");
    assert_false(n.cluster);
    assert_ok(read_text(&n, three));
    assert_true(n.cluster && !n.stale);
    assert_int_equal(n.count, 4);
    owned_by(&n, 0, "10.0.0.1:7000");
    owned_by(&n, 5460, "10.0.0.1:7000");
    owned_by(&n, 5461, "b:7001");
    owned_by(&n, 10922, "b:7001");
    owned_by(&n, 10923, "[::1]:7002");
    owned_by(&n, 16383, "[::1]:7002");
    assert_int_equal(n.list[0]->address.port, 7000);
    blyi_slot_map_free(&n);
    blyi_slot_map_free(&n);
}

static void test_hosts_that_are_not_known(void **state) {
    (void)state;
    static const char unknown[] = "*4\r\n" RANGE(0, 9) NODE(0, "", 7001) RANGE(10, 19)
        NODE(1, "?", 7002) RANGE(20, 29) "*2\r\n$-1\r\n:7003\r\n" RANGE(30, 39) NODE(1, "a", 0);
    blyi_slot_map n;
    make("redis://way.in:7000", &n);
    assert_ok(read_text(&n, unknown));
    owned_by(&n, 9, "way.in:7001");
    owned_by(&n, 10, "way.in:7002");
    owned_by(&n, 29, "way.in:7003");
    owned_by(&n, 30, "way.in:7000"); /* no node has this slot: use the URL's address */
    owned_by(&n, 16383, "way.in:7000");
    blyi_slot_map_free(&n);
    make("unix:///s", &n);
    assert_ok(read_text(&n, unknown));
    owned_by(&n, 9, "127.0.0.1:7001");
    owned_by(&n, 30, "/s");
    blyi_slot_map_free(&n);
}

static void test_nodes_come_and_go(void **state) {
    (void)state;
    blyi_slot_map n;
    blyi_node *moved = NULL, *asked = NULL, *again = NULL;
    make("redis://a:1", &n);
    assert_ok(
        read_text(&n, "*2\r\n" RANGE(0, 99) NODE(1, "b", 2) RANGE(100, 16383) NODE(1, "c", 3)));
    assert_ok(blyi_slot_map_find_node(&n, n.list[0], (bly_bytes){"d", 1}, 4, &moved));
    blyi_slot_map_moved(&n, 7, moved);
    assert_true(n.stale);
    owned_by(&n, 7, "d:4");
    owned_by(&n, 8, "b:2");
    assert_ok(blyi_slot_map_find_node(&n, n.list[0], (bly_bytes){"e", 1}, 5, &asked));
    assert_ok(blyi_slot_map_find_node(&n, n.list[0], (bly_bytes){"e", 1}, 5, &again));
    assert_ptr_equal(asked, again);
    assert_int_equal(n.count, 5);
    asked->wanted = true;
    /* b and c have no slots any more, d has all, and e is still marked as wanted. */
    assert_ok(read_text(&n, "*1\r\n" RANGE(0, 16383) NODE(1, "d", 4)));
    assert_int_equal(n.count, 3);
    owned_by(&n, 0, "d:4");
    assert_ptr_equal(blyi_slot_map_owner(&n, 0), moved);
    assert_ptr_equal(n.list[2], asked);
    assert_string_equal(n.list[0]->address.name, "a:1");
    /* If no node has slots, only the URL's address is known. */
    asked->wanted = false;
    assert_ok(read_text(&n, "*0\r\n"));
    assert_int_equal(n.count, 1);
    owned_by(&n, 0, "a:1");
    blyi_slot_map_free(&n);
}

static void test_what_is_no_map(void **state) {
    (void)state;
    static const char *const bad[] = {
        "-ERR This instance has cluster support disabled\r\n",
        "+OK\r\n",
        ":1\r\n",
        "$-1\r\n",
        "*1\r\n:0\r\n",
        "*1\r\n*0\r\n",
        "*1\r\n*2\r\n:0\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n:2\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n$1\r\na\r\n",
        "*1\r\n*3\r\n$1\r\n0\r\n:1\r\n" NODE(1, "a", 1),
        "*1\r\n*3\r\n:0\r\n$1\r\n1\r\n" NODE(1, "a", 1),
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n:1\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n",
        "*1\r\n" RANGE(-1, 1) NODE(1, "a", 1),
        "*1\r\n" RANGE(2, 1) NODE(1, "a", 1),
        "*1\r\n" RANGE(0, 16384) NODE(1, "a", 1),
        "*1\r\n" RANGE(0, 9223372036854775807) NODE(1, "a", 1),
        "*1\r\n" RANGE(0, 1) NODE(1, "a", 65536),
        "*1\r\n" RANGE(0, 1) NODE(1, "a", -1),
        "*2\r\n" RANGE(0, 1) NODE(1, "a", 1) RANGE(9, 8) NODE(1, "b", 2),
    };
    blyi_slot_map n;
    make("redis://way.in:7000", &n);
    assert_ok(read_text(&n, three));
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(read_text(&n, bad[i]), BLY_ECORRUPT);
        assert_int_equal(n.count, 4);
        owned_by(&n, 0, "10.0.0.1:7000");
        owned_by(&n, 16383, "[::1]:7002");
    }
    blyi_slot_map_free(&n);
}

/* Invalid hosts are refused: too long, or with a NUL inside. */
static void test_hosts_that_are_none(void **state) {
    (void)state;
    static const struct {
        size_t length;
        char filling;
        bly_status status;
    } hosts[] = {{255, 'a', BLY_OK}, {256, 'a', BLY_ECORRUPT}, {3, '\0', BLY_ECORRUPT}};
    for (size_t i = 0; i < COUNT_OF(hosts); i++) {
        char host[256], text[512];
        blyi_slot_map n;
        blyi_node *found;
        void *reply = NULL;
        redisReader *reader = redisReaderCreate();
        memset(host, hosts[i].filling, sizeof host);
        const int head =
            snprintf(text, sizeof text, "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$%zu\r\n", hosts[i].length);
        memcpy(text + head, host, hosts[i].length);
        memcpy(text + head + hosts[i].length, "\r\n:1\r\n", 6);
        assert_int_equal(redisReaderFeed(reader, text, (size_t)head + hosts[i].length + 6),
                         REDIS_OK);
        assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
        make("redis://a:1", &n);
        assert_int_equal(blyi_slot_map_read(&n, n.list[0], reply), hosts[i].status);
        assert_int_equal(
            blyi_slot_map_find_node(&n, n.list[0], (bly_bytes){host, hosts[i].length}, 9, &found),
            hosts[i].status);
        assert_int_equal(n.count, hosts[i].status ? 1 : 3);
        freeReplyObject(reply);
        redisReaderFree(reader);
        blyi_slot_map_free(&n);
    }
}

/* However many nodes a server reports, only a limited number is accepted. */
static void test_too_many(void **state) {
    (void)state;
    blyi_slot_map n;
    blyi_node *found = NULL;
    make("redis://a:1", &n);
    for (unsigned i = 1; i < BLYI_MAX_NODES; i++)
        assert_ok(blyi_slot_map_find_node(&n, n.list[0], (bly_bytes){"b", 1}, (uint16_t)i, &found));
    assert_int_equal(blyi_slot_map_find_node(&n, n.list[0], (bly_bytes){"c", 1}, 1, &found),
                     BLY_ETOOBIG);
    assert_null(found);
    assert_int_equal(read_text(&n, "*1\r\n" RANGE(0, 1) NODE(1, "c", 1)), BLY_ETOOBIG);
    assert_ok(read_text(&n, "*1\r\n" RANGE(0, 1) NODE(1, "b", 4095)));
    assert_int_equal(n.count, 2);
    blyi_slot_map_free(&n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_map),
        cmocka_unit_test(test_hosts_that_are_not_known),
        cmocka_unit_test(test_nodes_come_and_go),
        cmocka_unit_test(test_what_is_no_map),
        cmocka_unit_test(test_hosts_that_are_none),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
