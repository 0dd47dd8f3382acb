/* autosave.h - how often what is known so far is saved: every second or so, but never so often that
 * saving takes a noticeable share of the time. */
#ifndef BLOOMERY_CLI_AUTOSAVE_H
#define BLOOMERY_CLI_AUTOSAVE_H

#include <stdbool.h>

typedef struct autosave {
    double begun, ended; /* of the last save, by progress_clock */
} autosave;

autosave autosave_start(void);    /* as if it had just been saved */
void autosave_begin(autosave *p); /* right before saving */
void autosave_end(autosave *p);   /* right after it */
bool autosave_due(const autosave *p);

#endif
