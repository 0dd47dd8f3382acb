/* penetration_guard.c - protects a database from requests for keys that do not exist (cache
 * penetration), on a plain Redis or Valkey server.
 *
 *     penetration_guard [URL [SECONDS]]       default: redis://127.0.0.1:6379/shop:products
 *     cc penetration_guard.c $(pkg-config --cflags --libs bloomery sqlite3)
 *
 * A shop looks products up in a cache, and in a database if they are not there. An attacker
 * requests products that do not exist. They are never in the cache, so every such request reaches
 * the database. A filter that contains the primary keys of the database is looked up first, and
 * rejects these requests:
 *
 *     request --> filter --no--> rejected
 *                   | yes, or unknown
 *                   v
 *                 cache --hit--> the page
 *                   | miss
 *                   v
 *                 database --> the page, into the cache; or "no such product"
 *
 * Two rules make the guard safe.
 *
 * A missing filter does not mean "no". The filter may be evicted or expired, or its server may be
 * down. Then all requests pass (the guard fails open), and the database has more to do until the
 * filter is back. The section "the guard" below has the code that every program needs for that.
 *
 * A filter must be complete, because an incomplete one rejects customers. So the filter is filled
 * before the guard is switched on. To replace it while customers are served, a new filter is built
 * in memory and pushed, so that it appears on the server only when it is complete. A new product
 * must be written to the database first, and then added to the filter; if the add fails, it must be
 * repeated. Products that were written while the new filter was built are added when it is in
 * place.
 *
 * The program plays four days with the same requests, and then more days for SECONDS, in which you
 * may stop the server, start it, delete the filter or replace it. It compares every page with the
 * correct one. The exit status is 1 if a page was wrong, and 2 if the program could not run. Pages
 * in the cache expire after a minute. */
#define _POSIX_C_SOURCE 200809L
#include <bloomery/bloomery.h>
#include <bloomery/redis/filter.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PRODUCTS = 20000, POPULAR = 1000, REQUESTS = 10000, BATCH = 4096, TEXT = 40 };
enum { PATIENCE_MS = 500, REST_MS = 1000, NIGHT_MS = 200 };

typedef struct guard {
    bly_redis_url url;
    bly_redis_filter *filter; /* NULL: not open */
    double rest;              /* no request is sent to the server before this time */
    bly_status status;        /* status of the last attempt; `why` is its reason */
    bly_redis_reason why;
} guard;

typedef struct shop {
    sqlite3 *database;
    sqlite3_stmt *find, *list;
    bly_redis *cache;  /* NULL: not open */
    double cache_rest; /* no request is sent to the cache before this time */
    guard guard;
    bool guarded;
    unsigned days, wrong;
    unsigned served, rejected, cache_hits, database_reads, false_positives, unchecked;
} shop;

static void need(bool good, const char *what, const char *why) {
    if (good)
        return;
    (void)fprintf(stderr, "penetration_guard: %s: %s\n", what, why);
    exit(2);
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the database -----------------------------------------------------------------------------
 * Every third number is a product. An id does not tell whether it is one. */

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

/* Reads the page of a product. Returns false if it has no page. */
static bool database_read(shop *s, int id, char page[TEXT]) {
    s->database_reads++;
    (void)sqlite3_bind_int(s->find, 1, id);
    bool found = sqlite3_step(s->find) == SQLITE_ROW;
    if (found)
        (void)snprintf(page, TEXT, "%s", (const char *)sqlite3_column_text(s->find, 0));
    (void)sqlite3_reset(s->find);
    return found;
}

/* Reads the next primary keys after *last, and writes them as decimal digits, which is the form in
 * which the filter contains them. */
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

/* ---- the guard --------------------------------------------------------------------------------
 * A handle that failed is closed, and opened again after a pause. That is right for every failure:
 * a server that is down (BLY_EIO), a filter that is missing (BLY_EMISSING), a server that refuses.
 * The pause protects the requests: without it each of them would wait for a server that does not
 * answer, with it only one per second does. A filter that was replaced (BLY_EMISMATCH) exists, so
 * it is opened at once. A handle is for one thread: a server with many threads has one guard in
 * each. */

static bool guard_ready(guard *g) {
    static const bly_redis_filter_options hurry = {.struct_size = sizeof hurry,
                                                   .connect_ms = PATIENCE_MS,
                                                   .command_ms = PATIENCE_MS,
                                                   .no_retry = true};
    if (!g->filter && now() >= g->rest) {
        g->status = bly_redis_filter_open(&g->url, NULL, &hurry, &g->why, &g->filter);
        if (g->status != BLY_OK)
            g->rest = now() + REST_MS / 1e3;
    }
    return g->filter != NULL;
}

/* Looks a key up in the filter. Returns BLY_NO only if the key is certainly absent, and BLY_UNKNOWN
 * if the filter gave no answer. */
static bly_answer guard_ask(guard *g, const char *key) {
    bly_answer answer;
    for (int attempt = 0; attempt < 2 && guard_ready(g); attempt++) {
        g->status = bly_redis_filter_contains(g->filter, key, strlen(key), BLY_UNKNOWN, &answer);
        if (g->status == BLY_OK)
            return answer;
        (void)snprintf(g->why.text, sizeof g->why.text, "%s", bly_redis_filter_error(g->filter));
        bly_redis_filter_close(g->filter);
        g->filter = NULL;
        g->rest = g->status == BLY_EMISMATCH ? 0 : now() + REST_MS / 1e3;
    }
    return BLY_UNKNOWN;
}

/* ---- the cache --------------------------------------------------------------------------------
 * A cache that does not answer counts as empty, with the same pause; the database is read. */

static bly_status cache_open(shop *s, bly_redis_reason *why) {
    static const bly_redis_options hurry = {.struct_size = sizeof hurry,
                                            .connect_ms = PATIENCE_MS,
                                            .command_ms = PATIENCE_MS,
                                            .follow_moved = true};
    return bly_redis_open(&s->guard.url, &hurry, why, &s->cache);
}

/* Sends a command to the cache. Returns the reply; NULL if there was none. */
static bly_redis_reply *cache_ask(shop *s, const char *const *words, size_t n) {
    bly_bytes args[8];
    bly_redis_reply *reply;
    for (size_t i = 0; i < n; i++)
        args[i] = (bly_bytes){words[i], strlen(words[i])};
    if (!s->cache && now() < s->cache_rest)
        return NULL;
    if ((s->cache || cache_open(s, NULL) == BLY_OK) &&
        bly_redis_command(s->cache, args, n, &reply) == BLY_OK)
        return reply;
    bly_redis_close(s->cache);
    s->cache = NULL;
    s->cache_rest = now() + REST_MS / 1e3;
    return NULL;
}

/* Returns the key of a page in the cache. It contains the number of the day, so every day starts
 * with an empty cache. */
static const char *cache_key(const shop *s, int id, char out[128]) {
    (void)snprintf(out, 128, "penetration_guard:%ld.%u:%d", (long)getpid(), s->days, id);
    return out;
}

static bool cache_read(shop *s, int id, char page[TEXT]) {
    char key[128];
    bly_redis_reply *reply = cache_ask(s, (const char *[]){"GET", cache_key(s, id, key)}, 2);
    bool hit = reply && bly_redis_reply_type(reply) == BLY_REDIS_TEXT;
    if (hit)
        (void)snprintf(page, TEXT, "%s", (const char *)bly_redis_reply_text(reply).data);
    bly_redis_reply_free(reply);
    s->cache_hits += hit;
    return hit;
}

static void cache_write(shop *s, int id, const char *page) {
    char key[128];
    const char *words[] = {"SET", cache_key(s, id, key), page, "EX", "60"};
    bly_redis_reply_free(cache_ask(s, words, 5));
}

/* ---- filling ------------------------------------------------------------------------------- */

static const bly_bitmap_spec plan = {
    .struct_size = sizeof plan, .capacity = PRODUCTS, .fpr = 0.001};

/* Adds all products after *last to the filter, thousands per round trip, and closes it. Returns
 * false if that failed; guard.why then has the reason. */
static bool add_products(shop *s, bly_redis_filter *f, int *last) {
    static char text[BATCH][TEXT];
    static bly_bytes keys[BATCH];
    static uint8_t answers[BATCH];
    bly_status status = BLY_OK;
    for (size_t n; status == BLY_OK && (n = next_keys(s, last, text, keys)) > 0;)
        status = bly_redis_filter_add_many(f, keys, n, BLY_UNKNOWN, answers, NULL);
    (void)snprintf(s->guard.why.text, sizeof s->guard.why.text, "%s", bly_redis_filter_error(f));
    bly_redis_filter_close(f);
    return status == BLY_OK;
}

/* Creates and fills the filter before the guard is switched on. */
static void load_filter(shop *s) {
    bly_redis_reason why;
    bly_redis_filter *f;
    int last = 0;
    bly_status status = bly_redis_filter_create(&s->guard.url, &plan, NULL, &why, &f);
    need(status == BLY_OK, "making the filter", why.text);
    need(add_products(s, f, &last), "filling the filter", s->guard.why.text);
}

/* Replaces the filter while customers are served. Only one process should do this, not every
 * process with a guard. Returns false if the server does not answer. */
static bool reload_filter(shop *s) {
    static char text[BATCH][TEXT];
    static bly_bytes keys[BATCH];
    bly_filter *made;
    bly_redis_filter *f;
    int last = 0;
    bly_status status = bly_filter_new(plan.capacity, plan.fpr, &made);
    for (size_t n; status == BLY_OK && (n = next_keys(s, &last, text, keys)) > 0;)
        status = bly_filter_add_many(made, keys, n, NULL, NULL);
    need(status == BLY_OK, "making the filter", bly_strerror(status));
    status =
        bly_redis_filter_push(made, &s->guard.url, NULL, true, NULL, NULL, NULL, &s->guard.why, &f);
    bly_filter_destroy(made);
    if (status != BLY_OK)
        return false;
    s->guard.rest = 0;
    return add_products(s, f, &last); /* products that were written while the filter was built */
}

/* Deletes the filter, as a server does that needs memory. The guard's handle is not informed. */
static bool evict_filter(shop *s) {
    bly_redis_filter *f;
    if (bly_redis_filter_open(&s->guard.url, NULL, NULL, &s->guard.why, &f) != BLY_OK)
        return false;
    bly_status status = bly_redis_filter_drop(f);
    bly_redis_filter_close(f);
    return status == BLY_OK;
}

/* ---- a request ----------------------------------------------------------------------------- */

/* Whether a request may pass: false only if the product certainly does not exist. */
static bool may_pass(shop *s, int id) {
    char key[TEXT];
    (void)snprintf(key, sizeof key, "%d", id);
    bly_answer answer = guard_ask(&s->guard, key);
    s->unchecked += answer == BLY_UNKNOWN;
    s->false_positives += answer == BLY_YES && !exists(id);
    return answer != BLY_NO;
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

/* Plays a day of requests. One in five is from a customer, for one of the popular products. The
 * others are from an attacker, for products that do not exist. */
static void day(shop *s, const char *what) {
    uint64_t dice = 1;
    s->days++;
    s->served = s->rejected = s->cache_hits = s->database_reads = 0;
    s->false_positives = s->unchecked = 0;
    for (unsigned i = 0; i < REQUESTS; i++) {
        dice = dice * 6364136223846793005U + 1442695040888963407U;
        int any = (int)(dice >> 33) % (i % 5 == 0 ? POPULAR : PRODUCTS);
        request(s, 3 * any + (i % 5 == 0 ? 1 : 2));
    }
    printf("%-20s %8u %12u %11u %15u %16u %10u\n", what, s->served, s->rejected, s->cache_hits,
           s->database_reads, s->false_positives, s->unchecked);
    if (s->unchecked > 0)
        printf("  (%s)\n", s->guard.why.text);
    (void)fflush(stdout);
}

/* Plays more days, whatever happens to the server. If the filter is missing, it is created
 * again. */
static void more_days(shop *s, double seconds) {
    for (double end = now() + seconds; now() < end && s->wrong == 0;) {
        day(s, "another day");
        if (s->guard.status == BLY_EMISSING && !reload_filter(s))
            printf("  (%s)\n", s->guard.why.text);
        (void)nanosleep(&(struct timespec){.tv_nsec = NIGHT_MS * 1000000L}, NULL);
    }
}

int main(int argc, char **argv) {
    static shop s;
    const char *text = argc > 1 ? argv[1] : "redis://127.0.0.1:6379/shop:products";
    const char *what = "give one that names a key, like redis://host/shop:products";
    bly_status status = bly_redis_url_parse(text, &what, &s.guard.url);
    need(argc <= 3 && status == BLY_OK && s.guard.url.key.data, "the address", what);
    bly_redis_reason why;
    need(cache_open(&s, &why) == BLY_OK, "no server", why.text);
    open_database(&s);

    printf("%-20s %8s %12s %11s %15s %16s %10s\n", "", "served", "rejected", "cache hits",
           "database reads", "false positives", "unchecked");
    day(&s, "without a guard");
    load_filter(&s);
    s.guarded = true;
    day(&s, "guarded");
    need(evict_filter(&s), "deleting the filter", s.guard.why.text);
    day(&s, "filter evicted");
    need(reload_filter(&s), "sending the filter", s.guard.why.text);
    day(&s, "filter reloaded");
    more_days(&s, argc > 2 ? atof(argv[2]) : 0);
    printf("wrong answers: %u of %u\n", s.wrong, s.days * REQUESTS);

    bly_redis_filter_close(s.guard.filter);
    (void)evict_filter(&s);
    bly_redis_close(s.cache);
    bly_redis_url_free(&s.guard.url);
    (void)sqlite3_finalize(s.find);
    (void)sqlite3_finalize(s.list);
    (void)sqlite3_close(s.database);
    return s.wrong == 0 ? 0 : 1;
}
