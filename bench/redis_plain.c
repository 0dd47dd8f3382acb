/* redis_plain.c - measures filters on a plain server: compares batches with one EVAL per key.
 *
 *     redis_plain [--keys N] [--rounds N] [--json FILE] URL
 *
 * The baseline is what go-zero does: one command per key, which contains the text of a script that
 * runs 14 SETBIT or GETBIT. It is compared with batches in go-zero's form, which set the same bits,
 * and with batches in Bloomery's native form. Each contender has its own filter for N keys on the
 * same server, which is half full before the first measurement. In a round, the contenders run one
 * after the other, in an order that rotates: each adds its share of the other half of the keys,
 * then looks up the same number of keys, alternately members and non-members. Ratios to the
 * baseline are computed per round; the result is their median.
 *
 * The answer for every member is checked; if a member is missed, the program ends with status 1. At
 * the end, keys that the baseline has added are looked up in a batch, and keys that a batch has
 * added are looked up by the baseline.
 */
#include "bench.h"

#include <bloomery/redis/filter.h>
#include <getopt.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

enum { ADD, CHECK, OPERATIONS };
enum {
    KEY_BYTES = 16,
    MAX_REDIS_ROUNDS = 31,
    LARGE = 8192, /* number of keys in a large batch */
    SINGLE = 8    /* contenders with one key per call process 1/SINGLE of the keys */
};
static const char *const operation_names[OPERATIONS] = {"add", "check"};
static const double target = 8; /* required ratio to the baseline */

/* The scripts of go-zero. */
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
    size_t batch; /* number of keys in one call; 0: the baseline, one key per EVAL */
    bool judged;
    char key[32];
    bly_redis_filter *filter;
    uint64_t added;
    double rate[OPERATIONS][MAX_REDIS_ROUNDS],
        cpu[OPERATIONS][MAX_REDIS_ROUNDS]; /* rate: keys per second; cpu: microseconds of the server
                                              per key */
    uint64_t calls[OPERATIONS], trips[OPERATIONS], commands[OPERATIONS];
    uint64_t non_members, false_positives; /* number of non-members looked up, and how many of them
                                              were found */
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
    redisContext *link; /* connection for the baseline and for the server's statistics */
    keyset members, non_members;
    bly_bytes *mixed; /* alternately a member and a non-member */
    uint8_t *answers;
} bench;

void must(bool truth, const char *what) {
    if (truth)
        return;
    fprintf(stderr, "redis_plain: %s failed\n", what);
    exit(1);
}

/* ---- baseline ------------------------------------------------------------------------------ */

/* Sends one EVAL for one key. Returns true if the script returned true. */
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

static void key_per_eval(bench *b, contender *c, int act, const bly_bytes *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        b->answers[i] = eval(b, c, act == ADD ? set_script : test_script, keys[i]);
    c->calls[act] += n;
    c->trips[act] += n;
}

/* ---- batches ------------------------------------------------------------------------------- */

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
    must(status == BLY_OK, "creating a filter");
}

static void batches(bench *b, contender *c, int act, const bly_bytes *keys, size_t n) {
    size_t batch = c->batch ? c->batch : LARGE;
    for (size_t at = 0; at < n; at += batch) {
        size_t some = n - at < batch ? n - at : batch;
        bly_redis_batch_result result;
        bly_status status =
            (act == ADD ? bly_redis_filter_add_many : bly_redis_filter_contains_many)(
                c->filter, keys + at, some, BLY_UNKNOWN, b->answers + at, &result);
        if (status != BLY_OK)
            fprintf(stderr, "redis_plain: %s\n", bly_redis_filter_error(c->filter));
        must(status == BLY_OK && result.unsure == 0, "a batch");
        c->calls[act]++;
        c->trips[act] += result.round_trips;
    }
}

/* ---- server statistics --------------------------------------------------------------------- */

typedef struct server_stats {
    uint64_t scripts; /* number of commands that have run a script */
    double cpu;       /* processor time of the main thread in seconds */
} server_stats;

static double figure(const char *text, const char *name) {
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

static server_stats read_stats(bench *b) {
    redisReply *r = redisCommand(b->link, "INFO everything");
    must(r && r->type == REDIS_REPLY_STRING, "INFO");
    bool threads = strstr(r->str, "used_cpu_user_main_thread:") != NULL;
    server_stats v = {(uint64_t)(figure(r->str, "cmdstat_eval:calls=") +
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
    server_stats before = read_stats(b);
    double begin = seconds_now();
    if (c->batch == 0)
        key_per_eval(b, c, act, keys, n);
    else
        batches(b, c, act, keys, n);
    double took = seconds_now() - begin;
    server_stats after = read_stats(b);
    c->rate[act][round] = (double)n / took;
    c->cpu[act][round] = 1e6 * (after.cpu - before.cpu) / (double)n;
    c->commands[act] += after.scripts - before.scripts;
}

/* Runs one contender's part of a round: it adds n keys, then looks up n keys. */
static void run_contender(bench *b, contender *c, unsigned round, size_t n) {
    n = c->batch < 2 ? n / SINGLE : n;
    keys_make(&b->members, c->added, n);
    timed(b, c, ADD, round, b->members.keys, n);
    c->added += n;
    keys_make(&b->non_members, MISS_KEYS + round * n, n);
    for (size_t i = 0; i < n; i++)
        b->mixed[i] = i % 2 ? b->non_members.keys[i] : b->members.keys[i];
    timed(b, c, CHECK, round, b->mixed, n);
    for (size_t i = 0; i < n; i += 2)
        must(b->answers[i] == BLY_YES, "finding every member");
    for (size_t i = 1; i < n; i += 2)
        c->false_positives += b->answers[i] == BLY_YES;
    c->non_members += n / 2;
}

static void fill(bench *b, contender *c) {
    for (uint64_t half = b->keys / 2; c->added < half;) {
        size_t n = half - c->added < CHUNK ? (size_t)(half - c->added) : CHUNK;
        keys_make(&b->members, c->added, n);
        batches(b, c, ADD, b->members.keys, n);
        c->added += n;
    }
    /* After this call the server has all scripts, so that no measurement includes sending their
     * texts. */
    batches(b, c, CHECK, b->members.keys, 1);
    memset(c->calls, 0, sizeof c->calls);
    memset(c->trips, 0, sizeof c->trips);
}

/* Checks that baseline and batches set the same bits: each must find the keys that the other has
 * added. */
static void cross_check(bench *b) {
    contender theirs = contenders[0], ours = contenders[1]; /* copies, so that this is not counted
                                                               in the results */
    size_t n = (size_t)(theirs.added < CHUNK ? theirs.added : CHUNK);
    keys_make(&b->members, theirs.added - n, n);
    batches(b, &theirs, CHECK, b->members.keys, n);
    for (size_t i = 0; i < n; i++)
        must(b->answers[i] == BLY_YES, "finding the keys of the baseline");
    n = 1000;
    keys_make(&b->members, ours.added - n, n);
    key_per_eval(b, &ours, CHECK, b->members.keys, n);
    for (size_t i = 0; i < n; i++)
        must(b->answers[i] == BLY_YES, "finding the keys of a batch by the baseline");
}

static void measure_all(bench *b) {
    size_t share = (size_t)(b->keys / 2 / b->rounds) / LARGE * LARGE;
    for (int i = 0; i < CONTENDERS; i++) {
        open_filter(b, &contenders[i]);
        fill(b, &contenders[i]);
    }
    for (unsigned round = 0; round < b->rounds; round++)
        for (unsigned i = 0; i < CONTENDERS; i++)
            run_contender(b, &contenders[(round + i) % CONTENDERS], round, share);
    cross_check(b);
    for (int i = 0; i < CONTENDERS; i++) {
        must(bly_redis_filter_drop(contenders[i].filter) == BLY_OK, "deleting a filter");
        bly_redis_filter_close(contenders[i].filter);
    }
}

/* ---- the report ---------------------------------------------------------------------------- */

/* Prints a row. Returns false if its target is missed. */
static bool report_row(const bench *b, const contender *c, int act, FILE *json) {
    double ratios[MAX_REDIS_ROUNDS];
    for (unsigned round = 0; round < b->rounds; round++)
        ratios[round] = c->rate[act][round] / contenders[0].rate[act][round];
    summary speed = summarise(c->rate[act], b->rounds), cpu = summarise(c->cpu[act], b->rounds);
    summary ratio = summarise(ratios, b->rounds);
    double calls = (double)c->calls[act];
    double trips = (double)c->trips[act] / calls, commands = (double)c->commands[act] / calls;
    bool held = !c->judged || (ratio.median >= target && trips <= 1);
    printf("%-24s %-5s %6zu %10.0f %7.2f (%5.2f .. %5.2f) %9.2f %7.2f %9.2f%s\n", c->name,
           operation_names[act], c->batch ? c->batch : 1, speed.median, ratio.median, ratio.low,
           ratio.high, cpu.median, trips, commands,
           !c->judged ? ""
           : held     ? "  ok"
                      : "  MISS");
    if (json)
        fprintf(json,
                "%s\n  {\"what\": \"%s\", \"act\": \"%s\", \"keys_per_call\": %zu, "
                "\"keys_per_second\": %.0f, \"ratio\": %.4g, \"ratio_p10\": %.4g, "
                "\"ratio_p90\": %.4g, \"server_us_per_key\": %.4g, \"trips_per_call\": %.4g, "
                "\"commands_per_call\": %.4g, \"wanted\": %.4g, \"held\": %s}",
                c == contenders && act == ADD ? "" : ",", c->name, operation_names[act],
                c->batch ? c->batch : 1, speed.median, ratio.median, ratio.low, ratio.high,
                cpu.median, trips, commands, c->judged ? target : 0, held ? "true" : "false");
    return held;
}

static bool report(const bench *b) {
    FILE *json = b->json ? fopen(b->json, "w") : NULL;
    must(!b->json || json, "opening the file for --json");
    bool held = true;
    printf("filters for %llu keys of %d bytes, half full at the start; medians of %u rounds\n",
           (unsigned long long)b->keys, KEY_BYTES, b->rounds);
    printf("%-24s %-5s %6s %10s %7s %16s %9s %7s %9s\n", "", "", "a call", "keys/s", "x EVAL",
           "p10 .. p90", "server us", "trips", "commands");
    if (json)
        fprintf(json, "[");
    for (int act = 0; act < OPERATIONS; act++)
        for (int i = 0; i < CONTENDERS; i++)
            held = report_row(b, &contenders[i], act, json) && held;
    for (int i = 0; i < CONTENDERS; i++)
        printf("%-24s false positives: %llu of %llu\n", contenders[i].name,
               (unsigned long long)contenders[i].false_positives,
               (unsigned long long)contenders[i].non_members);
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
                "Half of the keys, divided by the rounds, must be %d to %d.\n",
                MAX_REDIS_ROUNDS, LARGE, CHUNK);
        exit(2);
    }
}

int main(int argc, char **argv) {
    static bench b = {.keys = 1000000, .rounds = 7};
    parse(&b, argc, argv);
    b.link = b.url.socket ? redisConnectUnix(b.url.socket) : redisConnect(b.url.host, b.url.port);
    must(b.link && !b.link->err, "connecting");
    b.members = keys_open(KEY_BYTES);
    b.non_members = keys_open(KEY_BYTES);
    b.mixed = malloc(CHUNK * sizeof *b.mixed);
    b.answers = malloc(CHUNK);
    must(b.mixed && b.answers, "memory");
    measure_all(&b);
    bool held = report(&b);
    free(b.answers);
    free(b.mixed);
    keys_close(&b.non_members);
    keys_close(&b.members);
    redisFree(b.link);
    bly_redis_url_free(&b.url);
    return held ? 0 : 1;
}
