/* Forks are counted by who is born: see forks.h. */
#include "forks.h"

#include <pthread.h>

static unsigned forks; /* written in a child before anything else runs in it */

static void count_fork(void)
{
    forks++;
}

static void begin_counting(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned forks_so_far(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_counting);
    return forks;
}
