/* completion.h - scripts that complete the command line in a shell. */
#ifndef BLOOMERY_CLI_COMPLETION_H
#define BLOOMERY_CLI_COMPLETION_H

#include "cli.h"
#include <stdio.h>

/* shell: 1 bash, 2 zsh, 3 fish. */
void completion_write(FILE *to, unsigned shell);

void completion_bash(FILE *to);
void completion_zsh(FILE *to);
void completion_fish(FILE *to);

/* Prints an option's closed set of values, parted by blanks. false: it has none. */
bool completion_choices(FILE *to, const cli_option *option);

/* Prints the first sentence of `text` without its full stop, with a backslash before every byte of
 * `special`, for use between single quotes; `quote` is how the shell writes one of these there. */
void completion_words(FILE *to, const char *text, const char *special, const char *quote);

#endif
