/* By O_TMPFILE, or where a file system lacks that, a file whose name is taken away at once: see spool.h. */
#define _GNU_SOURCE
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_named(const char *db, size_t folder)
{
    size_t size = folder + sizeof ".aplingest-XXXXXX";
    char *path = malloc(size);
    if (!path)
        return -1;
    snprintf(path, size, "%.*s.aplingest-XXXXXX", (int)folder, db);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

apl_status spool_open(const char *db, int *fd, apl_error *err)
{
    size_t length = strlen(db);
    while (length > 1 && db[length - 1] == '/')
        length--;
    while (length > 0 && db[length - 1] != '/')
        length--;
    char *folder = length ? strndup(db, length) : strdup(".");
    if (!folder)
        return fail_nomem(err);
    *fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*fd < 0 && errno != ENOENT && errno != EACCES && errno != ENOSPC)
        *fd = open_named(db, length);
    free(folder);
    return *fd >= 0 ? APL_OK : fail_errno(err, errno, "%s: no temporary file can be made beside it", db);
}
