/* A read-only file system over a directory, each of whose reads takes its time, as over a network: slow_files DIRECTORY MICROSECONDS MOUNT.
 * Stays in the foreground until it is ended by a signal, and unmounts then. */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <fuse3/fuse.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS "64" /* reads at a time; the kernel asks for as many */

static int directory = -1;
static useconds_t delay;

static const char *below(const char *path)
{
    return path[1] ? path + 1 : ".";
}

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *info)
{
    (void)info;
    return fstatat(directory, below(path), st, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
}

static int list(const char *path, void *to, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *info,
                enum fuse_readdir_flags flags)
{
    (void)offset;
    (void)info;
    (void)flags;
    int fd = openat(directory, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return -errno;
    for (struct dirent *e; (e = readdir(d));)
        fill(to, e->d_name, NULL, 0, 0);
    closedir(d);
    return 0;
}

static int open_file(const char *path, struct fuse_file_info *info)
{
    int fd = openat(directory, below(path), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    info->fh = (uint64_t)fd;
    info->keep_cache = 1;
    return 0;
}

static int read_slowly(const char *path, char *to, size_t n, off_t offset, struct fuse_file_info *info)
{
    (void)path;
    usleep(delay);
    ssize_t got = pread((int)info->fh, to, n, offset);
    return got < 0 ? -errno : (int)got;
}

static int close_file(const char *path, struct fuse_file_info *info)
{
    (void)path;
    return close((int)info->fh) == 0 ? 0 : -errno;
}

static void *begin(struct fuse_conn_info *connection, struct fuse_config *config)
{
    config->kernel_cache = 1;
    connection->max_background = (unsigned)atoi(THREADS);
    connection->congestion_threshold = connection->max_background * 3 / 4;
    return NULL;
}

static const struct fuse_operations operations = {.getattr = get_attributes,
                                                  .readdir = list,
                                                  .open = open_file,
                                                  .read = read_slowly,
                                                  .release = close_file,
                                                  .init = begin};

int main(int argc, char **argv)
{
    if (argc != 4 || (directory = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
        fprintf(stderr, "usage: slow_files DIRECTORY MICROSECONDS MOUNT\n");
        return 2;
    }
    delay = (useconds_t)atoi(argv[2]);
    char *args[] = {argv[0], "-f", "-o", "ro,max_idle_threads=" THREADS ",max_threads=" THREADS,
                    argv[3], NULL};
    return fuse_main(5, args, &operations, NULL);
}
