/* key_options.h - the options that say what of a line is compared, for the commands that read
 * streams of lines: dedup, distinct, count. */
#ifndef BLOOMERY_CLI_KEY_OPTIONS_H
#define BLOOMERY_CLI_KEY_OPTIONS_H

#include "common_options.h"
#include "io/key.h"
#include <bloomery/filter.h>

#include <stddef.h>

typedef struct key_options {
    uint64_t field;
    cli_char delimiter;
    unsigned url; /* 0, or 1 + bly_url_level */
    bool extract, ignore_case, null;
} key_options;

/* The rows of the options, for a command whose values have a key_options called `keys`. */
#define KEY_OPTIONS(values)                                                                        \
    {.name = "url",                                                                                \
     .letter = 'u',                                                                                \
     .type = CLI_CHOICE,                                                                           \
     .at = offsetof(values, keys.url),                                                             \
     .metavar = "LEVEL",                                                                           \
     .choices = "standard|crawl",                                                                  \
     .without = "standard",                                                                        \
     .help = "The lines are URLs; compare them in canonical form. standard (the default): case "   \
             "of scheme and host, default port, dot segments, percent-encoding, international "    \
             "names, fragment. crawl: also without tracking parameters, and with the query "       \
             "sorted. A line that is no URL is compared as it stands, and counted."},              \
        {.name = "extract-urls",                                                                   \
         .letter = 'x',                                                                            \
         .type = CLI_FLAG,                                                                         \
         .at = offsetof(values, keys.extract),                                                     \
         .help = "Take the http and https links out of any text, and treat each as a line."},      \
        OPTION_FIELD(offsetof(values, keys.field),                                                 \
                     "Compare only the Nth field of a line, counted from 1. A line without it "    \
                     "is compared whole."),                                                        \
        OPTION_DELIMITER(offsetof(values, keys.delimiter)),                                        \
        {.name = "ignore-case",                                                                    \
         .letter = 'i',                                                                            \
         .type = CLI_FLAG,                                                                         \
         .at = offsetof(values, keys.ignore_case),                                                 \
         .help = "Ignore case (ASCII only)."},                                                     \
        OPTION_NULL(offsetof(values, keys.null), "Input and output lines")

/* NULL, or why these options cannot go together. */
const char *key_options_conflict(const key_options *o);

/* "--url crawl" where "--url=crawl" is meant: reported, and true. */
bool key_options_misplaced(const key_options *o, cli_operands operands);

key_rule key_options_rule(const key_options *o);
/* What a filter of such keys records of them. */
bly_key_rule key_options_code(const key_options *o);
char key_options_separator(const key_options *o);

/* The rule in words, by which a state can tell whether it was made by the same: different rules,
 * different words. */
enum { KEY_OPTIONS_WORDS = 96 };
char *key_options_words(const key_options *o, char out[KEY_OPTIONS_WORDS]);

#endif
