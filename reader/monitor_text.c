/* A reader's figures as JSON: see monitor_text.h. */
#include "monitor_text.h"

#include "bottleneck.h"
#include "buffer_text.h"
#include "monitor_file.h"
#include "reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_TOLD 4096 /* bytes of one piece: statistics, a diagnosis */

void monitor_past_add(struct monitor_past *past, const apl_stats *now)
{
    if (past->count > MONITOR_SECONDS)
        memmove(past->stats, past->stats + 1, --past->count * sizeof *past->stats);
    past->stats[past->count++] = *now;
}

static void tell_text(struct buffer *b, const char *name, const char *text)
{
    buffer_printf(b, "\"%s\": ", name);
    buffer_quoted(b, text);
}

/* --------------------------------------------------------------------------------------------- the process */

/* What a small file of /proc holds, as text; empty if the file is missing. */
static size_t read_proc(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* When the process began, in ticks since the machine did: by this a number that is used again is found out. And its threads. */
static void read_process(unsigned long long *started, unsigned long *threads)
{
    char text[1024];
    read_proc("/proc/self/stat", text, sizeof text);
    const char *after = strrchr(text, ')'); /* the name before it may have anything in it */
    *started = 0;
    *threads = 0;
    if (after)
        (void)sscanf(after + 1,
                     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %lu %*d %llu",
                     threads, started);
}

static unsigned long long resident_bytes(void)
{
    char text[128];
    unsigned long long pages = 0;
    read_proc("/proc/self/statm", text, sizeof text);
    (void)sscanf(text, "%*u %llu", &pages);
    return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

/* How much of an argument may be shown: the query of a URL may hold a secret. */
static size_t without_query(const char *argument)
{
    const char *http = strstr(argument, "http://"), *https = strstr(argument, "https://");
    const char *url = !http || (https && https < http) ? https : http;
    return url ? (size_t)(url - argument) + strcspn(url, "?") : strlen(argument);
}

/* The beginning of the command line, its arguments apart by blanks. */
static void tell_command(struct buffer *b)
{
    char line[MOST_TOLD], text[256];
    size_t size = read_proc("/proc/self/cmdline", line, sizeof line), n = 0;
    while (size > 0 && line[size - 1] == 0)
        size--;
    for (size_t at = 0; at < size && n < sizeof text - 1; at += strlen(line + at) + 1) {
        size_t take = without_query(line + at), room = sizeof text - 1 - n;
        if (take > room)
            take = room;
        memcpy(text + n, line + at, take);
        n += take;
        text[n++] = ' ';
    }
    text[n > 0 ? n - 1 : 0] = 0;
    for (char *c = text; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    tell_text(b, "command", text);
}

static void tell_process(struct buffer *b)
{
    char head[MONITOR_HEAD];
    unsigned long long started;
    unsigned long threads;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    read_process(&started, &threads);
    monitor_file_head(head);
    buffer_printf(b, "%s%ld, \"started\": %llu, \"time\": %lld.%03ld, \"version\": \"%s\", ", head,
                  (long)getpid(), started, (long long)now.tv_sec, now.tv_nsec / 1000000, APL_VERSION_STRING);
    tell_command(b);
    buffer_printf(b, ", \"resident_bytes\": %llu, \"process_threads\": %lu, ", resident_bytes(), threads);
}

/* ---------------------------------------------------------------------------------------------- the reader */

static void tell_place(struct buffer *b, const apl_reader *r, const struct monitor_place *at)
{
    const struct reader_options *o = &r->spec.options;
    buffer_printf(b, ", \"batch_size\": %zu, \"world\": %u, \"ranks\": [", o->batch_size, o->world);
    for (unsigned i = 0; i < r->outlet_count; i++)
        buffer_printf(b, "%s%u", i ? ", " : "", r->outlets[i].rank);
    buffer_printf(b,
                  "], \"epoch\": %" PRIu64 ", \"position\": %" PRIu64 ", \"length\": %" PRIu64
                  ", \"step\": %" PRIu64 ", \"steps\": %" PRIu64,
                  at->epoch, at->position, at->length, at->step, at->steps);
}

/* What threads have done, as parts of their time; of the caller's, for a reader without threads. */
static void tell_work(struct buffer *b, const struct figures *f)
{
    double whole = f->s.elapsed * fmax(f->workers, 1);
    struct work works[WORKS];
    works_of(f, works);
    buffer_printf(b, ", \"work\": {");
    for (size_t i = 0; i < WORKS; i++)
        buffer_printf(b, "%s\"%s\": %.4f", i ? ", " : "", works[i].name,
                      fmin(1, fraction(works[i].seconds, whole)));
    buffer_printf(b, ", \"idle\": %.4f}", f->workers > 0 ? fmax(0, 1 - fraction(f->busy, whole)) : 0);
}

static void tell_recent(struct buffer *b, const struct figures *f)
{
    const apl_stats *s = &f->s;
    buffer_printf(
        b,
        ", \"recent\": {\"seconds\": %.3f, \"records_per_second\": %.3f, \"batches_per_second\": %.3f, "
        "\"bytes_read_per_second\": %.3f, \"stall\": %.4f, \"cores\": %.3f",
        s->elapsed, fraction((double)s->records, s->elapsed), fraction((double)s->batches, s->elapsed),
        fraction((double)s->bytes_read, s->elapsed), fmin(1, f->share), f->cores_used);
    tell_work(b, f);
    buffer_put(b, "}", 1);
}

static void tell_diagnosis(struct buffer *b, const apl_stats *now, const apl_stats *before)
{
    static const char *const codes[] = {"unknown",    "training", "reading",  "decoding",
                                        "assembling", "callback", "planning", "queue",
                                        "memory",     "rank",     "server"};
    char text[MOST_TOLD];
    apl_bottleneck what = APL_BOTTLENECK_UNKNOWN;
    apl_stats_explain(now, before, sizeof *now, &what, text, sizeof text);
    buffer_printf(b, ", \"diagnosis\": {\"code\": \"%s\", ", codes[what]);
    tell_text(b, "text", text);
    buffer_put(b, "}", 1);
}

void monitor_text(struct buffer *b, const apl_reader *r, const char *name, const struct monitor_place *place,
                  const struct monitor_past *past)
{
    static const apl_stats none;
    const apl_stats *now = &past->stats[past->count - 1], *before = past->count > 1 ? past->stats : &none;
    struct figures figures = figures_between(now, before);
    char json[MOST_TOLD];
    tell_process(b);
    tell_text(b, "store", name);
    buffer_put(b, ", ", 2);
    tell_text(b, "split", r->spec.sources.count ? r->spec.sources.source[0].split : "");
    tell_place(b, r, place);
    tell_recent(b, &figures);
    tell_diagnosis(b, now, past->count > 1 && before->batches ? before : NULL);
    apl_stats_json_all(now, sizeof *now, json, sizeof json);
    buffer_put(b, ", \"stats\": ", 11);
    buffer_put(b, json, strlen(json));
    buffer_put(b, "}\n", 2);
}
