#include "io/autosave.h"

#include "text/progress.h"

static const double every = 1, share = 20;

pace pace_start(void) {
    const double now = progress_clock();
    return (pace){now, now};
}

void pace_begin(pace *p) {
    p->begun = progress_clock();
}

void pace_end(pace *p) {
    p->ended = progress_clock();
}

bool pace_due(const pace *p) {
    const double since = progress_clock() - p->ended;
    return since >= every && since >= share * (p->ended - p->begun);
}
