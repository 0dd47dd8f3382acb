/* key_options.h - the options that say what of a line is compared, for the commands that read
 * streams of lines: dedup, distinct, count. */
#ifndef BLOOMERY_CLI_KEY_OPTIONS_H
#define BLOOMERY_CLI_KEY_OPTIONS_H

#include "key.h"
#include "options.h"
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
    {"url",                                                                                        \
     'u',                                                                                          \
     CLI_CHOICE,                                                                                   \
     offsetof(values, keys.url),                                                                   \
     "LEVEL",                                                                                      \
     "standard|crawl",                                                                             \
     "standard",                                                                                   \
     "The lines are URLs; compare them in canonical form. standard (the default): case of scheme " \
     "and host, default port, dot segments, percent-encoding, international names, fragment. "     \
     "crawl: also without tracking parameters, and with the query sorted. A line that is no URL "  \
     "is compared as it stands, and counted."},                                                    \
        {"extract-urls",                                                                           \
         'x',                                                                                      \
         CLI_FLAG,                                                                                 \
         offsetof(values, keys.extract),                                                           \
         NULL,                                                                                     \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "Take the http and https links out of any text, and treat each as a line."},              \
        {"field",                                                                                  \
         0,                                                                                        \
         CLI_COUNT,                                                                                \
         offsetof(values, keys.field),                                                             \
         "N",                                                                                      \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "Compare only the Nth field of a line, counted from 1. A line without it is compared "    \
         "whole."},                                                                                \
        {"delimiter", 't',  CLI_CHAR, offsetof(values, keys.delimiter),                            \
         "C",         NULL, NULL,     "What is between two fields; a tab unless given."},          \
        {"ignore-case", 'i',  CLI_FLAG, offsetof(values, keys.ignore_case),                        \
         NULL,          NULL, NULL,     "Capital and small ASCII letters are the same."},          \
    {                                                                                              \
        "null", '0', CLI_FLAG, offsetof(values, keys.null), NULL, NULL, NULL,                      \
            "Records end in a NUL byte instead of a newline, in and out."                          \
    }

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
