/* bench.c - compares Bloomery with libbloom and with the machine's limits; see bench.h. */
#include "bench.h"

#include <stdlib.h>

static uint64_t checksum;

void fold(uint64_t value) {
    checksum = (checksum ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    checksum ^= checksum >> 32;
}

void must(bool truth, const char *what) {
    if (truth)
        return;
    fprintf(stderr, "bloomery_bench: %s failed\n", what);
    exit(1);
}

static void measure_times(const options *opt) {
    static setting s; /* large */
    pair_open();
    for (size_t i = 0; i < opt->n_count; i++)
        for (size_t j = 0; j < opt->p_count; j++)
            for (size_t k = 0; k < opt->len_count; k++) {
                s.n = opt->n[i];
                s.p = opt->p[j];
                s.len = opt->len[k];
                measure(&s, opt);
                report_setting(&s);
            }
    pair_close();
}

static void measure_family(const options *opt) {
    static family f; /* large */
    if (!opt->family_keys || opt->counting)
        return;
    family_measure(&f, opt);
    report_family(&f);
}

static void measure_builds(const options *opt) {
    static builds b;
    if (!opt->builds)
        return;
    builds_measure(&b, opt);
    report_builds(&b);
}

static void measure_counting(const options *opt) {
    static counting c; /* large */
    if (!opt->counting)
        return;
    counting_measure(&c, opt);
    report_counting(&c);
}

static void measure_rates(const options *opt) {
    static const bly_kind kinds[] = {BLY_SBBF,   BLY_SPLIT512, BLY_BB2X512, BLY_CLASSIC,
                                     BLY_CUCKOO, BLY_WINDOW,   BLY_FUSE,    BLY_RIBBON};
    static const double requested[] = {0.01, 0.001, 0.0001};
    report_rates_open(opt);
    if (!opt->rates)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t j = 0; j < sizeof requested / sizeof *requested; j++) {
            rate r = rate_measure(kinds[i], requested[j], opt->expected_hits);
            report_rate(&r);
        }
}

int main(int argc, char **argv) {
    options opt = options_parse(argc, argv);
    report_open(&opt);
    calm_open();
    if (opt.settings)
        measure_times(&opt);
    measure_family(&opt);
    measure_builds(&opt);
    measure_counting(&opt);
    measure_rates(&opt);
    report_close(checksum);
    return 0;
}
