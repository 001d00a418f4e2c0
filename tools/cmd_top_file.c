/* The file that a reader offers its figures in: see docs/MONITORING.md. Nothing in it is believed unchecked: anybody may have
 * written it. */
#include "cmd_top_file.h"

#include "args.h"
#include "json.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MOST_FILE    ((off_t)1 << 18)
#define MOST_TEXT    4096u
#define SILENCE      5.0  /* seconds without news from a process of this machine, */
#define LONG_SILENCE 15.0 /* and from one elsewhere, whose clock may differ */

/* ---------------------------------------------------------------------------------------- what is in a file */

/* A file that is being taken apart. */
struct taking {
    const json_t *in;
    const char *bad; /* the first member that is wrong; NULL: none */
};

static const json_t *take_member(struct taking *t, const char *name, bool right, const json_t *value)
{
    if (!right && !t->bad)
        t->bad = name;
    return right ? value : NULL;
}

/* A whole number, not negative. */
static uint64_t take_count(struct taking *t, const char *name)
{
    const json_t *v = json_object_get(t->in, name);
    v = take_member(t, name, json_is_integer(v) && json_integer_value(v) >= 0, v);
    return v ? (uint64_t)json_integer_value(v) : 0;
}

/* A number, not negative. */
static double take_real(struct taking *t, const char *name, double most)
{
    const json_t *v = json_object_get(t->in, name);
    double x = json_number_value(v);
    return take_member(t, name, json_is_number(v) && isfinite(x) && x >= 0 && x <= most, v) ? x : 0;
}

/* Made safe to print, line by line. */
static char *take_text(struct taking *t, const char *name)
{
    const json_t *v = json_object_get(t->in, name);
    if (!take_member(t, name, json_is_string(v) && json_string_length(v) <= MOST_TEXT, v))
        return strdup("");
    size_t n = json_string_length(v);
    char *out = malloc(4 * n + 16), *to = out;
    for (const char *at = json_string_value(v), *end = at + n; out && at <= end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed ? feed : end;
        apl_printable(to, 4 * n + 16 - (size_t)(to - out), at, (size_t)(stop - at));
        to += strlen(to);
        if (feed)
            *to++ = '\n';
        at = stop + 1;
    }
    if (out)
        *to = 0;
    return out;
}

static struct taking take_object(struct taking *t, const char *name)
{
    const json_t *v = json_object_get(t->in, name);
    return (struct taking){take_member(t, name, json_is_object(v), v), t->bad};
}

static void take_stats(struct taking *of, apl_stats *s)
{
    struct taking t = take_object(of, "stats"), bytes = take_object(&t, "bytes"),
                  remote = take_object(&t, "remote");
    const struct {
        const char *name;
        double *to;
    } reals[] = {{"elapsed", &s->elapsed},   {"starved", &s->starved},       {"loading", &s->loading},
                 {"reading", &s->reading},   {"assembling", &s->assembling}, {"images", &s->images},
                 {"planning", &s->planning}, {"blocked", &s->blocked},       {"cpu", &s->cpu}};
    const struct {
        struct taking *from;
        const char *name;
        uint64_t *to;
    } counts[] = {{&t, "batches", &s->batches},
                  {&t, "records", &s->records},
                  {&t, "blocks", &s->blocks},
                  {&t, "memory", &s->memory},
                  {&t, "memory_budget", &s->memory_budget},
                  {&bytes, "read", &s->bytes_read},
                  {&bytes, "decoded", &s->bytes_decoded},
                  {&bytes, "assembled", &s->bytes_assembled},
                  {&remote, "requests", &s->requests},
                  {&remote, "bytes", &s->bytes_fetched},
                  {&remote, "retries", &s->retries},
                  {&remote, "cache_hits", &s->cache_hits},
                  {&remote, "cache_bytes", &s->bytes_cached}};
    const struct {
        const char *name;
        unsigned *to;
    } levels[] = {{"queued", &s->queued},   {"lent", &s->lent},           {"threads", &s->threads},
                  {"loaders", &s->loaders}, {"consumers", &s->consumers}, {"queue_depth", &s->queue_depth}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        *reals[i].to = take_real(&t, reals[i].name, 1e15);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i].to = take_count(counts[i].from, counts[i].name);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        *levels[i].to = (unsigned)take_count(&t, levels[i].name);
    of->bad = of->bad ? of->bad : t.bad ? t.bad : bytes.bad ? bytes.bad : remote.bad;
}

static void take_recent(struct taking *of, struct top_reader *r)
{
    static const char *const names[TOP_WORKS] = {"reading", "decoding", "assembling", "callback", "planning"};
    struct taking t = take_object(of, "recent"), work = take_object(&t, "work");
    r->rate = take_real(&t, "records_per_second", 1e15);
    r->batches = take_real(&t, "batches_per_second", 1e15);
    r->bytes_read = take_real(&t, "bytes_read_per_second", 1e18);
    r->stall = take_real(&t, "stall", 1);
    r->cores = take_real(&t, "cores", 1e6);
    for (unsigned i = 0; i < TOP_WORKS; i++)
        r->work[i] = take_real(&work, names[i], 1);
    of->bad = of->bad ? of->bad : t.bad ? t.bad : work.bad;
}

static void take_place(struct taking *t, struct top_reader *r)
{
    const json_t *ranks = json_object_get(t->in, "ranks"), *first = json_array_get(ranks, 0);
    bool right = json_is_integer(first) && json_integer_value(first) >= 0;
    r->ranks = json_array_size(ranks);
    r->rank = take_member(t, "ranks", right, first) ? (uint64_t)json_integer_value(first) : 0;
    r->world = take_count(t, "world");
    r->epoch = take_count(t, "epoch");
    r->position = take_count(t, "position");
    r->length = take_count(t, "length");
    r->step = take_count(t, "step");
    r->steps = take_count(t, "steps");
    r->resident = take_count(t, "resident_bytes");
    r->process_threads = take_count(t, "process_threads");
}

/* ------------------------------------------------------------------------------------------ is it running? */

/* When a process began, in ticks since the machine did; 0: there is no such process. */
static uint64_t process_began(uint64_t pid)
{
    char path[48], text[1024];
    unsigned long long began = 0;
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *after = strrchr(text, ')'); /* the name before it may have anything in it */
    if (after)
        (void)sscanf(after + 1,
                     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                     &began);
    return began;
}

static uint64_t own_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* Has the process that wrote it a number that means something here? */
static bool is_here(const char *host, uint64_t namespace)
{
    struct utsname names;
    char own[4 * sizeof names.nodename];
    if (uname(&names) != 0 || namespace == 0 || namespace != own_namespace())
        return false;
    apl_printable(own, sizeof own, names.nodename, strlen(names.nodename));
    for (char *c = own; *c; c++)
        *c = *c == '"' || *c == '\\' ? '_' : *c;
    return strcmp(host, own) == 0;
}

static void find_state(struct taking *t, struct top_reader *r, const struct stat *st)
{
    struct timespec now;
    uint64_t started = take_count(t, "started"), namespace = take_count(t, "pid_namespace");
    double written = take_real(t, "time", 1e12);
    char *host = take_text(t, "host");
    bool here = host && is_here(host, namespace);
    clock_gettime(CLOCK_REALTIME, &now);
    r->age = fmax(0, (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - written);
    r->state = r->age > (here ? SILENCE : LONG_SILENCE) ? TOP_SILENT : TOP_RUNS;
    /* Of other users' processes /proc may say nothing. */
    uint64_t began = here ? process_began(r->pid) : 0;
    if (here && began != started && (began || st->st_uid == geteuid()))
        r->state = TOP_GONE;
    free(host);
}

/* ------------------------------------------------------------------------------------------------- a file */

bool top_file_is_name(const char *name, uint64_t *pid)
{
    char first[24];
    size_t n = strspn(name, "0123456789"), more = name[n] == '-' ? strspn(name + n + 1, "0123456789") : 0;
    if (n == 0 || n > 10 || more == 0 || more > 10 || strcmp(name + n + 1 + more, ".json") != 0)
        return false;
    memcpy(first, name, n);
    first[n] = 0;
    return parse_number(first, 1, INT32_MAX, pid);
}

/* All of a regular file that is not too long. NULL: *why. */
static char *read_small(int fd, struct stat *st, size_t *size, const char **why)
{
    *why = "cannot be read";
    if (fstat(fd, st) != 0)
        return NULL;
    *why = S_ISREG(st->st_mode) ? "is too long" : "is not a regular file";
    if (!S_ISREG(st->st_mode) || st->st_size > MOST_FILE)
        return NULL;
    char *text = malloc((size_t)st->st_size + 1);
    ssize_t n = 0, got = 1;
    for (; text && n < st->st_size && got > 0; n += got > 0 ? got : 0)
        got = pread(fd, text + n, (size_t)(st->st_size - n), n);
    *why = "cannot be read";
    *size = (size_t)n;
    return text;
}

static void take_all(struct taking *t, struct top_reader *r, const struct stat *st)
{
    struct taking diagnosis = take_object(t, "diagnosis");
    if (take_count(t, "apl_monitor") < 1)
        t->bad = "apl_monitor";
    if (take_count(t, "pid") != r->pid)
        t->bad = "pid";
    r->store = take_text(t, "store");
    r->split = take_text(t, "split");
    r->command = take_text(t, "command");
    r->diagnosis = take_text(&diagnosis, "text");
    take_place(t, r);
    take_recent(t, r);
    take_stats(t, &r->stats);
    t->bad = t->bad ? t->bad : diagnosis.bad;
    find_state(t, r, st);
    if (!r->store || !r->split || !r->command || !r->diagnosis)
        report_starved();
}

void top_file_free(struct top_reader *r)
{
    free(r->store);
    free(r->split);
    free(r->command);
    free(r->diagnosis);
    json_decref(r->json);
}

bool top_file_read(int directory, const char *name, struct top_reader *r, char why[128])
{
    struct stat st;
    size_t size = 0;
    const char *reason = "cannot be opened";
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    *why = 0;
    if (fd < 0 && errno == ENOENT) /* it has just been closed */
        return false;
    char *text = fd >= 0 ? read_small(fd, &st, &size, &reason) : NULL;
    if (fd >= 0)
        close(fd);
    r->json = text ? json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    struct taking t = {json_is_object(r->json) ? r->json : NULL, NULL};
    if (t.in)
        take_all(&t, r, &st);
    if (!text)
        snprintf(why, 128, "%s", reason);
    else if (!t.in)
        snprintf(why, 128, "is not JSON, or no object");
    else if (t.bad)
        snprintf(why, 128, "has no proper \"%s\"", t.bad);
    free(text);
    return !*why;
}
