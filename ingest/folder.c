/* A directory as a source: its wanted files, sorted by name, each read ahead by an input. */
#include "folder.h"

#include "file_sample.h"
#include "input.h"
#include "shown.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 100000 /* looked at in one directory */

struct names {
    char **at;
    size_t count, capacity;
};

struct folder {
    struct folder_options options;
    int fd;          /* of the directory that has the files */
    char *subfolder; /* its name with a "/", or "" */
    struct names files;
    size_t next;   /* file to be read next */
    uint64_t size; /* of all files */
    uint64_t done; /* bytes of the files before the current one */
    struct input *input;
    uint64_t member_size, at; /* of the current one */
    char path[256];
};

/* --------------------------------------------------------------------------------------------- listing */

static void names_free(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->at[i]);
    free(names->at);
    *names = (struct names){0};
}

static bool names_add(struct names *names, const char *name)
{
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 16;
        char **at = realloc(names->at, capacity * sizeof *at);
        if (!at)
            return false;
        names->at = at;
        names->capacity = capacity;
    }
    size_t length = strlen(name) + 1;
    char *copy = malloc(length);
    if (!copy)
        return false;
    memcpy(copy, name, length);
    names->at[names->count++] = copy;
    return true;
}

static int by_file_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Which entries to list: files that are wanted, or all directories. */
typedef bool (*chooser)(const struct folder *folder, int fd, const char *name);

static bool is_folder_entry(const struct folder *folder, int fd, const char *name)
{
    struct stat st;
    return fstatat(fd, name, &st, folder->options.follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(st.st_mode);
}

/* Of whatever kind but a directory, as a split may be called train: opening it will tell. */
static bool choose_file(const struct folder *folder, int fd, const char *name)
{
    return folder->options.wants(name, folder->options.user) && !is_folder_entry(folder, fd, name);
}

static bool choose_folder(const struct folder *folder, int fd, const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && is_folder_entry(folder, fd, name);
}

static apl_status list_entries(const struct folder *folder, DIR *dir, chooser choose, struct names *names,
                               apl_error *err)
{
    for (unsigned seen = 0; seen < ENTRIES_MAX; seen++) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry && errno)
            return fail_errno(err, errno, "%s: cannot be listed", folder->options.name);
        if (!entry)
            return APL_OK;
        if (choose(folder, dirfd(dir), entry->d_name) && !names_add(names, entry->d_name))
            return fail_nomem(err);
    }
    return fail(err, APL_E_SOURCE, "%s: has more than %d files", folder->options.name, ENTRIES_MAX);
}

/* The names of the entries of the directory `fd` that are chosen, sorted. */
static apl_status list(const struct folder *folder, int fd, chooser choose, struct names *names,
                       apl_error *err)
{
    *names = (struct names){0};
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* closedir() closes it */
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir) {
        int error = errno;
        if (copy >= 0)
            close(copy);
        return fail_errno(err, error, "%s: cannot be listed", folder->options.name);
    }
    apl_status status = list_entries(folder, dir, choose, names, err);
    closedir(dir);
    if (status != APL_OK)
        names_free(names);
    else if (names->count > 1)
        qsort(names->at, names->count, sizeof *names->at, by_file_name);
    return status;
}

static int link_flag(const struct folder *folder)
{
    return folder->options.follow ? 0 : O_NOFOLLOW;
}

/* Goes down into `name` if it has wanted files. */
static apl_status try_subfolder(struct folder *folder, const char *name, apl_error *err)
{
    int fd = openat(folder->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | link_flag(folder));
    if (fd < 0)
        return APL_OK; /* not to be read, or gone: as if it held nothing */
    apl_status status = list(folder, fd, choose_file, &folder->files, err);
    if (status != APL_OK || folder->files.count == 0) {
        close(fd);
        return status;
    }
    close(folder->fd);
    folder->fd = fd;
    size_t length = strlen(name);
    folder->subfolder = malloc(length + 2);
    if (!folder->subfolder)
        return fail_nomem(err);
    memcpy(folder->subfolder, name, length);
    memcpy(folder->subfolder + length, "/", 2);
    return APL_OK;
}

static apl_status find_files(struct folder *folder, apl_error *err)
{
    struct names folders;
    TRY(list(folder, folder->fd, choose_file, &folder->files, err));
    if (folder->files.count > 0)
        return APL_OK;
    TRY(list(folder, folder->fd, choose_folder, &folders, err));
    apl_status status = APL_OK;
    for (size_t i = 0; i < folders.count && folder->files.count == 0 && status == APL_OK; i++)
        status = try_subfolder(folder, folders.at[i], err);
    names_free(&folders);
    if (status == APL_OK && folder->files.count == 0)
        return fail(err, APL_E_SOURCE, "%s: holds no file of a known dataset", folder->options.name);
    return status;
}

static void add_file_sizes(struct folder *folder)
{
    struct stat st;
    for (size_t i = 0; i < folder->files.count; i++)
        if (fstatat(folder->fd, folder->files.at[i], &st, folder->options.follow ? 0 : AT_SYMLINK_NOFOLLOW) ==
                0 &&
            S_ISREG(st.st_mode))
            folder->size += (uint64_t)st.st_size;
}

apl_status folder_open(int fd, const struct folder_options *options, struct folder **out, apl_error *err)
{
    struct folder *folder = calloc(1, sizeof *folder);
    if (!folder) {
        close(fd);
        return fail_nomem(err);
    }
    folder->options = *options;
    folder->fd = fd;
    apl_status status = find_files(folder, err);
    if (status != APL_OK) {
        folder_close(folder);
        return status;
    }
    add_file_sizes(folder);
    *out = folder;
    return APL_OK;
}

void folder_close(struct folder *folder)
{
    if (!folder)
        return;
    input_close(folder->input);
    names_free(&folder->files);
    free(folder->subfolder);
    close(folder->fd);
    free(folder);
}

/* --------------------------------------------------------------------------------------------- reading */

/* Opens a file without waiting for the other end of a pipe. */
static apl_status open_entry(struct folder *folder, const char *name, int *fd, apl_error *err)
{
    const char *source = folder->options.name;
    *fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | link_flag(folder));
    if (*fd < 0 && errno == ELOOP && !folder->options.follow)
        return fail(err, APL_E_SOURCE, "%s: %s is a symbolic link, which is not followed" FOLLOW_LINKS,
                    source, folder->path);
    if (*fd < 0)
        return fail_errno(err, errno, "%s: %s cannot be opened", source, folder->path);
    struct stat st;
    int result = fstat(*fd, &st);
    if (result == 0 && S_ISREG(st.st_mode)) {
        folder->member_size = (uint64_t)st.st_size;
        return APL_OK;
    }
    int error = errno;
    close(*fd);
    return result != 0 ? fail_errno(err, error, "%s: %s cannot be examined", source, folder->path)
                       : fail(err, APL_E_SOURCE, "%s: %s is not a regular file", source, folder->path);
}

static void begin_digest(const struct folder *folder, const char *name)
{
    uint8_t size[8];
    store_le(size, folder->member_size, 8);
    hasher_add(folder->options.sha, name, strlen(name) + 1);
    hasher_add(folder->options.sha, size, sizeof size);
}

static void set_path(struct folder *folder, const char *name)
{
    const char *sub = folder->subfolder ? folder->subfolder : "";
    printable(folder->path, sizeof folder->path, sub, strlen(sub));
    size_t length = strlen(folder->path);
    if (length + 8 < sizeof folder->path)
        printable(folder->path + length, sizeof folder->path - length, name, strlen(name));
}

apl_status folder_next(struct folder *folder, struct source_member *member, apl_error *err)
{
    input_close(folder->input);
    folder->input = NULL;
    folder->done += folder->at;
    folder->at = 0;
    folder->member_size = 0;
    if (folder->next == folder->files.count)
        return APL_END;
    const char *name = folder->files.at[folder->next++];
    set_path(folder, name);
    int fd;
    TRY(open_entry(folder, name, &fd, err));
    begin_digest(folder, name);
    struct input_options options = {.name = folder->options.name,
                                    .sha = folder->options.sha,
                                    .poll = folder->options.poll,
                                    .user = folder->options.user};
    TRY(input_open(fd, &options, &folder->input, err));
    *member = (struct source_member){.name = name, .path = folder->path, .size = folder->member_size};
    return APL_OK;
}

static apl_status changed(const struct folder *folder, const char *how, apl_error *err)
{
    return fail(err, APL_E_SOURCE, "%s: %s %s while it was read (it had %" PRIu64 " bytes)",
                folder->options.name, folder->path, how, folder->member_size);
}

apl_status folder_block(struct folder *folder, const uint8_t **data, size_t *size, apl_error *err)
{
    apl_status status = input_next(folder->input, data, size, err);
    if (status == APL_END)
        return folder->at == folder->member_size ? APL_END : changed(folder, "shrank", err);
    TRY(status);
    if (*size > folder->member_size - folder->at)
        return changed(folder, "grew", err);
    folder->at += *size;
    return APL_OK;
}

const char *folder_subfolder(const struct folder *folder)
{
    return folder->subfolder ? folder->subfolder : "";
}

uint64_t folder_bytes(const struct folder *folder)
{
    return folder->done + folder->at;
}

uint64_t folder_size(const struct folder *folder)
{
    return folder->size;
}

apl_status folder_sample(const struct folder *folder, struct sha256 *sha, apl_error *err)
{
    apl_status status = APL_OK;
    struct stat st;
    unsigned windows = sample_windows(folder->files.count);
    for (size_t i = 0; i < folder->files.count && i < SAMPLED_FILES && status == APL_OK; i++) {
        int fd = openat(folder->fd, folder->files.at[i],
                        O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | link_flag(folder));
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
            status = sample_add(fd, folder->options.name, (uint64_t)st.st_size, windows, sha, err);
        if (fd >= 0)
            close(fd);
    }
    return status;
}
