/*
 * A trace of what threads do, where APL_TRACE names a file: events of Chrome's trace format, a line each, which Perfetto and
 * chrome://tracing show. %p in the name is the process's number; processes that trace at once need it, or one loses what the other
 * has written. Each event is one write at the file's end, so that nothing is lost when a process is killed; the list is then left
 * open, as the format allows, and also by a process that has forked, as its children may write to it. Else it is closed when the
 * process ends. A disk that is full ends the trace.
 */
#ifndef TRACE_H
#define TRACE_H

#include "clock.h"
#include "status.h"

#include <stdatomic.h>
#include <stdbool.h>

extern atomic_int trace_file; /* -1: none */

/* Opens the file that APL_TRACE names, unless this process has done so. APL_E_IO: it cannot be written, or is no regular file. */
apl_status trace_open(apl_error *err);

static inline bool trace_is_on(void)
{
    /* relaxed: an event more or less at the beginning does not matter */
    return __builtin_expect(atomic_load_explicit(&trace_file, memory_order_relaxed) >= 0, false);
}

/* Where this process has traced before it forked, and has not opened a file of its own, its events go there too. */
void trace_write_span(const char *what, uint64_t begin, uint64_t end, const char *of, uint64_t number);
void trace_write_thread(const char *name);

/* The calling thread did `what` from begin to end (by now_ns()); `of` and `number` say with what. */
static inline void trace_span(const char *what, uint64_t begin, uint64_t end, const char *of, uint64_t number)
{
    if (trace_is_on())
        trace_write_span(what, begin, end, of, number);
}

/* What the calling thread is called in the trace. */
static inline void trace_thread(const char *name)
{
    if (trace_is_on())
        trace_write_thread(name);
}

#endif
