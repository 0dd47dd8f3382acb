/* cli.h - what a command of `bloomery` is, and what its exit status says.
 *
 * main.c holds the table of commands. A command is described once, by a cli_command with its
 * cli_options: the parser, --help, the manual page and the shells' completions all read it there.
 */
#ifndef BLOOMERY_CLI_H
#define BLOOMERY_CLI_H

#include "options.h"

/* As grep's. `check` says CLI_NONE when nothing matched, `remove` when nothing was there to be
 * removed, `verify` when a filter breaks its promise; the other commands use 0 and 2 alone. */
enum { CLI_OK = 0, CLI_NONE = 1, CLI_ERROR = 2 };

typedef struct cli_command {
    const char *name;
    const char *operands;      /* as in the usage line: "[FILE...]" */
    const char *summary;       /* one line, no full stop */
    const char *brief;         /* one to three short paragraphs: what the command does, and what one
                                  must know before the first run. -h shows them above the options,
                                  everything else as the beginning of the description. NULL: -h
                                  shows the summary. */
    const char *description;   /* paragraphs, separated by empty lines; a line that begins with two
                                  spaces is kept as it is */
    const char *examples;      /* pairs of lines: "# what it does", then the command */
    const cli_option *options; /* ends with a nameless one; the common ones come by themselves */
    const char *most_used[3];  /* the names of the options that most people need: shown first */
    size_t values_size;        /* of the struct that the options' `at` points into */
    /* `values` is zeroed, then filled by the options given. Returns an exit status. */
    int (*run)(void *values, cli_operands operands);
} cli_command;

extern const cli_command command_dedup, command_distinct, command_count, command_build,
    command_check, command_add, command_remove, command_merge, command_intersect, command_subtract,
    command_fold, command_info, command_verify, command_push, command_pull, command_drop,
    command_plan, command_hash, command_bench, command_help;

/* Every command, in the order of --help; the one past the last is NULL. */
extern const cli_command *const cli_commands[];

#endif
