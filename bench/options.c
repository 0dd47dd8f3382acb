/* Parses the command line. */
#include "bench.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: bloomery_bench [options]\n"
    "\n"
    "Compares Bloomery's filters with libbloom and with the machine's limits in one run. Only\n"
    "ratios have targets; they are printed together.\n"
    "\n"
    "  --n LIST          keys in the filter (1M,10M,100M)\n"
    "  --p LIST          false-positive rates (1%,0.1%)\n"
    "  --key-bytes LIST  lengths of keys, 8 to 4096 (16,60)\n"
    "  --kinds LIST      also measure these kinds: classic, partitioned, sbbf, split512, bb2x512\n"
    "  --repeat N        rounds; medians are reported (5, at most 99)\n"
    "  --work N          minimum number of keys per operation and round (10M)\n"
    "  --no-rates        skip the false-positive rates\n"
    "  --family N        keys in the filters of the other kinds (cuckoo, growable-cuckoo, window,\n"
    "                    fuse, ribbon), which are compared with sbbf at 1% (10M); 0 skips them\n"
    "  --builds          also measure build times from 1M to 40M keys\n"
    "  --only-family     measure only the other kinds (and --builds)\n"
    "  --counting        measure only the kinds with removal or counts, with the keys of --family\n"
    "  --quick           --n 1M --family 1M --work 2M, and rates to 1% instead of 0.5%\n"
    "  --json FILE       also write the results to FILE\n"
    "  --help\n"
    "\n"
    "Numbers may end in K, M or G, rates in %. Exit status: 0 after measuring, whatever the\n"
    "ratios; 1 if a filter gave a wrong answer or memory ran out; 2 for invalid arguments.\n";

static _Noreturn void invalid(const char *option, const char *value) {
    fprintf(stderr, "bloomery_bench: --%s: invalid value '%s'; see --help\n", option, value);
    exit(2);
}

/* Parses a number with an optional unit. Exits unless the number is in [low, high]. */
static double number(const char *option, const char *text, double low, double high) {
    static const struct {
        const char *suffix;
        double factor;
    } units[] = {{"", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"%", 0.01}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].suffix) == 0) {
            value *= units[i].factor;
            if (value >= low && value <= high)
                return value;
        }
    invalid(option, text);
}

/* Parses a list of numbers in [low, high]. Returns how many there are. */
static size_t numbers(const char *option, char *list, double low, double high, double *out) {
    size_t count = 0;
    for (char *item = strtok(list, ","); item; item = strtok(NULL, ",")) {
        if (count == MAX_LIST)
            invalid(option, item);
        out[count++] = number(option, item, low, high);
    }
    if (!count)
        invalid(option, "");
    return count;
}

static void set_kinds(options *opt, char *list) {
    opt->kind_count = 0;
    for (char *item = strtok(list, ","); item; item = strtok(NULL, ",")) {
        if (opt->kind_count == MAX_LIST)
            invalid("kinds", item);
        if (bly_kind_by_name(item, &opt->kinds[opt->kind_count++]) != BLY_OK)
            invalid("kinds", item);
    }
}

static void set_sizes(options *opt, char *list) {
    double values[MAX_LIST];
    opt->n_count = numbers("n", list, 1000, 1e10, values);
    for (size_t i = 0; i < opt->n_count; i++)
        opt->n[i] = (uint64_t)llround(values[i]);
}

static void set_lengths(options *opt, char *list) {
    double values[MAX_LIST];
    opt->len_count = numbers("key-bytes", list, MIN_KEY, MAX_KEY, values);
    for (size_t i = 0; i < opt->len_count; i++)
        opt->len[i] = (size_t)llround(values[i]);
}

static void set_quick(options *opt) {
    opt->n_count = 1;
    opt->n[0] = opt->family_keys = 1000000;
    opt->work = 2000000;
    opt->expected_hits = 10000;
}

static void set(options *opt, int which, char *value) {
    switch (which) {
    case 'n':
        set_sizes(opt, value);
        break;
    case 'p':
        opt->p_count = numbers("p", value, 1e-9, 0.5, opt->p);
        break;
    case 'l':
        set_lengths(opt, value);
        break;
    case 'k':
        set_kinds(opt, value);
        break;
    case 'r':
        opt->rounds = (unsigned)number("repeat", value, 1, MAX_ROUNDS);
        break;
    case 'w':
        opt->work = (uint64_t)number("work", value, 1, 1e10);
        break;
    case 'x':
        opt->rates = false;
        break;
    case 'f':
        opt->family_keys = (uint64_t)number("family", value, 0, 1e9);
        break;
    case 'b':
        opt->builds = true;
        break;
    case 'o':
        opt->settings = opt->rates = false;
        break;
    case 'c':
        opt->counting = true;
        opt->settings = opt->rates = false;
        break;
    case 'q':
        set_quick(opt);
        break;
    case 'j':
        opt->json = value;
        break;
    case 'h':
        fputs(help, stdout);
        exit(0);
    default:
        fputs("see --help\n", stderr);
        exit(2);
    }
}

options options_parse(int argc, char **argv) {
    static const struct option known[] = {{"n", required_argument, NULL, 'n'},
                                          {"p", required_argument, NULL, 'p'},
                                          {"key-bytes", required_argument, NULL, 'l'},
                                          {"kinds", required_argument, NULL, 'k'},
                                          {"repeat", required_argument, NULL, 'r'},
                                          {"work", required_argument, NULL, 'w'},
                                          {"no-rates", no_argument, NULL, 'x'},
                                          {"family", required_argument, NULL, 'f'},
                                          {"builds", no_argument, NULL, 'b'},
                                          {"only-family", no_argument, NULL, 'o'},
                                          {"counting", no_argument, NULL, 'c'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    options opt = {.n = {1000000, 10000000, 100000000},
                   .p = {0.01, 0.001},
                   .len = {16, 60},
                   .n_count = 3,
                   .p_count = 2,
                   .len_count = 2,
                   .rounds = 5,
                   .work = 10000000,
                   .expected_hits = 40000,
                   .rates = true,
                   .settings = true,
                   .family_keys = 10000000};
    int which;
    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1)
        set(&opt, which, optarg);
    if (optind < argc) {
        fprintf(stderr, "bloomery_bench: unexpected argument '%s'; see --help\n", argv[optind]);
        exit(2);
    }
    return opt;
}
