/* common_options.h - the rows of the options that several commands have.
 *
 * Each macro is one row of a command's table. So an option has the same name, letter and kind of
 * value in every command. `offset` is where its field is in the command's values; `text` is the
 * help, where it depends on the command.
 */
#ifndef BLOOMERY_CLI_COMMON_OPTIONS_H
#define BLOOMERY_CLI_COMMON_OPTIONS_H

#include "options.h"

/* The helps of --key-file begin with their own words, and describe the file in these. */
#define KEY_FILE_FORM "(16 bytes, or 32 hexadecimal digits)"

/* clang-format off */

/* ---- options of a single command ------------------------------------------------------------- */

#define OPTION_FLAG(word, offset, text)                                                            \
    {.name = word, .type = CLI_FLAG, .at = (offset), .help = text}
#define OPTION_NUMBER(word, offset, text)                                                          \
    {.name = word, .type = CLI_COUNT, .at = (offset), .metavar = "N", .help = text}
#define OPTION_FILE(word, offset, value, text)                                                     \
    {.name = word, .type = CLI_FILE, .at = (offset), .metavar = value, .help = text}

/* ---- input ----------------------------------------------------------------------------------- */

#define OPTION_KEY(offset, text)                                                                   \
    {.name = "key", .letter = 'k', .type = CLI_TEXT, .at = (offset), .metavar = "KEY",             \
     .help = text}
/* Needs io/list_lines.h. */
#define OPTION_TYPE(offset, text)                                                                  \
    {.name = "type", .type = CLI_CHOICE, .at = (offset), .metavar = "TYPE",                        \
     .choices = LINE_TYPE_CHOICES, .help = text}
#define OPTION_FIELD(offset, text)                                                                 \
    {.name = "field", .type = CLI_COUNT, .at = (offset), .metavar = "N", .help = text}
#define OPTION_DELIMITER(offset)                                                                   \
    {.name = "delimiter", .letter = 't', .type = CLI_CHAR, .at = (offset), .metavar = "C",         \
     .help = "The field separator, a tab by default."}
/* lines: what ends with a NUL byte: "Input lines". */
#define OPTION_NULL(offset, lines)                                                                 \
    {.name = "null", .letter = '0', .type = CLI_FLAG, .at = (offset),                              \
     .help = lines " end with a NUL byte instead of a newline."}
#define OPTION_COMMENTS(offset)                                                                    \
    {.name = "comments", .type = CLI_FLAG, .at = (offset),                                         \
     .help = "Skip lines that begin with '#'. For types other than line, also skip lines that "    \
             "begin with ';', and ignore what follows a blank and one of the two."}
#define OPTION_SKIP_MALFORMED(offset)                                                              \
    {.name = "skip-malformed", .type = CLI_FLAG, .at = (offset),                                   \
     .help = "Skip lines that are not of the type, and count them. Without this option such a "    \
             "line is an error, and nothing is written."}
#define OPTION_COPIES(offset)                                                                      \
    {.name = "copies", .type = CLI_FLAG, .at = (offset),                                           \
     .help = "Count every occurrence of a line, for lists that store copies of keys. By default "  \
             "a line that occurs several times counts once."}

/* ---- output ---------------------------------------------------------------------------------- */

#define OPTION_OUTPUT(offset, value, text)                                                         \
    {.name = "output", .letter = 'o', .type = CLI_FILE, .at = (offset), .metavar = value,          \
     .help = text}
#define OPTION_FORCE(offset, text)                                                                 \
    {.name = "force", .letter = 'f', .type = CLI_FLAG, .at = (offset), .help = text}
/* Of a command whose output is a filter. */
#define OPTION_FORCE_FILTER(offset)                                                                \
    OPTION_FORCE(offset, "Replace an existing file; write a filter to a terminal.")
#define OPTION_COUNT(offset, text)                                                                 \
    {.name = "count", .letter = 'c', .type = CLI_FLAG, .at = (offset), .help = text}
#define OPTION_STATS(offset, text)                                                                 \
    {.name = "stats", .type = CLI_FLAG, .at = (offset), .help = text}
#define OPTION_JSON(offset, text)                                                                  \
    {.name = "json", .type = CLI_FLAG, .at = (offset), .help = text}
#define OPTION_STATE(offset, text)                                                                 \
    {.name = "state", .letter = 's', .type = CLI_FILE, .at = (offset), .metavar = "FILE",          \
     .help = text}

/* ---- filters --------------------------------------------------------------------------------- */

#define OPTION_EXPECT(offset, text)                                                                \
    {.name = "expect", .letter = 'n', .type = CLI_COUNT, .at = (offset), .metavar = "N",           \
     .help = text}
#define OPTION_RATE(offset, text)                                                                  \
    {.name = "rate", .letter = 'p', .type = CLI_RATE, .at = (offset), .metavar = "RATE",           \
     .help = text}
#define OPTION_MEMORY(offset, text)                                                                \
    {.name = "memory", .letter = 'm', .type = CLI_SIZE, .at = (offset), .metavar = "SIZE",         \
     .help = text}
#define OPTION_EXACT(offset, text)                                                                 \
    {.name = "exact", .type = CLI_FLAG, .at = (offset), .help = text}
/* unless_given: the value where none follows, or NULL. */
#define OPTION_WINDOW(offset, unless_given, text)                                                  \
    {.name = "window", .letter = 'w', .type = CLI_TEXT, .at = (offset), .metavar = "N|TIME",       \
     .without = (unless_given), .help = text}
#define OPTION_SMALLEST(offset, text)                                                              \
    {.name = "smallest", .type = CLI_FLAG, .at = (offset), .help = text}
#define OPTION_KIND(offset, text)                                                                  \
    {.name = "kind", .type = CLI_KIND, .at = (offset), .metavar = "KIND", .help = text}
#define OPTION_COUNTER_BITS(offset)                                                                \
    {.name = "counter-bits", .type = CLI_CHOICE, .at = (offset), .metavar = "BITS",                \
     .choices = "2|4|8|16",                                                                        \
     .help = "With --kind counting: the width of each counter, 4 by default. A counter that "      \
             "reaches its limit (3, 15, 255 or 65535) stays there."}
#define OPTION_HASH(offset, text)                                                                  \
    {.name = "hash", .type = CLI_HASH, .at = (offset), .metavar = "HASH", .help = text}
#define OPTION_SEED(offset, text)                                                                  \
    {.name = "seed", .type = CLI_NUMBER, .at = (offset), .metavar = "SEED", .help = text}
#define OPTION_SEED_OF_STATE(offset)                                                               \
    OPTION_SEED(offset, "The seed of the hash function, 0 by default. Only states of the same "    \
                        "seed can be merged.")
#define OPTION_KEY_FILE(offset, text)                                                              \
    {.name = "key-file", .type = CLI_FILE, .at = (offset), .metavar = "FILE", .help = text}
/* harm: what an attacker could do without the key. */
#define OPTION_KEY_FILE_OF_STATE(offset, harm)                                                     \
    OPTION_KEY_FILE(offset, "Hash with the secret key in FILE " KEY_FILE_FORM ". Without it, "     \
                            "an attacker who chooses the lines can " harm ".")
#define OPTION_FOLD(offset)                                                                        \
    {.name = "fold", .type = CLI_FLAG, .at = (offset),                                             \
     .help = "Fold filters of different sizes to the largest size that all of them can be "        \
             "folded to."}

/* ---- servers --------------------------------------------------------------------------------- */

#define OPTION_PLAIN(offset, text)                                                                 \
    {.name = "plain", .type = CLI_FLAG, .at = (offset), .group = CLI_GROUP_SERVER, .help = text}
/* when: for which filters: "With --redis". */
#define OPTION_SHARDS(offset, when)                                                                \
    {.name = "shards", .type = CLI_COUNT, .at = (offset), .metavar = "N",                          \
     .group = CLI_GROUP_SERVER,                                                                    \
     .help = when ": split the filter into N strings, which a cluster spreads over its servers. "  \
             "By default as few as possible; a string has at most 512 MiB."}
#define OPTION_EXPIRE(offset, text)                                                                \
    {.name = "expire", .type = CLI_DURATION, .at = (offset), .metavar = "TIME",                    \
     .group = CLI_GROUP_SERVER, .help = text}
#define OPTION_ON_ERROR(offset, values, text)                                                      \
    {.name = "on-error", .type = CLI_CHOICE, .at = (offset), .metavar = "WHAT",                    \
     .choices = values, .group = CLI_GROUP_SERVER, .help = text}
#define OPTION_ALLOW_REPLICA(offset, text)                                                         \
    {.name = "allow-replica", .type = CLI_FLAG, .at = (offset), .group = CLI_GROUP_SERVER,         \
     .help = text}
#define OPTION_GOZERO(offset)                                                                      \
    {.name = "gozero", .type = CLI_COUNT, .at = (offset), .metavar = "BITS",                       \
     .group = CLI_GROUP_SERVER,                                                                    \
     .help = "LIST is the address of a filter of the Go framework go-zero with this many bits."}
/* sends: "Send" or "Fetch". */
#define OPTION_CHUNK_SIZE(offset, sends)                                                           \
    {.name = "chunk-size", .type = CLI_SIZE, .at = (offset), .metavar = "SIZE",                    \
     .help = sends " at most SIZE bytes at a time, from 1K to 64M. The default, 1M, is small "     \
             "enough that the server's other clients do not notice."}

/* clang-format on */

#endif
