/* Split files on disk: see split_file.h. */
#include "split_file.h"

#include "entropy.h"
#include "held_signals.h"
#include "staging.h"
#include "temporary.h"
#include "whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a file may have beside its tables: names, and what later minor versions add. */
#define OTHER_BYTES ((size_t)1 << 20)

bool split_name_ok(const char *name)
{
    if (!name)
        return false;
    size_t n = strlen(name);
    return n <= SPLIT_MAX_NAME && name_ok(name, n) && name[0] != '.' && !strchr(name, '/');
}

char *split_rest_name(const struct split_file *f)
{
    size_t size = strlen(f->parent) + strlen(f->name) + sizeof "-";
    char *rest = malloc(size);
    if (rest)
        snprintf(rest, size, "%s-%s", f->parent, f->name);
    return rest;
}

void split_file_name(const char *name, const uint8_t *content, char file[SPLIT_FILE_BYTES])
{
    size_t n = (size_t)snprintf(file, SPLIT_FILE_BYTES, "%s%s", name, SPLIT_SUFFIX);
    for (unsigned i = 0; content && i < 8; i++)
        n += (size_t)snprintf(file + n, SPLIT_FILE_BYTES - n, "%s%02x", i ? "" : "-", content[i]);
}

void split_file_shown(const struct split_file *f, char shown[4 * SPLIT_FILE_BYTES])
{
    char file[SPLIT_FILE_BYTES];
    split_file_name(f->name, f->apart ? f->content : NULL, file);
    printable(shown, (size_t)4 * SPLIT_FILE_BYTES, file, strlen(file));
}

/* --------------------------------------------------------------------------------------------- reading */

/* The size of a file that can be one of this store: a stranger's may be of any size and kind. */
static apl_status check_file(const apl_store *store, int fd, size_t *size, apl_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail_errno(err, errno, "cannot examine it");
    size_t table = entropy_bound(bitset_bytes(store->manifest.info.records));
    if (!S_ISREG(st.st_mode))
        return fail(err, APL_E_CORRUPT, "it is not a file");
    if ((uint64_t)st.st_size > 2 * (uint64_t)table + OTHER_BYTES)
        return fail(err, APL_E_CORRUPT, "it is longer than a split file of this store can be");
    *size = (size_t)st.st_size;
    return APL_OK;
}

static apl_status read_bytes(const apl_store *store, int fd, const char *name, struct split_file *file,
                             apl_error *err)
{
    size_t size = 0;
    TRY(check_file(store, fd, &size, err));
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        return fail_nomem(err);
    int code = read_whole(fd, bytes, size, 0);
    apl_status status = code == WHOLE_ENDED ? fail(err, APL_E_CORRUPT, "it has the wrong length")
                        : code              ? fail_errno(err, code, "cannot read it")
                                            : APL_OK;
    if (status == APL_OK)
        status = split_file_decode(bytes, size, &store->manifest, file, err);
    free(bytes);
    if (status == APL_OK && strcmp(file->name, name) != 0) {
        char shown[128];
        status = fail(err, APL_E_CORRUPT, "it holds the split %s: it has been renamed",
                      printable(shown, sizeof shown, file->name, strlen(file->name)));
        split_file_free(file);
    }
    return status;
}

/* non-blocking: a pipe must not make it wait */
static int open_split(const apl_store *store, const char *path)
{
    return openat(store->directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static apl_status read_path(const apl_store *store, const char *path, const char *name,
                            struct split_file *file, apl_error *err)
{
    char shown[4 * SPLIT_FILE_BYTES];
    printable(shown, sizeof shown, path, strlen(path));
    int fd = open_split(store, path);
    if (fd < 0 && errno == ENOENT)
        return fail(err, APL_E_NOTFOUND, "%s: there is no %s", store->directory_name, shown);
    if (fd < 0)
        return fail_errno(err, errno, "%s: cannot open %s", store->directory_name, shown);
    apl_status status = read_bytes(store, fd, name, file, err);
    close(fd);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s/%s", store->directory_name, shown);
}

/* NAME.split, or of that content the file apart. */
static apl_status read_file(const apl_store *store, const char *name, const uint8_t *content,
                            struct split_file *file, apl_error *err)
{
    char path[SPLIT_FILE_BYTES];
    split_file_name(name, content, path);
    apl_status status = read_path(store, path, name, file, err);
    file->apart = content != NULL;
    return status;
}

/* Does the file state that it belongs to other content, and to which? The rest of it may be damaged. */
static bool is_of_other(const apl_store *store, const char *path, uint8_t content[32])
{
    uint8_t head[SPLIT_HEAD_BYTES];
    int fd = open_split(store, path);
    const uint8_t *stated =
        fd >= 0 && read_whole(fd, head, sizeof head, 0) == 0 ? split_file_content(head) : NULL;
    if (fd >= 0)
        close(fd);
    if (stated)
        memcpy(content, stated, 32);
    return stated && memcmp(stated, store->manifest.info.content_digest, 32) != 0;
}

/* Does NAME.split? */
static bool name_is_taken(const apl_store *store, const char *name, uint8_t content[32])
{
    char path[SPLIT_FILE_BYTES];
    split_file_name(name, NULL, path);
    return store->set && is_of_other(store, path, content);
}

bool split_list_of(const apl_store *store, const char *name, char list[SET_KEPT_BYTES])
{
    uint8_t content[32];
    return name_is_taken(store, name, content) && set_find_list(store->set, content, list);
}

bool split_is_left(const apl_store *store, const char *path, const char *name)
{
    char due[SPLIT_FILE_BYTES], list[SET_KEPT_BYTES];
    struct split_file file = {0};
    uint8_t content[32];
    apl_error err;
    if (!store->set || !is_of_other(store, path, content) || set_find_list(store->set, content, list))
        return false;
    /* what is damaged, or called otherwise than we would, is not ours to judge */
    apl_status status = read_path(store, path, name, &file, &err);
    if (status == APL_OK)
        split_file_free(&file);
    split_file_name(name, content, due);
    if (status != APL_E_MISMATCH || strcmp(path, due) == 0)
        return status == APL_E_MISMATCH;
    split_file_name(name, NULL, due);
    return strcmp(path, due) == 0;
}

/* The set's own file beside NAME.split, which could not be read with that status: it belongs to another list, or is missing. */
static apl_status read_apart(const apl_store *store, const char *name, struct split_file *file,
                             apl_status status, apl_error *err)
{
    char list[SET_KEPT_BYTES], shown[4 * SPLIT_MAX_NAME + 4];
    apl_error own;
    apl_status apart = read_file(store, name, store->manifest.info.content_digest, file, &own);
    if (apart != APL_OK && apart != APL_E_NOTFOUND && err)
        *err = own;
    if (apart != APL_E_NOTFOUND)
        return apart;
    return status == APL_E_MISMATCH && split_list_of(store, name, list)
               ? fail(err, status, "%s/%s%s: it belongs to the list %s: make the split for this list too",
                      store->directory_name, printable(shown, sizeof shown, name, strlen(name)), SPLIT_SUFFIX,
                      list)
               : status;
}

apl_status split_file_read(const apl_store *store, const char *name, struct split_file *file, apl_error *err)
{
    if (!split_name_ok(name) || store->directory < 0)
        return fail(err, APL_E_NOTFOUND, "%s: there is no such split", store->name);
    uint8_t content[32];
    apl_status status = read_file(store, name, NULL, file, err);
    /* another list's may be damaged, or longer than ours could be */
    return status != APL_OK && store->set && (status == APL_E_NOTFOUND || name_is_taken(store, name, content))
               ? read_apart(store, name, file, status, err)
               : status;
}

/* --------------------------------------------------------------------------------------------- writing */

static apl_status fill(int fd, const struct buffer *bytes, apl_error *err)
{
    int code = write_whole(fd, bytes->data, bytes->size, 0);
    apl_status status = code ? fail_errno(err, code, "cannot write it") : APL_OK;
    if (status == APL_OK && temporary_finish(fd) != 0)
        status = fail_errno(err, errno, "cannot sync it");
    if (close(fd) != 0 && status == APL_OK)
        status = fail_errno(err, errno, "cannot write it");
    return status;
}

/* Nobody else may be writing, and the store must be the one that was opened. */
static apl_status take_directory(const apl_store *store, int directory, apl_error *err)
{
    struct stat st;
    if (flock(directory, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? fail(err, APL_E_BUSY, "this or another process is writing in the directory")
                   : fail_errno(err, errno, "cannot lock the directory");
    if (!store->splits_apart && (fstatat(directory, store_file_name(store), &st, 0) != 0 ||
                                 st.st_ino != store->inode || st.st_dev != store->device))
        return fail(err, APL_E_MISMATCH, "the store has been replaced since it was opened");
    return APL_OK;
}

/* A file on its way. */
struct piece {
    const struct split_file *file;
    char path[SPLIT_FILE_BYTES], temporary[TEMPORARY_BYTES]; /* temporary: empty while no such file exists */
};

static apl_status named(const apl_store *store, const struct piece *p, apl_status status, apl_error *err)
{
    char shown[4 * SPLIT_FILE_BYTES];
    return status == APL_OK ? APL_OK
                            : fail_in(err, status, "%s/%s", store->directory_name,
                                      printable(shown, sizeof shown, p->path, strlen(p->path)));
}

/* What belongs to another list is left alone: that list may still be in use. If it is gone, only `replace` takes
 * the place of its file. The directory is locked. */
static void choose_path(const apl_store *store, int directory, bool replace, struct piece *p)
{
    char list[SET_KEPT_BYTES];
    uint8_t content[32];
    const char *name = p->file->name;
    split_file_name(name, p->file->content, p->path);
    bool apart =
        store->set && (faccessat(directory, p->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
                       (replace ? split_list_of(store, name, list) : name_is_taken(store, name, content)));
    if (!apart)
        split_file_name(name, NULL, p->path);
}

/* Encodes the file and writes it under its temporary name. */
static apl_status write_piece(int directory, struct piece *p, bool replace, apl_error *err)
{
    struct buffer bytes = {0};
    char plain[SPLIT_FILE_BYTES];
    if (signals_wait())
        return fail(err, APL_E_CANCELLED, "cancelled");
    if (!may_replace(directory, p->path))
        return fail(err, APL_E_INVALID, "it is not a regular file, and is not replaced");
    if (!replace && faccessat(directory, p->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return fail(err, APL_E_EXISTS, "it exists already");
    apl_status status = split_file_encode(p->file, &bytes, err);
    if (status == APL_OK) {
        split_file_name(p->file->name, NULL,
                        plain); /* what a killed writer leaves has the end that is cleared away */
        int fd = temporary_create(directory, plain, p->temporary);
        if (fd < 0)
            p->temporary[0] = 0;
        status = fd < 0 ? fail_errno(err, errno, "cannot create it") : fill(fd, &bytes, err);
    }
    buffer_free(&bytes);
    return status;
}

static apl_status place_piece(int directory, struct piece *p, apl_error *err)
{
    if (!may_replace(directory, p->path))
        return fail(err, APL_E_IO, "cannot put it in its place: that is not a regular file");
    if (renameat(directory, p->temporary, directory, p->path) != 0)
        return fail_errno(err, errno, "cannot put it in its place");
    p->temporary[0] = 0;
    return APL_OK;
}

/* All of them or none. The directory is locked. */
static apl_status publish(const apl_store *store, int directory, struct piece *pieces, size_t count,
                          bool replace, apl_error *err)
{
    size_t placed = 0;
    apl_status status = APL_OK;
    for (size_t i = 0; status == APL_OK && i < count; i++)
        status = named(store, &pieces[i], write_piece(directory, &pieces[i], replace, err), err);
    while (status == APL_OK && placed < count) {
        status = named(store, &pieces[placed], place_piece(directory, &pieces[placed], err), err);
        placed += status == APL_OK;
    }
    if (status == APL_OK)
        return fsync(directory) == 0
                   ? APL_OK
                   : named(store, &pieces[0],
                           fail_errno(err, errno,
                                      "it is in its place, but a power cut may undo that: cannot sync the "
                                      "directory"),
                           err);
    for (size_t i = 0; i < count; i++) {
        const char *name = i < placed ? pieces[i].path : pieces[i].temporary;
        if (*name)
            unlinkat(directory, name, 0);
    }
    return status;
}

apl_status split_files_write(const apl_store *store, const struct split_file *files, size_t count,
                             bool replace, apl_error *err)
{
    if (store->directory < 0)
        return fail(err, APL_E_UNSUPPORTED,
                    "%s: nothing can be written at a URL: name a directory for splits", store->name);
    struct piece *pieces = calloc(count, sizeof *pieces);
    if (!pieces)
        return fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        pieces[i].file = &files[i];
        split_file_name(files[i].name, NULL, pieces[i].path);
    }
    int directory = openat(store->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    apl_status status = directory < 0 ? fail_errno(err, errno, "cannot open the directory")
                                      : take_directory(store, directory, err);
    status = named(store, &pieces[0], status, err);
    for (size_t i = 0; status == APL_OK && i < count; i++)
        choose_path(store, directory, replace, &pieces[i]);
    struct held_signals signals;
    signals_hold(&signals);
    if (status == APL_OK)
        status = publish(store, directory, pieces, count, replace, err);
    signals_release(&signals);
    free(pieces);
    if (directory >= 0)
        close(directory);
    return status;
}
