/* autosave.c - the time between two saves: at least a second, and at least 20 times as long as the
 * last save took. */
#include "io/autosave.h"

#include "text/progress.h"

static const double min_seconds = 1, min_factor = 20;

autosave autosave_start(void) {
    const double now = progress_clock();
    return (autosave){now, now};
}

void autosave_begin(autosave *p) {
    p->begun = progress_clock();
}

void autosave_end(autosave *p) {
    p->ended = progress_clock();
}

bool autosave_due(const autosave *p) {
    const double since = progress_clock() - p->ended;
    return since >= min_seconds && since >= min_factor * (p->ended - p->begun);
}
