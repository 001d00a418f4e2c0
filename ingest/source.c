/* What kind of source it is, and the cursor over a member. */
#include "source.h"

#include "feed.h"
#include "folder.h"
#include "input.h"
#include "shown.h"
#include "tar.h"
#include "tree.h"
#include "whole.h"
#include "zipfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct source {
    char name[256];
    int (*poll)(void *user);
    source_wants wants;
    void *user;
    struct hasher *sha;
    uint64_t size;           /* of an archive; 0: not known */
    struct source_head head; /* of standard input, where that was read already */

    bool folders, list,
        files_only;     /* names have them; only names are wanted; directories in an archive are not */
    bool follow;        /* links in a directory */
    bool undigested;    /* nobody will ask for the digest */
    bool compared;      /* somebody will ask for that of a list */
    const char *except; /* a store that is left out of one; NULL: none */

    /* One of: an archive, a directory, a directory with all below it. */
    struct input *input;
    struct tar *tar;
    struct folder *folder;
    struct tree *tree;
    struct zipfile *zip;

    struct feed feed; /* of the current member */
    bool ended;       /* source_next() has said APL_END */
    uint8_t digest[32];
};

/* --------------------------------------------------------------------------------------------- opening */

/* Refuses what is neither a file nor a directory before it is opened: opening a device may do things. */
static apl_status check_kind(const struct source *s, const char *path, struct stat *st, apl_error *err)
{
    if (stat(path, st) != 0)
        return fail_errno(err, errno, "%s", s->name);
    if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) || S_ISFIFO(st->st_mode))
        return APL_OK;
    return fail(err, APL_E_SOURCE, "%s: is a %s, not a file or directory", s->name,
                S_ISSOCK(st->st_mode) ? "socket" : "device");
}

static apl_status open_tar(struct source *s, int fd, apl_error *err)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        s->size = (uint64_t)st.st_size;
    struct input_options options = {.name = s->name,
                                    .archive = true,
                                    .sha = s->sha,
                                    .head = s->head.data,
                                    .head_size = s->head.size,
                                    .poll = s->poll,
                                    .user = s->user};
    TRY(input_open(fd, &options, &s->input, err));
    struct tar_options tar = {.name = s->name,
                              .wants = s->wants,
                              .user = s->user,
                              .folders = s->folders,
                              .files_only = s->files_only,
                              .list = s->list};
    return tar_open(s->input, &tar, &s->tar, err);
}

static apl_status open_stdin(struct source *s, apl_error *err)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return fail_errno(err, errno, "%s: cannot be read", s->name);
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return fail(err, APL_E_SOURCE, "%s: is a directory; give its name instead", s->name);
    }
    return open_tar(s, fd, err);
}

/* Where it is a store. */
static void find_except(const char *path, struct stat *found)
{
    struct stat st;
    int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    if (fstatat(fd, "data.mdb", &st, AT_SYMLINK_NOFOLLOW) != 0 || fstat(fd, found) != 0)
        *found = (struct stat){0};
    close(fd);
}

static apl_status open_folder(struct source *s, int fd, apl_error *err)
{
    struct stat st;
    if (fstatat(fd, "data.mdb", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        close(fd);
        return fail(err, APL_E_SOURCE, "%s: is an APL store, not a source", s->name);
    }
    struct tree_options tree = {.name = s->name,
                                .wants = s->wants,
                                .list = s->list,
                                .follow = s->follow,
                                .poll = s->poll,
                                .user = s->user,
                                .sha = s->sha};
    find_except(s->except, &tree.except);
    if (s->folders)
        return tree_open(fd, &tree, &s->tree, err);
    struct folder_options options = {.name = s->name,
                                     .follow = s->follow,
                                     .wants = s->wants,
                                     .poll = s->poll,
                                     .user = s->user,
                                     .sha = s->sha};
    return folder_open(fd, &options, &s->folder, err);
}

/* Is it a zip archive? If so, it is opened. */
static apl_status open_if_zip(struct source *s, int fd, bool *is, apl_error *err)
{
    uint8_t head[64];
    struct stat st;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    size_t n = !regular ? 0 : st.st_size < (off_t)sizeof head ? (size_t)st.st_size : sizeof head;
    *is = n > 0 && read_whole(fd, head, n, 0) == 0 && zipfile_is(head, n);
    if (!*is)
        return APL_OK;
    s->size = (uint64_t)st.st_size;
    struct zipfile_options options = {.name = s->name,
                                      .wants = s->wants,
                                      .poll = s->poll,
                                      .user = s->user,
                                      .folders = s->folders,
                                      .list = s->list,
                                      .sha = s->sha};
    return zipfile_open(fd, &options, &s->zip, err);
}

static apl_status open_archive(struct source *s, int fd, apl_error *err)
{
    bool zip;
    TRY(open_if_zip(s, fd, &zip, err));
    return zip ? APL_OK : open_tar(s, fd, err);
}

static apl_status open_path(struct source *s, const char *path, apl_error *err)
{
    struct stat st;
    TRY(check_kind(s, path, &st, err));
    bool folder = S_ISDIR(st.st_mode);
    /* O_NONBLOCK: do not wait here for the writer of a pipe; the input waits, and can be stopped. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (folder ? O_DIRECTORY : O_NONBLOCK));
    if (fd < 0)
        return fail_errno(err, errno, "%s: cannot be opened", s->name);
    return folder ? open_folder(s, fd, err) : open_archive(s, fd, err);
}

/* What is open so far goes when it fails. */
static apl_status open_source(struct source *s, const char *path, apl_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    const char *shown = spool_shown(path);
    printable(s->name, sizeof s->name, shown, strlen(shown));
    s->feed.name = s->name;
    s->feed.cursor = cursor_over(NULL, 0);
    bool digested = s->list ? s->compared : !s->undigested;
    if (digested && !(s->sha = s->list ? hasher_new_quick() : hasher_new()))
        return fail_nomem(err);
    return standard ? open_stdin(s, err) : open_path(s, path, err);
}

static apl_status fetch_block(void *user, const uint8_t **data, size_t *size, apl_error *err)
{
    struct source *s = user;
    return s->zip    ? zipfile_block(s->zip, data, size, err)
           : s->tar  ? tar_block(s->tar, data, size, err)
           : s->tree ? tree_block(s->tree, data, size, err)
                     : folder_block(s->folder, data, size, err);
}

static apl_status open_kind(const struct source *kind, const char *path, struct source **source,
                            apl_error *err)
{
    struct source *s = calloc(1, sizeof *s);
    if (!s)
        return fail_nomem(err);
    *s = *kind;
    s->feed.fetch = fetch_block;
    s->feed.user = s;
    apl_status status = open_source(s, path, err);
    if (status == APL_OK)
        *source = s;
    else
        source_close(s);
    return status;
}

static struct source begin_kind(source_wants wants, enum source_tree how, int (*poll)(void *user), void *user)
{
    return (struct source){.wants = wants,
                           .poll = poll,
                           .user = user,
                           .folders = how != SOURCE_FLAT,
                           .list = how == SOURCE_LIST,
                           .files_only = how == SOURCE_ANY};
}

apl_status source_open(const char *path, source_wants wants, int (*poll)(void *user), void *user,
                       struct source **source, apl_error *err)
{
    return source_open_tree(path, wants, &(struct source_way){.tree = SOURCE_FLAT}, poll, user, source, err);
}

apl_status source_open_tree(const char *path, source_wants wants, const struct source_way *how,
                            int (*poll)(void *user), void *user, struct source **source, apl_error *err)
{
    struct source kind = begin_kind(wants, how->tree, poll, user);
    kind.follow = how->follow;
    kind.except = how->except;
    kind.undigested = how->undigested;
    kind.compared = how->compared;
    return open_kind(&kind, path, source, err);
}

apl_status source_open_begun(const struct source_head *head, source_wants wants, enum source_tree how,
                             int (*poll)(void *user), void *user, struct source **source, apl_error *err)
{
    struct source kind = begin_kind(wants, how, poll, user);
    kind.head = *head;
    return open_kind(&kind, "-", source, err);
}

void source_close(struct source *s)
{
    if (!s)
        return;
    folder_close(s->folder);
    tree_close(s->tree);
    input_close(s->input);
    tar_close(s->tar);
    zipfile_close(s->zip);
    hasher_free(s->sha);
    feed_free(&s->feed);
    free(s);
}

/* ------------------------------------------------------------------------------------------ the cursor */

struct cursor *source_cursor(struct source *s)
{
    return &s->feed.cursor;
}

apl_status source_failure(struct source *s, apl_error *err)
{
    return feed_failure(&s->feed, err);
}

/* ----------------------------------------------------------------------------------------- the members */

apl_status source_next(struct source *s, struct source_member *member, apl_error *err)
{
    if (s->list)
        s->feed.open = false; /* what was not looked at may stay unread */
    feed_drain(&s->feed);
    TRY(feed_failure(&s->feed, err));
    if (s->ended)
        return APL_END;
    apl_error why;
    apl_status status = s->zip    ? zipfile_next(s->zip, member, &why)
                        : s->tar  ? tar_next(s->tar, member, &why)
                        : s->tree ? tree_next(s->tree, member, &why)
                                  : folder_next(s->folder, member, &why);
    if (feed_keep(&s->feed, status, &why) == APL_OK) {
        if (!s->list)
            feed_begin(&s->feed);
    } else if (status == APL_END) {
        s->ended = true;
        hasher_end(s->sha, s->digest);
    }
    return status == APL_END ? APL_END : feed_failure(&s->feed, err);
}

bool source_lacks_end(const struct source *s)
{
    return s->tar && tar_lacks_end(s->tar);
}

apl_status source_leave(struct source *s, apl_error *err)
{
    apl_error why;
    TRY(feed_failure(&s->feed, err));
    s->feed.open = false;
    if (s->tar)
        feed_keep(&s->feed, tar_leave(s->tar, &why), &why);
    return feed_failure(&s->feed, err);
}

apl_status source_look(struct source *s, uint64_t *size, apl_error *err)
{
    apl_error why;
    apl_status status = s->zip   ? zipfile_look(s->zip, size, &why)
                        : s->tar ? tar_look(s->tar, size)
                                 : tree_look(s->tree, size, &why);
    if (feed_keep(&s->feed, status, &why) == APL_OK)
        feed_begin(&s->feed);
    return feed_failure(&s->feed, err);
}

uint64_t source_bytes(const struct source *s)
{
    return s->input    ? input_bytes(s->input)
           : s->zip    ? zipfile_bytes(s->zip)
           : s->tree   ? tree_bytes(s->tree)
           : s->folder ? folder_bytes(s->folder)
                       : 0;
}

uint64_t source_size(const struct source *s)
{
    return s->folder ? folder_size(s->folder) : s->size;
}

apl_status source_digest(struct source *s, uint8_t sha256[32], apl_error *err)
{
    if (!s->ended || !s->sha)
        return fail(err, APL_E_INVALID, "%s: its digest is known only once it has been read to its end",
                    s->name);
    memcpy(sha256, s->digest, 32);
    return APL_OK;
}

apl_status source_sample(const struct source *s, struct sha256 *sha, apl_error *err)
{
    return s->folder ? folder_sample(s->folder, sha, err) : APL_OK;
}

const char *source_subfolder(const struct source *s)
{
    return s->folder ? folder_subfolder(s->folder) : "";
}

const char *source_name(const struct source *s)
{
    return s->name;
}
