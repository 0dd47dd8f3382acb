/* interrupt.c - signal handlers that only set flags. */
#include "io/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static volatile sig_atomic_t seen, reader_gone;
static const int watched[] = {SIGINT, SIGTERM, SIGHUP};

static void set_flag(int signal_number) {
    if (!seen)
        seen = signal_number;
    if (signal_number == SIGPIPE)
        reader_gone = 1;
}

void interrupt_watch(void) {
    struct sigaction action, old;
    if (seen)
        return; /* one was received; the next one must end the process */
    memset(&action, 0, sizeof action);
    action.sa_handler = set_flag;        /* no SA_RESTART: a waiting read must return */
    action.sa_flags = (int)SA_RESETHAND; /* a second signal ends the process */
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        if (sigaction(watched[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(watched[i], &action, NULL);
}

void interrupt_watch_pipe(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = set_flag;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGPIPE, &action, NULL);
}

bool interrupt_seen(void) {
    return seen != 0;
}

bool interrupt_reader_gone(void) {
    return reader_gone != 0;
}

void interrupt_finish(void) {
    if (!seen)
        return;
    (void)signal(seen, SIG_DFL);
    (void)raise(seen);
}
