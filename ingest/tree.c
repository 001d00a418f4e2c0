/* A directory and what is below it: see tree.h. In memory is what one directory of each level holds, and a part of one file. */
#define _DEFAULT_SOURCE /* d_type */
#include "tree.h"

#include "listed.h"
#include "shown.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define LEVELS      32u
#define PATH_LONG   4096u
#define BLOCK_BYTES ((size_t)4 << 20)
#define MOST_LINKS \
    (1u << 17) /* to directories: of links to links to links, there are soon more than can be read */

enum kind { KIND_FILE, KIND_DIRECTORY, KIND_LINK, KIND_OTHER };

/* An entry: its kind in one byte, its name, a "/" if it is a directory, a NUL. So directories sort as their paths do. */
struct level {
    int fd;
    struct stat st;       /* of the directory */
    struct buffer text;   /* of all entries */
    struct buffer places; /* size_t each: of an entry in `text`; later sorted pointers to it */
    size_t next, count;
    size_t path; /* bytes of the path up to this directory, its "/" included */
};

struct tree {
    struct tree_options options;
    struct level levels[LEVELS];
    unsigned depth;  /* levels that are open */
    unsigned links;  /* to directories, that have been followed */
    uint64_t listed; /* wanted files of a list so far */
    char path[PATH_LONG];
    char shown[1024];
    int file; /* the current one; -1: none */
    uint64_t size, at, bytes;
    uint8_t *block;
};

static void level_close(struct level *level)
{
    if (level->fd >= 0)
        close(level->fd);
    buffer_free(&level->text);
    buffer_free(&level->places);
    *level = (struct level){.fd = -1};
}

void tree_close(struct tree *tree)
{
    if (!tree)
        return;
    while (tree->depth > 0)
        level_close(&tree->levels[--tree->depth]);
    if (tree->file >= 0)
        close(tree->file);
    free(tree->block);
    free(tree);
}

/* --------------------------------------------------------------------------------------------- listing */

static enum kind kind_by_stat(int fd, const char *name, int flags)
{
    struct stat st;
    if (fstatat(fd, name, &st, flags) != 0)
        return KIND_OTHER;
    return S_ISREG(st.st_mode)   ? KIND_FILE
           : S_ISDIR(st.st_mode) ? KIND_DIRECTORY
           : S_ISLNK(st.st_mode) ? KIND_LINK
                                 : KIND_OTHER;
}

static enum kind kind_of(int fd, const struct dirent *entry)
{
    switch (entry->d_type) {
    case DT_REG:
        return KIND_FILE;
    case DT_DIR:
        return KIND_DIRECTORY;
    case DT_LNK:
        return KIND_LINK;
    case DT_UNKNOWN:
        return kind_by_stat(fd, entry->d_name, AT_SYMLINK_NOFOLLOW);
    default:
        return KIND_OTHER;
    }
}

/* A link that leads nowhere remains one. */
static enum kind kind_behind(int fd, const char *link)
{
    struct stat st;
    return fstatat(fd, link, &st, 0) == 0 ? kind_by_stat(fd, link, 0) : KIND_LINK;
}

static bool is_except(const struct level *level, const char *name, const struct stat *except)
{
    struct stat st;
    return except->st_ino != 0 && fstatat(level->fd, name, &st, 0) == 0 && st.st_ino == except->st_ino &&
           st.st_dev == except->st_dev;
}

static void keep_entry(struct level *level, const struct dirent *entry, const struct tree_options *options)
{
    size_t place = level->text.size;
    enum kind kind = kind_of(level->fd, entry);
    if (kind == KIND_LINK && options->follow)
        kind = kind_behind(level->fd, entry->d_name);
    if (kind == KIND_DIRECTORY && is_except(level, entry->d_name, &options->except))
        return;
    buffer_put(&level->places, &place, sizeof place);
    buffer_put(&level->text, &(uint8_t){(uint8_t)kind}, 1);
    buffer_put(&level->text, entry->d_name, strlen(entry->d_name));
    buffer_put(&level->text, kind == KIND_DIRECTORY ? "/" : "", kind == KIND_DIRECTORY ? 2 : 1);
    level->count++;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a + 1, *(const char *const *)b + 1);
}

/* Turns places into pointers, now that the text stays where it is, and sorts them. */
static void sort_entries(struct level *level)
{
    _Static_assert(sizeof(size_t) == sizeof(char *), "a pointer takes the room of a place");
    const char **entries = (const char **)(void *)level->places.data;
    for (size_t i = 0; i < level->count; i++) {
        size_t place;
        memcpy(&place, level->places.data + i * sizeof place, sizeof place);
        entries[i] = (const char *)level->text.data + place;
    }
    if (level->count > 1)
        qsort(entries, level->count, sizeof *entries, by_path);
}

static apl_status cannot_list(const struct tree *tree, int error, apl_error *err)
{
    return fail_errno(err, error, "%s: %s%scannot be listed", tree->options.name, tree->shown,
                      *tree->shown ? ": " : "");
}

static apl_status list_level(const struct tree *tree, struct level *level, apl_error *err)
{
    int copy = openat(level->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* closedir() closes it */
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir) {
        int error = errno;
        if (copy >= 0)
            close(copy);
        return cannot_list(tree, error, err);
    }
    const struct dirent *entry;
    while ((void)(errno = 0), (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            keep_entry(level, entry, &tree->options);
    int error = errno;
    closedir(dir);
    if (error)
        return cannot_list(tree, error, err);
    if (level->text.failed || level->places.failed)
        return fail_nomem(err);
    sort_entries(level);
    return APL_OK;
}

/* Opens one more level, of the directory `fd`, which it takes over; tree->path is the way to it. */
static apl_status push(struct tree *tree, int fd, apl_error *err)
{
    struct level *level = &tree->levels[tree->depth];
    *level = (struct level){.fd = fd, .path = strlen(tree->path)};
    tree->depth++;
    if (fstat(fd, &level->st) != 0)
        return cannot_list(tree, errno, err);
    return list_level(tree, level, err);
}

apl_status tree_open(int fd, const struct tree_options *options, struct tree **out, apl_error *err)
{
    struct tree *tree = calloc(1, sizeof *tree);
    if (!tree) {
        close(fd);
        return fail_nomem(err);
    }
    tree->options = *options;
    tree->file = -1;
    tree->block = malloc(BLOCK_BYTES);
    apl_status status = push(tree, fd, err);
    if (status == APL_OK && !tree->block)
        status = fail_nomem(err);
    if (status == APL_OK)
        *out = tree;
    else
        tree_close(tree);
    return status;
}

/* ---------------------------------------------------------------------------------------------- walking */

static apl_status wrong(const struct tree *tree, const char *what, apl_error *err)
{
    return fail(err, APL_E_SOURCE, "%s: %s %s", tree->options.name, tree->shown, what);
}

static int no_follow(const struct tree *tree)
{
    return tree->options.follow ? 0 : O_NOFOLLOW;
}

/* Does it lie in itself? Links are counted, too: those that fork, and fork again, are as endless as those that go round. */
static apl_status check_way(struct tree *tree, bool link, apl_error *err)
{
    const struct stat *last = &tree->levels[tree->depth - 1].st;
    for (unsigned i = 0; i + 1 < tree->depth; i++)
        if (last->st_dev == tree->levels[i].st.st_dev && last->st_ino == tree->levels[i].st.st_ino)
            return wrong(tree, "leads, by a symbolic link, back to a directory that it lies in", err);
    tree->links += link;
    return tree->links > MOST_LINKS
               ? wrong(tree, "is a symbolic link, after 131,072 others to directories", err)
               : APL_OK;
}

static apl_status go_into(struct tree *tree, apl_error *err)
{
    if (tree->depth == LEVELS)
        return wrong(tree, "lies more than 32 levels deep", err);
    const struct level *above = &tree->levels[tree->depth - 1];
    char name[PATH_LONG];
    size_t length = strlen(tree->path + above->path) - 1; /* without its "/" */
    memcpy(name, tree->path + above->path, length);
    name[length] = 0;
    int fd = openat(above->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | no_follow(tree));
    if (fd < 0)
        return fail_errno(err, errno, "%s: %s: cannot be opened", tree->options.name, tree->shown);
    bool link = tree->options.follow && kind_by_stat(above->fd, name, AT_SYMLINK_NOFOLLOW) == KIND_LINK;
    TRY(push(tree, fd, err));
    return check_way(tree, link, err);
}

/* A link is left alone, unless something is expected behind it. Of those that are followed, that is any. */
static apl_status pass_link(const struct tree *tree, apl_error *err)
{
    const struct level *level = &tree->levels[tree->depth - 1];
    const char *name = tree->path + level->path;
    if (tree->options.follow)
        return wrong(tree, "is a symbolic link that leads nowhere", err);
    if (kind_by_stat(level->fd, name, 0) != KIND_DIRECTORY &&
        !tree->options.wants(tree->path, tree->options.user))
        return APL_OK;
    return wrong(tree, "is a symbolic link, which is not followed" FOLLOW_LINKS, err);
}

/* Opens without waiting for the other end of a pipe. */
static apl_status open_wanted(struct tree *tree, apl_error *err)
{
    const struct level *level = &tree->levels[tree->depth - 1];
    struct stat st;
    tree->file = openat(level->fd, tree->path + level->path,
                        O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | no_follow(tree));
    if (tree->file < 0)
        return fail_errno(err, errno, "%s: %s: cannot be opened", tree->options.name, tree->shown);
    if (fstat(tree->file, &st) != 0)
        return fail_errno(err, errno, "%s: %s: cannot be examined", tree->options.name, tree->shown);
    if (!S_ISREG(st.st_mode))
        return wrong(tree, "is not a regular file", err);
    tree->size = (uint64_t)st.st_size;
    tree->at = 0;
    uint8_t size[8];
    store_le(size, tree->size, 8);
    hasher_add(tree->options.sha, tree->path, strlen(tree->path) + 1);
    hasher_add(tree->options.sha, size, sizeof size);
    return APL_OK;
}

/* The next entry's path, in tree->path; its kind. APL_END after the last. */
static apl_status next_entry(struct tree *tree, enum kind *kind, apl_error *err)
{
    struct level *level = &tree->levels[tree->depth - 1];
    while (level->next == level->count) {
        level_close(level);
        if (--tree->depth == 0)
            return APL_END;
        level = &tree->levels[tree->depth - 1];
    }
    const char *entry = ((const char **)(void *)level->places.data)[level->next++];
    size_t length = strlen(entry + 1);
    *kind = (enum kind)(uint8_t)entry[0];
    if (level->path + length + 1 > PATH_LONG) {
        tree->path[level->path] = 0;
        printable(tree->shown, sizeof tree->shown, tree->path, strlen(tree->path));
        return wrong(tree, "has a file whose path is longer than 4095 bytes", err);
    }
    memcpy(tree->path + level->path, entry + 1, length + 1);
    printable(tree->shown, sizeof tree->shown, tree->path, strlen(tree->path));
    return APL_OK;
}

/* Is the entry one to stop at? Directories are gone into. */
static apl_status visit(struct tree *tree, enum kind kind, bool *found, apl_error *err)
{
    *found = kind == KIND_LINK && tree->options.list;
    if (kind == KIND_LINK)
        return pass_link(tree, err);
    if (kind == KIND_DIRECTORY) {
        *found = tree->options.list;
        return go_into(tree, err);
    }
    if (tree->options.list) {
        const struct level *level = &tree->levels[tree->depth - 1];
        *found = kind == KIND_FILE;
        if (*found && tree->options.sha && tree->options.wants(tree->path, tree->options.user))
            listed_add(tree->options.sha, tree->listed++, tree->path, level->fd, tree->path + level->path);
        return APL_OK;
    }
    if (!tree->options.wants(tree->path, tree->options.user))
        return APL_OK;
    *found = true;
    return open_wanted(tree, err);
}

apl_status tree_next(struct tree *tree, struct source_member *member, apl_error *err)
{
    if (tree->file >= 0)
        close(tree->file);
    tree->file = -1;
    for (;;) {
        enum kind kind;
        bool found;
        TRY(tree->depth == 0 ? APL_END : next_entry(tree, &kind, err));
        if (tree->options.poll && tree->options.poll(tree->options.user))
            return fail(err, APL_E_CANCELLED, "cancelled");
        TRY(visit(tree, kind, &found, err)); /* NOLINT: next_entry() has set it */
        if (!found)
            continue;
        *member = (struct source_member){.name = tree->path,
                                         .path = tree->shown,
                                         .size = tree->options.list ? 0 : tree->size,
                                         .directory = kind == KIND_DIRECTORY};
        return APL_OK;
    }
}

apl_status tree_look(struct tree *tree, uint64_t *size, apl_error *err)
{
    TRY(open_wanted(tree, err));
    *size = tree->size;
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- reading */

static apl_status has_changed(const struct tree *tree, const char *how, apl_error *err)
{
    return fail(err, APL_E_SOURCE, "%s: %s %s while it was read (it had %" PRIu64 " bytes)",
                tree->options.name, tree->shown, how, tree->size);
}

apl_status tree_block(struct tree *tree, const uint8_t **data, size_t *size, apl_error *err)
{
    size_t have = 0;
    ssize_t n = 1;
    while (n > 0 && have < BLOCK_BYTES) {
        n = read(tree->file, tree->block + have, BLOCK_BYTES - have);
        if (n < 0 && errno == EINTR)
            n = tree->options.poll && tree->options.poll(tree->options.user) ? -2 : 1;
        else if (n > 0)
            have += (size_t)n;
        if (n == -2)
            return fail(err, APL_E_CANCELLED, "cancelled");
        if (n < 0)
            return fail_errno(err, errno, "%s: %s: cannot be read", tree->options.name, tree->shown);
    }
    if (have > tree->size - tree->at)
        return has_changed(tree, "grew", err);
    if (have == 0)
        return tree->at == tree->size ? APL_END : has_changed(tree, "shrank", err);
    hasher_add(tree->options.sha, tree->block, have);
    tree->at += have;
    tree->bytes += have;
    *data = tree->block;
    *size = have;
    return APL_OK;
}

uint64_t tree_bytes(const struct tree *tree)
{
    return tree->bytes;
}
