/* Writing LMDB files: the same puts give the same bytes, and what happens on full disks. */
#define _GNU_SOURCE /* unshare */
#include "lmdb_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

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

static size_t put_some(struct lmdb_writer *writer, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        put_value(writer, block_key(i * 7919 % count), some_size(i));
        bytes += some_size(i);
        cr_assert_eq(lmdb_writer_bytes(writer), bytes);
    }
    return bytes;
}

static void open_file(const char *path, struct lmdb_reader *lmdb)
{
    apl_error err;
    int fd = open(path, O_RDONLY);
    cr_assert(fd >= 0);
    cr_assert_eq(lmdb_reader_open(fd, APL_IO_MAP, lmdb, &err), APL_OK, "%s", err.message);
    close(fd);
}

Test(lmdb_write, the_same_puts_give_the_same_bytes)
{
    uint8_t *data[2];
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        struct place p;
        place_make(&p);
        struct lmdb_writer *writer = new_lmdb(p.file);
        cr_assert(put_some(writer, 4001) > 16 * MIB, "more than one commit");
        finish_lmdb(writer);
        data[i] = read_all(p.file, &sizes[i]);
        struct lmdb_reader lmdb;
        open_file(p.file, &lmdb);
        cr_assert_eq(lmdb.count, 4001);
        for (uint32_t v = 0; v < 4001; v++)
            expect_value(&lmdb, block_key(v * 7919 % 4001), some_size(v));
        lmdb_reader_close(&lmdb);
        place_remove(&p);
    }
    cr_assert(sizes[0] == sizes[1] && memcmp(data[0], data[1], sizes[0]) == 0);
    free(data[0]);
    free(data[1]);
}

Test(lmdb_write, commits_by_size)
{
    struct place p;
    struct lmdb_reader lmdb;
    apl_error err;
    place_make(&p);
    struct lmdb_writer *writer = new_lmdb(p.file);
    put_value(writer, block_key(0), 5 * MIB);
    put_value(writer, block_key(1), 3 * MIB);
    struct stat st;
    cr_assert(stat(p.file, &st) == 0 && (size_t)st.st_size < MIB, "nothing is written before 8 MiB are full");
    put_value(writer, block_key(2), 1);
    open_file(p.file, &lmdb);
    cr_assert_eq(lmdb.count, 2);
    expect_value(&lmdb, block_key(1), 3 * MIB);
    lmdb_reader_close(&lmdb);
    cr_assert_eq(lmdb_writer_commit(writer, &err), APL_OK);
    cr_assert_eq(lmdb_writer_commit(writer, &err), APL_OK, "with nothing to commit");
    open_file(p.file, &lmdb);
    cr_assert_eq(lmdb.count, 3);
    lmdb_reader_close(&lmdb);
    put_value(writer, block_key(3), 1);
    lmdb_writer_close(writer);
    open_file(p.file, &lmdb);
    cr_assert(lmdb.count == 3 && !lmdb_reader_find(&lmdb, block_key(3)), "what was not committed is dropped");
    lmdb_reader_close(&lmdb);
    place_remove(&p);
    lmdb_writer_close(NULL);
}

Test(lmdb_write, grows_beyond_the_first_map)
{
    struct place p;
    struct lmdb_reader lmdb;
    place_make(&p);
    struct lmdb_writer *writer = new_lmdb(p.file);
    put_value(writer, block_key(0), 30 * MIB);
    put_value(writer, block_key(1), 12 * MIB + 1);
    put_value(writer, block_key(2), 60 * MIB);
    put_value(writer, block_key(3), 3);
    cr_assert_eq(lmdb_writer_bytes(writer), 102 * MIB + 4);
    finish_lmdb(writer);
    open_file(p.file, &lmdb);
    cr_assert_eq(lmdb.count, 4);
    expect_value(&lmdb, block_key(0), 30 * MIB);
    expect_value(&lmdb, block_key(2), 60 * MIB);
    expect_value(&lmdb, block_key(3), 3);
    cr_assert_eq(load_le(lmdb.map + 32, 8) % (64 * MIB), 0, "the map size in the file is 64 MiB, doubled");
    lmdb_reader_close(&lmdb);
    place_remove(&p);
}

Test(lmdb_write, keys_are_put_once)
{
    struct place p;
    apl_error err;
    place_make(&p);
    struct lmdb_writer *writer = new_lmdb(p.file);
    put_value(writer, block_key(5), 10);
    cr_assert_eq(lmdb_writer_put(writer, block_key(5), "again", 5, &err), APL_E_IO);
    cr_assert_not_null(strstr(err.message, "cannot put a block: "), "%s", err.message);
    cr_assert_eq(lmdb_writer_bytes(writer), 10);
    finish_lmdb(writer);
    place_remove(&p);
}

Test(lmdb_write, files_that_cannot_be_made)
{
    struct lmdb_writer *writer = NULL;
    apl_error err;
    cr_assert_eq(lmdb_writer_create(-1, "/nonexistent/data.mdb", &writer, &err), APL_E_NOTFOUND);
    cr_assert_eq(err.sys_errno, ENOENT);
    int fd = open("/tmp", O_RDONLY | O_CLOEXEC);
    cr_assert_eq(lmdb_writer_create(fd, "/tmp", &writer, &err), APL_E_IO);
    close(fd);
    cr_assert_null(writer);
}

/* ---------------------------------------------------------------------------------------------- full disks */

/* Puts until that fails, or the commit does. */
static apl_status fill_up(struct lmdb_writer *writer, apl_error *err)
{
    static uint8_t value[MIB];
    for (uint32_t i = 0; i < 64; i++)
        TRY(lmdb_writer_put(writer, block_key(i), value, sizeof value, err));
    return lmdb_writer_commit(writer, err);
}

Test(lmdb_write, full_disk)
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
    struct lmdb_writer *writer = new_lmdb(p.file);
    cr_assert_eq(fill_up(writer, &err), APL_E_NOSPACE, "%s", err.message);
    cr_assert_eq(err.sys_errno, ENOSPC);
    cr_assert_not_null(strstr(err.message, "cannot write the file: "), "%s", err.message);
    lmdb_writer_close(writer);
    cr_assert_eq(umount(p.directory), 0);
    place_remove(&p);
}

Test(lmdb_write, file_size_limit)
{
    struct place p;
    apl_error err;
    struct rlimit limit;
    place_make(&p);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 10 * MIB;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct lmdb_writer *writer = new_lmdb(p.file);
    cr_assert_eq(fill_up(writer, &err), APL_E_IO, "%s", err.message);
    cr_assert_eq(err.sys_errno, EFBIG, "%s", err.message);
    lmdb_writer_close(writer);
    place_remove(&p);
}

/* ------------------------------------------------------------------------------------------- without /proc */

/* In the place of the C library's: whether /proc is there. */
static bool has_no_proc;

int faccessat(int directory, const char *path, int mode, int flags)
{
    if (has_no_proc && strncmp(path, "/proc/", 6) == 0) {
        errno = ENOENT;
        return -1;
    }
    return (int)syscall(SYS_faccessat, directory, path, mode, flags);
}

/* The file is opened by its name then, and must still be the one that is open. */
Test(lmdb_write, a_file_in_the_place_of_another_is_not_written)
{
    struct place p;
    struct lmdb_writer *writer = NULL;
    apl_error err;
    place_make(&p);
    has_no_proc = true;
    finish_lmdb(new_lmdb(p.file));
    cr_assert_eq(unlink(p.file), 0);
    int fd = open(p.file, O_RDWR | O_CREAT | O_EXCL, 0600);
    cr_assert_eq(unlink(p.file), 0);
    close(open(p.file, O_RDWR | O_CREAT | O_EXCL, 0600));
    cr_assert_eq(lmdb_writer_create(fd, p.file, &writer, &err), APL_E_IO);
    cr_assert_eq(err.sys_errno, ESTALE, "%s", err.message);
    close(fd);
    place_remove(&p);
}
