/* From one simulated thread to another: see sim.h. */
#define _GNU_SOURCE
#include "sim.h"

#include <errno.h>
#include <sys/mman.h>

#ifdef SIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK ((size_t)512 << 10)

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);

/* What is outside of all threads: whoever called sim_run(). */
static struct thread outside;

/* Thread-local variables of what is under test: compiled to lie in this section. None has a first value but 0. */
extern uint8_t __start_simlocal[] __attribute__((weak)), __stop_simlocal[] __attribute__((weak));

static size_t own_bytes(void)
{
    return __start_simlocal ? (size_t)(__stop_simlocal - __start_simlocal) : 0;
}

/* --------------------------------------------------------------------------------------- what sanitizers must know */

#ifdef SIM_ASAN
static const void *outside_bottom;
static size_t outside_size;

static void leaving(struct thread *from, const struct thread *to)
{
    const void *bottom = to == &outside ? outside_bottom : to->stack;
    __sanitizer_start_switch_fiber(&from->fake_stack, bottom, to == &outside ? outside_size : STACK);
}

void fiber_arrived(struct thread *t)
{
    if (outside_bottom)
        __sanitizer_finish_switch_fiber(t ? t->fake_stack : NULL, NULL, NULL);
    else /* the first to arrive comes from outside */
        __sanitizer_finish_switch_fiber(NULL, &outside_bottom, &outside_size);
}
#elif defined SIM_TSAN
static void leaving(struct thread *from, const struct thread *to)
{
    if (from == &outside) {
        outside.fiber = __tsan_get_current_fiber();
        AnnotateBenignRaceSized(__FILE__, __LINE__, __start_simlocal, own_bytes(), "each thread has its own");
    }
    __tsan_switch_to_fiber(to->fiber, 1); /* 1: that orders nothing */
}

void fiber_arrived(struct thread *t)
{
    (void)t;
}

void fiber_over(struct thread *t)
{
    /* There and back, each of which orders; no code of the thread's is run. */
    __tsan_switch_to_fiber(t->fiber, 0);
    __tsan_switch_to_fiber(outside.fiber, 0);
}
#else
static void leaving(struct thread *from, const struct thread *to)
{
    (void)from;
    (void)to;
}

void fiber_arrived(struct thread *t)
{
    (void)t;
}
#endif

#ifndef SIM_TSAN
void fiber_over(struct thread *t)
{
    (void)t;
}
#endif

/* ----------------------------------------------------------------------------------------------------- switching */

void fiber_make(struct thread *t, void (*enter)(void))
{
    if (!t->stack)
        t->stack = __real_mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (t->stack == MAP_FAILED || own_bytes() > sizeof t->own)
        sim_fail("no memory for a thread");
#ifdef SIM_TSAN
    if (!t->fiber)
        t->fiber = __tsan_create_fiber(0);
#endif
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = STACK;
    t->context.uc_link = NULL;
    makecontext(&t->context, enter, 0);
}

/* Not memcpy(), into which the thread sanitizer looks. */
static void copy(volatile uint8_t *to, const volatile uint8_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[i];
}

void fiber_swap(struct thread *to)
{
    struct thread *from = sim_current ? sim_current : &outside;
    int error = errno;
    sim_current = to;
    to = to ? to : &outside;
    copy(from->own, __start_simlocal, own_bytes());
    copy(__start_simlocal, to->own, own_bytes());
    leaving(from, to);
    swapcontext(&from->context, &to->context);
    fiber_arrived(from);
    errno = error;
}
