/* Sealing the list of a set: apl_set_join(). */
#define _DEFAULT_SOURCE /* realpath */
#include "set_complete.h"
#include "set_file.h"
#include "set_list.h"
#include "sized.h"
#include "staging.h"
#include "store_file.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct join {
    const char *path;
    char *shown; /* the path, safe to print */
    int directory;
    struct set_list before; /* the list to which shards are appended, and what is made of it */
    struct manifest before_manifest;
    apl_store *first; /* the first of the new shards */
    struct shard *shards;
    uint32_t count;
    struct file_id {
        dev_t device;
        ino_t inode;
        uint32_t shard;
    } * files;
    struct buffer entries, list;
    struct buffer digests; /* of the shards' manifests */
    bool one_format, no_digests;
};

/* ------------------------------------------------------------------------------------------------ names */

/* Takes "." and double slashes out. False if there is a ".." in it, or it is absolute. */
static bool make_plain(const char *path, char out[PATH_MAX])
{
    size_t n = 0;
    while (*path) {
        size_t part = strcspn(path, "/");
        if (part == 2 && memcmp(path, "..", 2) == 0)
            return false;
        if (part > 0 && !(part == 1 && *path == '.')) {
            if (n + part + 2 > PATH_MAX)
                return false;
            if (n)
                out[n++] = '/';
            memcpy(out + n, path, part);
            n += part;
        }
        path += part + (path[part] == '/');
    }
    out[n] = 0;
    return n > 0;
}

/* What follows the path of the directory, if it begins that of the shard, as both are written. */
static const char *behind(const char *directory, const char *path)
{
    size_t n = strlen(directory);
    while (n > 1 && directory[n - 1] == '/')
        n--;
    if (strncmp(directory, path, n) != 0 || (path[n] != '/' && directory[n - 1] != '/'))
        return NULL;
    return path + n + (path[n] == '/');
}

/* The same by where they really are, but for the last part of the shard's path: that may be a link. */
static const char *really_behind(const char *directory, const char *path, char real[2 * PATH_MAX])
{
    char copy[PATH_MAX], *slash, *end = copy + strlen(path), parent[PATH_MAX], above[PATH_MAX];
    if (strlen(path) >= sizeof copy)
        return NULL;
    memcpy(copy, path, strlen(path) + 1);
    while (end > copy + 1 && end[-1] == '/')
        *--end = 0;
    slash = strrchr(copy, '/');
    const char *last = slash ? slash + 1 : copy;
    snprintf(real, PATH_MAX, "%.*s", slash ? (int)(slash - copy) + 1 : 1, slash ? copy : ".");
    if (!realpath(real, parent) || !realpath(directory, above))
        return NULL;
    snprintf(real, (size_t)2 * PATH_MAX, "%s/%s", parent, last);
    return behind(above, real);
}

/* The name of the shard at that path; NULL if it is not below the set's directory. */
static char *name_of(const struct join *j, const char *path, apl_error *err)
{
    char name[PATH_MAX], real[2 * PATH_MAX], shown[512];
    const char *rest = behind(j->path, path);
    bool found = rest && make_plain(rest, name);
    if (!found && (rest = really_behind(j->path, path, real)))
        found = make_plain(rest, name);
    if (!found || !set_name_ok(name, strlen(name))) {
        printable(shown, sizeof shown, path, strlen(path));
        fail(err, APL_E_INVALID,
             "%s: does not lie below %s: the list of a set names its shards by paths from there", shown,
             j->shown);
        return NULL;
    }
    char *copy = strdup(name);
    if (!copy)
        fail_nomem(err);
    return copy;
}

/* ----------------------------------------------------------------------------------------------- shards */

/* What a set sums up must be there. */
static apl_status check_summaries(const apl_store *s, apl_error *err)
{
    const struct manifest *m = &s->manifest;
    for (uint32_t i = 0; i < m->split_count; i++)
        for (unsigned f = 0; f < m->schema.count; f++) {
            struct summary summary = split_summary(&m->splits[i], f);
            if (m->splits[i].count && ((m->schema.fields[f].class_count && !summary.classes) ||
                                       (field_channels(&m->schema.fields[f]) && !summary.moments)))
                return fail(err, APL_E_CORRUPT, "%s: has no statistics of field %s", s->name,
                            m->schema.fields[f].name);
        }
    return APL_OK;
}

/* The schema that all must have, and the name of who has it. */
static const struct manifest *model(const struct join *j, const char **name)
{
    *name = j->before.count ? j->shown : j->first ? j->first->name : NULL;
    return j->before.count ? &j->before_manifest : j->first ? &j->first->manifest : NULL;
}

static apl_status check_fits(const struct join *j, const apl_store *s, apl_error *err)
{
    const char *first;
    const struct manifest *m = model(j, &first);
    TRY(check_summaries(s, err));
    if (!m)
        return APL_OK;
    if (!m->info.shuffled != !s->manifest.info.shuffled)
        return fail(err, APL_E_MISMATCH, "%s: is %s, but %s is %s", s->name,
                    s->manifest.info.shuffled ? "shuffled" : "not shuffled", first,
                    m->info.shuffled ? "shuffled" : "not");
    return set_same_schema(&s->manifest.schema, s->name, &m->schema, first, err);
}

/* A set is no shard: what it has is named by its own list, and by ours. */
static apl_status open_for_join(const struct join *j, const char *name, apl_store **s, apl_error *err)
{
    char list[SET_MAX_NAME + sizeof "/" SET_FILE], shown[512];
    struct stat st;
    apl_status status = store_open_at(j->directory, name, j->shown, APL_IO_AUTO, s, err);
    snprintf(list, sizeof list, "%s/" SET_FILE, name);
    if (status != APL_E_NOTFOUND || fstatat(j->directory, list, &st, 0) != 0)
        return status;
    printable(shown, sizeof shown, name, strlen(name));
    return fail(err, APL_E_INVALID,
                "%s/%s: is a set, and the shards of a set are stores: name the shards of that set", j->shown,
                shown);
}

/* Of a shard that has none, or of which the list from before does not say it: then the list has none. */
static void add_digest(struct join *j, const uint8_t *digest)
{
    if (digest)
        buffer_put(&j->digests, digest, DIGEST_BYTES);
    else
        j->no_digests = true;
}

static apl_status add_shard(struct join *j, const char *path, apl_error *err)
{
    struct shard *shard = &j->shards[j->count];
    const char *first;
    apl_store *s;
    size_t payload;
    if (!path || !(shard->name = name_of(j, path, err)))
        return path ? err->status : fail(err, APL_E_INVALID, "apl_set_join: a shard is NULL");
    j->files[j->count].shard = j->count;
    j->count++;
    TRY(open_for_join(j, shard->name, &s, err));
    j->files[j->count - 1].device = s->device;
    j->files[j->count - 1].inode = s->inode;
    memcpy(shard->content, s->manifest.info.content_digest, 32);
    const struct manifest *m = model(j, &first);
    j->one_format =
        !m || (j->one_format && strcmp(m->info.source_format, s->manifest.info.source_format) == 0);
    apl_status status = check_fits(j, s, err);
    if (status == APL_OK)
        set_put_shard(&j->entries, shard->name, &s->manifest, &payload);
    add_digest(j, s->manifest.info.has_digest ? s->manifest.info.digest : NULL);
    if (!j->first)
        j->first = s;
    else
        store_release_file(s);
    return status;
}

static int by_file(const void *a, const void *b)
{
    const struct file_id *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->inode != y->inode ? (x->inode < y->inode ? -1 : 1) : x->shard < y->shard ? -1 : 1;
}

static int by_shard_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static apl_status check_twice(const struct join *j, apl_error *err)
{
    const char **names = malloc(j->count * sizeof *names), *twice = NULL;
    if (!names)
        return fail_nomem(err);
    for (uint32_t i = 0; i < j->count; i++)
        names[i] = j->shards[i].name;
    qsort(names, j->count, sizeof *names, by_shard_name);
    for (uint32_t i = 1; i < j->count && !twice; i++)
        twice = strcmp(names[i - 1], names[i]) == 0 ? names[i] : NULL;
    free(names);
    return twice ? fail(err, APL_E_INVALID, "%s: shard %s comes twice", j->shown, twice) : APL_OK;
}

/* Which file is a shard that is in the list already? It is looked at only if a new one has the same content: there may be many. */
static bool identify(const struct join *j, uint32_t shard, struct file_id *file)
{
    char path[SET_MAX_NAME + sizeof "/" STORE_FILE];
    struct stat st;
    uint32_t k = j->before.count;
    while (k < j->count && memcmp(j->shards[k].content, j->shards[shard].content, 32) != 0)
        k++;
    snprintf(path, sizeof path, "%s/" STORE_FILE, j->shards[shard].name);
    if (k == j->count || fstatat(j->directory, path, &st, 0) != 0)
        return false;
    *file = (struct file_id){st.st_dev, st.st_ino, shard};
    return true;
}

/* No file is two shards, whatever its names. */
static apl_status check_doubled(struct join *j, apl_error *err)
{
    struct file_id *files = j->files;
    uint32_t count = 0;
    for (uint32_t i = 0; i < j->before.count; i++)
        count += identify(j, i, &files[count]);
    for (uint32_t i = j->before.count; i < j->count; i++)
        files[count++] = files[i];
    qsort(files, count, sizeof *files, by_file);
    for (uint32_t i = 1; i < count; i++)
        if (files[i].device == files[i - 1].device && files[i].inode == files[i - 1].inode)
            return fail(err, APL_E_INVALID, "%s: shard %s is the same store as shard %s", j->shown,
                        j->shards[files[i].shard].name, j->shards[files[i - 1].shard].name);
    return APL_OK;
}

/* Takes over what the list has that is there already. */
static apl_status take_before(struct join *j, apl_error *err)
{
    struct buffer bytes = {0};
    apl_status status = set_file_read(j->directory, SET_FILE, &bytes, NULL, err);
    if (status == APL_OK)
        status = set_list_decode(&bytes, &j->before, &j->before_manifest, err);
    buffer_free(&bytes);
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s/%s", j->shown, SET_FILE);
}

static apl_status copy_before(struct join *j, apl_error *err)
{
    for (uint32_t i = 0; i < j->before.count; i++) {
        const struct shard *s = &j->before.shards[i];
        j->shards[i] = (struct shard){.name = strdup(s->name)};
        if (!j->shards[j->count++].name)
            return fail_nomem(err);
        memcpy(j->shards[i].content, s->content, 32);
        set_copy_shard(&j->entries, s);
        add_digest(j, s->digest);
    }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------- the whole */

static apl_status make_list(struct join *j, const char *const *paths, size_t count, apl_error *err)
{
    const char *name;
    uint8_t digest[32];
    size_t all = j->before.count + count;
    j->shards = calloc(all, sizeof *j->shards);
    j->files = calloc(all, sizeof *j->files);
    if (!j->shards || !j->files)
        return fail_nomem(err);
    TRY(copy_before(j, err));
    for (size_t i = 0; i < count; i++)
        TRY(add_shard(j, paths[i], err));
    TRY(check_twice(j, err));
    TRY(check_doubled(j, err));
    TRY(set_check_complete(j->shards, j->count, j->shown, err));
    TRY(set_list_digest(j->shards, j->count, digest, err));
    const struct manifest *m = model(j, &name);
    if (j->no_digests)
        j->digests.size = 0;
    TRY(set_list_encode(m, j->one_format ? m->info.source_format : "", digest, j->count, &j->entries,
                        &j->digests, &j->list, err));
    return set_list_check(&j->list, err);
}

static apl_status open_directory(struct join *j, const apl_set_options *o, apl_error *err)
{
    struct stat st;
    j->directory = open(j->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (j->directory < 0)
        return fail_errno(err, errno, "%s: cannot open the directory", j->shown);
    if (flock(j->directory, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? fail(err, APL_E_BUSY, "%s: another writer is at work there", j->shown)
                                    : fail_errno(err, errno, "%s: cannot lock the directory", j->shown);
    if (fstatat(j->directory, STORE_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return fail(err, APL_E_INVALID, "%s: is a store, and cannot be a set too", j->shown);
    if (!may_replace(j->directory, SET_FILE))
        return fail(err, APL_E_INVALID, "%s: " SET_FILE " is not a regular file, and is not replaced",
                    j->shown);
    if (!o->replace && !o->append && fstatat(j->directory, SET_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return fail(err, APL_E_EXISTS, "%s: is a set already", j->shown);
    return APL_OK;
}

/* The list that is replaced stays, as a copy: not all file systems have links. */
static apl_status keep_before(const struct join *j, apl_error *err)
{
    char name[SET_KEPT_BYTES];
    struct stat st;
    if (j->before.count == 0)
        return APL_OK;
    set_kept_name(j->before_manifest.info.content_digest, name);
    return fstatat(j->directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0
               ? APL_OK
               : set_file_write(j->directory, j->shown, name, &j->before.bytes, true, err);
}

static void join_free(struct join *j)
{
    for (uint32_t i = 0; i < j->count; i++)
        free(j->shards[i].name);
    free(j->shards);
    free(j->files);
    store_release_file(j->first);
    set_list_free(&j->before);
    manifest_free(&j->before_manifest);
    buffer_free(&j->entries);
    buffer_free(&j->digests);
    buffer_free(&j->list);
    if (j->directory >= 0)
        close(j->directory);
    free(j->shown);
}

apl_status apl_set_join(const char *set, const char *const *shards, size_t count,
                        const apl_set_options *options, apl_error *err)
{
    if (!set || !*set || !shards || count == 0 || count > UINT32_MAX / 2)
        return fail(err, APL_E_INVALID, "apl_set_join: a set needs a path and shards");
    apl_set_options o = APL_SET_OPTIONS_INIT;
    TRY(options_take(&o, sizeof o, options, "apl_set_options", err));
    apl_error own;
    err = err ? err : &own;
    struct join j = {.path = set, .directory = -1, .shown = shown_path(set), .one_format = true};
    apl_status status = j.shown ? APL_OK : fail_nomem(err);
    if (status == APL_OK)
        status = open_directory(&j, &o, err);
    if (status == APL_OK && o.append)
        status = take_before(&j, err);
    if (status == APL_OK)
        status = make_list(&j, shards, count, err);
    if (status == APL_OK)
        status = keep_before(&j, err);
    if (status == APL_OK)
        status = set_file_write(j.directory, j.shown, SET_FILE, &j.list, o.replace || o.append, err);
    join_free(&j);
    return status;
}
