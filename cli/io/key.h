/* key.h - makes keys, which are the bytes that are compared, from records. A key is the record
 * itself or one of its fields, if requested in lower case or as a canonical URL.
 *
 * A record is a line, or with -0 a sequence of bytes that ends in a NUL byte. One carriage return
 * before the newline is not part of a key, so that files with DOS and Unix line ends have the same
 * keys in every command. It is still printed.
 */
#ifndef BLOOMERY_CLI_KEY_H
#define BLOOMERY_CLI_KEY_H

#include "common_options.h"
#include "text/json.h"

#include <bloomery/filter.h>
#include <bloomery/hash.h>
#include <bloomery/host/lists.h>

#include <stddef.h>

typedef struct key_rule {
    bool exact;      /* a carriage return at the end is part of the key: with -0, and for states
                        that do not record whether it is */
    bool met_return; /* with `exact`: a record ended in a carriage return */
    uint64_t field;  /* counted from 1; 0: the whole record */
    char delimiter;
    bool ignore_case; /* ignore the case of ASCII letters */
    bool url;
    bly_url_level level;
    bool warned; /* a warning about a non-ASCII host, in a build without libidn2, was printed */
    uint64_t not_urls;  /* records that are not URLs, and were compared unchanged */
    uint64_t fieldless; /* records without that field, compared whole */
    bly_url_buffer canonical;
    char *lower; /* a key in lower case */
    size_t lower_room;
} key_rule;

/* Whether every key is the record itself, as returned by key_texts. */
bool key_is_record(const key_rule *rule);

/* The keys of n records: the records themselves if none of them ends in a carriage return to be
 * dropped, else copies in `room` that point to the same bytes. */
const bly_bytes *key_texts(key_rule *rule, const bly_bytes *records, size_t n, bly_bytes *room);

/* Makes the key of a record, which is valid until the next call. If memory runs out, reports that
 * and returns false. */
bool key_of(key_rule *rule, bly_bytes record, bly_bytes *key);

/* Whether every key is a part of its record, and valid as long as the record. */
bool key_is_part(const key_rule *rule);

/* For --stats and --json: both functions write how many records are not URLs (only with --url), and
 * how many lack the field (only with --field). */
void key_rule_print(const key_rule *rule, FILE *to);
void key_rule_json(const key_rule *rule, json *out);

void key_rule_free(key_rule *rule);

/* ---- options, for the commands that read streams of lines: dedup, distinct, count ------------ */

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
     .help =                                                                                       \
         "The lines are URLs; compare them in canonical form. standard (the default) normalises "  \
         "the case of scheme and host, the default port, dot segments, percent-encoding, "         \
         "international names and the fragment. crawl also removes tracking parameters and sorts " \
         "the query. A line that is not a URL is compared unchanged, and counted."},               \
        OPTION_FLAG("extract-urls", 'x', offsetof(values, keys.extract),                           \
                    "Extract the http and https links from any text, and treat each as a line."),  \
        OPTION_FIELD(offsetof(values, keys.field),                                                 \
                     "Compare only the Nth field of each line, counted from 1. A line without "    \
                     "this field is compared whole."),                                             \
        OPTION_DELIMITER(offsetof(values, keys.delimiter)),                                        \
        OPTION_FLAG("ignore-case", 'i', offsetof(values, keys.ignore_case),                        \
                    "Ignore case (ASCII only)."),                                                  \
        OPTION_NULL(offsetof(values, keys.null), "Input and output lines")

/* Why these options cannot be combined; NULL if they can. */
const char *key_options_conflict(const key_options *o);

/* Whether "--url crawl" was written instead of "--url=crawl"; if so, reports it. */
bool key_options_misplaced(const key_options *o, cli_operands operands);

key_rule key_options_rule(const key_options *o);
/* The rule that a filter of such keys records. */
bly_key_rule key_options_code(const key_options *o);

/* The rule as text, by which a state recognises it: different rules have different texts. */
enum { KEY_OPTIONS_WORDS = 96 };
char *key_options_words(const key_options *o, char out[KEY_OPTIONS_WORDS]);

#endif
