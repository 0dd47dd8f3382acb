/* interrupt.h - SIGINT, SIGTERM and SIGHUP as a question asked between batches. */
#ifndef BLOOMERY_CLI_INTERRUPT_H
#define BLOOMERY_CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void); /* from now on the first only sets a mark */
bool interrupt_seen(void);
void interrupt_finish(void); /* if one came: die of it now, as without us */

#endif
