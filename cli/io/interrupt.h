/* interrupt.h - SIGINT, SIGTERM and SIGHUP only set a flag, which is tested between batches; and so
 * does SIGPIPE, which is sent when the reader of our output has closed the pipe. */
#ifndef BLOOMERY_CLI_INTERRUPT_H
#define BLOOMERY_CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void); /* from now on the first SIGINT, SIGTERM or SIGHUP only sets a flag; a
                               second one ends the process */

/* From now on SIGPIPE only sets a flag, however often it is sent, and the write fails, so that the
 * process can clean up. */
void interrupt_watch_pipe(void);

bool interrupt_seen(void);        /* any of the four signals was received */
bool interrupt_reader_gone(void); /* SIGPIPE was received: do not report output errors */
void interrupt_finish(void);      /* ends the process by the signal, if there was one */

#endif
