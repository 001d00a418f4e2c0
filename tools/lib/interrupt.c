#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

/* A signal that comes just before a system call blocks would not interrupt it: an alarm does, a second later,
 * again and again until the process has gone. */
static void on_signal(int signal_number)
{
    if (signal_number != SIGALRM && !caught)
        caught = signal_number;
    alarm(1);
}

void interrupt_catch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void interrupt_ignore_limits(void)
{
    signal(SIGXFSZ, SIG_IGN);
}

int interrupted(void)
{
    return caught;
}

void interrupt_die(void)
{
    if (!caught)
        return;
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(caught, &action, NULL);
    raise(caught);
}
