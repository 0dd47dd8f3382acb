/* interrupt.h - SIGINT, SIGTERM and SIGHUP as a question asked between batches; and SIGPIPE, which
 * comes when whoever reads us has gone.
 */
#ifndef BLOOMERY_CLI_INTERRUPT_H
#define BLOOMERY_CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void); /* from now on the first of the three only sets a mark */

/* From now on SIGPIPE only sets a mark, however often it comes, and the write fails: what was begun
 * can be undone. */
void interrupt_watch_pipe(void);

bool interrupt_seen(void);        /* any of the four */
bool interrupt_reader_gone(void); /* SIGPIPE; nobody is there to be told of it */
void interrupt_finish(void);      /* if one came: die of it now, as without us */

#endif
