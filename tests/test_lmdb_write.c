/* Writing LMDB files: the same puts give the same bytes, and what happens on full disks. */
#define _GNU_SOURCE /* unshare */
#include "lmdb_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)

static struct key block_key(uint32_t i)
{
    return (struct key){KEY_BLOCK, i % 3, i / 3};
}

/* Sizes from one byte to more than a page. */
static size_t some_size(uint32_t i)
{
    return 1 + (i * 2654435761u >> 16) % 9000;
}

static size_t put_some(struct env *env, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        put_value(env, block_key(i * 7919 % count), some_size(i));
        bytes += some_size(i);
        cr_assert_eq(env_bytes(env), bytes);
    }
    return bytes;
}

static void open_file(const char *path, struct pages *pages)
{
    apl_error err;
    int fd = open(path, O_RDONLY);
    cr_assert(fd >= 0);
    cr_assert_eq(pages_open(fd, APL_IO_MAP, pages, &err), APL_OK, "%s", err.message);
    close(fd);
}

Test(env, the_same_puts_give_the_same_bytes)
{
    uint8_t *data[2];
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        struct place p;
        place_make(&p);
        struct env *env = new_env(p.file);
        cr_assert(put_some(env, 4001) > 16 * MIB, "more than one commit");
        finish_env(env);
        data[i] = read_all(p.file, &sizes[i]);
        struct pages pages;
        open_file(p.file, &pages);
        cr_assert_eq(pages.count, 4001);
        for (uint32_t v = 0; v < 4001; v++)
            expect_value(&pages, block_key(v * 7919 % 4001), some_size(v));
        pages_close(&pages);
        place_remove(&p);
    }
    cr_assert(sizes[0] == sizes[1] && memcmp(data[0], data[1], sizes[0]) == 0);
    free(data[0]);
    free(data[1]);
}

Test(env, commits_by_size)
{
    struct place p;
    struct pages pages;
    apl_error err;
    place_make(&p);
    struct env *env = new_env(p.file);
    put_value(env, block_key(0), 5 * MIB);
    put_value(env, block_key(1), 3 * MIB);
    struct stat st;
    cr_assert(stat(p.file, &st) == 0 && (size_t)st.st_size < MIB, "nothing is written before 8 MiB are full");
    put_value(env, block_key(2), 1);
    open_file(p.file, &pages);
    cr_assert_eq(pages.count, 2);
    expect_value(&pages, block_key(1), 3 * MIB);
    pages_close(&pages);
    cr_assert_eq(env_commit(env, &err), APL_OK);
    cr_assert_eq(env_commit(env, &err), APL_OK, "with nothing to commit");
    open_file(p.file, &pages);
    cr_assert_eq(pages.count, 3);
    pages_close(&pages);
    put_value(env, block_key(3), 1);
    env_close(env);
    open_file(p.file, &pages);
    cr_assert(pages.count == 3 && !pages_find(&pages, block_key(3)), "what was not committed is dropped");
    pages_close(&pages);
    place_remove(&p);
    env_close(NULL);
}

Test(env, grows_beyond_the_first_map)
{
    struct place p;
    struct pages pages;
    place_make(&p);
    struct env *env = new_env(p.file);
    put_value(env, block_key(0), 30 * MIB);
    put_value(env, block_key(1), 12 * MIB + 1);
    put_value(env, block_key(2), 60 * MIB);
    put_value(env, block_key(3), 3);
    cr_assert_eq(env_bytes(env), 102 * MIB + 4);
    finish_env(env);
    open_file(p.file, &pages);
    cr_assert_eq(pages.count, 4);
    expect_value(&pages, block_key(0), 30 * MIB);
    expect_value(&pages, block_key(2), 60 * MIB);
    expect_value(&pages, block_key(3), 3);
    cr_assert_eq(load_le(pages.map + 32, 8) % (64 * MIB), 0, "the map size in the file is 64 MiB, doubled");
    pages_close(&pages);
    place_remove(&p);
}

Test(env, keys_are_put_once)
{
    struct place p;
    apl_error err;
    place_make(&p);
    struct env *env = new_env(p.file);
    put_value(env, block_key(5), 10);
    cr_assert_eq(env_put(env, block_key(5), "again", 5, &err), APL_E_IO);
    cr_assert_not_null(strstr(err.message, "cannot put a block: "), "%s", err.message);
    cr_assert_eq(env_bytes(env), 10);
    finish_env(env);
    place_remove(&p);
}

Test(env, files_that_cannot_be_made)
{
    struct env *env = NULL;
    apl_error err;
    cr_assert_eq(env_create(-1, "/nonexistent/data.mdb", &env, &err), APL_E_NOTFOUND);
    cr_assert_eq(err.sys_errno, ENOENT);
    int fd = open("/tmp", O_RDONLY | O_CLOEXEC);
    cr_assert_eq(env_create(fd, "/tmp", &env, &err), APL_E_IO);
    close(fd);
    cr_assert_null(env);
}

/* ---------------------------------------------------------------------------------------------- full disks */

/* Puts until that fails, or the commit does. */
static apl_status fill_up(struct env *env, apl_error *err)
{
    static uint8_t value[MIB];
    for (uint32_t i = 0; i < 64; i++)
        TRY(env_put(env, block_key(i), value, sizeof value, err));
    return env_commit(env, err);
}

Test(env, full_disk)
{
    struct place p;
    apl_error err;
    place_make(&p);
    /* Seen by this process alone, and gone with it. */
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", p.directory, "tmpfs", 0, "size=20m") != 0) {
        printf("skipped: no file system can be mounted here\n");
        place_remove(&p);
        return;
    }
    struct env *env = new_env(p.file);
    cr_assert_eq(fill_up(env, &err), APL_E_NOSPACE, "%s", err.message);
    cr_assert_eq(err.sys_errno, ENOSPC);
    cr_assert_not_null(strstr(err.message, "cannot write the file: "), "%s", err.message);
    env_close(env);
    cr_assert_eq(umount(p.directory), 0);
    place_remove(&p);
}

Test(env, file_size_limit)
{
    struct place p;
    apl_error err;
    struct rlimit limit;
    place_make(&p);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 10 * MIB;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct env *env = new_env(p.file);
    cr_assert_eq(fill_up(env, &err), APL_E_IO, "%s", err.message);
    cr_assert_eq(err.sys_errno, EFBIG, "%s", err.message);
    env_close(env);
    place_remove(&p);
}
