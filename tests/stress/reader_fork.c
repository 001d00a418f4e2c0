/*
 * Forks while a reader is at work, and readers in several processes. In a child the parent's reader answers APL_E_FORKED and keeps its
 * hands off everything; a reader of the child's own works; the parent notices nothing. Ranks in processes of their own read each record
 * once between them. A plain main, to be run under the thread sanitizer too.
 */
#include "reader_case.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define RECORDS 2000u

static struct case_store fixed = {"fixed", RECORDS, 0, 32, 4, false, ""};

/* In each of two orders. */
static unsigned count_of_forks(void)
{
    return times(SANITIZED ? 30 : 150, SANITIZED ? 100 : 500);
}

static int wait_for(pid_t child)
{
    int how;
    CHECK(waitpid(child, &how, 0) == child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 256 + how;
}

/* ----------------------------------------------------------------------------------------------------- children */

static void check_forked(apl_reader *reader, apl_batch *lent)
{
    apl_batch *batch = NULL;
    apl_stats stats;
    apl_receipt receipt;
    apl_error err;
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    CHECK(apl_reader_next(reader, &batch, &err) == APL_E_FORKED && err.status == APL_E_FORKED && !batch);
    CHECK(apl_reader_next_epoch(reader, &err) == APL_E_FORKED);
    CHECK(apl_reader_state(reader, state, &size, &err) == APL_E_FORKED);
    CHECK(apl_reader_receipt(reader, &receipt, sizeof receipt, &err) == APL_E_FORKED);
    CHECK(apl_reader_stats(reader, &stats, sizeof stats) == APL_E_FORKED);
    (void)apl_reader_epoch(reader);
    CHECK(apl_reader_batches(reader) == (RECORDS + 63) / 64);
    apl_reader_cancel(reader);
    case_check(&fixed, lent);
    apl_batch_release(lent); /* the parent's: it stays lent there */
    apl_reader_close(reader);
}

static void read_epoch(apl_reader *reader, unsigned *seen)
{
    apl_batch *batch;
    apl_error err;
    apl_status status;
    while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
        case_check(&fixed, batch);
        for (size_t k = 0; k < apl_batch_rows(batch); k++)
            seen[apl_batch_ids(batch)[k]]++;
        apl_batch_release(batch);
    }
    if (status != APL_END)
        fprintf(stderr, "%d: %s\n", (int)status, err.message);
    CHECK(status == APL_END);
}

static void check_seen(unsigned *seen)
{
    for (unsigned i = 0; i < RECORDS; i++)
        CHECK(seen[i] == 1);
    memset(seen, 0, RECORDS * sizeof *seen);
}

/* The address sanitizer (of gcc 12) forks with its allocator's locks as they are: where another thread holds one, a child
 * that allocates waits for ever. The C library's allocator does not. */
#ifdef __SANITIZE_ADDRESS__
#define ALLOCATOR_BREAKS_IN_CHILDREN 1
#else
#define ALLOCATOR_BREAKS_IN_CHILDREN 0
#endif

/* A store and a reader of the child's own. The thread sanitizer lets no child of a process with threads start any. */
static void read_own(unsigned number)
{
    unsigned seen[RECORDS] = {0};
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store = case_open(&fixed);
    apl_reader *reader;
    apl_error err;
    o.threads = SANITIZED || number % 2 ? APL_NO_THREADS : 2;
    o.seed = number;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    read_epoch(reader, seen);
    check_seen(seen);
    apl_reader_close(reader);
    apl_store_close(store);
}

static void forks(apl_order order, uint64_t window)
{
    unsigned *seen = calloc(RECORDS, sizeof *seen), at = 0;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store = case_open(&fixed);
    apl_reader *reader;
    apl_batch *batch;
    apl_error err;
    case_doing = "forking";
    CHECK(seen);
    o.batch_size = 64;
    o.threads = 8;
    o.order = order;
    o.window = window;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    for (unsigned i = 0; i < count_of_forks(); i++) {
        apl_status status = apl_reader_next(reader, &batch, &err);
        if (status == APL_END) {
            check_seen(seen);
            MUST(apl_reader_next_epoch(reader, &err), &err);
            status = apl_reader_next(reader, &batch, &err);
        }
        MUST(status, &err);
        for (size_t k = 0; k < apl_batch_rows(batch); k++)
            seen[apl_batch_ids(batch)[k]]++;
        nap(at++ % 7 * 30);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            case_doing = "in a child";
            case_watch(SANITIZED ? 60 : 20);
            check_forked(reader, batch);
            if (i % 4 == 0 && !ALLOCATOR_BREAKS_IN_CHILDREN)
                read_own(i);
            _exit(0);
        }
        CHECK(wait_for(child) == 0);
        case_check(&fixed, batch);
        apl_batch_release(batch);
    }
    read_epoch(reader, seen);
    check_seen(seen);
    apl_reader_close(reader);
    apl_store_close(store);
    free(seen);
}

/* -------------------------------------------------------------------------------------------------------- ranks */

/* What the processes of ranks count in: memory that they share by a file. */
struct shared {
    atomic_uint seen[RECORDS];
    atomic_uint batches[8];
};

static struct shared *map_shared(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && ftruncate(fd, sizeof(struct shared)) == 0);
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(shared != MAP_FAILED);
    close(fd);
    return shared;
}

/* One rank: reader_fork STORE SHARED LANES WINDOW; rank and world as launchers say them. */
static int run_rank(char **argv)
{
    struct shared *shared = map_shared(argv[2]);
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store;
    apl_reader *reader;
    apl_batch *batch;
    apl_error err;
    unsigned rank = (unsigned)atoi(getenv("RANK"));
    o.batch_size = 23;
    o.ranks.lanes = (unsigned)atoi(argv[3]);
    o.window = (uint64_t)atoi(argv[4]);
    o.threads = 1 + rank % 3;
    MUST(apl_store_open(argv[1], NULL, &store, &err), &err);
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    for (int epoch = 0; epoch < 2; epoch++) {
        while (apl_reader_next(reader, &batch, &err) == APL_OK) {
            case_check(&fixed, batch);
            for (size_t k = 0; k < apl_batch_rows(batch); k++)
                atomic_fetch_add(&shared->seen[apl_batch_ids(batch)[k]], 1);
            atomic_fetch_add(&shared->batches[rank], 1);
            apl_batch_release(batch);
        }
        MUST(apl_reader_next_epoch(reader, &err), &err);
    }
    apl_reader_close(reader);
    apl_store_close(store);
    return 0;
}

static void start_rank(const char *path, unsigned rank, unsigned world, unsigned lanes, unsigned window)
{
    char text[4][16];
    snprintf(text[0], sizeof text[0], "%u", lanes);
    snprintf(text[1], sizeof text[1], "%u", window);
    snprintf(text[2], sizeof text[2], "%u", rank);
    snprintf(text[3], sizeof text[3], "%u", world);
    setenv("RANK", text[2], 1);
    setenv("WORLD_SIZE", text[3], 1);
    execl("/proc/self/exe", "reader_fork", fixed.path, path, text[0], text[1], (char *)NULL);
    _exit(9);
}

static void ranks(unsigned world, unsigned lanes, unsigned window)
{
    char path[128];
    pid_t children[8];
    case_doing = "reading with ranks in processes of their own";
    snprintf(path, sizeof path, "%s/shared", case_folder);
    unlink(path);
    struct shared *shared = map_shared(path);
    for (unsigned i = 0; i < world; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0)
            start_rank(path, i, world, lanes, window);
    }
    for (unsigned i = 0; i < world; i++)
        CHECK(wait_for(children[i]) == 0);
    for (unsigned i = 0; i < RECORDS; i++)
        CHECK(atomic_load(&shared->seen[i]) == 2);
    for (unsigned i = 0; i < world; i++)
        CHECK(atomic_load(&shared->batches[i]) == 2 * ((RECORDS + world * 23 - 1) / (world * 23)));
    munmap(shared, sizeof *shared);
}

int main(int argc, char **argv)
{
    if (argc == 5)
        return run_rank(argv);
    case_begin();
    case_write(&fixed, case_folder);
    for (unsigned world = 1; world <= 5; world++) {
        ranks(world, 0, world % 2 ? 0 : 300);
        ranks(world, world > 1 ? world * (1 + world % 2) : 0, world % 2 ? 700 : 0);
    }
    forks(APL_STRICT, 0);
    forks(APL_FREE, 200);
    counted("2 x %u forks under 8 threads", count_of_forks());
    case_end("reader_fork");
    return 0;
}
