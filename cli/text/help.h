/* help.h - prints the tables of commands and options: as help for a terminal (help.c), as manual
 * pages (man.c), and as scripts that complete the command line in a shell (completion.c). */
#ifndef BLOOMERY_CLI_HELP_H
#define BLOOMERY_CLI_HELP_H

#include "cli.h"
#include <stdio.h>

/* `bloomery --help`: the purpose, the commands, examples. */
void help_overview(FILE *to);
/* `bloomery COMMAND -h` (short) and --help. */
void help_command(FILE *to, const cli_command *command, bool full);

/* bloomery-COMMAND(1), or bloomery(1) for NULL, in roff, man(7). The page contains the version but
 * no date, so it has the same bytes on every day and every machine. */
void man_write(FILE *to, const cli_command *command);

/* shell: 1 bash, 2 zsh, 3 fish. */
void completion_write(FILE *to, unsigned shell);

#endif
