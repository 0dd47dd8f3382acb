/* The parser of the command line: every type of value, every way to write an option, and for every
 * error a message of one line. */
#include "support.h"

#include "options.h"
#include "text/message.h"

#include <stddef.h>
#include <unistd.h>

typedef struct values {
    bool null;
    const char *text, *file;
    cli_files lists;
    uint64_t keys, seed, memory, window, jobs;
    double rate;
    cli_char delimiter;
    unsigned form, json;
    bly_kind kind;
    bly_hash_id hash;
} values;

#define OPTION(field, short_name, kind, value, closed_set, unless_given)                           \
    {                                                                                              \
        .name = #field, .letter = (short_name), .type = (kind), .at = offsetof(values, field),     \
        .metavar = (value), .choices = (closed_set), .without = (unless_given), .help = "Help."    \
    }

static const cli_option options[] = {
    OPTION(null, '0', CLI_FLAG, NULL, NULL, NULL),
    OPTION(text, 't', CLI_TEXT, "TEXT", NULL, NULL),
    OPTION(file, 'o', CLI_FILE, "FILE", NULL, NULL),
    OPTION(keys, 'n', CLI_COUNT, "N", NULL, NULL),
    OPTION(seed, 0, CLI_NUMBER, "SEED", NULL, NULL),
    OPTION(memory, 'm', CLI_SIZE, "SIZE", NULL, NULL),
    OPTION(window, 'w', CLI_DURATION, "TIME", NULL, NULL),
    OPTION(rate, 'p', CLI_RATE, "RATE", NULL, NULL),
    OPTION(delimiter, 'd', CLI_CHAR, "CHAR", NULL, NULL),
    OPTION(form, 0, CLI_CHOICE, "FORM", "ip|phone|email", NULL),
    OPTION(json, 'j', CLI_CHOICE, "STYLE", "compact|pretty", "compact"),
    OPTION(jobs, 'J', CLI_COUNT, "N", NULL, "4"),
    OPTION(kind, 'k', CLI_KIND, "KIND", NULL, NULL),
    OPTION(hash, 0, CLI_HASH, "HASH", NULL, NULL),
    OPTION(lists, 'l', CLI_FILES, "LIST", NULL, NULL),
    {0},
};

/* The results of the last parse. */
static values got;
static cli_common common;
static cli_operands operands;
static char said[8192]; /* the output of the last parse on standard error */
static const char *words[CLI_MAX_FILES + 1];

static bool parse_words(const char *const *given) {
    int count = 0, saved = dup(2);
    FILE *log = tmpfile();
    for (; given[count]; count++)
        words[count] = given[count];
    got = (values){0};
    common = (cli_common){0};
    assert_non_null(log);
    assert_true(saved >= 0 && dup2(fileno(log), 2) == 2);
    bool ok = cli_parse(options, count, (char **)words, &got, &common, &operands);
    (void)fflush(stderr);
    assert_true(dup2(saved, 2) == 2);
    (void)close(saved);
    rewind(log);
    said[fread(said, 1, sizeof said - 1, log)] = '\0';
    (void)fclose(log);
    return ok;
}

#define PARSE(...) parse_words((const char *const[]){__VA_ARGS__, NULL})

#define TAKES(...)                                                                                 \
    do {                                                                                           \
        if (!PARSE(__VA_ARGS__) || *said)                                                          \
            fail_msg("refused: %s", said);                                                         \
    } while (0)

#define REFUSES(message, ...)                                                                      \
    do {                                                                                           \
        assert_false(PARSE(__VA_ARGS__));                                                          \
        assert_string_equal(said, "bloomery test: " message "\n");                                 \
    } while (0)

static void assert_operands(const char *const *wanted) {
    size_t count = 0;
    for (; wanted[count]; count++)
        if (count < operands.count)
            assert_string_equal(operands.items[count], wanted[count]);
    assert_int_equal(operands.count, count);
}

#define OPERANDS(...) assert_operands((const char *const[]){__VA_ARGS__, NULL})

/* ---- what is taken --------------------------------------------------------------------------- */

static void nothing_at_all(void **state) {
    const values untouched = {0};
    (void)state;
    assert_true(parse_words((const char *const[]){NULL}));
    assert_memory_equal(&got, &untouched, sizeof got);
    assert_int_equal(operands.count, 0);
    assert_false(common.quiet || common.help || common.full_help || common.colour);
}

static void every_type(void **state) {
    (void)state;
    TAKES("--null", "--text", "a=b", "--file", "x", "--keys", "1e3", "--seed", "0xff", "--memory",
          "2M", "--window", "1h", "--rate", "1/1000", "--delimiter", ";", "--form", "phone",
          "--kind", "classic", "--hash", "xxh64");
    assert_true(got.null);
    assert_string_equal(got.text, "a=b");
    assert_string_equal(got.file, "x");
    assert_int_equal(got.keys, 1000);
    assert_int_equal(got.seed, 255);
    assert_int_equal(got.memory, 2 << 20);
    assert_int_equal(got.window, 3600);
    assert_true(got.rate == 0.001);
    assert_true(got.delimiter.given && got.delimiter.value == ';');
    assert_int_equal(got.form, 2);
    assert_int_equal(got.kind, BLY_CLASSIC);
    assert_int_equal(got.hash, BLY_HASH_XXH64);
    assert_int_equal(operands.count, 0);
}

static void five_ways_to_give_a_value(void **state) {
    static const char *const ways[][3] = {{"--keys", "5", NULL},
                                          {"--keys=5", NULL, NULL},
                                          {"-n", "5", NULL},
                                          {"-n5", NULL, NULL},
                                          {"-n=5", NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        assert_true(parse_words(ways[i]));
        assert_int_equal(got.keys, 5);
        assert_int_equal(operands.count, 0);
    }
}

static void values_that_look_odd(void **state) {
    (void)state;
    TAKES("--text=");
    assert_string_equal(got.text, "");
    TAKES("--text", "");
    assert_string_equal(got.text, "");
    TAKES("--text=--keys=5");
    assert_string_equal(got.text, "--keys=5");
    TAKES("--text", "-q");
    assert_string_equal(got.text, "-q");
    assert_false(common.quiet);
    TAKES("--text", "--");
    assert_string_equal(got.text, "--");
    TAKES("-t-");
    assert_string_equal(got.text, "-");
    TAKES("--file", "-");
    assert_string_equal(got.file, "-");
    TAKES("-ta=b");
    assert_string_equal(got.text, "a=b");
    TAKES("--text=\xFF\n");
    assert_string_equal(got.text, "\xFF\n");
}

static void letters_together(void **state) {
    (void)state;
    TAKES("-q0");
    assert_true(common.quiet && got.null);
    TAKES("-q0n5");
    assert_true(common.quiet && got.null && got.keys == 5);
    TAKES("-0qn", "7", "x");
    assert_true(common.quiet && got.null && got.keys == 7);
    OPERANDS("x");
    TAKES("-0tq");
    assert_true(got.null && !common.quiet);
    assert_string_equal(got.text, "q");
}

static void one_byte(void **state) {
    static const struct {
        const char *text;
        char value;
    } cases[] = {{",", ','},    {"\t", '\t'},   {"\\t", '\t'}, {"\\n", '\n'}, {"\\r", '\r'},
                 {"\\0", '\0'}, {"\\\\", '\\'}, {"\\", '\\'},  {" ", ' '},    {"\xFF", '\xFF'},
                 {"=", '='},    {"-", '-'},     {"t", 't'}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TAKES("--delimiter", cases[i].text);
        assert_true(got.delimiter.given);
        assert_int_equal(got.delimiter.value, cases[i].value);
    }
    TAKES("-d=");
    assert_int_equal(got.delimiter.value, '=');
    TAKES("-d\\t");
    assert_int_equal(got.delimiter.value, '\t');
}

static void a_value_that_may_be_left_out(void **state) {
    (void)state;
    TAKES("--json");
    assert_int_equal(got.json, 1);
    TAKES("--json=pretty");
    assert_int_equal(got.json, 2);
    TAKES("--json", "pretty");
    assert_int_equal(got.json, 1);
    OPERANDS("pretty");
    TAKES("-j");
    assert_int_equal(got.json, 1);
    TAKES("-jpretty");
    assert_int_equal(got.json, 2);
    TAKES("-j", "pretty");
    assert_int_equal(got.json, 1);
    OPERANDS("pretty");
    TAKES("--jobs", "8");
    assert_int_equal(got.jobs, 4);
    OPERANDS("8");
    TAKES("-qJ");
    assert_int_equal(got.jobs, 4);
    TAKES("-J8");
    assert_int_equal(got.jobs, 8);
}

static void a_value_is_given_once(void **state) {
    (void)state;
    REFUSES("--keys was given twice; give it only once", "--keys", "1", "--keys=2");
    REFUSES("--keys was given twice; give it only once", "--keys", "1", "-n3");
    REFUSES("--form was given twice; give it only once", "--form=ip", "--form=ip");
    REFUSES("--json was given twice; give it only once", "--json=pretty", "--json");
    TAKES("-q", "-q", "--quiet");
    assert_true(common.quiet);
}

static void files_are_given_several_times(void **state) {
    const char *given[CLI_MAX_FILES + 2] = {NULL};
    (void)state;
    TAKES("-l", "a", "x", "--lists=b", "-lc", "--lists", "a");
    assert_int_equal(got.lists.count, 4);
    assert_string_equal(got.lists.items[0], "a");
    assert_string_equal(got.lists.items[1], "b");
    assert_string_equal(got.lists.items[2], "c");
    assert_string_equal(got.lists.items[3], "a");
    OPERANDS("x");
    REFUSES("--lists cannot be '': it must be a file name", "-l", "a", "--lists=");
    REFUSES("--lists needs a value: --lists LIST", "-l", "a", "-l");
    for (size_t i = 0; i < CLI_MAX_FILES; i++)
        given[i] = "-la";
    assert_true(parse_words(given));
    assert_int_equal(got.lists.count, CLI_MAX_FILES);
    given[CLI_MAX_FILES] = "-lb";
    assert_false(parse_words(given));
    assert_non_null(strstr(said, "--lists can be given at most 64 times"));
}

static void operands_anywhere(void **state) {
    (void)state;
    TAKES("a", "-q", "b", "--keys", "6", "c", "-", "");
    OPERANDS("a", "b", "c", "-", "");
    assert_true(common.quiet && got.keys == 6);
    TAKES("a", "--", "-q", "--", "--keys", "-");
    OPERANDS("a", "-q", "--", "--keys", "-");
    assert_false(common.quiet);
    TAKES("--");
    assert_int_equal(operands.count, 0);
}

static void common_options(void **state) {
    (void)state;
    TAKES("-h");
    assert_true(common.help && !common.full_help);
    TAKES("--help");
    assert_true(common.help && common.full_help);
    TAKES("-qh");
    assert_true(common.help && common.quiet);
    TAKES("--color=auto");
    assert_int_equal(common.colour, 1);
    TAKES("--color", "always");
    assert_int_equal(common.colour, 2);
    TAKES("--color=never");
    assert_int_equal(common.colour, 3);
}

static void closed_sets(void **state) {
    char name[32];
    size_t count = 0;
    (void)state;
    for (const cli_option *o = options; o->name; o++)
        for (size_t i = 0; cli_choice(o, i, name); i++, count++) {
            char argument[64];
            (void)snprintf(argument, sizeof argument, "--%s=%s", o->name, name);
            TAKES(argument);
        }
    assert_true(count > 3 + 2 + 5 + 5);
    assert_true(cli_choice(&options[9], 2, name));
    assert_string_equal(name, "email");
    assert_false(cli_choice(&options[9], 3, name));
    assert_false(cli_choice(&options[0], 0, name));
    assert_false(cli_choice(&options[1], 0, name));
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void unknown_options(void **state) {
    (void)state;
    REFUSES("unknown option --zzz; see --help", "--zzz");
    REFUSES("unknown option --zzz; see --help", "--zzz=1");
    REFUSES("unknown option --key; did you mean --keys?", "--key");
    REFUSES("unknown option --memroy; did you mean --memory?", "--memroy");
    REFUSES("unknown option --colour; did you mean --color?", "--colour=never");
    REFUSES("unknown option --KEYS; did you mean --keys?", "--KEYS");
    REFUSES("unknown option --; see --help", "--=5");
    REFUSES("unknown option -Z; see --help", "-Z");
    REFUSES("unknown option -Z; see --help", "-q0Z5");
    REFUSES("unknown option -5; see --help", "-5");
    REFUSES("unknown option --zzz; see --help", "a", "-q", "--zzz", "--help");
    /* A prefix is not accepted: a later version may have another option with that prefix. */
    REFUSES("unknown option --memo; did you mean --memory?", "--memo", "1");
}

static void near_names_are_suggested(void **state) {
    static const struct {
        const char *typed, *meant;
    } cases[] = {{"--ky", NULL},
                 {"--kes", "--keys"},
                 {"--keyss", "--keys"},
                 {"--kyes", "--keys"},
                 {"--kezs", "--keys"},
                 {"--kyse=5", NULL},
                 {"--jsno", "--json"},
                 {"--jbos=4", "--jobs"},
                 {"-rate=1", "--rate"},
                 {"--quite", "--quiet"},
                 {"--delimeter=,", "--delimiter"},
                 {"--dlimter", "--delimiter"},
                 {"--delim", "--delimiter"},
                 {"--n=5", "-n"},
                 {"--helpme", "--help"},
                 {"--unrelated", NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char expected[160];
        int length = (int)strcspn(cases[i].typed, "=");
        (void)snprintf(expected, sizeof expected, "bloomery test: unknown option %.*s; ", length,
                       cases[i].typed);
        assert_false(PARSE(cases[i].typed));
        size_t used = strlen(expected);
        (void)snprintf(expected + used, sizeof expected - used, "%s%s%s\n",
                       cases[i].meant ? "did you mean " : "see --help",
                       cases[i].meant ? cases[i].meant : "", cases[i].meant ? "?" : "");
        if (strcmp(said, expected) != 0)
            fail_msg("\"%s\", not \"%s\"", said, expected);
    }
}

static void missing_values(void **state) {
    (void)state;
    REFUSES("--keys needs a value: --keys N", "--keys");
    REFUSES("--keys needs a value: --keys N", "x", "-qn");
    REFUSES("--file needs a value: --file FILE", "-o");
    REFUSES("--file cannot be '': it must be a file name", "--file=");
    REFUSES("--file cannot be '': it must be a file name", "--file", "");
    REFUSES("--form cannot be '': it must be one of ip, phone, email", "--form=");
    REFUSES("--keys cannot be '--': it must be at least 1", "--keys", "--");
}

static void values_where_none_belongs(void **state) {
    (void)state;
    REFUSES("--null takes no value", "--null=1");
    REFUSES("--null takes no value", "--null=");
    REFUSES("--quiet takes no value", "--quiet=yes");
    REFUSES("--help takes no value", "--help=x");
}

static void values_outside_of_a_set(void **state) {
    (void)state;
    REFUSES("--form cannot be 'fax': it must be one of ip, phone, email", "--form=fax");
    REFUSES("--form cannot be 'IPv6': it must be one of ip, phone, email", "--form", "IPv6");
    REFUSES("--form cannot be 'fone': it must be one of ip, phone, email", "--form", "fone");
    REFUSES("--form cannot be 'IP'; did you mean ip?", "--form", "IP");
    REFUSES("--form cannot be 'phoen'; did you mean phone?", "--form", "phoen");
    REFUSES("--form cannot be 'mail'; did you mean email?", "--form", "mail");
    REFUSES("--kind cannot be 'clasic'; did you mean classic?", "--kind", "clasic");
    REFUSES("--hash cannot be 'siphsh'; did you mean siphash?", "--hash=siphsh");
    REFUSES("--form cannot be 'ip|phone': it must be one of ip, phone, email", "--form",
            "ip|phone");
    REFUSES("--json cannot be '': it must be one of compact, pretty", "--json=");
    REFUSES("--color cannot be 'yes': it must be one of auto, always, never", "--color=yes");
    assert_false(PARSE("--kind=bloom"));
    assert_non_null(strstr(said, "--kind cannot be 'bloom': it must be one of classic, "));
    assert_int_equal(got.kind, BLY_KIND_NONE);
    assert_false(PARSE("--hash=none"));
    assert_non_null(strstr(said, "--hash cannot be 'none': it must be one of xxh3, "));
    assert_int_equal(got.hash, BLY_HASH_NONE);
    REFUSES("--delimiter cannot be '': it must be one byte, or one of \\t \\n \\r \\0 \\\\",
            "--delimiter", "");
    REFUSES("--delimiter cannot be 'ab': it must be one byte, or one of \\t \\n \\r \\0 \\\\",
            "-dab");
    REFUSES("--delimiter cannot be '\\x': it must be one byte, or one of \\t \\n \\r \\0 \\\\",
            "-d\\x");
}

/* Invalid values for each option that takes a number. (test_numbers.c tests the functions that read
 * numbers.) */
static void bad_numbers(void **state) {
    static const char *const bad[] = {
        "",    " 1",    "-1",    "+1", "nan",
        "inf", "1e400", "1/0",   "0%", "100%",
        "1%%", "2^3",   "1,000", "x",  "99999999999999999999999999999999999999999999999999"};
    static const char *const names[] = {"keys", "seed", "memory", "window", "rate"};
    const values untouched = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        for (size_t j = 0; j < COUNT_OF(names); j++) {
            char name[16], start[128];
            (void)snprintf(name, sizeof name, "--%s", names[j]);
            (void)snprintf(start, sizeof start, "bloomery test: %s cannot be '%s': it must ", name,
                           bad[i]);
            if (PARSE(name, bad[i]) || strncmp(said, start, strlen(start)) != 0)
                fail_msg("%s %s: \"%s\"", name, bad[i], said);
            assert_memory_equal(&got, &untouched, sizeof got);
        }
    REFUSES("--keys cannot be '0x10': it must be a number such as 1000, 1e8, 100k, 50M or 2G",
            "--keys", "0x10");
    REFUSES("--keys cannot be '1.5': it must be a whole number", "--keys", "1.5");
    REFUSES("--keys cannot be '1e400': it must be at most 2^48", "--keys", "1e400");
    REFUSES("--rate cannot be '1/0': it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3", "-p",
            "1/0");
    REFUSES("--rate cannot be '100%': it must be above 0 and below 1 (100%)", "-p", "100%");
    REFUSES("--seed cannot be '1e8': it must be a whole number, decimal (42) or hexadecimal (0x2a)",
            "--seed=1e8");
}

/* An error is one line, however long the arguments are. */
static void endless_arguments(void **state) {
    static char long_one[20000] = "--";
    (void)state;
    memset(long_one + 2, 'a', sizeof long_one - 3);
    assert_false(PARSE(long_one));
    assert_true(strlen(said) < 5000);
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    assert_false(PARSE("--keys", long_one));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(every_type),
        cmocka_unit_test(five_ways_to_give_a_value),
        cmocka_unit_test(values_that_look_odd),
        cmocka_unit_test(letters_together),
        cmocka_unit_test(one_byte),
        cmocka_unit_test(a_value_that_may_be_left_out),
        cmocka_unit_test(a_value_is_given_once),
        cmocka_unit_test(files_are_given_several_times),
        cmocka_unit_test(operands_anywhere),
        cmocka_unit_test(common_options),
        cmocka_unit_test(closed_sets),
        cmocka_unit_test(unknown_options),
        cmocka_unit_test(near_names_are_suggested),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(values_where_none_belongs),
        cmocka_unit_test(values_outside_of_a_set),
        cmocka_unit_test(bad_numbers),
        cmocka_unit_test(endless_arguments),
    };
    message_setup("test", false, 3);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
