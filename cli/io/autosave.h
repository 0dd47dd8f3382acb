/* autosave.h - decides when a state is saved: about every second, but never so often that saving
 * takes a noticeable share of the time. */
#ifndef BLOOMERY_CLI_AUTOSAVE_H
#define BLOOMERY_CLI_AUTOSAVE_H

#include <stdbool.h>

typedef struct autosave {
    double begun, ended; /* times of the last save, by progress_clock */
} autosave;

autosave autosave_start(void);    /* as if it was just saved */
void autosave_begin(autosave *p); /* call before saving */
void autosave_end(autosave *p);   /* call after saving */
bool autosave_due(const autosave *p);

#endif
