/* Reading and writing numbers: which texts are accepted, which are refused and why. After a refusal
 * the result is unchanged. */
#include "support.h"

#include "text/numbers.h"

#include <math.h>

#define UNTOUCHED UINT64_C(0xA5A5A5A5A5A5A5A5)

typedef const char *(*integer_reader)(const char *text, uint64_t *out);

typedef struct good_integer {
    const char *text;
    uint64_t value;
} good_integer;

static void takes(integer_reader read, const good_integer *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t value = UNTOUCHED;
        const char *why = read(cases[i].text, &value);
        if (why || value != cases[i].value)
            fail_msg("'%s': %s, %llu", cases[i].text, why ? why : "taken",
                     (unsigned long long)value);
    }
}

static void refuses(integer_reader read, const char *const *texts) {
    for (; *texts; texts++) {
        uint64_t value = UNTOUCHED;
        const char *why = read(*texts, &value);
        if (!why || !*why || value != UNTOUCHED)
            fail_msg("'%s': %s, %llu", *texts, why ? why : "taken", (unsigned long long)value);
    }
}

/* Texts that are refused by all functions that read numbers. */
static const char *const never[] = {
    "",     " ",   " 1",       "1 ",    "-1",    "+1",    "-0",       "--1",  "nan", "NaN", "inf",
    "-inf", "x",   "infinity", "1%%",   "1,000", "1_000", "2^3",      "1e",   "1e+", "e5",  "1e1e1",
    ".",    "..1", "1..2",     "1.2.3", "0x",    "0xg",   "0x1p3",    "1\t",  "\t1", "1\n", "one",
    "1/",   "/1",  "%",        "1/0/1", "1k1",   "1kk",   "\xC2\xBD", "\xFF", NULL};

static void none_takes_nonsense(void **state) {
    (void)state;
    refuses(number_count, never);
    refuses(number_integer, never);
    refuses(number_size, never);
    refuses(number_duration, never);
    for (const char *const *text = never; *text; text++) {
        double rate = -7;
        assert_non_null(number_rate(*text, &rate));
        assert_true(rate == -7);
    }
}

static void counts(void **state) {
    static const good_integer good[] = {
        {"1", 1},           {"007", 7},         {"1000", 1000},
        {"1e8", 100000000}, {"1E8", 100000000}, {"1.5e3", 1500},
        {"100k", 100000},   {"100K", 100000},   {"1.5k", 1500},
        {".5k", 500},       {"2.5M", 2500000},  {"50M", 50000000},
        {"2G", 2000000000}, {"1e3k", 1000000},  {"281474976710656", UINT64_C(1) << 48},
    };
    static const char *const bad[] = {"0",
                                      "0.0",
                                      "0.5",
                                      "1.5",
                                      "1.0005k",
                                      "0.9999",
                                      "1e400",
                                      "281474976710657",
                                      "1e15",
                                      "300000G",
                                      "99999999999999999999",
                                      "0x10",
                                      "1/2",
                                      "10%",
                                      "1m",
                                      "1g",
                                      "1T",
                                      "1s",
                                      "1KiB",
                                      "1e-3",
                                      NULL};
    (void)state;
    takes(number_count, good, COUNT_OF(good));
    refuses(number_count, bad);
}

/* In binary, 1.001 is not exact, but 1.001k is still read as 1001. */
static void counts_with_three_decimals(void **state) {
    static const struct {
        char letter;
        uint64_t thousandth;
    } units[] = {{'k', 1}, {'M', 1000}, {'G', 1000000}};
    (void)state;
    for (size_t u = 0; u < COUNT_OF(units); u++)
        for (unsigned i = 1; i < 20000; i++) {
            char text[32];
            (void)snprintf(text, sizeof text, "%u.%03u%c", i / 1000, i % 1000, units[u].letter);
            good_integer wanted = {text, i * units[u].thousandth};
            takes(number_count, &wanted, 1);
        }
}

static void integers(void **state) {
    static const good_integer good[] = {
        {"0", 0},
        {"1", 1},
        {"010", 10},
        {"0x10", 16},
        {"0XfF", 255},
        {"18446744073709551615", UINT64_MAX},
        {"0xffffffffffffffff", UINT64_MAX},
        {"000000000000000000000000001", 1},
    };
    static const char *const bad[] = {"18446744073709551616",
                                      "0x10000000000000000",
                                      "99999999999999999999999999999999",
                                      "1e8",
                                      "1.5",
                                      "1.0",
                                      "1k",
                                      "0b1",
                                      "ff",
                                      "0x 1",
                                      "0x-1",
                                      "1e400",
                                      "1/2",
                                      "1%",
                                      NULL};
    (void)state;
    takes(number_integer, good, COUNT_OF(good));
    refuses(number_integer, bad);
}

static void sizes(void **state) {
    static const good_integer good[] = {
        {"1", 1},
        {"65536", 65536},
        {"64K", 65536},
        {"64k", 65536},
        {"64KB", 65536},
        {"64KiB", 65536},
        {"1.5G", UINT64_C(3) << 29},
        {".5K", 512},
        {"3M", 3 << 20},
        {"2T", UINT64_C(2) << 40},
        {"1048576T", UINT64_C(1) << 60},
        {"1e3", 1000},
    };
    static const char *const bad[] = {
        "0",  "1.5", "0K",  "0.0001K", "1048577T", "1e30", "1e400", "1P",  "1Ki", "1KiBs", "1KK",
        "1m", "1B",  "1Kb", "0x10",    "1/2",      "1%",   "K",     "0.5", "1K ", "1 K",   NULL};
    (void)state;
    takes(number_size, good, COUNT_OF(good));
    refuses(number_size, bad);
}

static void durations(void **state) {
    static const good_integer good[] = {{"1s", 1},
                                        {"90s", 90},
                                        {"15m", 900},
                                        {"24h", 86400},
                                        {"7d", 604800},
                                        {"007d", 604800},
                                        {"99999999999d", UINT64_C(99999999999) * 86400}};
    static const char *const bad[] = {"0s",
                                      "0d",
                                      "1",
                                      "s",
                                      "1.5h",
                                      "1e3s",
                                      "1w",
                                      "1S",
                                      "1ms",
                                      "1h30m",
                                      "-1s",
                                      "+1s",
                                      " 1s",
                                      "1 s",
                                      "0x1s",
                                      "999999999999d",
                                      "18446744073709551617s",
                                      NULL};
    (void)state;
    takes(number_duration, good, COUNT_OF(good));
    refuses(number_duration, bad);
}

static void rates(void **state) {
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0.001", 0.001},      {".5", 0.5},   {"1e-3", 1e-3},   {"1E-3", 1e-3},
                {"0.1%", 0.001},       {"50%", 0.5},  {"99.9%", 0.999}, {"1/1000", 0.001},
                {"1/1e6", 1e-6},       {"3/4", 0.75}, {"0.5/2", 0.25},  {"1e-300", 1e-300},
                {"0.999999", 0.999999}};
    static const char *const bad[] = {"0",       "0%",   "0.0",  "1",      "1.0",    "100%",
                                      "101%",    "1/1",  "2/1",  "1/0",    "0/1",    "1/-2",
                                      "1/ 2",    "1/2%", "1%/2", "1e400",  "1e-400", "1e400/1e400",
                                      "1/1e400", "2",    "0x10", "0x1p-3", "1/nan",  "1 %",
                                      "1/x",     "0,5",  "1k",   "1e8",    "1.5",    NULL};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        double rate = 0;
        const char *why = number_rate(good[i].text, &rate);
        if (why || fabs(rate / good[i].value - 1) > 1e-15)
            fail_msg("'%s': %s, %g", good[i].text, why ? why : "taken", rate);
    }
    for (const char *const *text = bad; *text; text++) {
        double rate = -7;
        if (!number_rate(*text, &rate) || rate != -7)
            fail_msg("'%s' was taken for %g", *text, rate);
    }
}

/* For any bytes, reading returns, and an accepted value is in its range. */
static void any_bytes(void **state) {
    static const char letters[] = "0123456789.eExX+-/%kKMGTsmhdiB \t\xFFn";
    uint64_t seed = 7;
    (void)state;
    for (unsigned round = 0; round < 200000 / BLYT_SLOW; round++) {
        char text[12] = "";
        size_t length = blyt_next(&seed) % sizeof text;
        for (size_t i = 0; i < length; i++)
            text[i] = letters[blyt_next(&seed) % (sizeof letters - 1)];
        uint64_t value = 1;
        double rate = 0.5;
        assert_true(number_count(text, &value) || (value >= 1 && value <= UINT64_C(1) << 48));
        assert_true(number_size(text, &value) || (value >= 1 && value <= UINT64_C(1) << 60));
        assert_true(number_duration(text, &value) || value >= 1);
        (void)number_integer(text, &value);
        assert_true(number_rate(text, &rate) || (rate > 0 && rate < 1));
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct written {
    double value;
    const char *text;
} written;

static void writes(char *(*write)(double, char *), const written *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char out[NUMBER_TEXT];
        assert_ptr_equal(write(cases[i].value, out), out);
        assert_string_equal(out, cases[i].text);
    }
}

static void grouped(void **state) {
    char out[NUMBER_TEXT];
    (void)state;
    assert_string_equal(number_grouped(0, out), "0");
    assert_string_equal(number_grouped(999, out), "999");
    assert_string_equal(number_grouped(1000, out), "1,000");
    assert_string_equal(number_grouped(99999, out), "99,999");
    assert_string_equal(number_grouped(123456, out), "123,456");
    assert_string_equal(number_grouped(12345678, out), "12,345,678");
    assert_string_equal(number_grouped(UINT64_MAX, out), "18,446,744,073,709,551,615");
}

static void bytes(void **state) {
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1, "1 B"},
                 {999, "999 B"},
                 {1023, "1023 B"},
                 {1024, "1.00 KiB"},
                 {1536, "1.50 KiB"},
                 {10229, "9.99 KiB"},
                 {10235, "10.0 KiB"},
                 {102348, "99.9 KiB"},
                 {102400, "100 KiB"},
                 {1023 << 10, "1023 KiB"},
                 {1048448, "1.00 MiB"}, /* 1023.9 KiB */
                 {(1 << 20) - 1, "1.00 MiB"},
                 {1 << 20, "1.00 MiB"},
                 {(1 << 30) - 1, "1.00 GiB"},
                 {132000000, "126 MiB"},
                 {UINT64_C(1) << 40, "1.00 TiB"},
                 {UINT64_C(1) << 50, "1.00 PiB"},
                 {UINT64_C(1) << 60, "1.00 EiB"},
                 {UINT64_MAX, "16.0 EiB"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char out[NUMBER_TEXT];
        assert_string_equal(number_bytes(cases[i].value, out), cases[i].text);
    }
}

static void rates_in_words(void **state) {
    static const written percents[] = {{0, "0%"},        {1, "100%"},        {0.001, "0.1%"},
                                       {0.5, "50%"},     {1.0 / 3, "33.3%"}, {1.2e-6, "0.00012%"},
                                       {1e-9, "1e-07%"}, {0.9996, "100%"}};
    static const written ones[] = {{1, "1 in 1"},
                                   {0.5, "1 in 2"},
                                   {0.3, "1 in 3.3"},
                                   {0.1, "1 in 10"},
                                   {0.001, "1 in 1,000"},
                                   {1.0 / 1536, "1 in 1,536"},
                                   {1e-6, "1 in 1,000,000"},
                                   {1e-14, "1 in 100,000,000,000,000"},
                                   {1e-20, "1 in 1.0e+20"},
                                   {0, "never"},
                                   {5e-324, "never"}};
    (void)state;
    writes(number_percent, percents, COUNT_OF(percents));
    writes(number_one_in, ones, COUNT_OF(ones));
}

static void short_numbers(void **state) {
    static const written cases[] = {{0, "0"},
                                    {1, "1"},
                                    {0.5, "0.5"},
                                    {950, "950"},
                                    {999.4, "999"},
                                    {999.5, "1.00k"},
                                    {1000, "1.00k"},
                                    {12345, "12.3k"},
                                    {99949, "99.9k"},
                                    {99951, "100k"},
                                    {999499, "999k"},
                                    {999500, "1.00M"},
                                    {4.5e6, "4.50M"},
                                    {1.234e9, "1.23G"},
                                    {7e12, "7.00T"},
                                    {1e15, "1000T"},
                                    {18446744073709551616.0, "18446744T"}};
    (void)state;
    writes(number_short, cases, COUNT_OF(cases));
}

static void times(void **state) {
    static const written cases[] = {{0, "0.00 s"},          {0.42, "0.42 s"},  {9.94, "9.94 s"},
                                    {10, "10.0 s"},         {59.94, "59.9 s"}, {59.96, "1:00"},
                                    {60, "1:00"},           {185, "3:05"},     {3599.4, "59:59"},
                                    {3599.6, "1:00:00"},    {3723, "1:02:03"}, {86400, "24:00:00"},
                                    {1e300, "277777:46:40"}};
    char out[NUMBER_TEXT];
    (void)state;
    writes(number_time, cases, COUNT_OF(cases));
    assert_string_equal(number_time(NAN, out), "277777:46:40");
    assert_string_equal(number_time(INFINITY, out), "277777:46:40");
}

/* A text that was written can be read, with the same value. */
static void spans(void **state) {
    static const char *const same[] = {"1s", "59s", "61s", "90s", "1m",          "15m",
                                       "1h", "24h", "25h", "7d",  "99999999999s"};
    char out[NUMBER_TEXT];
    uint64_t seconds;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        assert_null(number_duration(same[i], &seconds));
        assert_string_equal(number_span(seconds, out), same[i]);
    }
    assert_string_equal(number_span(120 * 60, out), "2h");
    assert_string_equal(number_span(48 * 3600, out), "2d");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans),         cmocka_unit_test(none_takes_nonsense),
        cmocka_unit_test(counts),        cmocka_unit_test(counts_with_three_decimals),
        cmocka_unit_test(integers),      cmocka_unit_test(sizes),
        cmocka_unit_test(durations),     cmocka_unit_test(rates),
        cmocka_unit_test(any_bytes),     cmocka_unit_test(grouped),
        cmocka_unit_test(bytes),         cmocka_unit_test(rates_in_words),
        cmocka_unit_test(short_numbers), cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
