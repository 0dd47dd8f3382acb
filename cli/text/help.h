/* help.h - prints help for a terminal. */
#ifndef BLOOMERY_CLI_HELP_H
#define BLOOMERY_CLI_HELP_H

#include "cli.h"
#include <stdio.h>

/* `bloomery --help`: the purpose, the commands, examples. */
void help_overview(FILE *to);
/* `bloomery COMMAND -h` (short) and --help. */
void help_command(FILE *to, const cli_command *command, bool full);

#endif
