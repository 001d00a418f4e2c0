/* What the stress tests of the reader share: stores whose records tell their id, checks of batches, threads and memory of this process. */
#ifndef READER_CASE_H
#define READER_CASE_H

#include "counts.h"
#include "load.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* What the test is at, for whoever has to find out what went wrong. */
static const char *case_doing = "nothing yet";

#define CHECK(what)                                                                                  \
    do {                                                                                             \
        if (!(what)) {                                                                               \
            fprintf(stderr, "%s\n%s:%d: %s does not hold\n", case_doing, __FILE__, __LINE__, #what); \
            abort();                                                                                 \
        }                                                                                            \
    } while (0)

/* A call that must succeed; tells what went wrong. */
#define MUST(call, err)                                                                                   \
    do {                                                                                                  \
        apl_status must_ = (call);                                                                        \
        if (must_ != APL_OK) {                                                                            \
            fprintf(stderr, "%s\n%s:%d: %s: %d: %s\n", case_doing, __FILE__, __LINE__, #call, (int)must_, \
                    (err)->message);                                                                      \
            abort();                                                                                      \
        }                                                                                                 \
    } while (0)

/* ----------------------------------------------------------------------------------------------- random numbers */

struct dice {
    uint64_t state;
};

static inline uint32_t roll(struct dice *d, uint32_t below)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((d->state >> 33) % below);
}

static inline void nap(uint32_t us)
{
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------------------------------------- stores */

struct case_store {
    const char *name;
    uint64_t records; /* of the split "train", which comes second: its ids begin at `first` */
    uint64_t first;   /* records of the split "test" */
    uint32_t block;   /* records in a block */
    unsigned side;    /* of a picture, in pixels; it has 3 channels */
    bool named;       /* has a field of varying shape */
    char path[96];
};

static inline uint8_t case_pixel(uint64_t id, size_t i)
{
    return (uint8_t)((id * 2654435761u + i * 40503u) >> 9 ^ id);
}

static inline size_t case_name(uint64_t id, char *text)
{
    return (size_t)snprintf(text, 64, "%.*s%llu", (int)(id % 23), "abcdefghijklmnopqrstuvwxyz",
                            (unsigned long long)id);
}

static inline void case_fill(const struct case_store *c, apl_writer *w, uint64_t from, uint64_t n)
{
    size_t bytes = (size_t)3 * c->side * c->side;
    uint8_t *picture = malloc(bytes);
    CHECK(picture);
    for (uint64_t id = from; id < from + n; id++) {
        apl_error err;
        char text[64];
        uint8_t label = (uint8_t)(id * 7 % 10);
        int64_t shape[1] = {(int64_t)case_name(id, text)};
        for (size_t i = 0; i < bytes; i++)
            picture[i] = case_pixel(id, i);
        apl_value values[3] = {{picture, NULL}, {&label, NULL}, {text, shape}};
        MUST(apl_writer_append(w, values, &err), &err);
    }
    free(picture);
}

/* Writes the store; over the one that is there. */
static inline void case_write(struct case_store *c, const char *folder)
{
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w;
    apl_error err;
    int64_t shape[3] = {3, c->side, c->side}, varies[1] = {-1};
    o.threads = 1;
    o.block_records = c->block;
    o.codec = "raw";
    o.replace = 1;
    if (!c->path[0]) /* others may be reading it */
        snprintf(c->path, sizeof c->path, "%s/%s", folder, c->name);
    MUST(apl_writer_open(c->path, &o, &w, &err), &err);
    MUST(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, shape, &err), &err);
    MUST(apl_writer_add_field(w, "label", APL_U8, APL_TARGET, 0, NULL, &err), &err);
    /* With APL_TEST_KEPT in the environment, names are kept files: the same bytes, which are read late. */
    bool kept = getenv("APL_TEST_KEPT") != NULL;
    if (c->named)
        MUST(apl_writer_add_field(w, "name", kept ? APL_U8 : APL_UTF8, APL_NAME, 1, varies, &err), &err);
    if (c->named && kept)
        MUST(apl_writer_set_media(w, "name", "application/octet-stream", &err), &err);
    if (c->first) {
        MUST(apl_writer_begin_member(w, "first", "test", 0, &err), &err);
        case_fill(c, w, 0, c->first);
    }
    MUST(apl_writer_begin_member(w, "second", "train", 1, &err), &err);
    case_fill(c, w, c->first, c->records);
    MUST(apl_writer_commit(w, &err), &err);
    apl_writer_close(w);
}

/* The same, where names are such files whatever the environment says. */
static inline void case_write_kept(struct case_store *c, const char *folder)
{
    bool all = getenv("APL_TEST_KEPT") != NULL;
    setenv("APL_TEST_KEPT", "1", 1);
    case_write(c, folder);
    if (!all)
        unsetenv("APL_TEST_KEPT");
}

static inline apl_store *case_open(const struct case_store *c)
{
    apl_store *store;
    apl_error err;
    MUST(apl_store_open(c->path, NULL, &store, &err), &err);
    return store;
}

/* Every row is what the record of its id is. */
static inline void case_check(const struct case_store *c, const apl_batch *batch)
{
    const apl_column *image = apl_batch_column(batch, 0), *label = apl_batch_column(batch, 1);
    const apl_column *name = apl_batch_column(batch, 2);
    size_t bytes = (size_t)3 * c->side * c->side;
    for (size_t k = 0; k < apl_batch_rows(batch); k++) {
        uint64_t id = apl_batch_ids(batch)[k];
        const uint8_t *p = (const uint8_t *)image->data + k * bytes;
        CHECK(id >= c->first && id < c->first + c->records);
        for (size_t i = k % 7; i < bytes; i += bytes / 6 + 1)
            CHECK(p[i] == case_pixel(id, i));
        CHECK(p[bytes - 1] == case_pixel(id, bytes - 1));
        CHECK(((const uint8_t *)label->data)[k] == id * 7 % 10);
        if (!c->named)
            continue;
        char text[64];
        size_t length = case_name(id, text);
        CHECK(name->offsets[k + 1] - name->offsets[k] == length && name->shapes[k] == (int64_t)length);
        CHECK(memcmp((const char *)name->data + name->offsets[k], text, length) == 0);
    }
}

/* ------------------------------------------------------------------------------------------------- this process */

static inline unsigned count_entries(const char *folder)
{
    unsigned n = 0;
    DIR *d = opendir(folder);
    CHECK(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Threads of readers that were closed may need a moment to go. */
static inline bool threads_come_to(unsigned n)
{
    for (unsigned i = 0; i < 2000 && count_entries("/proc/self/task") != n; i++)
        nap(1000);
    return count_entries("/proc/self/task") == n;
}

/* Anonymous memory that is resident, in bytes. */
static inline uint64_t anonymous_bytes(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %llu kB", &kib) == 1)
            break;
    fclose(f);
    return (uint64_t)kib * 1024;
}

static void case_hung(int signal_number)
{
    static const char text[] = "it hangs, while: ";
    (void)signal_number;
    if (write(2, text, sizeof text - 1) < 0 || write(2, case_doing, strlen(case_doing)) < 0 ||
        write(2, "\n", 1) < 0)
        _exit(4);
    _exit(3);
}

/* Whatever hangs ends the test. */
static inline void case_watch(unsigned seconds)
{
    struct sigaction act = {.sa_handler = case_hung};
    sigaction(SIGALRM, &act, NULL);
    alarm(seconds);
}

static char case_folder[] = "/tmp/apl-reader-XXXXXX";

static inline void case_begin(void)
{
    static const char *const launchers[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        unsetenv(launchers[i]);
    CHECK(mkdtemp(case_folder));
    case_watch(times(240, 7200));
}

static inline void case_end(const char *test)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", case_folder);
    CHECK(system(command) == 0);
    printf("%s: done\n", test);
}

/* ------------------------------------------------------------------------------------------ readers and loads */

static inline apl_reader_options case_options(void)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.batch_size = 64;
    o.threads = 2;
    return o;
}

/* Reads an epoch; *n: records. The status that ended it. */
static inline apl_status case_epoch(const struct case_store *c, apl_reader *reader, uint64_t *n,
                                    apl_error *err)
{
    apl_status status;
    apl_batch *batch;
    *n = 0;
    while ((status = apl_reader_next(reader, &batch, err)) == APL_OK) {
        case_check(c, batch);
        *n += apl_batch_rows(batch);
        apl_batch_release(batch);
    }
    return status;
}

/* For load_set_hook(): every third block takes a while. */
static inline apl_status case_slow_load(void *user, uint64_t number, apl_error *err)
{
    (void)user;
    (void)err;
    if (number % 3 == 0)
        nap(200);
    return APL_OK;
}

/* For load_set_hook(): all blocks take as long as this is so. */
static atomic_bool case_stalled;

static inline apl_status case_stall(void *user, uint64_t number, apl_error *err)
{
    (void)user;
    (void)number;
    (void)err;
    while (atomic_load(&case_stalled))
        nap(100);
    return APL_OK;
}

#endif
