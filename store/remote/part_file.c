/* The files of a cache: see part_file.h. */
#define _GNU_SOURCE /* preadv() */
#include "part_file.h"

#include "cache_parts.h"
#include "whole.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAGIC       "APLPART1"
#define TOUCH_S     60 /* how exactly it is known when a part was read last */
#define LOCK_TRIES  50 /* of a millisecond each */
#define LIST_TRIES  2000
#define UNFINISHED  ".new-"
#define OBJECT_NAME 32u
#define MOST_PATH   4096u

/* ------------------------------------------------------------------------------------------------- names */

static void object_path(char path[MOST_PATH], const char *directory, struct hash128 object)
{
    snprintf(path, MOST_PATH, "%s/%016" PRIx64 "%016" PRIx64, directory, object.high, object.low);
}

static void part_path(char path[MOST_PATH], const struct part_key *key)
{
    object_path(path, key->directory, key->object);
    size_t n = strlen(path);
    snprintf(path + n, MOST_PATH - n, "/%" PRIx64 "-%" PRIx64, key->offset, key->n);
}

/* -------------------------------------------------------------------------------------------------- parts */

static void make_part_head(uint8_t head[PART_HEAD], const struct part_key *key, const uint8_t *bytes)
{
    uint64_t sum = hash_xxh3_64(bytes, (size_t)key->n);
    memset(head, 0, PART_HEAD);
    memcpy(head, MAGIC, 8);
    memcpy(head + 8, &key->object, 16);
    memcpy(head + 24, &key->offset, 8);
    memcpy(head + 32, &key->n, 8);
    memcpy(head + 40, &sum, 8);
    sum = hash_xxh3_64(head, PART_HEAD - 8);
    memcpy(head + PART_HEAD - 8, &sum, 8);
}

static void touch(int fd, const struct stat *st)
{
    if (time(NULL) - st->st_mtime > TOUCH_S)
        (void)futimens(fd, NULL);
}

static bool read_part(int fd, const struct part_key *key, uint8_t *to)
{
    uint8_t head[PART_HEAD], wanted[PART_HEAD];
    struct stat st;
    struct iovec parts[] = {{head, PART_HEAD}, {to, (size_t)key->n}};
    if (fstat(fd, &st) != 0 || st.st_size != (off_t)(PART_HEAD + key->n) ||
        preadv(fd, parts, 2, 0) != (ssize_t)(PART_HEAD + key->n))
        return false;
    make_part_head(wanted, key, to);
    touch(fd, &st);
    return memcmp(head, wanted, PART_HEAD) == 0;
}

enum part_read part_file_read(const struct part_key *key, uint8_t *to)
{
    char path[MOST_PATH];
    part_path(path, key);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0)
        return PART_MISSING;
    bool right = read_part(fd, key, to);
    close(fd);
    return right ? PART_READ : PART_BAD;
}

/* The directory may have been deleted. */
static int create_part(const struct part_key *key, const char *path)
{
    char directory[MOST_PATH];
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, fd = open(path, flags, 0666);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    (void)part_directory_make(key->directory);
    object_path(directory, key->directory, key->object);
    (void)mkdir(directory, 0777);
    return open(path, flags, 0666);
}

static int write_part(int fd, const struct part_key *key, const uint8_t *from)
{
    uint8_t head[PART_HEAD];
    make_part_head(head, key, from);
    int code = write_whole(fd, head, PART_HEAD, 0);
    if (code == 0)
        code = write_whole(fd, from, (size_t)key->n, PART_HEAD);
    return close(fd) != 0 && code == 0 ? errno : code;
}

int part_file_write(const struct part_key *key, const uint8_t *from)
{
    static atomic_uint number;
    char path[MOST_PATH], own[MOST_PATH];
    part_path(path, key);
    object_path(own, key->directory, key->object);
    size_t n = strlen(own);
    snprintf(own + n, MOST_PATH - n, "/" UNFINISHED "%ld-%u", (long)getpid(),
             atomic_fetch_add_explicit(&number, 1, memory_order_relaxed));
    int fd = create_part(key, own), code = fd < 0 ? errno : 0;
    if (fd >= 0)
        code = write_part(fd, key, from);
    if (code == 0 && rename(own, path) != 0)
        code = errno;
    if (code && fd >= 0)
        (void)unlink(own);
    return code;
}

long part_file_age(const struct part_key *key)
{
    char path[MOST_PATH];
    struct stat st;
    part_path(path, key);
    if (lstat(path, &st) != 0)
        return -1;
    time_t now = time(NULL);
    return now > st.st_mtime ? (long)(now - st.st_mtime) : 0;
}

bool part_file_remove(const struct part_key *key)
{
    char path[MOST_PATH];
    part_path(path, key);
    return unlink(path) == 0 || (errno == EISDIR && rmdir(path) == 0);
}

/* ------------------------------------------------------------------------------------------ the directory */

int part_directory_make(const char *directory)
{
    char path[MOST_PATH];
    if (strlen(directory) + PART_NAME >= MOST_PATH)
        return ENAMETOOLONG;
    snprintf(path, sizeof path, "%s", directory);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    struct stat st;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return errno;
    return stat(path, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
}

static bool read_object_name(const char *name, struct hash128 *object)
{
    char half[17] = {0}, end;
    if (strlen(name) != OBJECT_NAME || strspn(name, "0123456789abcdef") != OBJECT_NAME)
        return false;
    memcpy(half, name, 16);
    return sscanf(half, "%" SCNx64 "%c", &object->high, &end) == 1 &&
           sscanf(name + 16, "%" SCNx64 "%c", &object->low, &end) == 1;
}

static void list_object(const char *directory, struct hash128 object, bool alone,
                        void (*each)(void *user, struct hash128 object, uint64_t offset, uint64_t n),
                        void *user)
{
    char path[MOST_PATH], end;
    uint64_t offset, n;
    object_path(path, directory, object);
    DIR *list = opendir(path);
    for (const struct dirent *e; list && (e = readdir(list));) {
        if (sscanf(e->d_name, "%" SCNx64 "-%" SCNx64 "%c", &offset, &n, &end) == 2)
            each(user, object, offset, n);
        else if (alone && strncmp(e->d_name, UNFINISHED, strlen(UNFINISHED)) == 0)
            (void)unlinkat(dirfd(list), e->d_name, 0);
    }
    if (list)
        closedir(list);
}

void part_directory_list(const char *directory, bool alone,
                         void (*each)(void *user, struct hash128 object, uint64_t offset, uint64_t n),
                         void *user)
{
    struct hash128 object;
    DIR *list = opendir(directory);
    for (const struct dirent *e; list && (e = readdir(list));)
        if (read_object_name(e->d_name, &object))
            list_object(directory, object, alone, each, user);
    if (list)
        closedir(list);
}

static int open_in_directory(const char *directory, const char *name)
{
    char path[MOST_PATH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
}

/* A stopped process may have the lock for ever: then others go on without. */
static bool lock_soon(int fd, int how, int tries)
{
    for (int i = 0; i < tries; i++) {
        if (flock(fd, how | LOCK_NB) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

void part_directory_enter(const char *directory, int *fd, bool *alone)
{
    *fd = open_in_directory(directory, "in-use");
    *alone = *fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0;
    if (!*alone)
        part_directory_share(*fd);
}

void part_directory_share(int fd)
{
    if (fd >= 0)
        (void)lock_soon(fd, LOCK_SH, LIST_TRIES);
}

int part_claims_open(const char *directory)
{
    return open_in_directory(directory, "claims");
}

bool part_claim(int claims, const struct part_key *key, bool have)
{
    uint64_t what[4] = {key->object.high, key->object.low, key->offset, key->n};
    struct flock lock = {.l_type = have ? F_WRLCK : F_UNLCK,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)(hash_xxh3_64(what, sizeof what) >> 2),
                         .l_len = 1};
    return claims < 0 || fcntl(claims, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN);
}

int part_used_add(const char *directory, int64_t change, bool set, uint64_t *used)
{
    uint64_t pair[2] = {0, 0};
    /* Opened each time: a child shares the locks of what its parent has open. */
    int fd = open_in_directory(directory, "used");
    if (fd < 0)
        return errno;
    int code = lock_soon(fd, LOCK_EX, LOCK_TRIES) ? 0 : EBUSY; /* held for microseconds */
    if (read_whole(fd, pair, sizeof pair, 0) != 0 || pair[1] != ~pair[0] || set)
        pair[0] = 0;
    *used = change < 0 && pair[0] < (uint64_t)-change ? 0 : pair[0] + (uint64_t)change;
    pair[0] = *used;
    pair[1] = ~*used;
    if (code == 0)
        code = write_whole(fd, pair, sizeof pair, 0);
    close(fd);
    return code;
}
