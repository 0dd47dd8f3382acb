/* common_options.h - the rows of options in the tables of commands.
 *
 * Each macro is one row of a command's table. So an option that several commands have has the same
 * name, letter and kind of value in all of them. `offset` is where its field is in the command's
 * values; `text` is the help, where it depends on the command.
 */
#ifndef BLOOMERY_CLI_COMMON_OPTIONS_H
#define BLOOMERY_CLI_COMMON_OPTIONS_H

#include "options.h"

/* The form of a key file, for the help texts of --key-file. */
#define KEY_FILE_FORM "(16 bytes, or 32 hexadecimal digits)"

/* clang-format off */

/* Macros for a row with any name, also for options that only one command has. short_name: 0 if the
 * option has no short name. */
#define OPTION_FLAG(long_name, short_name, offset, text)                                           \
    {.name = long_name, .letter = short_name, .type = CLI_FLAG, .at = (offset), .help = text}
#define OPTION_VALUE(long_name, short_name, value_type, offset, value, text)                       \
    {.name = long_name, .letter = short_name, .type = value_type, .at = (offset),                  \
     .metavar = value, .help = text}
#define OPTION_CHOICE(long_name, short_name, offset, value, values, text)                          \
    {.name = long_name, .letter = short_name, .type = CLI_CHOICE, .at = (offset),                  \
     .metavar = value, .choices = values, .help = text}

/* ---- input ----------------------------------------------------------------------------------- */

#define OPTION_KEY(offset, text) OPTION_VALUE("key", 'k', CLI_TEXT, offset, "KEY", text)
/* Needs io/list_lines.h. */
#define OPTION_TYPE(offset, text)                                                                  \
    OPTION_CHOICE("type", 0, offset, "TYPE", LINE_TYPE_CHOICES, text)
#define OPTION_FIELD(offset, text) OPTION_VALUE("field", 0, CLI_COUNT, offset, "N", text)
#define OPTION_DELIMITER(offset)                                                                   \
    OPTION_VALUE("delimiter", 't', CLI_CHAR, offset, "C", "The field separator, a tab by default.")
/* lines: the subject of the sentence, such as "Input lines". */
#define OPTION_NULL(offset, lines)                                                                 \
    OPTION_FLAG("null", '0', offset, lines " end with a NUL byte instead of a newline.")
#define OPTION_COMMENTS(offset)                                                                    \
    OPTION_FLAG("comments", 0, offset,                                                             \
        "Skip lines that begin with '#'. For types other than line, also skip lines that "         \
        "begin with ';', and ignore what follows a blank and one of the two.")
#define OPTION_SKIP_MALFORMED(offset)                                                              \
    OPTION_FLAG("skip-malformed", 0, offset,                                                       \
        "Skip lines that are not of the type, and count them. Without this option such a "         \
        "line is an error, and nothing is written.")
#define OPTION_COPIES(offset)                                                                      \
    OPTION_FLAG("copies", 0, offset,                                                               \
        "Count every occurrence of a line, for lists that store copies of keys. By default "       \
        "a line that occurs several times counts once.")

/* ---- output ---------------------------------------------------------------------------------- */

#define OPTION_OUTPUT(offset, value, text)                                                         \
    OPTION_VALUE("output", 'o', CLI_FILE, offset, value, text)
#define OPTION_FORCE(offset, text) OPTION_FLAG("force", 'f', offset, text)
/* For a command whose output is a filter. */
#define OPTION_FORCE_FILTER(offset)                                                                \
    OPTION_FORCE(offset, "Replace an existing file; write a filter to a terminal.")
#define OPTION_COUNT(offset, text) OPTION_FLAG("count", 'c', offset, text)
#define OPTION_STATS(offset, text) OPTION_FLAG("stats", 0, offset, text)
#define OPTION_JSON(offset, text) OPTION_FLAG("json", 0, offset, text)
#define OPTION_STATE(offset, text) OPTION_VALUE("state", 's', CLI_FILE, offset, "FILE", text)

/* ---- filters --------------------------------------------------------------------------------- */

#define OPTION_EXPECT(offset, text) OPTION_VALUE("expect", 'n', CLI_COUNT, offset, "N", text)
#define OPTION_RATE(offset, text) OPTION_VALUE("rate", 'p', CLI_RATE, offset, "RATE", text)
#define OPTION_MEMORY(offset, text) OPTION_VALUE("memory", 'm', CLI_SIZE, offset, "SIZE", text)
#define OPTION_EXACT(offset, text) OPTION_FLAG("exact", 0, offset, text)
/* unless_given: the value if --window is given without one; NULL: a value is required. */
#define OPTION_WINDOW(offset, unless_given, text)                                                  \
    {.name = "window", .letter = 'w', .type = CLI_TEXT, .at = (offset), .metavar = "N|TIME",       \
     .without = (unless_given), .help = text}
#define OPTION_SMALLEST(offset, text) OPTION_FLAG("smallest", 0, offset, text)
#define OPTION_KIND(offset, text) OPTION_VALUE("kind", 0, CLI_KIND, offset, "KIND", text)
#define OPTION_COUNTER_BITS(offset)                                                                \
    OPTION_CHOICE("counter-bits", 0, offset, "BITS", "2|4|8|16",                                   \
        "With --kind counting: the width of each counter, 4 by default. A counter that "           \
        "reaches its limit (3, 15, 255 or 65535) stays there.")
#define OPTION_HASH(offset, text) OPTION_VALUE("hash", 0, CLI_HASH, offset, "HASH", text)
#define OPTION_SEED(offset, text) OPTION_VALUE("seed", 0, CLI_NUMBER, offset, "SEED", text)
#define OPTION_SEED_OF_STATE(offset)                                                               \
    OPTION_SEED(offset, "The seed of the hash function, 0 by default. Only states of the same "    \
                        "seed can be merged.")
#define OPTION_KEY_FILE(offset, text) OPTION_VALUE("key-file", 0, CLI_FILE, offset, "FILE", text)
/* harm: what an attacker could do without the key. */
#define OPTION_KEY_FILE_OF_STATE(offset, harm)                                                     \
    OPTION_KEY_FILE(offset, "Hash with the secret key in FILE " KEY_FILE_FORM ". Without it, "     \
                            "an attacker who chooses the lines can " harm ".")
#define OPTION_FOLD(offset)                                                                        \
    OPTION_FLAG("fold", 0, offset,                                                                 \
        "Fold filters of different sizes to the largest size that all of them can be folded to.")

/* ---- servers --------------------------------------------------------------------------------- */

#define OPTION_PLAIN(offset, text)                                                                 \
    {.name = "plain", .type = CLI_FLAG, .at = (offset), .group = CLI_GROUP_SERVER, .help = text}
/* when: the condition under which the option applies, such as "With --redis". */
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
/* sends: the first word of the help, "Send" or "Fetch". */
#define OPTION_CHUNK_SIZE(offset, sends)                                                           \
    OPTION_VALUE("chunk-size", 0, CLI_SIZE, offset, "SIZE",                                        \
        sends " at most SIZE bytes at a time, from 1K to 64M. The default, 1M, is small enough "   \
              "that the server's other clients do not notice.")

/* clang-format on */

#endif
