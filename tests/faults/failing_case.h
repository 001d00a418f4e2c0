/*
 * What the suites of calls that fail share (test_failing_*.c): every call that the library makes fails once, and from there on for
 * ever; every transfer is interrupted once, and falls short once. A call fails with a message, or succeeds and is right; nothing leaks,
 * nothing hangs.
 */
#ifndef FAILING_CASE_H
#define FAILING_CASE_H

#include "failing.h"

#include "counts.h"
#include "store_fixture.h"

#include <ftw.h>

/* ---------------------------------------------------------------------------------------- a place to work in */

static inline void set_up(void)
{
    strcpy(fx_place,
           access("/dev/shm", W_OK) == 0 ? "/dev/shm/apl-failing-XXXXXX" : "/tmp/apl-failing-XXXXXX");
    cr_assert_not_null(mkdtemp(fx_place));
}

static inline int drop_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static inline void drop(const char *name)
{
    if (fx_exists(fx_path(name)))
        cr_assert_eq(nftw(fx_path(name), drop_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Of those below the place to work in. */
static inline unsigned open_files(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++) {
        char link[32], path[256] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, path, sizeof path - 1) > 0)
            n += strncmp(path, fx_place, strlen(fx_place)) == 0;
    }
    return n;
}

/* ------------------------------------------------------------------------------------------------ the sweeps */

/* What is done with faults, and what is so if it succeeded. */
struct subject {
    void (*before)(void);
    apl_status (*run)(apl_error *err);
    void (*after)(void);
};

static inline void run_with(const struct subject *s, enum failing mode, unsigned long at, const char *names[])
{
    apl_error err = {0};
    if (s->before)
        s->before();
    unsigned files = open_files();
    long blocks = atomic_load(&failing.blocks);
    failing_begin(mode, at);
    apl_status status = s->run(&err);
    failing_end();
    cr_assert_eq(open_files(), files, "%s %lu: files are left open: %s", names[mode], at, err.message);
    cr_assert_eq(atomic_load(&failing.blocks), blocks, "%s %lu: %ld blocks of memory are lost: %s",
                 names[mode], at, atomic_load(&failing.blocks) - blocks, err.message);
    cr_assert(status == APL_OK || (mode <= FAIL_EVER && at <= ULONG_MAX / 2 && at), "%s %lu: %s", names[mode],
              at, err.message);
    cr_assert(status == APL_OK || (err.status == status && *err.message && !strchr(err.message, '\n')),
              "%s %lu: status %d, message \"%s\" of status %d", names[mode], at, status, err.message,
              err.status);
    if (status == APL_OK && s->after)
        s->after();
}

static inline void sweep(const struct subject *s)
{
    static const char *names[FAIL_MODES] = {"never", "fail once", "fail from", "interrupt", "cut"};
    run_with(s, FAIL_NEVER, 0, names);
    for (enum failing mode = FAIL_ONCE; mode < FAIL_MODES; mode++) {
        run_with(s, mode, ULONG_MAX, names);
        unsigned long calls = atomic_load(&failing.calls);
        cr_assert(calls > 0 || mode > FAIL_EVER);
        for (unsigned long at = 1; at <= calls; at += sweep_step() + at / 400)
            run_with(s, mode, at, names);
    }
}

/* ---------------------------------------------------------------------------------------------------- a store */

/* Small, so that a run takes little time; of all sorts of fields. */
static const struct fx_member few[] = {
    {"b", "train", 7, 21}, {"a", "train", 0, 9}, {"test_batch", "test", 90, 5}};
static const struct fx_recipe tiny = {fx_fields, COUNT(fx_fields), few, COUNT(few)};
static const struct fx_recipe tiny_kept = {fx_kept_fields, COUNT(fx_kept_fields), few, COUNT(few)};
static const struct fx_recipe *made = &tiny;
_Static_assert(COUNT(fx_kept_fields) == COUNT(fx_fields), "values are drawn for as many fields");

static apl_io how;

static inline void make_store(void)
{
    apl_writer_options o = fx_options(1, 8);
    fx_make(fx_path("db"), made, &o);
}

static inline apl_status open_store(apl_store **s, apl_error *err)
{
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    o.io = how;
    return apl_store_open(fx_path("db"), &o, s, err);
}

#endif
