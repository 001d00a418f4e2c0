/*
 * Threads, time and reading, simulated in one real thread. The code under test is linked with --wrap, so that its calls
 * of POSIX come here (threads.c, calls.c), and compiled so that each of its basic blocks can be a place to be preempted.
 * Who goes on at each such point is drawn from a seed (scheduler.c); time stands still but for what a point is said to
 * take, and jumps to the next deadline when nobody can go on. So a seed tells all that happens, and can be replayed.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* ------------------------------------------------------------------------------------------- for whoever tests */

/* What goes wrong in calls, of 10,000 each. */
struct sim_faults {
    uint32_t delay, hang; /* reads: up to 2 ms, and 5 s */
    uint32_t cut;         /* fewer bytes than were asked for */
    uint32_t interrupt, io_error;
    uint32_t nomem, no_thread; /* only where sim_may_fail() says so */
};

/* Runs `root` and whatever threads it starts until all have ended. Returns a digest of all that happened. */
uint64_t sim_run(uint64_t seed, bool trace, void (*root)(void *user), void *user);

/* Ends the process: tells seed, what was being done, and where each thread is. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* What is under test, for sim_fail(). */
extern const char *sim_doing;

extern struct sim_faults sim_faults;
extern uint64_t sim_faults_made; /* errors and refusals so far, not delays */

/* May memory and threads be refused to this thread and to those that it starts from now on? */
void sim_may_fail(bool may);

/* Is all well that this thread reads, and those that it starts from now on? */
void sim_sound(bool sound);

/* Reads of these bytes of any file are damaged; at most 64 places, until the end of the run. */
void sim_damage(uint64_t offset, uint64_t bytes);

uint64_t sim_seed(void);
uint32_t sim_steps(void);   /* points so far */
uint64_t sim_now(void);     /* ns */
uint64_t sim_tick(void);    /* ns that every point takes; 0: time passes only while nobody can go on */
uint64_t sim_locked(void);  /* how many locks this thread has taken */
int64_t sim_memory(void);   /* allocations less frees, made by what is linked here */
int64_t sim_mapped(void);   /* pages */
void sim_note(uint64_t it); /* goes into the digest */

/* ---------------------------------------------------------------------------------------------- for the wrappers */

enum wait { RUNS, FOR_LOCK, FOR_CONDITION, FOR_TIME, FOR_END, OVER };

#define NEVER        UINT64_MAX
#define MOST_PATIENT 3000 /* points that a thread may be passed over at */

struct thread {
    ucontext_t context;
    uint8_t *stack;
    uint64_t number; /* of this run; 0: the place is free */
    enum wait wait;
    const void *on;     /* the lock, condition or thread it waits for */
    uint64_t on_number; /* the same for the eye */
    uint64_t until;
    uint32_t last_step; /* when it went on, or could */
    uint32_t queued;    /* when it began to wait for a lock */
    bool timed_out, began, detached, may_fail, sound;
    void *(*run)(void *argument);
    void *argument;
    uint64_t locked, priority;
    int error;        /* errno */
    uint8_t own[64];  /* its thread-local variables */
    void *fake_stack; /* of the address sanitizer */
    void *fiber;      /* of the thread sanitizer */
};

#define SIM_THREADS 96
extern struct thread sim_threads[SIM_THREADS];
extern struct thread *sim_current; /* NULL: nothing is simulated now */
extern struct thread
    *sim_asking; /* wants to know where the thread that is switched to is; NULL: nobody does */

/* A point at which another may go on. */
void sim_point(const char *what, uint64_t object, const void *place);

/* Waits until sim_wake(), or that time has come: then false. */
bool sim_wait(enum wait wait, const void *on, uint64_t on_number, uint64_t until);
void sim_wake(struct thread *t);

/* One of those that wait like this, drawn; NULL: none. */
struct thread *sim_waiter(enum wait wait, const void *on);

struct thread *sim_start(void *(*run)(void *), void *argument);
struct thread *sim_find(uint64_t number);
void sim_forget(struct thread *t); /* one that is over: its place can be taken */
unsigned sim_alive(void);

uint64_t sim_random(void);
uint32_t sim_below(uint32_t n);
bool sim_chance(uint32_t of_10000);

void sim_threads_begin(void); /* threads.c: nothing is held; */
void sim_threads_end(void);   /* and all is given back, or sim_fail() */
void sim_calls_begin(void);

/* fibers.c: a thread that will begin with enter(), which calls fiber_arrived(NULL); and from the current one to another, or
 * with NULL to sim_run(). */
void fiber_make(struct thread *t, void (*enter)(void));
void fiber_arrived(struct thread *t);
void fiber_swap(struct thread *to);
/* From outside of all threads: what this one has done comes before all that follows, whether it ended or not. */
void fiber_over(struct thread *t);

/* report.c: a place in the program as @address@, which main.c makes a line of the source; and where this thread is. */
void report_begin(void);
void report_place(const void *place);
void report_stack(void);

/* Where a call came from. */
#define PLACE __builtin_return_address(0)

/* ------------------------------------------------------------------------------------------------ sanitizers */

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif

/* SIM_TSAN comes from sim.mk: what simulates is not itself watched by the thread sanitizer, but told what orders what. */
#ifdef SIM_TSAN
#include <sanitizer/tsan_interface.h>
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *at, size_t bytes,
                             const char *why);
#define sim_acquire(at) __tsan_acquire((void *)(uintptr_t)(at))
#define sim_release(at) __tsan_release((void *)(uintptr_t)(at))
#else
#define sim_acquire(at) ((void)(at))
#define sim_release(at) ((void)(at))
#endif

#endif
