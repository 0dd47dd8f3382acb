/* interrupt.h - SIGINT, SIGTERM and SIGHUP only set a flag, which is tested between batches; and so
 * does SIGPIPE, which is sent when the reader of our output has closed the pipe. */
#ifndef BLOOMERY_CLI_INTERRUPT_H
#define BLOOMERY_CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void); /* from now on the first of the three only sets a flag; the second one
                               ends the process */

/* From now on SIGPIPE only sets a flag, however often it is sent, and the write fails: what was
 * begun can be undone. */
void interrupt_watch_pipe(void);

bool interrupt_seen(void);        /* any of the four signals */
bool interrupt_reader_gone(void); /* SIGPIPE; nobody is there to be told of it */
void interrupt_finish(void); /* if there was one: end the process by it, as without a handler */

#endif
