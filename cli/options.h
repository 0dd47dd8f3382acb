/* options.h - one definition per option: parser, help, manual page and completion read the same
 * row. */
#ifndef BLOOMERY_CLI_OPTIONS_H
#define BLOOMERY_CLI_OPTIONS_H

#include <bloomery/bloomery.h>

/* The type of an option's value, and of the field in which it is stored. The field stays zero if
 * the option is not given. */
typedef enum cli_type {
    CLI_FLAG,     /* bool; takes no value */
    CLI_TEXT,     /* const char * */
    CLI_FILE,     /* const char *, completed as a file name; "" is refused */
    CLI_FILES,    /* cli_files: the same, and the option may be given several times */
    CLI_COUNT,    /* uint64_t, 1 .. 2^48: 1000, 1e8, 100M (millions) */
    CLI_NUMBER,   /* uint64_t, 0 .. 2^64-1, decimal or 0x */
    CLI_SIZE,     /* uint64_t bytes: 65536, 64K, 64M, 1G (powers of 1024) */
    CLI_RATE,     /* double, 0 < p < 1: 0.001, 0.1%, 1/1000, 1e-3 */
    CLI_DURATION, /* uint64_t seconds: 90s, 15m, 24h, 7d */
    CLI_CHAR,     /* cli_char: one byte, or \t \n \0 \\ */
    CLI_CHOICE,   /* unsigned: 1 for the first of `choices`, and so on */
    CLI_KIND,     /* bly_kind, by name */
    CLI_HASH      /* bly_hash_id, by name */
} cli_type;

typedef struct cli_char {
    bool given;
    char value;
} cli_char;

enum { CLI_MAX_FILES = 64 };
typedef struct cli_files {
    const char *items[CLI_MAX_FILES]; /* in the order of the command line */
    size_t count;
} cli_files;

/* The heading under which help shows an option; see also most_used in cli_command. */
typedef enum cli_group {
    CLI_GROUP_OWN,   /* the command's own */
    CLI_GROUP_SERVER /* for filters on a Redis or Valkey server */
} cli_group;

typedef struct cli_option {
    const char *name; /* without its dashes; NULL ends the table */
    char letter;      /* 0: it has none */
    cli_type type;
    size_t at;           /* offset of the field in the command's values */
    const char *metavar; /* "N", "FILE", "RATE"; NULL for a flag */
    const char *choices; /* CLI_CHOICE: "ip|phone|email" */
    const char *without; /* the value if the option is given without one; a value must then follow
                            '='. NULL: a value is required */
    cli_group group;
    const char *help; /* a few sentences, wrapped when printed; -h shows the first */
} cli_option;

typedef struct cli_operands {
    char **items;
    size_t count;
} cli_operands;

/* The options that every command has. */
typedef struct cli_common {
    bool help;       /* -h: the short form */
    bool full_help;  /* --help */
    bool quiet;      /* -q: no notes, no progress (errors still) */
    unsigned colour; /* 1 auto, 2 always, 3 never */
} cli_common;
extern const cli_option cli_common_options[];

/* Fills *values and *common, and moves the operands to the front of argv (options and operands may
 * be mixed; "--" ends the options; "-" is an operand). An option with a value may be given only
 * once, unless it is of type CLI_FILES. On failure, reports the error and returns false. */
bool cli_parse(const cli_option *options, int argc, char **argv, void *values, cli_common *common,
               cli_operands *operands);

/* Gets the i-th value of an option with a closed set of values (CLI_CHOICE, CLI_KIND, CLI_HASH),
 * for help and completion. Returns false past the last. */
bool cli_choice(const cli_option *option, size_t i, char out[32]);

#endif
