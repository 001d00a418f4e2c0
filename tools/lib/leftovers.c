#include "leftovers.h"

#include "outtree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX ".tmp-"

/* After digits of which there is one at least; NULL: there is none. */
static const char *after_digits(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits ? text + digits : NULL;
}

/* ".tmp-PID-NUMBER-ATTEMPT", or ".tmp-PID-NUMBER-dATTEMPT" of a folder: see outfile.c and outtree.c. */
static bool is_of_exports(const char *name, bool *folder)
{
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return false;
    const char *at = after_digits(name + strlen(PREFIX));
    at = at && *at == '-' ? after_digits(at + 1) : NULL;
    if (!at || *at++ != '-')
        return false;
    *folder = *at == 'd';
    at = after_digits(at + *folder);
    return at && !*at;
}

static void remove_one(int directory, const char *path, const char *name, bool folder)
{
    char inside[PATH_MAX];
    struct stat st;
    if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != geteuid())
        return;
    if (!folder && S_ISREG(st.st_mode))
        unlinkat(directory, name, 0);
    if (folder && S_ISDIR(st.st_mode) &&
        snprintf(inside, sizeof inside, "%s/%s", path, name) < (int)sizeof inside)
        outtree_remove(inside);
}

static void remove_all(int directory, const char *path)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        close(fd);
    bool folder = false;
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (is_of_exports(e->d_name, &folder))
            remove_one(directory, path, e->d_name, folder);
    if (dir)
        closedir(dir);
}

int leftovers_clear(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        remove_all(fd, folder);
    if (flock(fd, LOCK_SH | LOCK_NB) == 0)
        return fd;
    close(fd);
    return -1;
}
