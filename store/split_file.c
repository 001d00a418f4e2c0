/* Split files on disk: see split_file.h. */
#include "split_file.h"

#include "entropy.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME_BYTES (SPLIT_MAX_NAME + sizeof TEMPORARY_PREFIX SPLIT_SUFFIX)
/* What a file may have beside its tables: names, and what later minor versions add. */
#define OTHER_BYTES ((size_t)1 << 20)

bool split_name_ok(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n <= SPLIT_MAX_NAME && name_ok(name, n) && name[0] != '.' && !strchr(name, '/');
}

char *split_rest_name(const struct split_file *f)
{
    size_t size = strlen(f->parent) + strlen(f->name) + sizeof "-";
    char *rest = malloc(size);
    if (rest)
        snprintf(rest, size, "%s-%s", f->parent, f->name);
    return rest;
}

/* --------------------------------------------------------------------------------------------- reading */

static apl_status read_all(int fd, uint8_t *bytes, size_t size, apl_error *err)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = read(fd, bytes + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(err, errno, "cannot read it");
        if (n == 0)
            return fail(err, APL_E_CORRUPT, "it is not as long as it should be");
        done += (size_t)n;
    }
    return APL_OK;
}

/* The size of a file that can be one of this store: a stranger's may be of any size and kind. */
static apl_status check_file(const apl_store *store, int fd, size_t *size, apl_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail_errno(err, errno, "cannot look at it");
    size_t table = entropy_bound(marks_bytes(store->manifest.info.records));
    if (!S_ISREG(st.st_mode))
        return fail(err, APL_E_CORRUPT, "it is not a file");
    if ((uint64_t)st.st_size > 2 * (uint64_t)table + OTHER_BYTES)
        return fail(err, APL_E_CORRUPT, "it is longer than a split file of this store can be");
    *size = (size_t)st.st_size;
    return APL_OK;
}

static apl_status read_file(const apl_store *store, int fd, const char *name, struct split_file *file,
                            apl_error *err)
{
    size_t size = 0;
    TRY(check_file(store, fd, &size, err));
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        return fail_nomem(err);
    apl_status status = read_all(fd, bytes, size, err);
    if (status == APL_OK)
        status = split_file_decode(bytes, size, &store->manifest, file, err);
    free(bytes);
    if (status == APL_OK && strcmp(file->name, name) != 0) {
        char shown[128];
        status = fail(err, APL_E_MISMATCH, "it holds the split %s: it has been renamed",
                      printable(shown, sizeof shown, file->name, strlen(file->name)));
        split_file_free(file);
    }
    return status;
}

apl_status split_file_read(const apl_store *store, const char *name, struct split_file *file, apl_error *err)
{
    char path[FILE_NAME_BYTES], shown[4 * FILE_NAME_BYTES];
    if (!split_name_ok(name) || store->directory < 0)
        return fail(err, APL_E_NOTFOUND, "%s: there is no such split", store->name);
    snprintf(path, sizeof path, "%s%s", name, SPLIT_SUFFIX);
    printable(shown, sizeof shown, path, strlen(path));
    /* non-blocking: a pipe must not make it wait */
    int fd = openat(store->directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return fail(err, APL_E_NOTFOUND, "%s: there is no %s", store->directory_name, shown);
    if (fd < 0)
        return fail_errno(err, errno, "%s: cannot open %s", store->directory_name, shown);
    apl_status status = read_file(store, fd, name, file, err);
    close(fd);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s/%s", store->directory_name, shown);
}

/* --------------------------------------------------------------------------------------------- writing */

static apl_status write_all(int fd, const uint8_t *bytes, size_t size, apl_error *err)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, bytes + done, size - done);
        if (n < 0 && errno != EINTR)
            return fail_errno(err, errno, "cannot write it");
        done += n > 0 ? (size_t)n : 0;
    }
    return APL_OK;
}

/* Fills the file under its temporary name. */
static apl_status fill(int directory, const char *temporary, const struct buffer *bytes, apl_error *err)
{
    unlinkat(directory, temporary, 0); /* of a process that was killed: we hold the lock */
    int fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_errno(err, errno, "cannot create it");
    apl_status status = write_all(fd, bytes->data, bytes->size, err);
    if (status == APL_OK && (fchmod(fd, 0444) != 0 || fsync(fd) != 0))
        status = fail_errno(err, errno, "cannot sync it");
    if (close(fd) != 0 && status == APL_OK)
        status = fail_errno(err, errno, "cannot write it");
    return status;
}

/* Nobody else may be writing, and the store must be the one that was opened. */
static apl_status take_directory(const apl_store *store, int directory, apl_error *err)
{
    struct stat st;
    if (flock(directory, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? fail(err, APL_E_BUSY, "another process is writing in the directory")
                                    : fail_errno(err, errno, "cannot lock the directory");
    if (!store->splits_apart && (fstatat(directory, STORE_FILE, &st, 0) != 0 || st.st_ino != store->inode ||
                                 st.st_dev != store->device))
        return fail(err, APL_E_MISMATCH, "the store has been replaced since it was opened");
    return APL_OK;
}

static apl_status publish(const apl_store *store, int directory, const char *path, const struct buffer *bytes,
                          bool replace, apl_error *err)
{
    char temporary[FILE_NAME_BYTES + sizeof TEMPORARY_PREFIX];
    snprintf(temporary, sizeof temporary, TEMPORARY_PREFIX "%s", path);
    TRY(take_directory(store, directory, err));
    if (!replace && faccessat(directory, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return fail(err, APL_E_EXISTS, "it exists already");
    apl_status status = fill(directory, temporary, bytes, err);
    if (status == APL_OK && renameat(directory, temporary, directory, path) != 0)
        status = fail_errno(err, errno, "cannot put it in its place");
    if (status != APL_OK)
        unlinkat(directory, temporary, 0);
    else if (fsync(directory) != 0)
        status = fail_errno(err, errno,
                            "it is in its place, but a power cut may undo that: cannot sync the directory");
    return status;
}

apl_status split_file_write(const apl_store *store, const struct split_file *file, bool replace,
                            apl_error *err)
{
    struct buffer bytes = {0};
    char path[FILE_NAME_BYTES], shown[4 * FILE_NAME_BYTES];
    snprintf(path, sizeof path, "%s%s", file->name, SPLIT_SUFFIX);
    printable(shown, sizeof shown, path, strlen(path));
    apl_status status = split_file_encode(file, &bytes, err);
    int directory = -1;
    if (status == APL_OK) {
        directory = openat(store->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        status = directory < 0 ? fail_errno(err, errno, "cannot open the directory")
                               : publish(store, directory, path, &bytes, replace, err);
    }
    if (directory >= 0)
        close(directory);
    buffer_free(&bytes);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s/%s", store->directory_name, shown);
}
