/* Names of temporary files: see temporary.h. */
#include "temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX   ".tmp-"
#define ATTEMPTS 100u

static bool is_regular(int directory, const char *name)
{
    struct stat st;
    return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

bool may_replace(int directory, const char *name)
{
    struct stat st;
    return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(st.st_mode);
}

int temporary_create(int directory, const char *name, char temporary[TEMPORARY_BYTES])
{
    int fd = -1;
    for (unsigned attempt = 0; fd < 0 && attempt < ATTEMPTS; attempt++) {
        snprintf(temporary, TEMPORARY_BYTES, attempt ? PREFIX "%s.%u" : PREFIX "%s", name, attempt);
        if (is_regular(directory, temporary))
            unlinkat(directory, temporary, 0); /* of a writer that was killed: the caller holds the lock */
        fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

int temporary_finish(int fd)
{
    struct stat st;
    return fstat(fd, &st) != 0 || fchmod(fd, st.st_mode & 0444) != 0 ? -1 : fsync(fd);
}

/* Does `text` end with ".split", or is it the store's file or its scratch file, or the list of a set? */
static bool is_of_writers(const char *text, size_t size)
{
    static const char *const names[] = {"data.mdb", "piles", "set.apl"}, suffix[] = ".split";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (size == strlen(names[i]) && memcmp(text, names[i], size) == 0)
            return true;
    return size >= sizeof suffix && memcmp(text + size - strlen(suffix), suffix, strlen(suffix)) == 0;
}

/* Is it a name that temporary_create() gives? */
static bool is_ours(const char *name)
{
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return false;
    name += strlen(PREFIX);
    size_t size = strlen(name), digits = 0;
    while (digits < size && name[size - digits - 1] >= '0' && name[size - digits - 1] <= '9')
        digits++;
    if (digits > 0 && digits <= 2 && digits < size && name[size - digits - 1] == '.' &&
        name[size - digits] != '0')
        size -= digits + 1;
    return is_of_writers(name, size);
}

void temporary_clear(int directory)
{
    int fd = dup(directory);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    rewinddir(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (is_ours(e->d_name) && is_regular(directory, e->d_name))
            unlinkat(directory, e->d_name, 0);
    closedir(dir);
}
