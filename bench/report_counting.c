/* Prints the results of counting.c. */
#include "bench.h"

#include <math.h>

/* Summarises the ratios of one kind's times to another's, per chunk. */
static summary over(const counter *m, const counter *other, counter_op what) {
    double value[MAX_SAMPLES];
    size_t n = m->taken[what] < other->taken[what] ? m->taken[what] : other->taken[what];
    for (size_t i = 0; i < n; i++)
        value[i] = m->ns[what][i] / other->ns[what][i];
    return n ? summarise(value, n) : (summary){NAN, NAN, NAN};
}

static void report_counter(const counting *c, const counter *m) {
    static const char *const ids[COUNTER_OPS] = {"add", "remove", "contains_miss", "contains_hit"};
    double bits = 8 * (double)m->bytes / (double)c->n;
    double fpr = (double)m->false_positives / (double)m->non_members;
    printf("%-17s%-18s%7.2f%8.3f%%", bly_kind_name(m->kind), m->form, bits, 100 * fpr);
    json_element();
    json("{\"kind\": \"%s\", \"form\": \"%s\"", bly_kind_name(m->kind), m->form);
    json_number(", ", "bits_per_key", bits);
    json_number(", ", "rate", fpr);
    for (int what = 0; what < COUNTER_OPS; what++) {
        summary v = over(m, &c->counters[0], (counter_op)what);
        double ns = m->taken[what] ? summarise(m->ns[what], m->taken[what]).median : NAN;
        if (isnan(ns))
            printf("%14s", "-");
        else
            printf("%8.1f %5.2f", ns, v.median);
        json(", \"%s\": {", ids[what]);
        json_number("", "ns", ns);
        json_number(", ", "over_counting", v.median);
        json("}");
    }
    printf("  %s\n", m->strength);
    json("}");
}

static const counter *find(const counting *c, bly_kind kind) {
    for (size_t i = 0; i < COUNTERS; i++)
        if (c->counters[i].kind == kind)
            return &c->counters[i];
    return NULL;
}

static void judge(const char *what, double value, double most) {
    printf("  %-58s%6.2f  at most %g: %s\n", what, value, most, verdict(value <= most));
    json_element();
    json("{\"what\": \"%s\"", what);
    json_number(", ", "value", value);
    json_number(", ", "target", most);
    json("}");
}

static void report_zipf(const counting *c, const zipf *z) {
    double bits = 8 * (double)z->bytes / (double)c->n;
    printf("%-17s%6.1f%12.0f%10.2f%12.2f%%", bly_kind_name(z->kind), z->exponent, (double)z->most,
           bits, 100 * z->exact);
    if (isnan(z->left))
        printf("%12s%12s\n", "-", "-");
    else
        printf("%11.3f%%%11.3f%%\n", 100 * z->stuck, 100 * z->left);
    json_element();
    json("{\"kind\": \"%s\", \"exponent\": %.1f, \"adds\": %llu, \"most\": %llu",
         bly_kind_name(z->kind), z->exponent, (unsigned long long)z->adds,
         (unsigned long long)z->most);
    json_number(", ", "bits_per_key", bits);
    json_number(", ", "exact", z->exact);
    json_number(", ", "stuck", z->stuck);
    json_number(", ", "left", z->left);
    json("}");
}

static void report_targets(const counting *c) {
    const counter *layered = find(c, BLY_LAYERED), *plain = find(c, BLY_SBBF);
    printf("\n");
    json_list("counting_targets");
    judge("multilayer, bits per key", 8 * (double)find(c, BLY_MULTILAYER)->bytes / (double)c->n,
          18.5);
    judge("layered, contains, miss, over sbbf", over(layered, plain, COUNTER_MISS).median, 1.15);
    judge("layered, contains, hit, over sbbf", over(layered, plain, COUNTER_HIT).median, 1.15);
    for (size_t i = 0; i < ZIPFS; i++)
        for (size_t j = 0; j < ZIPF_KINDS; j++) {
            const zipf *z = &c->zipfs[i][j];
            char what[64];
            (void)snprintf(what, sizeof what, "hybrid, bits per key, Zipf %.1f", z->exponent);
            if (z->kind == BLY_HYBRID)
                judge(what, 8 * (double)z->bytes / (double)c->n, 24);
        }
}

void report_counting(const counting *c) {
    printf(
        "\nKinds with removal or counts, %llu keys of 16 bytes, p = %g%%, one thread, batched: ns "
        "per key,\nratio to counting; bits of an overlay: after a tenth of the keys was "
        "removed\n",
        (unsigned long long)c->n, 100 * c->p);
    printf("%-17s%-18s%7s%9s%14s%14s%14s%14s  %s\n", "", "form", "bits", "rate", "add", "remove",
           "miss", "hit", "strength");
    json_list("counting");
    for (size_t i = 0; i < COUNTERS; i++)
        report_counter(c, &c->counters[i]);
    printf("\nRepeated keys: five copies on average (Zipf), then all removed\n");
    printf("%-17s%6s%12s%10s%13s%12s%12s\n", "", "Zipf", "most", "bits", "exact counts", "stuck",
           "keys left");
    json_list("counting_zipf");
    for (size_t i = 0; i < ZIPFS; i++)
        for (size_t j = 0; j < ZIPF_KINDS; j++)
            report_zipf(c, &c->zipfs[i][j]);
    report_targets(c);
    fflush(stdout);
}
