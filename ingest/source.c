/* What kind of source it is, and the cursor over its members. */
#include "source.h"

#include "folder.h"
#include "input.h"
#include "tar.h"
#include "tree.h"

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
    uint64_t size; /* of an archive; 0: not known */

    bool folders, list; /* names have them; only names are wanted */

    /* One of: an archive, a directory, a directory with all below it. */
    struct input *input;
    struct tar *tar;
    struct folder *folder;
    struct tree *tree;

    struct cursor cursor;
    bool in_member;      /* there is one, and its end has not been seen */
    const uint8_t *rest; /* what the cursor has not been shown yet of the block that was fetched last */
    size_t rest_size;
    uint8_t *stitch; /* holds reads that straddle blocks */
    size_t stitch_size;

    bool ended; /* source_next() has said APL_END */
    uint8_t digest[32];
    apl_error failure; /* the first one; nothing is read after it */
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
    struct input_options options = {
        .name = s->name, .archive = true, .sha = s->sha, .poll = s->poll, .user = s->user};
    TRY(input_open(fd, &options, &s->input, err));
    struct tar_options tar = {
        .name = s->name, .wants = s->wants, .user = s->user, .folders = s->folders, .list = s->list};
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

static apl_status open_folder(struct source *s, int fd, apl_error *err)
{
    struct stat st;
    if (fstatat(fd, "data.mdb", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        close(fd);
        return fail(err, APL_E_SOURCE, "%s: is an APL store, not a source", s->name);
    }
    struct tree_options tree = {
        .name = s->name, .wants = s->wants, .list = s->list, .poll = s->poll, .user = s->user, .sha = s->sha};
    if (s->folders)
        return tree_open(fd, &tree, &s->tree, err);
    struct folder_options options = {
        .name = s->name, .wants = s->wants, .poll = s->poll, .user = s->user, .sha = s->sha};
    return folder_open(fd, &options, &s->folder, err);
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
    return folder ? open_folder(s, fd, err) : open_tar(s, fd, err);
}

/* What is open so far goes when it fails. */
static apl_status open_source(struct source *s, const char *path, apl_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    const char *shown = standard ? "standard input" : path;
    printable(s->name, sizeof s->name, shown, strlen(shown));
    s->cursor = cursor_over(NULL, 0);
    if (!s->list && !(s->sha = hasher_new()))
        return fail_nomem(err);
    return standard ? open_stdin(s, err) : open_path(s, path, err);
}

static apl_status open_kind(const struct source *kind, const char *path, struct source **source,
                            apl_error *err)
{
    struct source *s = calloc(1, sizeof *s);
    if (!s)
        return fail_nomem(err);
    *s = *kind;
    apl_status status = open_source(s, path, err);
    if (status == APL_OK)
        *source = s;
    else
        source_close(s);
    return status;
}

apl_status source_open(const char *path, source_wants wants, int (*poll)(void *user), void *user,
                       struct source **source, apl_error *err)
{
    struct source kind = {.wants = wants, .poll = poll, .user = user};
    return open_kind(&kind, path, source, err);
}

apl_status source_open_tree(const char *path, source_wants wants, bool list, int (*poll)(void *user),
                            void *user, struct source **source, apl_error *err)
{
    struct source kind = {.wants = wants, .poll = poll, .user = user, .folders = true, .list = list};
    return open_kind(&kind, path, source, err);
}

void source_close(struct source *s)
{
    if (!s)
        return;
    folder_close(s->folder);
    tree_close(s->tree);
    input_close(s->input);
    tar_close(s->tar);
    hasher_free(s->sha);
    free(s->stitch);
    free(s);
}

/* ------------------------------------------------------------------------------------------ the cursor */

/* Keeps the first failure, so that every later call gives it again. */
static apl_status keep(struct source *s, apl_status status, const apl_error *why)
{
    if (status != APL_OK && status != APL_END && s->failure.status == APL_OK)
        s->failure = *why;
    return status;
}

static apl_status source_failed(const struct source *s, apl_error *err)
{
    if (err && s->failure.status != APL_OK)
        *err = s->failure;
    return s->failure.status;
}

/* Fetches the member's next block into s->rest; false at its end or on a failure. */
static bool fetch_some(struct source *s)
{
    if (!s->in_member || s->failure.status != APL_OK)
        return false;
    apl_error why;
    apl_status status = s->tar    ? tar_block(s->tar, &s->rest, &s->rest_size, &why)
                        : s->tree ? tree_block(s->tree, &s->rest, &s->rest_size, &why)
                                  : folder_block(s->folder, &s->rest, &s->rest_size, &why);
    if (keep(s, status, &why) == APL_OK)
        return true;
    s->rest_size = 0;
    s->in_member = false;
    return false;
}

/* Shows the cursor other bytes, without a change of its place in the member. */
static void show(struct cursor *c, const uint8_t *data, size_t size)
{
    c->base = cursor_offset(c);
    c->begin = data;
    c->at = data;
    c->end = data + size;
}

static bool stitch_reserve(struct source *s, size_t need)
{
    if (need <= s->stitch_size)
        return true;
    apl_error why;
    size_t size = s->stitch_size ? s->stitch_size : 4096;
    while (size < need && size < SOURCE_TAKE_MAX)
        size *= 2;
    if (size < need) {
        keep(s, fail(&why, APL_E_INVALID, "%s: %zu bytes are too many to be read at once", s->name, need),
             &why);
        return false;
    }
    uint8_t *stitch = malloc(size);
    if (!stitch) {
        keep(s, fail_nomem(&why), &why);
        return false;
    }
    size_t left = cursor_left(&s->cursor);
    if (left > 0)
        memcpy(stitch, s->cursor.at, left);
    show(&s->cursor, stitch, left);
    free(s->stitch);
    s->stitch = stitch;
    s->stitch_size = size;
    return true;
}

/* Joins what the cursor has left with what follows, until there are `need` bytes. */
static bool stitch(struct source *s, size_t need)
{
    struct cursor *c = &s->cursor;
    if (!stitch_reserve(s, need))
        return false;
    size_t have = cursor_left(c);
    if (have > 0)
        memmove(s->stitch, c->at, have); /* fetching the next block takes away this one */
    show(c, s->stitch, have);
    while (have < need && (s->rest_size > 0 || fetch_some(s))) {
        size_t n = need - have < s->rest_size ? need - have : s->rest_size;
        memcpy(s->stitch + have, s->rest, n);
        s->rest += n;
        s->rest_size -= n;
        have += n;
        c->end = s->stitch + have;
    }
    return have >= need;
}

/* What the cursor calls for more: the next block as it is where that will do, else a copy. */
static bool more(struct cursor *c, size_t need)
{
    struct source *s = c->stream;
    if (cursor_left(c) > 0)
        return stitch(s, need);
    if (s->rest_size == 0 && !fetch_some(s))
        return false;
    if (s->rest_size < need)
        return stitch(s, need);
    show(c, s->rest, s->rest_size);
    s->rest_size = 0;
    return true;
}

struct cursor *source_cursor(struct source *s)
{
    return &s->cursor;
}

apl_status source_failure(struct source *s, apl_error *err)
{
    return source_failed(s, err);
}

/* ----------------------------------------------------------------------------------------- the members */

apl_status source_next(struct source *s, struct source_member *member, apl_error *err)
{
    while (fetch_some(s))
        ;
    s->rest_size = 0;
    s->cursor = cursor_over(NULL, 0);
    TRY(source_failed(s, err));
    if (s->ended)
        return APL_END;
    apl_error why;
    apl_status status = s->tar    ? tar_next(s->tar, member, &why)
                        : s->tree ? tree_next(s->tree, member, &why)
                                  : folder_next(s->folder, member, &why);
    if (keep(s, status, &why) == APL_OK) {
        s->cursor.more = more;
        s->cursor.stream = s;
        s->in_member = !s->list;
    } else if (status == APL_END) {
        s->ended = true;
        if (s->sha)
            hasher_end(s->sha, s->digest);
    }
    return status == APL_END ? APL_END : source_failed(s, err);
}

uint64_t source_bytes(const struct source *s)
{
    return s->input    ? input_bytes(s->input)
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
    if (!s->ended)
        return fail(err, APL_E_INVALID, "%s: its digest is known only once it has been read to its end",
                    s->name);
    memcpy(sha256, s->digest, 32);
    return APL_OK;
}

const char *source_name(const struct source *s)
{
    return s->name;
}
