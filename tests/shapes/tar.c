/* A tar archive as plain writes; the same members give the same bytes. */
#include "tar.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODIFIED 1244060820l /* one time for all members */

static const char *const compressors[][5] = {{".gz", "gzip", "-1nc"},
                                             {".tgz", "gzip", "-1nc"},
                                             {".zst", "zstd", "-3qc"},
                                             {".xz", "xz", "-0c"},
                                             {".bz2", "bzip2", "-1c"}};

static const char *const *compressor_for(const char *path)
{
    for (size_t i = 0; i < sizeof compressors / sizeof *compressors; i++) {
        size_t suffix = strlen(compressors[i][0]), length = strlen(path);
        if (length > suffix && strcmp(path + length - suffix, compressors[i][0]) == 0)
            return compressors[i];
    }
    return NULL;
}

static void run_compressor(const char *const *compressor, int in, int out)
{
    if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0)
        execlp(compressor[1], compressor[1], compressor[2], (char *)NULL);
    perror(compressor[1]);
    _exit(127);
}

/* Puts a compressor in front of `fd`; what is to be written to instead, or -1. */
static int through(const char *const *compressor, int fd, pid_t *pid)
{
    int ends[2];
    if (pipe(ends))
        return -1;
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    *pid = fork();
    if (*pid == 0)
        run_compressor(compressor, ends[0], fd);
    close(ends[0]);
    close(fd);
    return *pid < 0 ? -1 : ends[1];
}

int tar_open(struct tar *tar, const char *path)
{
    *tar = (struct tar){.out = stdout};
    if (strcmp(path, "-") == 0)
        return 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const char *const *compressor = compressor_for(path);
    if (fd >= 0 && compressor)
        fd = through(compressor, fd, &tar->compressor);
    tar->out = fd < 0 ? NULL : fdopen(fd, "wb");
    return tar->out ? 0 : -1;
}

static void put_header(FILE *out, const char *name, size_t size, char type)
{
    char header[512] = {0};
    unsigned sum = 0;
    snprintf(header, 100, "%s", name);
    snprintf(header + 100, 8, "%07o", type == '5' ? 0755u : 0644u);
    snprintf(header + 108, 8, "%07o", 0u);
    snprintf(header + 116, 8, "%07o", 0u);
    snprintf(header + 124, 12, "%011zo", size);
    snprintf(header + 136, 12, "%011lo", MODIFIED);
    memset(header + 148, ' ', 8);
    header[156] = type;
    memcpy(header + 257, "ustar\00000", 8);
    for (size_t i = 0; i < sizeof header; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 7, "%06o", sum);
    fwrite(header, sizeof header, 1, out);
}

void tar_put(struct tar *tar, const char *name, const void *data, size_t size)
{
    static const char zeros[512];
    put_header(tar->out, name, size, name[strlen(name) - 1] == '/' ? '5' : '0');
    if (size)
        fwrite(data, size, 1, tar->out);
    fwrite(zeros, 1, (512 - size % 512) % 512, tar->out);
}

int tar_close(struct tar *tar)
{
    static const char end[1024];
    int failed = fwrite(end, sizeof end, 1, tar->out) != 1 || ferror(tar->out);
    failed |= fclose(tar->out) != 0;
    int code = 0;
    if (tar->compressor && (waitpid(tar->compressor, &code, 0) < 0 || code != 0))
        failed = 1;
    return failed ? -1 : 0;
}
