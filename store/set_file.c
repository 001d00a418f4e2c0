/* The file that the list of a set is in: see set_file.h. */
#define _GNU_SOURCE /* syscall */
#include "set_file.h"

#include "held_signals.h"
#include "set_list.h"
#include "temporary.h"
#include "whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#endif

apl_status set_file_read(int directory, const char *name, struct buffer *bytes, struct stat *is,
                         apl_error *err)
{
    struct stat st;
    /* non-blocking: a pipe must not make it wait */
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? fail(err, APL_E_NOTFOUND, "there is no such file")
                               : fail_errno(err, errno, "cannot open it");
    apl_status status;
    GUARD(fstat(fd, &st) == 0 ? APL_OK : fail_errno(err, errno, "cannot examine it"));
    GUARD(S_ISREG(st.st_mode) ? APL_OK : fail(err, APL_E_CORRUPT, "it is not a regular file"));
    GUARD((uint64_t)st.st_size <= SET_MAX_BYTES ? APL_OK : fail(err, APL_E_CORRUPT, "it is too large"));
    GUARD(buffer_reserve(bytes, (size_t)st.st_size + 1) ? APL_OK : fail_nomem(err));
    int code = read_whole(fd, bytes->data, (size_t)st.st_size, 0);
    GUARD(code == WHOLE_ENDED ? fail(err, APL_E_CORRUPT, "it ends too early")
          : code              ? fail_errno(err, code, "cannot read it")
                              : APL_OK);
    bytes->size = (size_t)st.st_size;
    if (is)
        *is = st;
out:
    close(fd);
    return status;
}

static apl_status fill_list(int fd, const struct buffer *list, apl_error *err)
{
    int code = write_whole(fd, list->data, list->size, 0);
    if (code)
        return fail_errno(err, code, "cannot write it");
    if (temporary_finish(fd) != 0)
        return fail_errno(err, errno, "cannot sync it");
    return APL_OK;
}

void set_kept_name(const uint8_t digest[32], char name[SET_KEPT_BYTES])
{
    memcpy(name, "set-", 4);
    for (unsigned i = 0; i < 8; i++)
        snprintf(name + 4 + 2 * i, 3, "%02x", digest[i]);
    memcpy(name + 20, ".apl", 5);
}

/* Gives a file its name if nobody has it, also where locks do not hold between machines: one of several gets it. A file system that
 * can do this in neither way leaves it to the lock. 0 or an errno. */
static int name_new(int directory, const char *temporary, const char *name)
{
    /* not renameat2(), which is younger than the C library that wheels promise to run with */
    if (syscall(SYS_renameat2, directory, temporary, directory, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (linkat(directory, temporary, directory, name, 0) == 0) {
        unlinkat(directory, temporary, 0);
        return 0;
    }
    if (errno == EEXIST)
        return errno;
    return renameat(directory, temporary, directory, name) == 0 ? 0 : errno;
}

static apl_status give_name(int directory, const char *temporary, const char *name, bool replace,
                            apl_error *err)
{
    if (!may_replace(directory, name))
        return fail(err, APL_E_INVALID, "it is not a regular file, and is not replaced");
    int code = !replace                                               ? name_new(directory, temporary, name)
               : renameat(directory, temporary, directory, name) == 0 ? 0
                                                                      : errno;
    if (code == EEXIST)
        return fail(err, APL_E_EXISTS, "it is there already");
    return code ? fail_errno(err, code, "cannot put it in its place") : APL_OK;
}

static apl_status write_list(int directory, const char *shown, const char *name, const struct buffer *list,
                             bool replace, apl_error *err)
{
    char temporary[TEMPORARY_BYTES];
    temporary_clear(directory);
    int fd = temporary_create(directory, name, temporary);
    if (fd < 0)
        return fail_errno(err, errno, "%s: cannot create the list", shown);
    apl_status status = fill_list(fd, list, err);
    close(fd);
    if (status == APL_OK)
        status = give_name(directory, temporary, name, replace, err);
    if (status != APL_OK)
        unlinkat(directory, temporary, 0);
    else if (fsync(directory) != 0)
        status = fail_errno(err, errno,
                            "it is in its place, but a power cut may undo that: cannot sync the directory");
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s/%s", shown, name);
}

apl_status set_file_write(int directory, const char *shown, const char *name, const struct buffer *list,
                          bool replace, apl_error *err)
{
    struct held_signals signals;
    signals_hold(&signals);
    apl_status status = write_list(directory, shown, name, list, replace, err);
    signals_release(&signals);
    return status;
}
