/*
 * Memory that a reader cannot have, from the caller's allocator or from the C library, and threads that cannot be started. Each has its
 * answer; nothing hangs, and nothing leaks (as the address sanitizer sees). A plain main, to be run under the sanitizers too.
 */
#include "reader_case.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define RECORDS 800u

static struct case_store fixed = {"fixed", RECORDS, 0, 32, 4, false, ""},
                         varying = {"varying", RECORDS, 0, 32, 2, true, ""};

/* ------------------------------------------------------------------------------------------- the caller's memory */

struct meter {
    atomic_int left; /* calls that succeed */
    atomic_llong bytes;
};

static void *allocate(void *user, size_t bytes)
{
    struct meter *m = user;
    if (atomic_fetch_sub(&m->left, 1) <= 0)
        return NULL;
    atomic_fetch_add(&m->bytes, (long long)bytes);
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void deallocate(void *user, void *memory, size_t bytes)
{
    struct meter *m = user;
    atomic_fetch_sub(&m->bytes, (long long)bytes);
    free(memory);
}

/* The allocator gives out after k calls: with one batch's memory or more all still comes; with less, the call says why not. */
static void allocator_fails(const struct case_store *c, int k, unsigned threads)
{
    struct meter m = {k, 0};
    const apl_allocator allocator = {allocate, deallocate, &m};
    apl_reader_options o = case_options();
    apl_store *store = case_open(c);
    apl_reader *reader;
    apl_error err;
    uint64_t n;
    case_doing = "an allocator that fails";
    o.allocator = &allocator;
    o.threads = threads;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    apl_store_close(store);
    for (int epoch = 0; epoch < 2; epoch++) {
        apl_status status = case_epoch(c, reader, &n, &err);
        CHECK(status == APL_E_NOMEM || (status == APL_END && n == RECORDS));
        CHECK(k >= 2 || status == APL_E_NOMEM);
        if (status != APL_END)
            break;
        MUST(apl_reader_next_epoch(reader, &err), &err);
    }
    apl_reader_close(reader);
    CHECK(atomic_load(&m.bytes) == 0);
}

/* All that the memory is good for is lent: the caller is told, and goes on after a release. */
static void allocator_and_lent(unsigned threads)
{
    struct meter m = {4, 0}; /* two batches of two columns */
    const apl_allocator allocator = {allocate, deallocate, &m};
    apl_reader_options o = case_options();
    apl_store *store = case_open(&fixed);
    apl_reader *reader;
    apl_batch *lent[2], *batch;
    apl_error err;
    uint64_t n;
    case_doing = "an allocator that fails while batches are lent";
    o.allocator = &allocator;
    o.threads = threads;
    MUST(apl_reader_open(store, &o, &reader, &err), &err);
    apl_store_close(store);
    for (int i = 0; i < 2; i++)
        MUST(apl_reader_next(reader, &lent[i], &err), &err);
    CHECK(apl_reader_next(reader, &batch, &err) == APL_E_LENT);
    CHECK(apl_reader_next(reader, &batch, &err) == APL_E_LENT);
    apl_batch_release(lent[0]);
    apl_batch_release(lent[1]);
    CHECK(case_epoch(&fixed, reader, &n, &err) == APL_END && n == RECORDS - 128);
    apl_reader_close(reader);
    CHECK(atomic_load(&m.bytes) == 0);
}

/* --------------------------------------------------------------------------------------------- the library's memory */

/* Calls of the allocation functions, of all threads, that succeed from now on; below 0: all. The functions below take the place of the C
 * library's, also under the address sanitizer; the thread sanitizer keeps its own. */
static atomic_int allowed = -1;

#if !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define HAVE_FAILING_MALLOC 1
#if SANITIZED
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif
void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t n, size_t size);
void *REAL(realloc)(void *p, size_t size);

static bool refuse(void)
{
    int left = atomic_load(&allowed);
    while (left > 0 && !atomic_compare_exchange_weak(&allowed, &left, left - 1))
        ;
    return left == 0;
}

void *malloc(size_t size)
{
    return refuse() ? NULL : REAL(malloc)(size);
}

void *calloc(size_t n, size_t size)
{
    return refuse() ? NULL : REAL(calloc)(n, size);
}

void *realloc(void *p, size_t size)
{
    return refuse() ? NULL : REAL(realloc)(p, size);
}
#else
#define HAVE_FAILING_MALLOC 0
#endif

/* The k-th allocation, and all after it, fail. */
static apl_status malloc_fails(const struct case_store *c, const apl_reader_options *asked, int k)
{
    apl_reader_options o = *asked;
    apl_store *store = case_open(c);
    apl_reader *reader = NULL;
    apl_error err;
    uint64_t n = 0;
    atomic_store(&allowed, k);
    apl_status status = apl_reader_open(store, &o, &reader, &err);
    if (status == APL_OK) {
        status = case_epoch(c, reader, &n, &err);
        if (status == APL_END)
            status = apl_reader_next_epoch(reader, &err);
        if (status == APL_OK)
            status = case_epoch(c, reader, &n, &err);
    }
    atomic_store(&allowed, -1);
    /* Threads that cannot be started for lack of memory are an error of the system's. */
    CHECK(status == APL_E_NOMEM || status == APL_E_IO || (status == APL_END && n == RECORDS));
    apl_reader_close(reader);
    apl_store_close(store);
    return status;
}

static void mallocs_fail(void)
{
    unsigned failed = 0, all = 0;
    case_doing = "malloc that fails";
    for (int k = 0; HAVE_FAILING_MALLOC && k < 400; k += 1 + k / 60)
        for (unsigned mix = 0; mix < 6; mix++) {
            apl_reader_options o = case_options();
            case_watch(SANITIZED ? 60 : 10);
            o.window = mix % 2 ? 128 : 0;
            o.order = mix / 2 == 1 ? APL_FREE : APL_STRICT;
            o.ranks.world = mix / 2 == 2 ? 1 : 0;
            o.threads = mix / 2 == 2 ? APL_NO_THREADS : 2;
            failed += malloc_fails(mix % 3 ? &fixed : &varying, &o, k) != APL_END;
            all++;
        }
    CHECK(!HAVE_FAILING_MALLOC || (failed > all / 4 && failed < all));
    if (HAVE_FAILING_MALLOC)
        counted("%u runs of a reader with a malloc that fails, of which %u failed", all, failed);
}

/* ------------------------------------------------------------------------------------------------------ threads */

/* In a process of its own, as a user that may have no more threads. */
static void threads_fail(void)
{
    case_doing = "threads that cannot be started";
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        apl_reader_options o = case_options();
        apl_reader *reader;
        apl_error err;
        apl_store *store = case_open(&fixed);
        if (geteuid() == 0 && (setgid(54321) != 0 || setuid(54321) != 0))
            _exit(2);
        if (setrlimit(RLIMIT_NPROC, &none) != 0)
            _exit(2);
        apl_status status = apl_reader_open(store, &o, &reader, &err);
        if (status == APL_OK)
            _exit(2); /* nothing limits this user */
        CHECK(strstr(err.message, "cannot start a thread"));
        apl_store_close(store);
        _exit(0);
    }
    int how;
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how));
    CHECK(WEXITSTATUS(how) == 0 || WEXITSTATUS(how) == 2);
    if (WEXITSTATUS(how) == 2)
        printf("threads are not limited here\n");
}

int main(void)
{
    static const unsigned some[] = {APL_NO_THREADS, 1, 3};
    case_begin();
    case_write(&fixed, case_folder);
    case_write(&varying, case_folder);
    for (unsigned i = 0; i < 3; i++) {
        for (int k = 0; k < 12; k++) {
            allocator_fails(&fixed, k, some[i]);
            allocator_fails(&varying, k, some[i]);
        }
        allocator_and_lent(some[i]);
    }
    mallocs_fail();
    threads_fail();
    case_end("reader_nomem");
    return 0;
}
