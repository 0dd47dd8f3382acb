/* redis_plain.c - filters on a plain server: batches beside one key per EVAL.
 *
 *     redis_plain [--keys N] [--rounds N] [--json FILE] URL
 *
 * The contender is the usual way, go-zero's: two scripts, sent as text with every key, 14 SETBIT or
 * GETBIT each, one key per command. Ours are batches in go-zero's form, which leave the same bits
 * behind, and in the native one. All have a filter of their own for N keys on the same server and
 * are half full before anything is timed. In a round they take turns, beginning with another each
 * time: each adds its share of the other half and then asks, in the same size of share, for keys
 * that are there and keys that are not, by turns. What counts is a round's ratio to the usual way
 * in that round, and of those the median.
 *
 * Every answer about a key that was added is checked; a missed one ends the program with 1. In the
 * end the keys that the usual way has added are looked for by ours, and the other way round.
 */
#include "bench.h"

#include <bloomery/redis/filter.h>
#include <getopt.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

enum { ADD, CHECK, ACTS };
enum {
    KEY_BYTES = 16,
    MAX_REDIS_ROUNDS = 31,
    LARGE = 8192, /* keys in a large batch */
    SINGLE = 8    /* what goes key by key takes so many times fewer */
};
static const char *const act_names[ACTS] = {"add", "check"};
static const double wanted = 8; /* times the usual way */

/* As go-zero has them. */
static const char set_script[] = "\n"
                                 "for _, offset in ipairs(ARGV) do\n"
                                 "\tredis.call(\"setbit\", KEYS[1], offset, 1)\n"
                                 "end\n";
static const char test_script[] =
    "\n"
    "for _, offset in ipairs(ARGV) do\n"
    "\tif tonumber(redis.call(\"getbit\", KEYS[1], offset)) == 0 then\n"
    "\t\treturn false\n"
    "\tend\n"
    "end\n"
    "return true\n";

typedef struct contender {
    const char *name;
    bly_kind kind; /* BLY_KIND_NONE: go-zero's form */
    double fpr;
    size_t batch; /* keys in one call; 0: the usual way, one per EVAL */
    bool judged;
    char key[32];
    bly_redis_filter *filter;
    uint64_t added;
    double rate[ACTS][MAX_REDIS_ROUNDS],
        cpu[ACTS][MAX_REDIS_ROUNDS]; /* keys per second; us per key */
    uint64_t calls[ACTS], trips[ACTS], commands[ACTS];
    uint64_t strangers, mistaken; /* asked for; found all the same */
} contender;

static contender contenders[] = {
    {.name = "one key per EVAL"},
    {.name = "go-zero, batches", .batch = LARGE},
    {.name = "sbbf 1%, one key a call", .kind = BLY_SBBF, .fpr = 0.01, .batch = 1},
    {.name = "sbbf 1%, small batches", .kind = BLY_SBBF, .fpr = 0.01, .batch = 512},
    {.name = "sbbf 1%, batches", .kind = BLY_SBBF, .fpr = 0.01, .batch = LARGE, .judged = true},
    {.name = "split512 0.1%, batches",
     .kind = BLY_SPLIT512,
     .fpr = 0.001,
     .batch = LARGE,
     .judged = true},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders };

typedef struct bench {
    uint64_t keys;
    unsigned rounds;
    const char *json;
    bly_redis_url url;
    redisContext *link; /* for the usual way, and to look at the server */
    keyset there, strange;
    bly_bytes *mixed;
    uint8_t *answers;
} bench;

void must(bool truth, const char *what) {
    if (truth)
        return;
    fprintf(stderr, "redis_plain: %s failed\n", what);
    exit(1);
}

/* ---- the usual way ------------------------------------------------------------------------- */

/* One key, one EVAL. Whether the answer is true. */
static bool eval(bench *b, const contender *c, const char *script, bly_bytes key) {
    const char *argv[4 + BLY_BITMAP_HASHES] = {"EVAL", script, "1", c->key};
    char digits[BLY_BITMAP_HASHES][24];
    uint64_t offsets[BLY_BITMAP_HASHES];
    bly_bitmap_gozero_offsets(20 * b->keys, key.data, key.size, offsets);
    for (size_t i = 0; i < BLY_BITMAP_HASHES; i++) {
        (void)snprintf(digits[i], sizeof digits[i], "%llu", (unsigned long long)offsets[i]);
        argv[4 + i] = digits[i];
    }
    redisReply *r = redisCommandArgv(b->link, 4 + BLY_BITMAP_HASHES, argv, NULL);
    must(r && (r->type == REDIS_REPLY_NIL || r->type == REDIS_REPLY_INTEGER), "EVAL");
    bool yes = r->type == REDIS_REPLY_INTEGER && r->integer == 1;
    freeReplyObject(r);
    return yes;
}

static void usual(bench *b, contender *c, int act, const bly_bytes *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        b->answers[i] = eval(b, c, act == ADD ? set_script : test_script, keys[i]);
    c->calls[act] += n;
    c->trips[act] += n;
}

/* ---- ours ---------------------------------------------------------------------------------- */

static void open_filter(bench *b, contender *c) {
    bly_redis_url url = b->url;
    bly_redis_reason why;
    bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = b->keys, .fpr = c->fpr, .kind = c->kind};
    (void)snprintf(c->key, sizeof c->key, "bench:%d", (int)(c - contenders));
    url.key = (bly_bytes){c->key, strlen(c->key)};
    bly_status status = c->kind == BLY_KIND_NONE
                            ? bly_redis_filter_gozero(&url, 20 * b->keys, NULL, &why, &c->filter)
                            : bly_redis_filter_create(&url, &spec, NULL, &why, &c->filter);
    if (status != BLY_OK)
        fprintf(stderr, "redis_plain: %s\n", why.text);
    must(status == BLY_OK, "making a filter");
}

static void batches(bench *b, contender *c, int act, const bly_bytes *keys, size_t n) {
    size_t batch = c->batch ? c->batch : LARGE;
    for (size_t at = 0; at < n; at += batch) {
        size_t some = n - at < batch ? n - at : batch;
        bly_redis_batch_result tally;
        bly_status status =
            (act == ADD ? bly_redis_filter_add_many : bly_redis_filter_contains_many)(
                c->filter, keys + at, some, BLY_UNKNOWN, b->answers + at, &tally);
        if (status != BLY_OK)
            fprintf(stderr, "redis_plain: %s\n", bly_redis_filter_error(c->filter));
        must(status == BLY_OK && tally.unsure == 0, "a batch");
        c->calls[act]++;
        c->trips[act] += tally.round_trips;
    }
}

/* ---- the server's own view ----------------------------------------------------------------- */

typedef struct view {
    uint64_t scripts; /* commands that ran one */
    double cpu;       /* seconds of its main thread */
} view;

static double figure(const char *text, const char *name) {
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

static view look(bench *b) {
    redisReply *r = redisCommand(b->link, "INFO everything");
    must(r && r->type == REDIS_REPLY_STRING, "INFO");
    bool threads = strstr(r->str, "used_cpu_user_main_thread:") != NULL;
    view v = {(uint64_t)(figure(r->str, "cmdstat_eval:calls=") +
                         figure(r->str, "cmdstat_evalsha:calls=")),
              threads ? figure(r->str, "used_cpu_user_main_thread:") +
                            figure(r->str, "used_cpu_sys_main_thread:")
                      : figure(r->str, "used_cpu_user:") + figure(r->str, "used_cpu_sys:")};
    freeReplyObject(r);
    return v;
}

/* ---- rounds -------------------------------------------------------------------------------- */

static void timed(bench *b, contender *c, int act, unsigned round, const bly_bytes *keys,
                  size_t n) {
    view before = look(b);
    double begin = seconds_now();
    if (c->batch == 0)
        usual(b, c, act, keys, n);
    else
        batches(b, c, act, keys, n);
    double took = seconds_now() - begin;
    view after = look(b);
    c->rate[act][round] = (double)n / took;
    c->cpu[act][round] = 1e6 * (after.cpu - before.cpu) / (double)n;
    c->commands[act] += after.scripts - before.scripts;
}

/* `n` keys of a contender: adds the next ones, and asks for as many, every other a stranger. */
static void turn(bench *b, contender *c, unsigned round, size_t n) {
    n = c->batch < 2 ? n / SINGLE : n;
    keys_make(&b->there, c->added, n);
    timed(b, c, ADD, round, b->there.keys, n);
    c->added += n;
    keys_make(&b->strange, MISS_KEYS + round * n, n);
    for (size_t i = 0; i < n; i++)
        b->mixed[i] = i % 2 ? b->strange.keys[i] : b->there.keys[i];
    timed(b, c, CHECK, round, b->mixed, n);
    for (size_t i = 0; i < n; i += 2)
        must(b->answers[i] == BLY_YES, "finding a key that was added");
    for (size_t i = 1; i < n; i += 2)
        c->mistaken += b->answers[i] == BLY_YES;
    c->strangers += n / 2;
}

static void fill(bench *b, contender *c) {
    for (uint64_t half = b->keys / 2; c->added < half;) {
        size_t n = half - c->added < CHUNK ? (size_t)(half - c->added) : CHUNK;
        keys_make(&b->there, c->added, n);
        batches(b, c, ADD, b->there.keys, n);
        c->added += n;
    }
    /* From now on the server knows all scripts. */
    batches(b, c, CHECK, b->there.keys, 1);
    memset(c->calls, 0, sizeof c->calls);
    memset(c->trips, 0, sizeof c->trips);
}

/* Both ways leave the same bits: what one has added, the other finds. */
static void cross_check(bench *b) {
    contender theirs = contenders[0], ours = contenders[1]; /* copies: nothing here is counted */
    size_t n = (size_t)(theirs.added < CHUNK ? theirs.added : CHUNK);
    keys_make(&b->there, theirs.added - n, n);
    batches(b, &theirs, CHECK, b->there.keys, n);
    for (size_t i = 0; i < n; i++)
        must(b->answers[i] == BLY_YES, "finding what the usual way has added");
    n = 1000;
    keys_make(&b->there, ours.added - n, n);
    usual(b, &ours, CHECK, b->there.keys, n);
    for (size_t i = 0; i < n; i++)
        must(b->answers[i] == BLY_YES, "finding in the usual way what a batch has added");
}

static void measure_all(bench *b) {
    size_t share = (size_t)(b->keys / 2 / b->rounds) / LARGE * LARGE;
    for (int i = 0; i < CONTENDERS; i++) {
        open_filter(b, &contenders[i]);
        fill(b, &contenders[i]);
    }
    for (unsigned round = 0; round < b->rounds; round++)
        for (unsigned i = 0; i < CONTENDERS; i++)
            turn(b, &contenders[(round + i) % CONTENDERS], round, share);
    cross_check(b);
    for (int i = 0; i < CONTENDERS; i++) {
        must(bly_redis_filter_drop(contenders[i].filter) == BLY_OK, "deleting a filter");
        bly_redis_filter_close(contenders[i].filter);
    }
}

/* ---- the report ---------------------------------------------------------------------------- */

/* Returns whether what was wanted of it holds. */
static bool report_row(const bench *b, const contender *c, int act, FILE *json) {
    double ratios[MAX_REDIS_ROUNDS];
    for (unsigned round = 0; round < b->rounds; round++)
        ratios[round] = c->rate[act][round] / contenders[0].rate[act][round];
    summary speed = summarise(c->rate[act], b->rounds), cpu = summarise(c->cpu[act], b->rounds);
    summary ratio = summarise(ratios, b->rounds);
    double calls = (double)c->calls[act];
    double trips = (double)c->trips[act] / calls, commands = (double)c->commands[act] / calls;
    bool held = !c->judged || (ratio.median >= wanted && trips <= 1);
    printf("%-24s %-5s %6zu %10.0f %7.2f (%5.2f .. %5.2f) %9.2f %7.2f %9.2f%s\n", c->name,
           act_names[act], c->batch ? c->batch : 1, speed.median, ratio.median, ratio.low,
           ratio.high, cpu.median, trips, commands,
           !c->judged ? ""
           : held     ? "  held"
                      : "  MISSED");
    if (json)
        fprintf(json,
                "%s\n  {\"what\": \"%s\", \"act\": \"%s\", \"keys_per_call\": %zu, "
                "\"keys_per_second\": %.0f, \"ratio\": %.4g, \"ratio_p10\": %.4g, "
                "\"ratio_p90\": %.4g, \"server_us_per_key\": %.4g, \"trips_per_call\": %.4g, "
                "\"commands_per_call\": %.4g, \"wanted\": %.4g, \"held\": %s}",
                c == contenders && act == ADD ? "" : ",", c->name, act_names[act],
                c->batch ? c->batch : 1, speed.median, ratio.median, ratio.low, ratio.high,
                cpu.median, trips, commands, c->judged ? wanted : 0, held ? "true" : "false");
    return held;
}

static bool report(const bench *b) {
    FILE *json = b->json ? fopen(b->json, "w") : NULL;
    must(!b->json || json, "opening the file for --json");
    bool held = true;
    printf("filters for %llu keys of %d bytes, half full at first; medians of %u rounds\n",
           (unsigned long long)b->keys, KEY_BYTES, b->rounds);
    printf("%-24s %-5s %6s %10s %7s %16s %9s %7s %9s\n", "", "", "a call", "keys/s", "x EVAL",
           "p10 .. p90", "server us", "trips", "commands");
    if (json)
        fprintf(json, "[");
    for (int act = 0; act < ACTS; act++)
        for (int i = 0; i < CONTENDERS; i++)
            held = report_row(b, &contenders[i], act, json) && held;
    for (int i = 0; i < CONTENDERS; i++)
        printf("%-24s false positives: %llu of %llu\n", contenders[i].name,
               (unsigned long long)contenders[i].mistaken,
               (unsigned long long)contenders[i].strangers);
    if (json)
        must(fprintf(json, "\n]\n") > 0 && fclose(json) == 0, "writing the file for --json");
    return held;
}

static void parse(bench *b, int argc, char **argv) {
    static const struct option list[] = {{"keys", required_argument, NULL, 'k'},
                                         {"rounds", required_argument, NULL, 'r'},
                                         {"json", required_argument, NULL, 'j'},
                                         {0}};
    bool good = true;
    for (int option; (option = getopt_long(argc, argv, "", list, NULL)) != -1;) {
        if (option == 'k')
            b->keys = strtoull(optarg, NULL, 10);
        else if (option == 'r')
            b->rounds = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'j')
            b->json = optarg;
        else
            good = false;
    }
    good = good && optind + 1 == argc && b->rounds >= 1 && b->rounds <= MAX_REDIS_ROUNDS &&
           b->keys / 2 / b->rounds >= LARGE && b->keys / 2 / b->rounds <= CHUNK;
    if (!good || bly_redis_url_parse(argv[optind], NULL, &b->url) != BLY_OK) {
        fprintf(stderr,
                "usage: redis_plain [--keys N] [--rounds N, at most %d] [--json FILE] URL\n"
                "A round has half of the keys divided by rounds: %d to %d.\n",
                MAX_REDIS_ROUNDS, LARGE, CHUNK);
        exit(2);
    }
}

int main(int argc, char **argv) {
    static bench b = {.keys = 1000000, .rounds = 7};
    parse(&b, argc, argv);
    b.link = b.url.socket ? redisConnectUnix(b.url.socket) : redisConnect(b.url.host, b.url.port);
    must(b.link && !b.link->err, "connecting");
    b.there = keys_open(KEY_BYTES);
    b.strange = keys_open(KEY_BYTES);
    b.mixed = malloc(CHUNK * sizeof *b.mixed);
    b.answers = malloc(CHUNK);
    must(b.mixed && b.answers, "memory");
    measure_all(&b);
    bool held = report(&b);
    free(b.answers);
    free(b.mixed);
    keys_close(&b.strange);
    keys_close(&b.there);
    redisFree(b.link);
    bly_redis_url_free(&b.url);
    return held ? 0 : 1;
}
