/* A store comes into being all at once or not at all: one writer at a time, nothing left of those that fail. */
#include "lmdb_write.h"
#include "staging.h"

#include "store_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/file.h>

TestSuite(staging, .init = fx_set_up, .fini = fx_tear_down);

static const char *db;

/* With the mark of a store's block, without which they are not replaced. */
#define ONE "APLB one"
#define TWO "APLB two"

static struct staging *begin(int replace)
{
    struct staging *t = NULL;
    db = fx_path("db");
    OK(staging_open(db, replace, &t, &fx_err));
    return t;
}

static void fill(struct staging *t, const char *text)
{
    int fd = -1;
    cr_assert(!fx_exists(staging_temporary(t)));
    OK(staging_create(t, &fd, &fx_err));
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void make(const char *text)
{
    struct staging *t = begin(1);
    fill(t, text);
    OK(staging_publish(t, &fx_err));
    staging_close(t);
}

static void expect_store(const char *text)
{
    char path[300];
    size_t size;
    snprintf(path, sizeof path, "%s/data.mdb", db);
    uint8_t *data = fx_read(path, &size);
    cr_assert(size == strlen(text) && memcmp(data, text, size) == 0);
    free(data);
    struct stat st;
    cr_assert(stat(path, &st) == 0 && (st.st_mode & 0777) == 0444);
    cr_assert_str_eq(fx_list(db), "data.mdb ");
}

Test(staging, published)
{
    struct staging *t = begin(0);
    fill(t, ONE);
    cr_assert_str_eq(fx_list(db), ".tmp-data.mdb ");
    OK(staging_publish(t, &fx_err));
    expect_store(ONE);
    staging_close(t);
    expect_store(ONE);
}

Test(staging, abandoned)
{
    struct staging *t = begin(0);
    fill(t, ONE);
    staging_close(t);
    cr_assert(!fx_exists(db), "the directory that was made goes too");
    cr_assert_eq(mkdir(db, 0755), 0);
    t = begin(0);
    staging_close(t); /* without a temporary file, too */
    t = begin(0);
    fill(t, ONE);
    staging_close(t);
    cr_assert_str_eq(fx_list(db), "", "a directory that was there stays");
    staging_close(NULL);
}

/* What others put into a directory that was made is not ours to remove. */
Test(staging, abandoned_with_company)
{
    struct staging *t = begin(0);
    fill(t, ONE);
    fx_shell("touch '%s/%s'", db, "notes");
    staging_close(t);
    cr_assert_str_eq(fx_list(db), "notes ");
}

Test(staging, a_path_with_a_slash_at_its_end)
{
    struct staging *t = NULL;
    OK(staging_open(fx_path("slash/"), 0, &t, &fx_err));
    fill(t, ONE);
    staging_close(t);
    cr_assert(!fx_exists(fx_path("slash")));
}

Test(staging, replaced)
{
    struct staging *t = NULL;
    make(ONE);
    FAILS(APL_E_EXISTS, staging_open(db, 0, &t, &fx_err));
    SAYS(db);
    expect_store(ONE);
    t = begin(1);
    fill(t, TWO);
    staging_close(t);
    expect_store(ONE);
    t = begin(1);
    fill(t, TWO);
    char path[300];
    snprintf(path, sizeof path, "%s/data.mdb", db);
    int old = open(path, O_RDONLY);
    OK(staging_publish(t, &fx_err));
    staging_close(t);
    expect_store(TWO);
    char text[sizeof ONE] = {0};
    cr_assert(read(old, text, strlen(ONE)) == (ssize_t)strlen(ONE) && strcmp(text, ONE) == 0,
              "who has it open keeps the old one");
    close(old);
}

Test(staging, published_without_a_file)
{
    make(ONE);
    struct staging *t = begin(1);
    int fd;
    OK(staging_create(t, &fd, &fx_err));
    cr_assert_eq(unlink(staging_temporary(t)), 0);
    FAILS(APL_E_NOTFOUND, staging_publish(t, &fx_err));
    staging_close(t);
    expect_store(ONE);
}

/* ------------------------------------------------------------------------------------------------ one writer */

Test(staging, busy_in_one_process)
{
    struct staging *t = begin(0), *other = NULL;
    fill(t, ONE);
    FAILS(APL_E_BUSY, staging_open(db, 0, &other, &fx_err));
    FAILS(APL_E_BUSY, staging_open(db, 1, &other, &fx_err));
    SAYS(db);
    cr_assert_str_eq(fx_list(db), ".tmp-data.mdb ", "the other writer's file is left alone");
    OK(staging_publish(t, &fx_err));
    OK(staging_open(db, 1, &other, &fx_err)); /* what is published is locked no more */
    staging_close(other);
    staging_close(t);
    expect_store(ONE);
}

static int open_while_busy(void)
{
    struct staging *t = NULL;
    return staging_open(fx_path("db"), 1, &t, NULL) == APL_E_BUSY ? 0 : 1;
}

static void in_child(int (*child)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(child());
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(staging, busy_in_another_process)
{
    struct staging *t = begin(0);
    fill(t, ONE);
    in_child(open_while_busy);
    cr_assert_str_eq(fx_list(db), ".tmp-data.mdb ");
    staging_close(t);
    cr_assert(!fx_exists(db));
    make(TWO);
    expect_store(TWO);
}

/* A writer that is killed in the middle leaves its files, and the lock goes with it. */
Test(staging, killed)
{
    int ready[2];
    cr_assert_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct staging *t = begin(0);
        fill(t, "half a st");
        (void)!write(ready[1], "x", 1);
        for (;;)
            pause();
    }
    char c;
    cr_assert_eq(read(ready[0], &c, 1), 1);
    cr_assert_eq(kill(pid, SIGKILL), 0);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    db = fx_path("db");
    cr_assert_str_eq(fx_list(db), ".tmp-data.mdb ");
    make(ONE);
    expect_store(ONE);
}

Test(staging, leftovers_are_cleared)
{
    make(ONE);
    fx_shell("touch '%s'/.tmp-data.mdb '%s'/.tmp-piles", db, db);
    fx_shell("touch '%s'/.tmp-x-train.split; touch '%s'/keep.split", db, db);
    struct staging *t = begin(1);
    cr_assert_str_eq(fx_list(db), "data.mdb keep.split ");
    staging_close(t);
    cr_assert_str_eq(fx_list(db), "data.mdb keep.split ");
}

/* Names like those of temporary files, of what is not ours. */
Test(staging, what_others_have_called_temporary)
{
    make(ONE);
    fx_shell("cd '%s' && mkdir .tmp-data.mdb .tmp-piles.1 .tmp-x.split; mkfifo .tmp-data.mdb.2%s", db, "");
    fx_shell(
        "cd '%s' && touch .tmp- .tmp-notes .tmp-data.mdb~ .tmp-data.mdb.01 .tmp-data.mdb.100 .tmp-.split%s",
        db, "");
    fx_shell("cd '%s' && ln -s ../db .tmp-piles; touch .tmp-data.mdb.1 .tmp-data.mdb.99 .tmp-y.split "
             ".tmp-y.split.3%s",
             db, "");
    struct staging *t = begin(1);
#define NOT_OURS                                                                                         \
    ".tmp- .tmp-.split .tmp-data.mdb .tmp-data.mdb.01 .tmp-data.mdb.100 .tmp-data.mdb.2 .tmp-data.mdb~ " \
    ".tmp-notes .tmp-piles .tmp-piles.1 .tmp-x.split data.mdb "
    cr_assert_str_eq(fx_list(db), NOT_OURS);
    int fd = -1, scratch = -1;
    OK(staging_create(t, &fd, &fx_err));
    OK(staging_scratch(t, &scratch, &fx_err));
    close(scratch);
    cr_assert_eq(write(fd, TWO, strlen(TWO)), (ssize_t)strlen(TWO));
    OK(staging_publish(t, &fx_err));
    staging_close(t);
    cr_assert_str_eq(fx_list(db), NOT_OURS);
    fx_shell("rm -r '%s'/.tmp-%s", db, "*");
    expect_store(TWO);
}

/* LMDB's own files, and those of Microsoft Access, have that name too; nor is it for us to say what can be thrown away. */
Test(staging, files_of_others_are_not_replaced)
{
    static const char *const others[] = {"\xde\xc0\xef\xbe of LMDB", "Standard Jet DB", "APL"};
    struct staging *t = NULL;
    db = fx_path("db");
    cr_assert_eq(mkdir(db, 0755), 0);
    for (unsigned i = 0; i < COUNT(others); i++) {
        fx_write(fx_path("db/data.mdb"), others[i], strlen(others[i]));
        for (int replace = 0; replace < 2; replace++) {
            FAILS(APL_E_INVALID, staging_open(db, replace, &t, &fx_err));
            SAYS("data.mdb is not an APL store's");
        }
    }
    fx_write(fx_path("db/data.mdb"), "", 0);
    make(ONE);
    expect_store(ONE);
}

/* Only a regular file is replaced. */
Test(staging, something_else_in_the_place_of_the_store)
{
    static const char *const others[] = {"ln -s ../precious", "mkfifo", "mkdir"};
    fx_write(fx_path("precious"), "precious", 8);
    db = fx_path("db");
    for (size_t i = 0; i < 3; i++) {
        struct staging *t = NULL;
        fx_shell("mkdir '%s' && cd '%s'", db, db);
        fx_shell("cd '%s' && %s data.mdb", db, others[i]);
        FAILS(APL_E_INVALID, staging_open(db, i % 2, &t, &fx_err));
        SAYS("data.mdb is not a regular file");
        fx_shell("rm -r '%s'/data.mdb%s", db, "");
        t = begin(1);
        fill(t, "new");
        fx_shell("cd '%s' && %s data.mdb", db, others[i]);
        FAILS(APL_E_IO, staging_publish(t, &fx_err));
        SAYS("no longer a regular file");
        staging_close(t);
        cr_assert_str_eq(fx_list(db), "data.mdb ");
        fx_shell("rm -r '%s'%s", db, "");
    }
}

/* A link in the place of the file to be written must not lead elsewhere. */
Test(staging, links_are_not_followed)
{
    fx_write(fx_path("victim"), "precious", 8);
    int fd;
    struct staging *t = begin(0);
    cr_assert_eq(symlink("../victim", staging_temporary(t)), 0);
    OK(staging_create(t, &fd, &fx_err));
    cr_assert_str_eq(fx_list(db), ".tmp-data.mdb .tmp-data.mdb.1 ");
    cr_assert_eq(write(fd, "new", 3), 3);
    staging_close(t);
    cr_assert_str_eq(fx_list(db), ".tmp-data.mdb ");
    fx_shell("rm '%s'/%s", db, ".tmp-data.mdb");
    t = begin(0);
    OK(staging_create(t, &fd, &fx_err));
    cr_assert(unlink(staging_temporary(t)) == 0 && symlink("../victim", staging_temporary(t)) == 0);
    FAILS(APL_E_IO, staging_publish(t, &fx_err));
    SAYS("somebody has replaced the new store");
    staging_close(t);
    struct stat st;
    cr_assert(stat(fx_path("victim"), &st) == 0 && st.st_size == 8 && (st.st_mode & 0777) != 0444);
}

/* liblmdb follows links; it is given the file itself. */
Test(staging, a_link_in_the_place_of_the_file)
{
    int fd;
    struct lmdb_writer *writer = NULL;
    struct stat st;
    struct staging *t = begin(0);
    OK(staging_create(t, &fd, &fx_err));
    cr_assert(unlink(staging_temporary(t)) == 0 && symlink("../victim", staging_temporary(t)) == 0);
    OK(lmdb_writer_create(fd, staging_temporary(t), &writer, &fx_err));
    OK(lmdb_writer_put(writer, (struct key){KEY_BLOCK, 0, 0}, "value", 5, &fx_err));
    OK(lmdb_writer_commit(writer, &fx_err));
    lmdb_writer_close(writer);
    cr_assert(!fx_exists(fx_path("victim")));
    cr_assert(fstat(fd, &st) == 0 && st.st_size > 0);
    staging_close(t);
}

/* A link to a directory will do, if it is one's own, or no others could have made it. */
Test(staging, links_to_directories)
{
    struct staging *t = NULL;
    const uid_t nobody = 65534;
    cr_assert_eq(mkdir(fx_path("place"), 0755), 0);
    cr_assert_eq(symlink("place", fx_path("link")), 0);
    OK(staging_open(fx_path("link"), 0, &t, &fx_err));
    staging_close(t);
    if (geteuid() != 0 || lchown(fx_path("link"), nobody, nobody) != 0)
        return; /* only root has links of others */
    OK(staging_open(fx_path("link"), 0, &t, &fx_err));
    staging_close(t);
    cr_assert_eq(mkdir(fx_path("all"), 0777), 0);
    cr_assert_eq(chmod(fx_path("all"), 01777), 0);
    cr_assert_eq(symlink("../place", fx_path("all/link")), 0);
    OK(staging_open(fx_path("all/link"), 0, &t, &fx_err));
    staging_close(t);
    cr_assert_eq(lchown(fx_path("all/link"), nobody, nobody), 0);
    FAILS(APL_E_INVALID, staging_open(fx_path("all/link/"), 0, &t, &fx_err));
    SAYS("symbolic link of another user");
    cr_assert_str_eq(fx_list(fx_path("place")), "");
}

/* Nobody but the user and the group may write in a directory that is made, whatever the mask. */
Test(staging, masks)
{
    struct stat st;
    umask(0);
    make(ONE);
    cr_assert(stat(db, &st) == 0 && (st.st_mode & 0777) == 0775);
    cr_assert(stat(fx_path("db/data.mdb"), &st) == 0 && (st.st_mode & 0777) == 0444);
    fx_shell("rm -r '%s'%s", db, "");
    umask(0777); /* root alone can go on in such a directory */
    struct staging *t = NULL;
    if (staging_open(fx_path("db"), 0, &t, &fx_err) == APL_OK)
        staging_close(t);
    umask(022);
}

/* -------------------------------------------------------------------------------------------- the scratch file */

Test(staging, scratch_has_no_name)
{
    struct staging *t = begin(0);
    int fd = -1, second = -1;
    char text[4] = {0};
    OK(staging_scratch(t, &fd, &fx_err));
    OK(staging_scratch(t, &second, &fx_err));
    cr_assert_str_eq(fx_list(db), "");
    cr_assert(pwrite(fd, "abc", 3, 0) == 3 && pread(fd, text, 3, 0) == 3 && strcmp(text, "abc") == 0);
    cr_assert_eq(pread(second, text, 3, 0), 0);
    cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    close(second);
    staging_close(t);
    cr_assert(!fx_exists(db));
}

/* ---------------------------------------------------------------------------------------------- bad places */

Test(staging, places_that_cannot_be)
{
    struct staging *t = NULL;
    FAILS(APL_E_INVALID, staging_open(NULL, 0, &t, &fx_err));
    FAILS(APL_E_INVALID, staging_open("", 0, &t, &fx_err));
    FAILS(APL_E_NOTFOUND, staging_open(fx_path("no/such/place"), 0, &t, &fx_err));
    SAYS("no/such/place");
    fx_write(fx_path("file"), "x", 1);
    FAILS(APL_E_INVALID, staging_open(fx_path("file"), 1, &t, &fx_err));
    SAYS("not a directory");
    cr_assert(fx_exists(fx_path("file")));
    FAILS(APL_E_NOTFOUND, staging_open(fx_path("file/db"), 1, &t, &fx_err));
    cr_assert_eq(symlink("nowhere", fx_path("dangling")), 0);
    FAILS(APL_E_NOTFOUND, staging_open(fx_path("dangling"), 0, &t, &fx_err));
    cr_assert_null(t);
}

/* A set, or a part of one, that has come while the store was made stays. */
Test(staging, a_set_that_has_come_since)
{
    static const char *const names[] = {"db/set.apl", "db/part-0001-of-0004"};
    for (unsigned i = 0; i < 2; i++) {
        struct staging *t = begin(0);
        fill(t, ONE);
        if (i)
            cr_assert_eq(mkdir(fx_path(names[i]), 0777), 0);
        else
            fx_write(fx_path(names[i]), "x", 1);
        FAILS(APL_E_INVALID, staging_publish(t, &fx_err));
        staging_close(t);
        cr_assert(!fx_exists(fx_path("db/data.mdb")) && fx_exists(fx_path(names[i])));
        fx_shell("rm -r '%s%s'", fx_path("db"), "");
    }
}

Test(staging, names_are_printed_safely)
{
    struct staging *t = NULL;
    FAILS(APL_E_NOTFOUND, staging_open(fx_path("bell\a/\033[2J"), 0, &t, &fx_err));
    SAYS("bell\\x07");
    SAYS("\\x1b");
}

static int open_read_only(void)
{
    struct staging *t = NULL;
    apl_error err;
    if (staging_open(fx_path("db"), 1, &t, &err) != APL_E_IO || err.sys_errno != EACCES)
        return 1;
    return staging_open(fx_path("db/new"), 0, &t, &err) == APL_E_IO && err.sys_errno == EACCES ? 0 : 2;
}

Test(staging, read_only_directory)
{
    make(ONE);
    cr_assert_eq(chmod(fx_place, 0755), 0);
    cr_assert_eq(chmod(db, 0555), 0);
    fx_as_nobody(open_read_only);
    expect_store(ONE);
    cr_assert_eq(chmod(db, 0755), 0);
}
