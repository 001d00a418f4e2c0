/* The parts of a set, and who seals it: see parts.h. */
#include "parts.h"

#include "notice.h"
#include "part_name.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES 64 /* of what is said of a part behind the tool's name */

#define WAIT_MS 50
#define WAITS   1200 /* a minute: sealing reads a manifest of each shard */

/* ------------------------------------------------------------------------------------------- the directory */

/* A new directory is an entry of its parent, without which a power cut would take it with all that is in it. */
static apl_status sync_above(int directory, const char *set, apl_error *err)
{
    int fd = openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        return APL_OK;
    apl_status status = fd < 0 || fsync(fd) != 0
                            ? fail_errno(err, errno, "%s: cannot sync the directory above it", set)
                            : APL_OK;
    if (fd >= 0)
        close(fd);
    return status;
}

/* Nor one that is being made: its writer has locked the directory. Who seals a list does that too, without such a file. */
static apl_status check_no_store(const struct ingest *in, int directory, apl_error *err)
{
    if (faccessat(directory, "data.mdb", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return fail(err, APL_E_INVALID, "%s: is a store, and cannot be a set too", in->set_shown);
    if (faccessat(directory, ".tmp-data.mdb", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return APL_OK;
    if (flock(directory, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail(err, APL_E_INVALID, "%s: a writer is making it a store, and it cannot be a set too",
                    in->set_shown);
    flock(directory, LOCK_UN);
    return APL_OK;
}

static apl_status make_set_directory(struct ingest *in, apl_error *err)
{
    bool made = mkdir(in->set, 0775) == 0;
    if (!made && errno != EEXIST)
        return fail_errno(err, errno, "%s: cannot make the directory", in->set_shown);
    in->made_set |= made;
    int fd = open(in->set, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, errno, "%s: cannot open the directory", in->set_shown);
    apl_status status = made ? sync_above(fd, in->set_shown, err) : APL_OK;
    struct parts_seen seen;
    parts_look(fd, &seen);
    unsigned other = seen.parts && seen.parts != in->share.parts ? seen.parts : seen.other_parts;
    if (status == APL_OK)
        status = check_no_store(in, fd, err);
    if (status == APL_OK && other)
        status = fail(err, APL_E_INVALID,
                      "%s: has parts of a set of %u, and this is one of %u: remove them, or name another "
                      "directory",
                      in->set_shown, other, in->share.parts);
    close(fd);
    return status;
}

/* The path of a shard; to be freed. */
static char *path_of(const struct ingest *in, unsigned part)
{
    size_t size = strlen(in->set) + PART_NAME_BYTES + 1;
    char name[PART_NAME_BYTES], *path = malloc(size);
    part_name_make(part, in->share.parts, name);
    if (path)
        snprintf(path, size, "%s/%s", in->set, name);
    return path;
}

apl_status parts_begin(struct ingest *in, const char *set, const char *source, apl_error *err)
{
    unsigned part = in->options.part, parts = in->options.parts;
    if (part == 0 || part > parts || parts > PARTS_MAX)
        return fail(err, APL_E_INVALID, "part %u of %u: parts are 1 to at most %u", part, parts, PARTS_MAX);
    bool standard = strcmp(source, "-") == 0;
    for (size_t i = 0; i < in->options.more_count; i++)
        standard |= strcmp(in->options.more[i], "-") == 0;
    if (standard)
        return fail(err, APL_E_INVALID, "standard input cannot be read by several parts: name files");
    in->share = (struct share){.part = part, .parts = parts};
    in->set = set;
    printable(in->set_shown, sizeof in->set_shown, set, strlen(set));
    in->db = in->shard = path_of(in, part);
    if (!in->shard)
        return fail_nomem(err);
    return make_set_directory(in, err);
}

void parts_end(struct ingest *in, bool failed)
{
    if (failed && in->made_set)
        rmdir(in->set); /* parts that work keep it by what they have there */
    free(in->shard);
    share_free(&in->share);
}

/* ---------------------------------------------------------------------------------------------- the shards */

/* What is there of a part. */
struct there {
    bool is, same, damaged; /* there is a shard; of this run; that cannot be read */
    uint64_t bytes;
    uint8_t content[32];
};

/* " --part 3/16 of RUN-DATA", what the shard's tool ends with; without `data`, as in earlier versions, "RUN". */
static void run_text(const struct ingest *in, unsigned part, const char *data, char text[TEXT_BYTES])
{
    snprintf(text, TEXT_BYTES, " --part %u/%u of %s%s%s", part, in->share.parts, in->run, *data ? "-" : "",
             data);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static apl_status look_at_part(const struct ingest *in, unsigned part, struct there *there, apl_error *err)
{
    char *path = path_of(in, part), text[TEXT_BYTES], earlier[TEXT_BYTES];
    apl_store *store;
    *there = (struct there){.is = false};
    if (!path)
        return fail_nomem(err);
    run_text(in, part, in->data, text);
    run_text(in, part, "", earlier);
    apl_status status = apl_store_open(path, NULL, &store, err);
    free(path);
    if (status == APL_E_NOTFOUND)
        return APL_OK;
    there->is = true;
    there->damaged = status == APL_E_CORRUPT || status == APL_E_UNSUPPORTED;
    if (there->damaged)
        return APL_OK;
    TRY(status);
    const apl_info *info = apl_store_info(store);
    there->same = ends_with(info->tool, text) || ends_with(info->tool, earlier);
    there->bytes = info->file_bytes;
    memcpy(there->content, info->content_digest, 32);
    apl_store_close(store);
    return APL_OK;
}

/* The shard of another part is not what this run would make. */
static apl_status other_run(const struct ingest *in, unsigned part, const struct there *there, apl_error *err)
{
    return there->damaged
               ? fail(err, APL_E_CORRUPT, "%s: part %u of %u is damaged: make it again, with --force",
                      in->set_shown, part, in->share.parts)
               : fail(err, APL_E_MISMATCH,
                      "%s: part %u of %u was made from another source, or with other options: name another "
                      "directory, or make all parts with --force",
                      in->set_shown, part, in->share.parts);
}

/* A part that is there must be of this run; it is enough to look at one besides our own, as it has looked in turn. */
static apl_status check_others(const struct ingest *in, apl_error *err)
{
    struct there there = {.is = false};
    for (unsigned part = 1; part <= in->share.parts && !there.is; part++) {
        if (part == in->share.part)
            continue;
        TRY(look_at_part(in, part, &there, err));
        if (there.is && !there.same && !there.damaged)
            return other_run(in, part, &there, err);
    }
    return APL_OK;
}

/* Is the shard there? Else it may be made. */
static apl_status check_own(struct ingest *in, apl_error *err)
{
    struct there there;
    TRY(look_at_part(in, in->share.part, &there, err));
    in->present = there.is && there.same;
    if (in->present)
        return fail(err, APL_E_EXISTS, "%s: is there already", in->shard);
    return there.is
               ? fail(err, APL_E_EXISTS, "%s: part %u of %u %s", in->set_shown, in->share.part,
                      in->share.parts,
                      there.damaged ? "is damaged" : "was made from another source, or with other options")
               : APL_OK;
}

/* A list that is there must be that of these parts. */
static apl_status check_list(const struct ingest *in, apl_error *err)
{
    apl_store *set;
    char name[PART_NAME_BYTES];
    apl_status status = apl_store_open(in->set, NULL, &set, err);
    if (status != APL_OK)
        return status == APL_E_NOTFOUND ? APL_OK : status;
    part_name_make(in->share.part, in->share.parts, name);
    const apl_shard *shard = apl_store_shard(set, in->share.part - 1);
    bool same = apl_store_info(set)->shards == in->share.parts && strcmp(shard->name, name) == 0;
    apl_store_close(set);
    return same ? APL_OK
                : fail(err, APL_E_EXISTS,
                       "%s: is a set with other shards, which the list of these parts would leave out",
                       in->set_shown);
}

apl_status parts_enough(const struct ingest *in, apl_error *err)
{
    uint64_t most = 0;
    for (size_t i = 0; i < in->share.count; i++)
        most = in->share.splits[i].total > most ? in->share.splits[i].total : most;
    return most >= in->share.parts
               ? APL_OK
               : fail(err, APL_E_INVALID, "%s: has at most %s in a split: too few for %u parts",
                      in->host.source, number_of(most, "record", "records"), in->share.parts);
}

apl_status parts_writer(struct ingest *in, apl_error *err)
{
    TRY(parts_enough(in, err));
    TRY(parts_run(in, in->run, in->data, err));
    if (!in->writing.replace) {
        TRY(check_own(in, err));
        TRY(check_list(in, err));
        TRY(check_others(in, err));
    }
    size_t used = strlen(in->writing.tool);
    if (in->writing.tool != in->tool)
        snprintf(in->tool, sizeof in->tool, "%s", in->writing.tool);
    if (used + TEXT_BYTES <= sizeof in->tool)
        run_text(in, in->share.part, in->data, in->tool + used);
    in->writing.tool = in->tool;
    apl_status status = apl_writer_open(in->db, &in->writing, &in->writer, err);
    if (status == APL_E_NOTFOUND || (status != APL_OK && err->sys_errno == ENOENT)) {
        TRY(make_set_directory(in, err)); /* one that has failed has removed it */
        status = apl_writer_open(in->db, &in->writing, &in->writer, err);
    }
    if (status == APL_E_EXISTS) /* since we have looked */
        TRY(check_own(in, err));
    return status;
}

apl_status parts_splits(struct ingest *in, apl_error *err)
{
    for (size_t i = 0; i < in->share.count; i++) {
        const struct share_split *s = &in->share.splits[i];
        if (s->count == 0)
            TRY(apl_writer_begin_member(in->writer, s->name, s->name, s->number, err));
    }
    return APL_OK;
}

apl_status parts_present(struct ingest *in, apl_ingest_summary *sum, apl_error *err)
{
    apl_store *store;
    TRY(apl_store_open(in->shard, NULL, &store, err));
    const apl_info *info = apl_store_info(store);
    snprintf(sum->format, sizeof sum->format, "%s", info->source_format);
    sum->records = info->records;
    sum->raw_bytes = info->raw_bytes;
    sum->file_bytes = info->file_bytes;
    apl_store_close(store);
    notice_tell(&in->options, "%s: part %u of %u is there already, of this source and these options",
                in->set_shown, in->share.part, in->share.parts);
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- the list */

/* *all: every part is there, and of this run. */
static apl_status look_at_all(const struct ingest *in, struct there *there, bool *all, apl_error *err)
{
    struct parts_seen seen = {.parts = 0};
    int fd = open(in->set, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, errno, "%s: cannot open the directory", in->set_shown);
    parts_look(fd, &seen);
    close(fd);
    *all = seen.there == in->share.parts && seen.parts == in->share.parts;
    for (unsigned i = 0; *all && i < in->share.parts; i++) {
        TRY(look_at_part(in, i + 1, &there[i], err));
        if (there[i].is && !there[i].same && !in->writing.replace)
            return other_run(in, i + 1, &there[i], err);
        *all = there[i].same;
    }
    return APL_OK;
}

/* Is the list that there is, the one of these shards? */
static apl_status look_at_list(const struct ingest *in, const struct there *there, bool *is, bool *fits,
                               apl_error *err)
{
    apl_store *set;
    apl_status status = apl_store_open(in->set, NULL, &set, err);
    *is = status == APL_OK;
    *fits = *is && apl_store_info(set)->shards == in->share.parts;
    for (unsigned i = 0; *fits && i < in->share.parts; i++) {
        const apl_shard *shard = apl_store_shard(set, i);
        char name[PART_NAME_BYTES];
        part_name_make(i + 1, in->share.parts, name);
        *fits = strcmp(shard->name, name) == 0 && shard->file_bytes == there[i].bytes &&
                memcmp(shard->content_digest, there[i].content, 32) == 0;
    }
    if (*is)
        apl_store_close(set);
    return status == APL_E_NOTFOUND || *is ? APL_OK : status;
}

static apl_status join_parts(const struct ingest *in, apl_error *err)
{
    unsigned parts = in->share.parts;
    apl_set_options options = APL_SET_OPTIONS_INIT;
    char **paths = calloc(parts, sizeof *paths);
    options.replace = in->writing.replace;
    apl_status status = paths ? APL_OK : fail_nomem(err);
    for (unsigned i = 0; status == APL_OK && i < parts; i++)
        if (!(paths[i] = path_of(in, i + 1)))
            status = fail_nomem(err);
    if (status == APL_OK)
        status = apl_set_join(in->set, (const char *const *)paths, parts, &options, err);
    for (unsigned i = 0; paths && i < parts; i++)
        free(paths[i]);
    free(paths);
    return status;
}

/* Of several that arrive last, one puts the list in its place; the others find it there, and that it is of these shards. */
static apl_status seal_list(const struct ingest *in, const struct there *there, apl_error *err)
{
    const struct timespec wait = {.tv_nsec = WAIT_MS * 1000000L};
    apl_status status = APL_E_BUSY;
    for (unsigned i = 0; i < WAITS && (status == APL_E_BUSY || status == APL_E_EXISTS); i++) {
        bool is, fits;
        if (i > 0)
            nanosleep(&wait, NULL);
        TRY(look_at_list(in, there, &is, &fits, err));
        if (fits)
            return APL_OK;
        if (is && !in->writing.replace)
            return fail(err, APL_E_EXISTS,
                        "%s: is a set with other shards, which the list of these parts would leave out",
                        in->set_shown);
        status = join_parts(in, err);
    }
    return status;
}

apl_status parts_seal(struct ingest *in, apl_error *err)
{
    bool all = false;
    struct there *there = calloc(in->share.parts, sizeof *there);
    apl_status status = there ? look_at_all(in, there, &all, err) : fail_nomem(err);
    if (status == APL_OK && all)
        status = seal_list(in, there, err);
    free(there);
    return status;
}
