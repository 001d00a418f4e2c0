#include "outfile.h"

#include "args.h"
#include "leftovers.h"
#include "place.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "folder/name", or "name" in the current folder; NULL: out of memory. */
static char *path_in(const char *folder, const char *name)
{
    if (strcmp(folder, ".") == 0)
        return strdup(name);
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* What a folder that is there already means for the set. */
static int take_folder(struct outset *set)
{
    struct outmade made = {0};
    int status = set->force ? outmade_find(&made, set->folder) : 0;
    if (!status && made.exports > 1)
        status =
            failed("%s: holds several exports, and --force cannot tell which to replace: remove its files, "
                   "or export to another directory",
                   shown(set->folder));
    if (!status && made.exports == 1) {
        set->swap = calloc(1, sizeof *set->swap);
        status = set->swap ? outswap_open(set->swap, set->folder, &made) : failed("out of memory");
    }
    outmade_free(&made);
    return status;
}

/* The folder is there from then on. */
static int take_or_make(struct outset *set, const char *folder)
{
    struct stat st;
    set->made_folder = mkdir(folder, 0777) == 0;
    int code = set->made_folder ? 0 : errno;
    set->lock = leftovers_clear(folder);
    set->locked = set->lock >= 0;
    if (!code)
        return 0;
    if (code == EEXIST && stat(folder, &st) == 0 && !S_ISDIR(st.st_mode))
        return failed("%s: exists and is not a directory", shown(folder));
    return code == EEXIST ? take_folder(set)
                          : failed_errno(code, "%s: cannot make the directory", shown(folder));
}

int outset_open(struct outset *set, const char *folder, bool make, bool force)
{
    *set = (struct outset){
        .folder = strdup(folder), .force = force, .alone = make && force, .names_foreign = make};
    if (!set->folder)
        return failed("out of memory");
    return make ? take_or_make(set, folder) : 0;
}

static bool name_is_safe(const char *name)
{
    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/') &&
           strlen(name) < 240;
}

static int refuse_existing(const struct outset *set, const char *path)
{
    struct stat st;
    if (set->force || lstat(path, &st) != 0)
        return 0;
    return failed("%s: exists; --force replaces it", shown(path));
}

static FILE *open_stream(int fd)
{
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (!stream && fd >= 0)
        close(fd);
    return stream;
}

/* The folder of a path, which loses its last part. */
static const char *folder_shown(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = 0;
    return slash ? shown(path) : ".";
}

/* A new file in the directory where it will be renamed. Those of exports, which lock their folder, have names that are cleared away
 * if they are killed: see leftovers.h. */
static int open_temporary(const struct outset *set, struct outfile *file)
{
    char name[64];
    const char *slash = strrchr(file->path, '/');
    size_t folder = slash ? (size_t)(slash - file->path) + 1 : 0, size = folder + sizeof name;
    file->temporary = malloc(size);
    if (!file->temporary)
        return failed("out of memory");
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        snprintf(name, sizeof name, ".tmp-%ld-%zu-%s%u", (long)getpid(), set->count, set->locked ? "" : "u",
                 attempt);
        snprintf(file->temporary, size, "%.*s%s", (int)folder, file->path, name);
        int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        file->stream = open_stream(fd);
        if (file->stream)
            return 0;
        if (fd >= 0) {
            unlink(file->temporary);
            break;
        }
        if (errno != EEXIST)
            break;
    }
    int status = failed_errno(errno, "%s: cannot write there", folder_shown(file->temporary));
    free(file->temporary);
    file->temporary = NULL;
    return status;
}

/* Opens the file that file->name leads to. */
static int open_file(const struct outset *set, struct outfile *file)
{
    struct place place;
    struct stat st;
    if (set->names_foreign && lstat(file->name, &st) == 0 && S_ISLNK(st.st_mode))
        return failed("%s: is a symbolic link, and exports follow none: remove it", shown(file->name));
    int status = place_find(file->name, &place);
    if (status)
        return status;
    file->path = place.path;
    if (place.fd >= 0) {
        file->into = true;
        file->stream = open_stream(place.fd);
        return file->stream ? 0 : failed("out of memory");
    }
    for (size_t i = 0; i < set->count; i++)
        if (!set->files[i].into && strcmp(set->files[i].path, file->path) == 0)
            return failed("%s: would be written twice", shown(file->name));
    return place.exists && refuse_existing(set, file->name) ? EXIT_FAILURE : open_temporary(set, file);
}

static void forget(struct outfile *file)
{
    if (file->stream)
        fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    free(file->name);
}

int outset_add(struct outset *set, const char *name)
{
    if (!name_is_safe(name)) {
        failed("'%s' cannot be the name of a file", shown(name));
        return -1;
    }
    struct outfile file = {.name = path_in(set->folder, name)};
    struct outfile *files = realloc(set->files, (set->count + 1) * sizeof *files);
    if (files)
        set->files = files;
    if (!files || !file.name)
        failed("out of memory");
    if (!files || !file.name || open_file(set, &file)) {
        forget(&file);
        return -1;
    }
    set->files[set->count] = file;
    return (int)set->count++;
}

int outset_write(struct outset *set, int i, const void *data, size_t size)
{
    if (size == 0 || fwrite(data, 1, size, set->files[i].stream) == size)
        return 0;
    return failed_errno(errno, "%s", shown(set->files[i].name));
}

int outset_write_at(struct outset *set, int i, const void *data, size_t size, uint64_t offset)
{
    for (const uint8_t *at = data; size;) {
        ssize_t n = pwrite(fileno(set->files[i].stream), at, size, (off_t)offset);
        if (n < 0 && errno != EINTR)
            return failed_errno(errno, "%s", shown(set->files[i].name));
        if (n > 0) {
            at += n;
            offset += (uint64_t)n;
            size -= (size_t)n;
        }
    }
    return 0;
}

int outset_finish(struct outset *set, int i)
{
    struct outfile *file = &set->files[i];
    FILE *stream = file->stream;
    file->stream = NULL;
    /* Some file systems report only now that they are full. */
    return !stream || fclose(stream) == 0 ? 0 : failed_errno(errno, "%s", shown(file->name));
}

static int finish_files(struct outset *set)
{
    int status = 0;
    for (size_t i = 0; i < set->count && !status; i++)
        status = outset_finish(set, (int)i);
    return status;
}

/* The folder of the set that is the first in the path. */
static struct outtree *tree_of(struct outset *set, const char *name)
{
    char top[256];
    snprintf(top, sizeof top, "%.*s", (int)strcspn(name, "/"), name);
    char *path = path_in(set->folder, top);
    for (size_t i = 0; path && i < set->tree_count; i++)
        if (strcmp(set->trees[i].path, path) == 0) {
            free(path);
            return &set->trees[i];
        }
    struct outtree *trees = path ? realloc(set->trees, (set->tree_count + 1) * sizeof *trees) : NULL;
    if (!trees) {
        failed("out of memory");
        free(path);
        return NULL;
    }
    set->trees = trees;
    if (set->tree_count > 0)
        outtree_rest(&trees[set->tree_count - 1]);
    struct outtree *tree = &trees[set->tree_count++];
    int status = outtree_open(tree, path, set->tree_count);
    free(path);
    return status ? NULL : tree;
}

int outset_put(struct outset *set, const char *name, const void *data, size_t size, const char *twice)
{
    if (!outtree_path_is_safe(name) || !strchr(name, '/'))
        return failed("'%s' cannot be the path of a file", shown(name));
    struct outtree *tree = tree_of(set, name);
    if (!tree)
        return EXIT_FAILURE;
    set->put++;
    return outtree_put(tree, strchr(name, '/') + 1, data, size, twice);
}

uint64_t outset_count(const struct outset *set)
{
    return set->count + set->put;
}

/* Those of the first `n` files that were not there before, and the first `trees` folders. */
static void take_back(const struct outset *set, size_t n, size_t trees)
{
    for (size_t i = 0; i < n && !set->force; i++)
        if (!set->files[i].into)
            unlink(set->files[i].path);
    for (size_t i = 0; i < trees; i++)
        outtree_take_back(&set->trees[i]);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* In the folder, or in the new one that will replace it. */
static int put_in_place(const struct outset *set, struct outfile *file)
{
    if (file->into)
        return 0;
    char *new = set->swap ? outswap_path(set->swap, last_part(file->name)) : NULL;
    if (set->swap && !new)
        return failed("out of memory");
    int status = 0;
    if (rename(file->temporary, new ? new : file->path) != 0)
        status = failed_errno(errno, "%s: cannot be put in its place", shown(file->name));
    else {
        free(file->temporary);
        file->temporary = NULL;
    }
    free(new);
    return status;
}

static int put_all_in_place(struct outset *set)
{
    int status = 0;
    for (size_t i = 0; i < set->tree_count && !status; i++) {
        status = outtree_commit(&set->trees[i]);
        if (status)
            take_back(set, 0, i);
    }
    for (size_t i = 0; i < set->count && !status; i++) {
        status = put_in_place(set, &set->files[i]);
        if (status)
            take_back(set, i, set->tree_count);
    }
    return status;
}

/* Where files are replaced, others might pass for some of the export. */
static int check_alone(const struct outset *set)
{
    struct outmade all = {0};
    int status = 0;
    for (size_t i = 0; i < set->count && !status; i++)
        status = outmade_add(&all, last_part(set->files[i].name));
    for (size_t i = 0; i < set->tree_count && !status; i++)
        status = outmade_add(&all, last_part(set->trees[i].path));
    if (!status)
        status = outmade_check_alone(&all, set->folder);
    outmade_free(&all);
    return status;
}

/* Trees move to the new folder too. */
static int swap_all(struct outset *set)
{
    int status = 0;
    for (size_t i = 0; i < set->tree_count && !status; i++) {
        char *path = outswap_path(set->swap, last_part(set->trees[i].path));
        if (!path)
            return failed("out of memory");
        free(set->trees[i].path);
        set->trees[i].path = path;
    }
    if (!status)
        status = put_all_in_place(set);
    return status ? status : outswap_commit(set->swap);
}

int outset_commit(struct outset *set)
{
    int status = finish_files(set);
    for (size_t i = 0; i < set->count && !status; i++)
        if (!set->files[i].into)
            status = refuse_existing(set, set->files[i].path) || place_check(set->files[i].path);
    if (!status && set->swap)
        return swap_all(set);
    if (!status && set->alone)
        status = check_alone(set);
    if (!status)
        status = put_all_in_place(set);
    set->made_folder &= status != 0; /* it is not empty now */
    return status;
}

void outset_close(struct outset *set)
{
    for (size_t i = 0; i < set->count; i++)
        forget(&set->files[i]);
    for (size_t i = 0; i < set->tree_count; i++)
        outtree_close(&set->trees[i]);
    if (set->swap)
        outswap_close(set->swap);
    if (set->made_folder && set->folder)
        rmdir(set->folder);
    if (set->locked)
        close(set->lock);
    free(set->swap);
    free(set->files);
    free(set->trees);
    free(set->folder);
    *set = (struct outset){0};
}
