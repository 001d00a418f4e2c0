/* Files for what is read by its path. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <unistd.h>

static char folder[96];

static int drop(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void drop_folder(void)
{
    nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    if (*folder)
        return folder;
    const char *place = getenv("TMPDIR");
    if (!place || strlen(place) > sizeof folder - sizeof "/apl-fuzz-XXXXXX")
        place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/apl-fuzz-XXXXXX", place);
    MUST(mkdtemp(folder) != NULL);
    MUST(atexit(drop_folder) == 0);
    return folder;
}

const char *fuzz_file(const char *name, const void *data, size_t size)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    MUST(fd >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, (const char *)data + done, size - done);
        MUST(n > 0);
        done += (size_t)n;
    }
    close(fd);
    return path;
}
