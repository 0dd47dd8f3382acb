/* penetration_guard.c - a guard against cache penetration on a plain Redis or Valkey: no module.
 *
 *     penetration_guard [URL]        redis://127.0.0.1:6379/shop:products, unless given
 *
 * A shop looks its products up in a cache, and those that are not there in a database. Somebody
 * asks for products that do not exist: none of them is ever cached, so every request reaches the
 * database. A filter of the database's primary keys, asked first, stops them:
 *
 *     request --> filter --no--> turned away
 *                   | yes, or not known
 *                   v
 *                 cache --hit--> the page
 *                   | miss
 *                   v
 *                 database --> the page, into the cache; or "no such product"
 *
 * Two things are to get right.
 *
 * The filter may be gone: evicted, expired, its server down. That is no "no". The guard asks with
 * BLY_YES for what is not known, so all requests pass: it fails open, and the database works harder
 * until the filter is back.
 *
 * A filter that is not full yet would turn customers away. So it is filled before the guard is
 * switched on; and when customers are about, it is made in memory and sent: it appears on the
 * server when it is whole. A product that is made later is written to the database first and added
 * to the filter then; what came between is added once the new filter is there.
 *
 * The program plays four days of the same requests, and compares every page with what it must be.
 * It ends with 1 if one was wrong, with 2 if it could not run.
 */
#include <bloomery/bloomery.h>
#include <bloomery/redis_filter.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PRODUCTS = 20000, POPULAR = 1000, REQUESTS = 10000, BATCH = 4096, TEXT = 40 };

typedef struct shop {
    sqlite3 *database;
    sqlite3_stmt *find, *list;
    bly_redis *cache;
    bly_redis_url url; /* of the filter */
    bly_redis_filter *guard;
    bool guarded;
    unsigned days;
    unsigned served, rejected, cache_hits, database_reads, false_positives, unchecked, wrong;
} shop;

static void need(bool good, const char *what, const char *why) {
    if (good)
        return;
    (void)fprintf(stderr, "penetration_guard: %s: %s\n", what, why);
    exit(2);
}

/* ---- the database -----------------------------------------------------------------------------
 * Every third number is a product's. Nobody can tell from an id whether it is. */

static bool exists(int id) {
    return id % 3 == 1 && id < 3 * PRODUCTS;
}

static void open_database(shop *s) {
    char fill[200];
    (void)snprintf(fill, sizeof fill,
                   "CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT);"
                   "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 3 FROM n LIMIT %d) "
                   "INSERT INTO product SELECT i, 'product ' || i FROM n",
                   (int)PRODUCTS);
    static const char find[] = "SELECT name FROM product WHERE id = ?";
    static const char list[] = "SELECT id FROM product WHERE id > ? ORDER BY id LIMIT ?";
    int bad = sqlite3_open(":memory:", &s->database);
    bad = bad ? bad : sqlite3_exec(s->database, fill, NULL, NULL, NULL);
    bad = bad ? bad : sqlite3_prepare_v2(s->database, find, -1, &s->find, NULL);
    bad = bad ? bad : sqlite3_prepare_v2(s->database, list, -1, &s->list, NULL);
    need(!bad, "the database", sqlite3_errstr(bad));
}

/* The page of a product; false: there is none. */
static bool database_read(shop *s, int id, char page[TEXT]) {
    s->database_reads++;
    (void)sqlite3_bind_int(s->find, 1, id);
    bool found = sqlite3_step(s->find) == SQLITE_ROW;
    if (found)
        (void)snprintf(page, TEXT, "%s", (const char *)sqlite3_column_text(s->find, 0));
    (void)sqlite3_reset(s->find);
    return found;
}

/* The next primary keys after *last, as the filter knows them: their decimal digits. */
static size_t next_keys(shop *s, int *last, char text[BATCH][TEXT], bly_bytes keys[BATCH]) {
    size_t n = 0;
    (void)sqlite3_bind_int(s->list, 1, *last);
    (void)sqlite3_bind_int(s->list, 2, BATCH);
    for (; n < BATCH && sqlite3_step(s->list) == SQLITE_ROW; n++) {
        *last = sqlite3_column_int(s->list, 0);
        int length = snprintf(text[n], TEXT, "%d", *last);
        keys[n] = (bly_bytes){text[n], (size_t)length};
    }
    (void)sqlite3_reset(s->list);
    return n;
}

/* ---- the cache ----------------------------------------------------------------------------- */

static bly_redis_reply *ask(shop *s, const char *const *words, size_t n) {
    bly_bytes args[8];
    bly_redis_reply *reply;
    for (size_t i = 0; i < n; i++)
        args[i] = (bly_bytes){words[i], strlen(words[i])};
    bly_status status = bly_redis_command(s->cache, args, n, &reply);
    need(status == BLY_OK, "the cache", bly_redis_why(s->cache));
    return reply;
}

/* Every day begins with an empty cache: its pages have keys of their own. */
static const char *cache_key(const shop *s, int id, char out[128]) {
    (void)snprintf(out, 128, "penetration_guard:%ld.%u:%d", (long)getpid(), s->days, id);
    return out;
}

static bool cache_read(shop *s, int id, char page[TEXT]) {
    char key[128];
    bly_redis_reply *reply = ask(s, (const char *[]){"GET", cache_key(s, id, key)}, 2);
    bool hit = bly_redis_reply_type(reply) == BLY_REDIS_TEXT;
    if (hit)
        (void)snprintf(page, TEXT, "%s", (const char *)bly_redis_reply_text(reply).data);
    bly_redis_reply_free(reply);
    s->cache_hits += hit;
    return hit;
}

static void cache_write(shop *s, int id, const char *page) {
    char key[128];
    const char *words[] = {"SET", cache_key(s, id, key), page, "EX", "60"};
    bly_redis_reply_free(ask(s, words, 5));
}

/* ---- the filter ---------------------------------------------------------------------------- */

static const bly_bitmap_spec plan = {.capacity = PRODUCTS, .fpr = 0.001};

/* No request waits for long: rather ask the database than a server that is silent. */
static void open_guard(shop *s) {
    static const bly_redis_filter_options hurry = {
        .connect_ms = 2000, .command_ms = 2000, .no_retry = true};
    bly_redis_reason why;
    bly_redis_filter_close(s->guard);
    bly_status status = bly_redis_filter_open(&s->url, NULL, &hurry, &why, &s->guard);
    need(status == BLY_OK, "opening the filter", why.text);
}

/* All products after *last, thousands in a round trip. */
static void add_products(shop *s, bly_redis_filter *f, int *last) {
    static char text[BATCH][TEXT];
    static bly_bytes keys[BATCH];
    static uint8_t answers[BATCH];
    for (size_t n; (n = next_keys(s, last, text, keys)) > 0;) {
        bly_status status = bly_redis_filter_add_many(f, keys, n, BLY_UNKNOWN, answers, NULL);
        need(status == BLY_OK, "filling the filter", bly_redis_filter_why(f));
    }
}

/* Before the guard is switched on. */
static void load_filter(shop *s) {
    bly_redis_reason why;
    bly_redis_filter *f;
    int last = 0;
    bly_status status = bly_redis_filter_create(&s->url, &plan, NULL, &why, &f);
    need(status == BLY_OK, "making the filter", why.text);
    add_products(s, f, &last);
    bly_redis_filter_close(f);
}

/* While customers are about. */
static void reload_filter(shop *s) {
    static char text[BATCH][TEXT];
    static bly_bytes keys[BATCH];
    bly_redis_reason why;
    bly_filter *made;
    bly_redis_filter *f;
    int last = 0;
    bly_status status = bly_blocked_create(plan.capacity, plan.fpr, &made);
    for (size_t n; status == BLY_OK && (n = next_keys(s, &last, text, keys)) > 0;)
        status = bly_filter_add_many(made, keys, n, NULL, NULL);
    need(status == BLY_OK, "making the filter", bly_strerror(status));
    status = bly_redis_filter_send(made, &s->url, NULL, true, NULL, NULL, NULL, &why, &f);
    need(status == BLY_OK, "sending the filter", why.text);
    add_products(s, f, &last); /* made since it was read */
    bly_redis_filter_close(f);
    bly_filter_destroy(made);
}

/* What a server does that is short of memory. The guard's own handle knows nothing of it. */
static void evict_filter(shop *s) {
    bly_redis_reason why;
    bly_redis_filter *f;
    bly_status status = bly_redis_filter_open(&s->url, NULL, NULL, &why, &f);
    need(status == BLY_OK, "opening the filter", why.text);
    status = bly_redis_filter_drop(f);
    need(status == BLY_OK, "deleting the filter", bly_redis_filter_why(f));
    bly_redis_filter_close(f);
}

/* ---- a request ----------------------------------------------------------------------------- */

/* Only a sure "no" turns somebody away. */
static bool may_pass(shop *s, int id) {
    char key[TEXT];
    bly_answer answer;
    int length = snprintf(key, sizeof key, "%d", id);
    if (bly_redis_filter_contains(s->guard, key, (size_t)length, BLY_YES, &answer) != BLY_OK)
        s->unchecked++;
    else if (answer == BLY_YES && !exists(id))
        s->false_positives++;
    return answer == BLY_YES;
}

static void request(shop *s, int id) {
    char page[TEXT] = "", wanted[TEXT] = "";
    if (s->guarded && !may_pass(s, id))
        s->rejected++;
    else if (!cache_read(s, id, page) && database_read(s, id, page))
        cache_write(s, id, page);
    if (exists(id))
        (void)snprintf(wanted, sizeof wanted, "product %d", id);
    s->served += page[0] != '\0';
    s->wrong += strcmp(page, wanted) != 0;
}

/* One request in five is a customer's, for one of the popular products; the others are an
 * attacker's. Returns the wrong answers. */
static unsigned day(shop *s, const char *what) {
    uint64_t dice = 1;
    s->days++;
    s->served = s->rejected = s->cache_hits = s->database_reads = 0;
    s->false_positives = s->unchecked = s->wrong = 0;
    for (unsigned i = 0; i < REQUESTS; i++) {
        dice = dice * 6364136223846793005U + 1442695040888963407U;
        int any = (int)(dice >> 33) % (i % 5 == 0 ? POPULAR : PRODUCTS);
        request(s, 3 * any + (i % 5 == 0 ? 1 : 2));
    }
    printf("%-20s %8u %12u %11u %15u %16u %10u\n", what, s->served, s->rejected, s->cache_hits,
           s->database_reads, s->false_positives, s->unchecked);
    return s->wrong;
}

int main(int argc, char **argv) {
    static shop s;
    const char *why = "give one that names a key, like redis://host/shop:products";
    bly_redis_reason reason;
    bly_status status = bly_redis_url_parse(
        argc > 1 ? argv[1] : "redis://127.0.0.1:6379/shop:products", &why, &s.url);
    need(argc <= 2 && status == BLY_OK && s.url.key.data, "the address", why);
    status = bly_redis_open(&s.url, &(bly_redis_options){.follow_moved = true}, &reason, &s.cache);
    need(status == BLY_OK, "no server", reason.text);
    open_database(&s);

    printf("%-20s %8s %12s %11s %15s %16s %10s\n", "", "served", "turned away", "cache hits",
           "database reads", "false positives", "unchecked");
    unsigned wrong = day(&s, "without a guard");
    load_filter(&s);
    open_guard(&s);
    s.guarded = true;
    wrong += day(&s, "guarded");
    evict_filter(&s);
    wrong += day(&s, "filter evicted");
    printf("  (%s)\n", bly_redis_filter_why(s.guard));
    reload_filter(&s);
    open_guard(&s);
    wrong += day(&s, "filter reloaded");
    printf("wrong answers: %u of %d\n", wrong, 4 * REQUESTS);

    bly_redis_filter_close(s.guard);
    evict_filter(&s);
    bly_redis_close(s.cache);
    bly_redis_url_free(&s.url);
    (void)sqlite3_finalize(s.find);
    (void)sqlite3_finalize(s.list);
    (void)sqlite3_close(s.database);
    return wrong == 0 ? 0 : 1;
}
