/* man.h - manual pages in roff, man(7). */
#ifndef BLOOMERY_CLI_MAN_H
#define BLOOMERY_CLI_MAN_H

#include "cli.h"
#include <stdio.h>

/* bloomery-COMMAND(1), or bloomery(1) for NULL. The same bytes on every day and every machine: the
 * page carries the version and no date. */
void man_write(FILE *to, const cli_command *command);

#endif
