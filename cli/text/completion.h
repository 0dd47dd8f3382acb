/* completion.h - scripts that complete the command line in a shell. */
#ifndef BLOOMERY_CLI_COMPLETION_H
#define BLOOMERY_CLI_COMPLETION_H

#include "cli.h"
#include <stdio.h>

/* shell: 1 bash, 2 zsh, 3 fish. */
void completion_write(FILE *to, unsigned shell);

#endif
