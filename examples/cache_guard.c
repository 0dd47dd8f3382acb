/* cache_guard.c - protects a database from requests for keys that do not exist (cache penetration),
 * with Bloomery's module in Redis or Valkey.
 *
 *     cache_guard [PORT [KEY]]        a server on the loopback with bloomery.so loaded
 *     cc cache_guard.c $(pkg-config --cflags --libs hiredis)
 *
 * A shop looks products up in a cache and, if they are not there, in a database. An attacker
 * requests products that do not exist. They are never in the cache, so every such request reaches
 * the database. A filter that contains the existing products is looked up first, and rejects these
 * requests.
 *
 * The filter itself may be missing: it may be evicted, expired or not yet loaded, or its server may
 * be down. BF.EXISTS then returns 0, as if no product existed, and a guard that trusts this answer
 * rejects every customer. BLY.CHECK returns nil ("unknown") instead. This guard rejects a request
 * only if the answer is "no"; if it is unknown, the request passes (the guard fails open). */
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

/* ---- the database: products 1 .. PRODUCTS, slow to read ----------------------------------------
 */

static bool database_has(shop *s, unsigned product) {
    s->database_reads++;
    return product >= 1 && product <= PRODUCTS;
}

/* ---- the guard --------------------------------------------------------------------------------
 */

typedef enum verdict { SURELY_ABSENT, PERHAPS_PRESENT, CANNOT_KNOW } verdict;

/* Looks a product up in the filter. After an error or a lost connection the answer is unknown,
 * too. */
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

/* Adds all products to the filter, in batches of one command and one round trip each. (A real shop
 * must later add each new product.) */
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

/* Plays a day of requests. One request in ten is from a customer, for one of 500 popular products.
 * The others are from an attacker, for products that do not exist. */
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
