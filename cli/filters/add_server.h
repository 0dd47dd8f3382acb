/* add_live.h - more keys for a filter that is on a plain server, where others may be adding too. */
#ifndef BLOOMERY_CLI_ADD_LIVE_H
#define BLOOMERY_CLI_ADD_LIVE_H

#include "filters/edit.h"

/* The first operand is the filter's address, the others are files of lines. Returns an exit status.
 */
int add_live(const change_values *v, cli_operands operands);

#endif
