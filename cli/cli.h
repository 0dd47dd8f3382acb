/* cli.h - what a command of `bloomery` is, and what its exit status says.
 *
 * main.c holds the table of commands. A command is described once, by a cli_command with its
 * cli_options: the parser, --help, the manual page and the shells' completions all read it there.
 */
#ifndef BLOOMERY_CLI_H
#define BLOOMERY_CLI_H

#include "options.h"

/* Exit statuses, like those of grep. CLI_NONE: `check` selected no line, `remove` found no key, or
 * `verify` found an intact filter that is too full or above its requested rate. The other commands
 * return only CLI_OK and CLI_ERROR. */
enum { CLI_OK = 0, CLI_NONE = 1, CLI_ERROR = 2 };

typedef struct cli_command {
    const char *name;
    const char *operands; /* as in the usage line: "[FILE...]" */
    const char *summary;  /* one line, no full stop */
    const char *brief; /* one to three short paragraphs: what the command does, and what a user must
                          know first. -h shows them above the options, --help and the manual page
                          before the description. NULL: -h shows the summary. */
    const char *description;   /* paragraphs, separated by empty lines; a line that begins with two
                                  spaces is kept as it is */
    const char *examples;      /* pairs of lines: "# what it does", then the command */
    const cli_option *options; /* ends with a nameless option; without the common options */
    const char *most_used[3];  /* the names of the options that most people need: shown first */
    size_t values_size;        /* size of the struct in which `at` of each option is an offset */
    /* `values` is zeroed, then filled by the options given. Returns an exit status. */
    int (*run)(void *values, cli_operands operands);
} cli_command;

extern const cli_command command_dedup, command_distinct, command_count, command_build,
    command_check, command_add, command_remove, command_merge, command_intersect, command_subtract,
    command_fold, command_info, command_verify, command_push, command_pull, command_drop,
    command_plan, command_hash, command_bench, command_help;

/* All commands, in the order of --help. NULL follows the last one. */
extern const cli_command *const cli_commands[];

#endif
