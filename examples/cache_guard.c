/* cache_guard.c - a guard against cache penetration, with Bloomery's module in Redis or Valkey.
 *
 *   cache_guard [PORT [KEY]]        a server on the loopback with bloomery.so loaded
 *
 * A shop looks its products up in a cache and, when they are not there, in a database. Somebody
 * asks for products that do not exist: none of those is ever cached, so every request reaches the
 * database. A filter of the products that do exist, asked first, stops them.
 *
 * The one thing to get right is what happens when the filter itself is gone: evicted, expired, not
 * yet loaded, or its server down. BF.EXISTS then says 0, as if no product existed, and a guard that
 * trusts it turns every customer away. BLY.CHECK says nil ("cannot know"), and so does this guard:
 * only a plain "no" rejects a request. It fails open.
 */
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCTS = 10000, REQUESTS = 20000, BATCH = 500 };

typedef struct shop {
    redisContext *redis;
    const char *filter;
    bool guarded;
    unsigned served, rejected, unknown_product, cache_hits, database_reads, open;
} shop;

/* ---- the database: products 1 .. PRODUCTS, slow to ask ----------------------------------------
 */

static bool database_has(shop *s, unsigned product) {
    s->database_reads++;
    return product >= 1 && product <= PRODUCTS;
}

/* ---- the guard --------------------------------------------------------------------------------
 */

typedef enum verdict { SURELY_ABSENT, PERHAPS_PRESENT, CANNOT_KNOW } verdict;

/* An error or a lost connection, too, is no reason to turn anybody away. */
static verdict guard(shop *s, unsigned product) {
    redisReply *r = redisCommand(s->redis, "BLY.CHECK %s product:%u", s->filter, product);
    verdict v = CANNOT_KNOW;
    if (r && r->type == REDIS_REPLY_ARRAY && r->elements == 1 &&
        r->element[0]->type == REDIS_REPLY_INTEGER)
        v = r->element[0]->integer ? PERHAPS_PRESENT : SURELY_ABSENT;
    if (r)
        freeReplyObject(r);
    return v;
}

/* Every product goes into the filter: at the start from the database, later whenever one is made.
 * A batch is one command and one round trip. */
static bool load_guard(shop *s) {
    redisReply *r = redisCommand(s->redis, "BLY.RESERVE %s KIND split512 CAPACITY %d ERROR 0.001",
                                 s->filter, PRODUCTS);
    bool good = r && r->type != REDIS_REPLY_ERROR;
    if (r && !good)
        fprintf(stderr, "cache_guard: %s\n", r->str);
    if (r)
        freeReplyObject(r);
    for (unsigned first = 1; good && first <= PRODUCTS; first += BATCH) {
        const char *argv[BATCH + 2] = {"BLY.ADD", s->filter};
        char names[BATCH][24];
        for (unsigned i = 0; i < BATCH; i++) {
            (void)snprintf(names[i], sizeof names[i], "product:%u", first + i);
            argv[i + 2] = names[i];
        }
        r = redisCommandArgv(s->redis, BATCH + 2, argv, NULL);
        good = r && r->type == REDIS_REPLY_ARRAY;
        if (r)
            freeReplyObject(r);
    }
    return good;
}

/* ---- a request --------------------------------------------------------------------------------
 */

static bool cached(shop *s, unsigned product) {
    redisReply *r = redisCommand(s->redis, "GET shop:product:%u", product);
    bool hit = r && r->type == REDIS_REPLY_STRING;
    if (r)
        freeReplyObject(r);
    return hit;
}

static void cache(shop *s, unsigned product) {
    redisReply *r = redisCommand(s->redis, "SET shop:product:%u page EX 60", product);
    if (r)
        freeReplyObject(r);
}

static void request(shop *s, unsigned product) {
    if (s->guarded) {
        verdict v = guard(s, product);
        if (v == SURELY_ABSENT) {
            s->rejected++;
            return;
        }
        s->open += v == CANNOT_KNOW;
    }
    if (cached(s, product)) {
        s->cache_hits++;
    } else if (database_has(s, product)) {
        cache(s, product);
    } else {
        s->unknown_product++;
        return;
    }
    s->served++;
}

/* ---- the day ----------------------------------------------------------------------------------
 */

/* One request in ten is a customer's, for one of 500 popular products; the rest are an attacker's,
 * for products that do not exist. */
static void day(shop *s, const char *what) {
    uint64_t state = 1;
    s->served = s->rejected = s->unknown_product = s->cache_hits = s->database_reads = s->open = 0;
    for (unsigned i = 0; i < REQUESTS; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        unsigned dice = (unsigned)(state >> 33);
        request(s, i % 10 == 0 ? 1 + dice % 500 : PRODUCTS + 1 + dice % 1000000);
    }
    printf("%-22s served %u, rejected %u, database reads %u, let through unchecked %u\n", what,
           s->served, s->rejected, s->database_reads, s->open);
}

int main(int argc, char **argv) {
    shop s = {.filter = argc > 2 ? argv[2] : "guard:products"};
    s.redis = redisConnect("127.0.0.1", argc > 1 ? atoi(argv[1]) : 6379);
    if (!s.redis || s.redis->err) {
        fprintf(stderr, "cache_guard: no server: %s\n", s.redis ? s.redis->errstr : "no memory");
        return 2;
    }
    day(&s, "without a guard:");
    if (!load_guard(&s)) {
        fprintf(stderr,
                "cache_guard: cannot fill the filter; is bloomery.so loaded, and the key "
                "\"%s\" free?\n",
                s.filter);
        return 2;
    }
    s.guarded = true;
    day(&s, "guarded:");
    redisReply *r = redisCommand(s.redis, "UNLINK %s", s.filter);
    if (r)
        freeReplyObject(r);
    day(&s, "the filter is evicted:");
    redisFree(s.redis);
    return 0;
}
