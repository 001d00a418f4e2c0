/*
 * Signals that end a process wait while files are given their names: a program that dies in between would leave temporary files, or some
 * of several. Of the calling thread alone, and for as long as a few files take to be written.
 */
#ifndef HELD_SIGNALS_H
#define HELD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct held_signals {
    sigset_t before;
    bool held;
};

/* SIGINT, SIGTERM and SIGHUP wait, until signals_release(). */
void signals_hold(struct held_signals *signals);
void signals_release(const struct held_signals *signals);

/* Is one waiting? Then what can be undone should be, rather than go on. */
bool signals_wait(void);

#endif
