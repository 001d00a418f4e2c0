/*
 * Opening and closing, again and again and many at once: descriptors, maps, threads and memory stay what they were, and nothing
 * is left to inherit. A plain main.
 */
#include "reader_case.h"

#include <fcntl.h>
#include <sys/resource.h>

#define HANDLES 1000u /* of stores, at once */

static struct case_store fixed = {"fixed", 400, 20, 32, 4, true, ""};

static unsigned count_maps(void)
{
    char line[512];
    unsigned n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        n += strchr(line, '\n') != NULL;
    fclose(f);
    return n;
}

#define DESCRIPTORS 256

static bool inherited[DESCRIPTORS]; /* by this program itself, from whoever started it */

/* Every descriptor of ours closes itself when another program is started. */
static void check_inheritance(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        int flags = fcntl(fd, F_GETFD);
        CHECK(flags < 0 || flags & FD_CLOEXEC || inherited[fd]);
    }
}

static void open_and_close(unsigned i, apl_io io)
{
    apl_store_options how = APL_STORE_OPTIONS_INIT;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store;
    apl_reader *reader;
    apl_batch *batch;
    apl_error err;
    how.io = io;
    MUST(apl_store_open(fixed.path, &how, &store, &err), &err);
    if (i % 16 == 0) {
        o.split = "train";
        o.threads = i % 32 ? APL_NO_THREADS : 1;
        o.seed = i;
        MUST(apl_reader_open(store, &o, &reader, &err), &err);
        MUST(apl_reader_next(reader, &batch, &err), &err);
        case_check(&fixed, batch);
        if (i % 64 == 0)
            check_inheritance();
        apl_reader_close(reader);
        apl_batch_release(batch);
    }
    apl_store_close(store);
}

static unsigned count_of_opens(void)
{
    return SANITIZED ? 500 : times(5000, 100000);
}

static void many_times(apl_io io)
{
    unsigned n = count_of_opens(), threads = count_entries("/proc/self/task");
    case_doing = "opening and closing";
    for (unsigned i = 0; i < n / 10; i++)
        open_and_close(i, io);
    CHECK(threads_come_to(threads));
    unsigned descriptors = count_entries("/proc/self/fd"), maps = count_maps();
    uint64_t memory = anonymous_bytes();
    for (unsigned i = 0; i < n; i++)
        open_and_close(i, io);
    CHECK(threads_come_to(threads));
    CHECK(count_entries("/proc/self/fd") == descriptors);
    CHECK(SANITIZED || count_maps() <= maps + 2);
    CHECK(SANITIZED || anonymous_bytes() < memory + (1 << 20));
}

/* How many stores may be open: four descriptors at most for each, of those that this process may have. */
static unsigned handles(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max < 5 * HANDLES ? limit.rlim_max : 5 * HANDLES;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (SANITIZED)
        return 100;
    return limit.rlim_cur < 5 * HANDLES ? (unsigned)limit.rlim_cur / 5 : HANDLES;
}

static void many_at_once(void)
{
    static apl_store *stores[HANDLES];
    apl_error err;
    unsigned n = handles();
    case_doing = "many stores at once";
    unsigned descriptors = count_entries("/proc/self/fd");
    for (unsigned i = 0; i < n; i++)
        MUST(apl_store_open(fixed.path, NULL, &stores[i], &err), &err);
    for (unsigned i = 0; i < n; i++) {
        apl_batch *batch;
        MUST(apl_store_get(stores[(i * 7 + 3) % n], fixed.first + i % fixed.records, &batch, &err), &err);
        case_check(&fixed, batch);
        apl_batch_release(batch);
    }
    for (unsigned i = 0; i < n; i++)
        apl_store_close(stores[i]);
    CHECK(count_entries("/proc/self/fd") == descriptors);
    counted("%u at once", n);
}

int main(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        inherited[fd] = fcntl(fd, F_GETFD) >= 0;
    case_begin();
    case_write(&fixed, case_folder);
    many_times(APL_IO_MAP);
    many_times(APL_IO_READ);
    many_at_once();
    counted("2 x %u stores opened and closed", count_of_opens());
    case_end("store_opens");
    return 0;
}
