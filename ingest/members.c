/* Sources that are read member by member: see members.h. */
#include "members.h"

#include "found_file.h"
#include "hash.h"
#include "parts.h"
#include "shown.h"
#include "source.h"

#include <stdio.h>

static bool is_wanted(const char *name, void *user)
{
    struct ingest *in = user;
    return in->format->wants(in->state, name) &&
           !(in->reading && in->host.part && in->format->passes && in->format->passes(in->state, name));
}

/* Is nothing more of the source being read a part's own? */
static bool has_enough(const struct ingest *in)
{
    return in->host.part && in->format->enough && in->format->enough(in->state);
}

/* Gives a failure in a member the name of who is to blame: the source where that is broken, else the member.
 */
static apl_status blame(struct ingest *in, const char *name, apl_status status, apl_error *err)
{
    if (in->not_the_source)
        return status;
    apl_error broken;
    if (source_failure(in->source, &broken) != APL_OK) {
        *err = broken;
        return broken.status;
    }
    return fail_in(err, status, "%s: %s", source_name(in->source), name);
}

/* What follows the last member that is there may be missing: nothing else would tell of it. */
static apl_status check_end(const struct ingest *in, apl_error *err)
{
    if (in->options.partial || !source_lacks_end(in->source))
        return APL_OK;
    return fail(err, APL_E_INCOMPLETE,
                "%s: the tar has no end mark, as if it were cut off between two members: --partial "
                "(partial=True in Python) accepts that",
                in->host.source);
}

/* One source to its end; *any: it has members. */
static apl_status read_source(struct ingest *in, bool *any, apl_error *err)
{
    struct source_member m;
    *any = false;
    apl_status status = APL_OK;
    while (!has_enough(in) && (status = source_next(in->source, &m, err)) == APL_OK) {
        struct format_member member = {m.name, m.path, m.size, source_cursor(in->source)};
        *any = true;
        status = in->format->member(in->state, &member, err);
        if (status != APL_OK)
            return blame(in, in->format->folders ? m.path : m.name, status, err);
        if (in->host.part)
            TRY(source_leave(in->source, err));
    }
    return status == APL_END ? check_end(in, err) : status;
}

/* -------------------------------------------------------------------------------- opening */

/* Does another format take a file of that name? Then a source that has both is not this one's, unless it was asked for. */
static bool is_anothers(const struct ingest *in, const char *name)
{
    const char *slash = strrchr(name, '/');
    return !in->options.format && in->format == &format_folder &&
           format_cifar.wants(NULL, slash ? slash + 1 : name);
}

/* Shows a file that was listed to a format that wants to look at it. */
static apl_status show_file(struct ingest *in, const struct source_member *m, apl_error *err)
{
    if (m->directory || !in->format->looks || !in->format->looks(in->state, m->name))
        return APL_OK;
    struct format_member member = {m->name, m->path, 0, source_cursor(in->source)};
    TRY(source_look(in->source, &member.size, err));
    apl_status status = in->format->look(in->state, &member, err);
    return status == APL_OK ? APL_OK : blame(in, m->path, status, err);
}

/* Tells the format which source comes next. */
static apl_status begin_source(struct ingest *in, size_t source, apl_error *err)
{
    const char *path = in->sources.paths[source], *name = spool_shown(path);
    char shown[256], below[4098];
    if (!in->format->begin_source)
        return APL_OK;
    printable(shown, sizeof shown, name, strlen(name));
    snprintf(below, sizeof below, "%s%s", name == path ? path + in->given.below[source] : "",
             source_is_directory(path) ? "/" : "");
    return in->format->begin_source(in->state, below, shown, err);
}

/* What tells the source of a part from another. */
static apl_status keep_listed(struct ingest *in, apl_error *err)
{
    uint8_t digest[32];
    if (!in->host.part)
        return APL_OK;
    TRY(source_digest(in->source, digest, err));
    buffer_put(&in->listed, digest, sizeof digest);
    return in->listed.failed ? fail_nomem(err) : APL_OK;
}

/* Reads a source for the names of its members, with a look at some. *other: it is another format's. It is left open. */
static apl_status list_names(struct ingest *in, size_t source, bool *other, apl_error *err)
{
    struct source_member m;
    apl_status status;
    TRY(begin_source(in, source, err));
    source_close(in->source);
    in->source = NULL;
    struct source_way names = {
        .tree = SOURCE_LIST, .follow = in->sources.follow, .except = in->db, .compared = in->host.part};
    TRY(source_open_tree(in->sources.paths[source], is_wanted, &names, report_reading, in, &in->source, err));
    in->host.source = source_name(in->source);
    while ((status = source_next(in->source, &m, err)) == APL_OK) {
        *other = !m.directory && !in->found && is_anothers(in, m.name);
        in->found |= !m.directory && in->format->wants(in->state, m.name);
        if (*other)
            return APL_OK;
        TRY(in->format->list(in->state, m.name, m.directory, err));
        TRY(show_file(in, &m, err));
    }
    if (status != APL_END)
        return status;
    TRY(check_end(in, err));
    return keep_listed(in, err);
}

/* The first reading of all sources. */
static apl_status list_sources(struct ingest *in, bool *other, apl_error *err)
{
    apl_status status = APL_OK;
    in->listed.size = 0;
    for (size_t i = 0; status == APL_OK && i < in->sources.count && !*other; i++)
        status = list_names(in, i, other, err);
    if (status == APL_OK && !*other)
        status = in->format->listed(in->state, err);
    if (status == APL_OK && in->share.count > 0) /* before a part without records finds its source empty */
        status = parts_enough(in, err);
    drop_source(in);
    return status;
}

static apl_status open_for_members(struct ingest *in, size_t source, apl_error *err)
{
    const char *path = in->sources.paths[source];
    const struct source_head head = {in->standard.head, in->standard.size};
    in->reading = true;
    bool any = !in->format->list || in->format->lists_for_parts || in->format->passes_folders;
    struct source_way how = {.tree = !in->format->folders ? SOURCE_FLAT
                                     : any                ? SOURCE_ANY
                                                          : SOURCE_TREE,
                             .follow = in->sources.follow,
                             .except = in->db,
                             .undigested = in->sources.undigested};
    TRY(strcmp(path, "-") == 0 && head.data
            ? source_open_begun(&head, is_wanted, how.tree, report_reading, in, &in->source, err)
            : source_open_tree(path, is_wanted, &how, report_reading, in, &in->source, err));
    in->host.source = source_name(in->source);
    return APL_OK;
}

apl_status members_open(struct ingest *in, bool *other, apl_error *err)
{
    *other = false;
    if (lists_names(in, in->format))
        TRY(list_sources(in, other, err));
    if (*other)
        return APL_OK;
    TRY(begin_source(in, 0, err));
    return open_for_members(in, 0, err);
}

/* -------------------------------------------------------------------------------- several */

/* One of several sources has been read. */
static apl_status close_source(struct ingest *in, const char *path, apl_error *err)
{
    const char *name = path_last(path);
    uint8_t digest[32], size[8];
    TRY(source_digest(in->source, digest, err));
    if (!in->sha && !(in->sha = sha256_new()))
        return fail_nomem(err);
    store_le(size, source_bytes(in->source), 8);
    sha256_add(in->sha, name, strlen(name) + 1);
    sha256_add(in->sha, size, sizeof size);
    sha256_add(in->sha, digest, sizeof digest);
    in->source_bytes += source_bytes(in->source);
    drop_source(in);
    return APL_OK;
}

/* Of a part: sources without records of its own are not opened. */
static apl_status read_parts_sources(struct ingest *in, apl_error *err)
{
    bool any;
    for (size_t i = 0; i < in->sources.count; i++) {
        if (i > 0)
            TRY(begin_source(in, i, err));
        if (!in->source && !has_enough(in))
            TRY(open_for_members(in, i, err));
        if (in->source)
            TRY(read_source(in, &any, err));
        in->source_bytes += in->source ? source_bytes(in->source) : 0;
        drop_source(in);
    }
    return APL_OK;
}

/* One of several directories without members has been given for nothing. */
static apl_status read_whole_source(struct ingest *in, size_t source, apl_error *err)
{
    bool any;
    TRY(read_source(in, &any, err));
    if (any || in->sources.count == 1 || !source_is_directory(in->sources.paths[source]))
        return APL_OK;
    return fail(err, APL_E_SOURCE, "%s: nothing of it is read: it has no files of the format %s",
                source_name(in->source), in->format->name);
}

apl_status members_read(struct ingest *in, apl_error *err)
{
    if (in->files)
        return in->format->read(in->state, err);
    if (in->host.part)
        return read_parts_sources(in, err);
    TRY(read_whole_source(in, 0, err));
    for (size_t i = 1; i < in->sources.count; i++) {
        TRY(begin_source(in, i, err)); /* while the one before still has its name */
        TRY(close_source(in, in->sources.paths[i - 1], err));
        TRY(open_for_members(in, i, err));
        TRY(read_whole_source(in, i, err));
    }
    return APL_OK;
}

apl_status members_digest(struct ingest *in, uint8_t sha256[32], apl_error *err)
{
    if (in->files)
        return files_digest(in->files, sha256, err);
    if (in->sources.count == 1)
        return source_digest(in->source, sha256, err);
    TRY(close_source(in, in->sources.paths[in->sources.count - 1], err));
    sha256_end(in->sha, sha256);
    return APL_OK;
}
