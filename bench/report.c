/* Prints tables, ratios and targets, and writes JSON. Targets are ratios of times within one run,
 * because ratios depend less on the machine than times do. */
#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static struct {
    FILE *json;
    bool later; /* true: the next element needs a comma before it */
    unsigned met, missed;
} out;

/* ---- JSON ------------------------------------------------------------------------------------ */

void json(const char *format, ...) {
    if (!out.json)
        return;
    va_list args;
    va_start(args, format);
    vfprintf(out.json, format, args);
    va_end(args);
}

void json_number(const char *comma, const char *name, double value) {
    if (isnan(value))
        json("%s\"%s\": null", comma, name);
    else
        json("%s\"%s\": %.9g", comma, name, value);
}

void json_element(void) {
    json(out.later ? ",\n    " : "\n    ");
    out.later = true;
}

void json_list(const char *name) {
    json("\n  ],\n  \"%s\": [", name);
    out.later = false;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Returns the median nanoseconds per key; NAN if the operation was not measured. */
static double median_ns(const rival *r, op what) {
    return r->taken[what] ? summarise_calm(r->ns[what], r->calm[what], r->taken[what]).median : NAN;
}

typedef enum basis {
    OVER_LIMIT, /* our time divided by L + H on the same chunk of keys */
    OVER_PEER,  /* libbloom's time divided by ours */
    OVER_ONE    /* the time of one thread divided by that of two */
} basis;

typedef struct ratio {
    const char *text;
    basis to;
    op ours, theirs;
    double target[3]; /* targets for 1M, 10M and 100M keys: a maximum for OVER_LIMIT, else a
                         minimum; 0: no target */
    bool narrow;      /* true: the target applies only to 16-byte keys at 1% */
} ratio;

enum {
    MISS_OVER_LIMIT = 0,
    MISS_OVER_PEER = 2
};                       /* these ratios are also in the row of every
                            kind */
enum { BARE_PAIR = 10 }; /* the ratio for H on two threads */

static const ratio ratios[] = {
    {"contains, batched, miss / (L + H)", OVER_LIMIT, MISS_MANY, LIMIT, {1.1, 1.1, 1.1}, false},
    {"contains, batched, hit / (L + H)", OVER_LIMIT, HIT_MANY, HIT_LIMIT, {1.1, 1.1, 1.1}, false},
    {"contains, batched, miss: x libbloom", OVER_PEER, MISS_MANY, MISS_ONE, {9, 11, 18}, true},
    {"contains, batched, hit: x libbloom", OVER_PEER, HIT_MANY, HIT_ONE, {0}, false},
    {"add, batched: x libbloom", OVER_PEER, ADD_MANY, ADD_ONE, {14, 16, 20}, false},
    {"contains, single, miss: x libbloom", OVER_PEER, MISS_ONE, MISS_ONE, {4.5, 4.5, 4}, false},
    {"contains, single, hit: x libbloom", OVER_PEER, HIT_ONE, HIT_ONE, {0}, false},
    {"add, single: x libbloom", OVER_PEER, ADD_ONE, ADD_ONE, {0}, false},
    {"add, two threads: x one", OVER_ONE, ADD_PAIR, ADD_SHARED, {1.8, 1.8, 1.8}, false},
    {"contains, two threads: x one", OVER_ONE, MISS_PAIR, MISS_SHARED, {1.8, 1.8, 1.8}, false},
    {"bare hash, two threads: x one", OVER_ONE, HASH_PAIR, HASH, {0}, false},
};

_Static_assert(sizeof ratios / sizeof *ratios == BARE_PAIR + 1, "BARE_PAIR is the last ratio");

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Summarises the ratios of all chunks. Returns false if they were not measured. The bare hash does
 * not depend on the kind, so it is measured only with the first kind. */
static bool evaluate(const setting *s, const rival *r, const ratio *q, summary *result) {
    const rival *first = &s->rivals[0], *last = &s->rivals[s->count - 1];
    const rival *other = q->to == OVER_PEER ? last : r;
    double value[MAX_SAMPLES];
    bool calm[MAX_SAMPLES];
    if (!r->taken[q->ours] || (q->to == OVER_PEER && !s->has_peer))
        return false;
    const op hash = q->theirs == LIMIT ? HASH : HIT_HASH;
    size_t n = smaller(r->taken[q->ours], other->taken[q->theirs]);
    if (q->to == OVER_LIMIT)
        n = smaller(n, first->taken[hash]);
    for (size_t i = 0; i < n; i++) {
        double ours = r->ns[q->ours][i], theirs = other->ns[q->theirs][i];
        calm[i] = r->calm[q->ours][i] && other->calm[q->theirs][i];
        value[i] = theirs / ours;
        if (q->to == OVER_LIMIT) {
            value[i] = ours / (theirs + first->ns[hash][i]);
            calm[i] &= first->calm[hash][i];
        }
    }
    *result = summarise_calm(value, calm, n);
    return true;
}

/* Returns the target for the ratio of two threads to one: `target`, or 0.9 times the ratio of the
 * bare hash if that is lower. (The threads share no data when they only hash, so this ratio shows
 * what the machine allows.) Returns NAN, which means no target, if the ratio of the bare hash is
 * below 1.5: then there is hardly a second processor. */
static double pair_target(const setting *s, double target) {
    summary bare;
    if (!evaluate(s, &s->rivals[0], &ratios[BARE_PAIR], &bare) || 0.9 * bare.median > target)
        return target;
    return bare.median < 1.5 ? NAN : 0.9 * bare.median;
}

/* Returns the target of a ratio; NAN if it has no target. Targets exist only for three numbers of
 * keys. */
static double target_of(const setting *s, const ratio *q) {
    static const uint64_t sizes[3] = {1000000, 10000000, 100000000};
    if (q->target[0] == 0 || (q->narrow && (s->len != 16 || s->p != 0.01)))
        return NAN;
    for (size_t i = 0; i < 3; i++)
        if (s->n == sizes[i])
            return q->to == OVER_ONE ? pair_target(s, q->target[i]) : q->target[i];
    return NAN;
}

const char *verdict(bool met) {
    if (met)
        out.met++;
    else
        out.missed++;
    return met ? "ok" : "MISS";
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Stores the processor's name, as the system reports it. */
static void find_cpu(char *name, size_t size) {
    char line[256];
    snprintf(name, size, "unknown");
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n\"\\")] = '\0';
        snprintf(name, size, "%s", colon[1] == ' ' ? colon + 2 : colon + 1);
        break;
    }
    if (f)
        fclose(f);
}

void report_open(const options *opt) {
    char cpu[128];
    find_cpu(cpu, sizeof cpu);
    printf("Bloomery %s and libbloom %s on %s\n", bly_version(), bloom_version(), cpu);
    printf(
        "Rounds: %u. All filters get the same keys in the same order; generating them is not "
        "timed.\n"
        "Batches have %d keys and read them from an array of %d keys, as does H. Single calls\n"
        "use keys generated just before. Times are medians over chunks of %d keys. Ratios are\n"
        "computed per chunk: median (10th .. 90th percentile). Filters are touched before timing.\n"
        "L: random 64-byte lines of an array of the filter's size, in huge pages. H: bare "
        "XXH3-64.\n"
        "libbloom is Debian's package.\n",
        opt->rounds, (int)BATCH, (int)CHUNK, (int)CHUNK);
    if (opt->json) {
        out.json = fopen(opt->json, "w");
        must(out.json != NULL, "opening the file for --json");
    }
    json("{\n  \"version\": \"%s\", \"libbloom\": \"%s\", \"cpu\": \"%s\",\n", bly_version(),
         bloom_version(), cpu);
    json("  \"rounds\": %u, \"work\": %llu, \"chunk\": %d, \"batch\": %d,\n  \"results\": [",
         opt->rounds, (unsigned long long)opt->work, (int)CHUNK, (int)BATCH);
}

void report_close(uint64_t checksum) {
    printf("\nNo key was missed, and batched, single and shared adds agree. Checksum %016llx.\n",
           (unsigned long long)checksum);
    double calm = calm_share(); /* NAN if nothing was measured */
    if (!isnan(calm))
        printf("%.0f%% of the measurements were calm.\n", 100 * calm);
    printf("Targets: %u met, %u missed.\n", out.met, out.missed);
    json("\n  ],\n  \"checksum\": \"%016llx\"", (unsigned long long)checksum);
    json_number(", ", "calm", calm);
    json(", \"met\": %u, \"missed\": %u\n}\n", out.met, out.missed);
    must(!out.json || fclose(out.json) == 0, "writing the file for --json");
}

/* ---- a setting ------------------------------------------------------------------------------- */

static const op columns[] = {ADD_MANY, ADD_ONE, MISS_MANY, HIT_MANY, MISS_ONE, HIT_ONE, LIMIT};
static const char *const column_ids[] = {"add",          "add_one",           "contains_miss",
                                         "contains_hit", "contains_one_miss", "contains_one_hit",
                                         "limit"};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void cell(int width, double value, const char *unit) {
    if (isnan(value))
        printf("%*s", width, "-");
    else
        printf("%*.2f%s", width - (int)strlen(unit), value, unit);
}

static void report_times(const setting *s) {
    printf("%-12s%18s%20s%22s%8s%21s\n", "ns per key", "add", "contains, batched",
           "contains, single", "", "batched, miss");
    printf("%-12s%9s%9s%10s%10s%11s%11s%8s%9s%12s\n", "", "batched", "single", "miss", "hit",
           "miss", "hit", "L", "/ (L+H)", "x libbloom");
    static const int widths[COLUMNS] = {9, 9, 10, 10, 11, 11, 8};
    for (size_t i = 0; i < s->count; i++) {
        const rival *r = &s->rivals[i];
        printf("%-12s", r->name);
        for (size_t c = 0; c < COLUMNS; c++)
            cell(widths[c], median_ns(r, columns[c]), "");
        summary limit = {NAN, 0, 0}, peer = {NAN, 0, 0};
        (void)evaluate(s, r, &ratios[MISS_OVER_LIMIT], &limit);
        (void)evaluate(s, r, &ratios[MISS_OVER_PEER], &peer);
        cell(9, limit.median, "");
        cell(12, peer.median, "x");
        printf("\n");
        json("%s{\"name\": \"%s\", \"bytes\": %llu", i ? ",\n      " : "", r->name,
             (unsigned long long)r->bytes);
        for (size_t c = 0; c < COLUMNS; c++)
            json_number(", ", column_ids[c], median_ns(r, columns[c]));
        json("}");
    }
}

static void report_ratios(const setting *s) {
    bool any = false;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        const ratio *q = &ratios[i];
        summary v;
        if (!evaluate(s, &s->rivals[0], q, &v))
            continue;
        double target = target_of(s, q);
        bool at_most = q->to == OVER_LIMIT;
        bool met = at_most ? v.median <= target : v.median >= target;
        printf("  %-36s%7.2f  (%.2f .. %.2f)", q->text, v.median, v.low, v.high);
        json("%s{\"what\": \"%s\"", any ? ",\n      " : "", q->text);
        json_number(", ", "median", v.median);
        json_number(", ", "p10", v.low);
        json_number(", ", "p90", v.high);
        json_number(", ", "target", target);
        if (!isnan(target)) {
            printf("  %s %.3g: %s", at_most ? "at most" : "at least", target, verdict(met));
            json(", \"met\": %s", met ? "true" : "false");
        }
        printf("\n");
        json("}");
        any = true;
    }
}

void report_setting(const setting *s) {
    const rival *first = &s->rivals[0];
    printf("\n%llu keys of %zu bytes, p = %g%%: %s, %.2f MB, the planned layout\n",
           (unsigned long long)s->n, s->len, 100 * s->p, first->name, 1e-6 * (double)first->bytes);
    json_element();
    json("{\"n\": %llu, \"p\": %g, \"key_bytes\": %zu", (unsigned long long)s->n, s->p, s->len);
    json_number(", ", "hash", median_ns(first, HASH));
    json(",\n     \"ns\": [");
    report_times(s);
    printf("%-12s%9.2f\n\n", "H", median_ns(first, HASH));
    if (!s->has_peer)
        printf("  libbloom does not support that many keys\n");
    json("],\n     \"ratios\": [");
    report_ratios(s);
    json("]}");
    fflush(stdout);
}

/* ---- the other kinds ------------------------------------------------------------------------- */

/* Returns the ratio to the times of the first kind: per chunk, or per round for a built kind. */
static summary over_first(const family *f, size_t i, family_op what) {
    const member *m = &f->members[i], *first = &f->members[0];
    double value[MAX_SAMPLES];
    bool calm[MAX_SAMPLES];
    if (what == FAMILY_ADD && bly_kind_capabilities(m->kind) & BLY_CAN_BUILD)
        return summarise(f->fill_ratio[i], f->rounds);
    size_t n = smaller(m->taken[what], first->taken[what]);
    for (size_t j = 0; j < n; j++) {
        value[j] = m->ns[what][j] / first->ns[what][j];
        calm[j] = m->calm[what][j] && first->calm[what][j];
    }
    return summarise_calm(value, calm, n);
}

/* Returns the maximum ratio for ten million keys; 0: no target. */
static double family_target(bly_kind kind, family_op what) {
    static const struct {
        bly_kind kind;
        family_op what;
        double most;
    } targets[] = {
        {BLY_CUCKOO, FAMILY_MISS, 1.9}, {BLY_CUCKOO, FAMILY_HIT, 1.9}, {BLY_FUSE, FAMILY_MISS, 2.2},
        {BLY_FUSE, FAMILY_HIT, 2.2},    {BLY_FUSE, FAMILY_ADD, 9},     {BLY_WINDOW, FAMILY_MISS, 3},
        {BLY_WINDOW, FAMILY_HIT, 3},
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i].kind == kind && targets[i].what == what)
            return targets[i].most;
    return 0;
}

static void report_member(const family *f, size_t i) {
    static const char *const ids[FAMILY_OPS] = {"add", "contains_miss", "contains_hit"};
    const member *m = &f->members[i];
    printf("%-16s%9.2f", bly_kind_name(m->kind), 8 * (double)m->bytes / (double)f->n);
    json_element();
    json("{\"kind\": \"%s\", \"n\": %llu, \"bytes\": %llu", bly_kind_name(m->kind),
         (unsigned long long)f->n, (unsigned long long)m->bytes);
    for (int what = 0; what < FAMILY_OPS; what++) {
        summary v = over_first(f, i, (family_op)what);
        double target = f->n == 10000000 ? family_target(m->kind, (family_op)what) : 0;
        double ns = summarise_calm(m->ns[what], m->calm[what], m->taken[what]).median;
        printf("%9.2f %5.2f", ns, v.median);
        if (target != 0)
            printf(" <%3g %-4s", target, verdict(v.median <= target));
        else
            printf("%10s", "");
        json(", \"%s\": {", ids[what]);
        json_number("", "ns", ns);
        json_number(", ", "median", v.median);
        json_number(", ", "p10", v.low);
        json_number(", ", "p90", v.high);
        json_number(", ", "target", target != 0 ? target : NAN);
        json("}");
    }
    printf("\n");
    json("}");
}

void report_family(const family *f) {
    printf("\nThe other kinds, %llu keys of 16 bytes, p = %g%%, one thread: ns per key, ratio to "
           "sbbf\n",
           (unsigned long long)f->n, 100 * f->p);
    printf("%-16s%9s%25s%25s%25s\n", "", "bits/key", "add or build, batched", "contains, miss",
           "contains, hit");
    json_list("family");
    for (size_t i = 0; i < FAMILY; i++)
        report_member(f, i);
    fflush(stdout);
}

void report_builds(const builds *b) {
    printf("\nBuilding, p = 1%%, one thread: ns per key, ratio to the smallest number of keys, at "
           "most "
           "1.5\n");
    json_list("builds");
    for (size_t i = 0; i < BUILD_KINDS; i++) {
        printf("%-12s", bly_kind_name(b->kinds[i]));
        for (size_t j = 0; j < BUILD_SIZES; j++) {
            double over[MAX_ROUNDS], ns = summarise(b->ns[i][j], b->rounds).median;
            for (unsigned r = 0; r < b->rounds; r++)
                over[r] = b->ns[i][j][r] / b->ns[i][0][r];
            double growth = summarise(over, b->rounds).median;
            printf("%5.0fM %6.1f %5.2f %s", 1e-6 * (double)b->sizes[j], ns, growth,
                   j ? verdict(growth <= 1.5) : "  ");
            json_element();
            json("{\"kind\": \"%s\", \"n\": %llu", bly_kind_name(b->kinds[i]),
                 (unsigned long long)b->sizes[j]);
            json_number(", ", "ns", ns);
            json_number(", ", "over_fewest", growth);
            json("}");
        }
        printf("\n");
    }
    fflush(stdout);
}

/* ---- rates ----------------------------------------------------------------------------------- */

void report_rates_open(const options *opt) {
    json_list("rates");
    if (!opt->rates)
        return;
    printf("\nRates and space, %d keys, full filters; measured / requested at most 1.02\n",
           (int)RATE_KEYS);
    printf("%-12s%10s%16s%10s%14s\n", "", "requested", "measured / it", "+-", "bits per key");
}

void report_rate(const rate *r) {
    static const struct {
        double requested, bits;
    } space[] = {{0.01, 10.2}, {0.001, 15.9}, {0.0001, 22.4}}; /* requested rates, and the maximum
                                                                  bits per key of split512 */
    double over = r->measured / r->requested;
    printf("%-12s%9g%%%16.3f%10.3f%14.2f  rate %s", bly_kind_name(r->kind), 100 * r->requested,
           over, r->error, r->bits_per_key, verdict(over <= 1.02));
    for (size_t i = 0; i < sizeof space / sizeof *space; i++)
        if (r->kind == BLY_SPLIT512 && r->requested == space[i].requested)
            printf(", at most %g bits: %s", space[i].bits,
                   verdict(r->bits_per_key <= space[i].bits));
    printf("\n");
    json_element();
    json("{\"kind\": \"%s\"", bly_kind_name(r->kind));
    json_number(", ", "asked", r->requested);
    json_number(", ", "measured_over_asked", over);
    json_number(", ", "standard_error", r->error);
    json_number(", ", "bits_per_key", r->bits_per_key);
    json("}");
    fflush(stdout);
}
