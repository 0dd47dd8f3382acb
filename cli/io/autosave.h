/* pace.h - how often what is known so far is saved: every second or so, but never so often that
 * saving takes a noticeable share of the time. */
#ifndef BLOOMERY_CLI_PACE_H
#define BLOOMERY_CLI_PACE_H

#include <stdbool.h>

typedef struct pace {
    double begun, ended; /* of the last save, by progress_clock */
} pace;

pace pace_start(void);    /* as if it had just been saved */
void pace_begin(pace *p); /* right before saving */
void pace_end(pace *p);   /* right after it */
bool pace_due(const pace *p);

#endif
