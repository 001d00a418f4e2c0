/* Signals that wait: see held_signals.h. */
#include "held_signals.h"

#include <stddef.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDING (sizeof ending / sizeof *ending)

void signals_hold(struct held_signals *signals)
{
    sigset_t set;
    sigemptyset(&set);
    for (unsigned i = 0; i < ENDING; i++)
        sigaddset(&set, ending[i]);
    signals->held = pthread_sigmask(SIG_BLOCK, &set, &signals->before) == 0;
}

void signals_release(const struct held_signals *signals)
{
    if (signals->held)
        pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}

bool signals_wait(void)
{
    sigset_t pending;
    if (sigpending(&pending) != 0)
        return false;
    for (unsigned i = 0; i < ENDING; i++)
        if (sigismember(&pending, ending[i]) == 1)
            return true;
    return false;
}
