/* Finding what is not read: see unread.h. Formats that read whole trees say it themselves. */
#include "unread.h"

#include "describing.h"
#include "file_name.h"
#include "found_file.h"
#include "image_kind.h"
#include "listing.h"
#include "notice.h"
#include "source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define LEVELS_SEEN 32u
#define SHOWN_NAMES 3u

struct unread {
    const struct ingest *in;
    const char *root;
    const char **read; /* paths from the directory on, sorted */
    size_t read_count;
    uint64_t count;
    char shown[SHOWN_NAMES][80]; /* the first, safe to print; */
    char table[80];              /* the first table; "": there is none */
};

/* What of a path is below the directory; NULL: it is not. */
static const char *below_root(const char *root, const char *path)
{
    size_t size = strlen(root);
    while (size > 0 && root[size - 1] == '/')
        size--;
    if (strncmp(root, path, size) != 0 || (path[size] && path[size] != '/'))
        return NULL;
    return path + size + strspn(path + size, "/");
}

/* -------------------------------------------------------------------------------------------- what is read */

static int by_read_path(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static apl_status find_read(struct unread *u, apl_error *err)
{
    const struct ingest *in = u->in;
    size_t count = in->files ? in->host.file_count : in->sources.count;
    u->read = malloc((count + 1) * sizeof *u->read);
    if (!u->read)
        return fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const char *path = in->files ? files_path(in->files, i) : in->sources.paths[i];
        const char *below = below_root(u->root, path);
        if (below)
            u->read[u->read_count++] = below;
    }
    if (u->read_count > 1)
        qsort(u->read, u->read_count, sizeof *u->read, by_read_path);
    return APL_OK;
}

/* Of CIFAR, whose files are taken one after another from one folder. */
static bool is_member_read(const struct unread *u, const char *below)
{
    const char *folder = u->in->source ? source_subfolder(u->in->source) : "", *name = path_last(below);
    return strlen(folder) == (size_t)(name - below) && strncmp(folder, below, strlen(folder)) == 0 &&
           u->in->format->wants(NULL, name);
}

static bool is_read_path(const struct unread *u, const char *below)
{
    if (u->in->format == &format_cifar)
        return is_member_read(u, below);
    return u->read_count > 0 && bsearch(&below, u->read, u->read_count, sizeof *u->read, by_read_path);
}

/* Files that the format reads beside others, or that are of no use without these. */
static bool is_part_of_format(const struct ingest *in, const char *name)
{
    const struct format *format = in->format;
    bool arrays = format == &format_idx || format == &format_npy;
    bool shards = format == &format_webdataset || format == &format_tfrecord;
    return (arrays && strcmp(name, "splits.json") == 0) ||
           (format == &format_tfrecord && strcmp(name, "schema.json") == 0) ||
           (shards && (name_ends(name, ".idx") || name_ends(name, ".index"))) ||
           (format == &format_list && files_any_beside(in->files) && image_name(name));
}

static bool is_read_unpacked(const struct unread *u, char *below)
{
    size_t bare;
    if (!ends_packed(below, &bare))
        return false;
    char dot = below[bare];
    below[bare] = 0;
    bool is = is_read_path(u, below);
    below[bare] = dot;
    return is;
}

/* ------------------------------------------------------------------------------------------------- the walk */

static void add_unread(struct unread *u, const char *below)
{
    if (!*u->table && path_is_table(below))
        printable(u->table, sizeof u->table, below, strlen(below));
    if (u->count < SHOWN_NAMES)
        printable(u->shown[u->count], sizeof *u->shown, below, strlen(below));
    u->count++;
}

/* Is anything read that lies below a link? Then it leads to a directory, of which other files may be left out. */
static bool leads_to_read(const struct unread *u, const char *below)
{
    size_t length = strlen(below), first = 0, end = u->read_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = strncmp(u->read[middle], below, length);
        if (order == 0 && u->read[middle][length] == '/')
            return true;
        if (order < 0 || (order == 0 && (uint8_t)u->read[middle][length] < '/'))
            first = middle + 1;
        else
            end = middle;
    }
    return false;
}

static apl_status see_folder(struct unread *u, const char *folder, unsigned levels, apl_error *err);

static apl_status see_file(struct unread *u, const char *folder, const char *name, unsigned levels,
                           apl_error *err)
{
    apl_status status = APL_OK;
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        return fail_nomem(err);
    snprintf(path, size, "%s/%s", folder, name);
    char *below = path + (below_root(u->root, path) - path);
    if (u->in->options.follow_links && leads_to_read(u, below))
        status = see_folder(u, path, levels, err);
    else if (!is_read_path(u, below) && !name_only_describes(name) && !is_part_of_format(u->in, name) &&
             !is_read_unpacked(u, below))
        add_unread(u, below);
    free(path);
    return status;
}

static bool is_store(const struct listing *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->files[i], "data.mdb") == 0)
            return true;
    return false;
}

static apl_status see_subfolder(struct unread *u, const char *folder, const char *name, unsigned levels,
                                apl_error *err)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        return fail_nomem(err);
    snprintf(path, size, "%s/%s", folder, name);
    apl_status status = see_folder(u, path, levels, err);
    free(path);
    return status;
}

/* One that cannot be listed is left out as a whole. */
static apl_status see_folder(struct unread *u, const char *folder, unsigned levels, apl_error *err)
{
    struct listing list;
    apl_error why;
    apl_status status = levels ? listing_read(folder, false, &list, &why) : APL_E_SOURCE;
    if (status == APL_E_NOMEM)
        return fail_nomem(err);
    if (status != APL_OK) {
        const char *below = below_root(u->root, folder);
        add_unread(u, *below ? below : ".");
        return APL_OK;
    }
    bool store = is_store(&list);
    for (size_t i = 0; i < list.count && !store && status == APL_OK; i++)
        status = see_file(u, folder, list.files[i], levels - 1, err);
    for (size_t i = 0; i < list.folder_count && !store && status == APL_OK; i++)
        status = see_subfolder(u, folder, list.folders[i], levels - 1, err);
    listing_free(&list);
    return status;
}

/* ------------------------------------------------------------------------------------------------- the notice */

static const char *first_unread(const struct unread *u, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s%s%s%s", u->shown[0], u->count > 1 ? ", " : "", u->shown[1],
             u->count > 2 ? ", " : "", u->shown[2], u->count > SHOWN_NAMES ? ", ..." : "");
    return out;
}

static void tell_unread(const struct unread *u)
{
    char root[200], left[320];
    if (u->count)
        notice_tell(&u->in->options, "%s: files left out: %" PRIu64 " (%s)",
                    printable(root, sizeof root, u->root, strlen(u->root)), u->count,
                    first_unread(u, left, sizeof left));
}

static bool is_source_itself(const struct ingest *in, const char *folder)
{
    for (size_t i = 0; i < in->sources.count; i++)
        if (strcmp(in->sources.paths[i], folder) == 0)
            return true;
    return false;
}

static apl_status tell_of_folder(struct ingest *in, const char *folder, apl_error *err)
{
    struct unread u = {.in = in, .root = folder};
    if (in->format == &format_webdataset && is_source_itself(in, folder)) /* which is read as one shard */
        return APL_OK;
    apl_status status = find_read(&u, err);
    if (status == APL_OK)
        status = see_folder(&u, folder, LEVELS_SEEN, err);
    free(u.read);
    if (status == APL_OK)
        tell_unread(&u);
    return status;
}

apl_status unread_tell(struct ingest *in, bool read, apl_error *err)
{
    if (in->format == &format_folder || in->format == &format_raw || read != (in->format == &format_list))
        return APL_OK;
    for (size_t i = 0; i < in->folders.count; i++)
        TRY(tell_of_folder(in, in->folders.paths[i], err));
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- nothing read */

static apl_status refuse_source(const struct ingest *in, const char *path, apl_error *err)
{
    char shown[200], left[320];
    struct unread u = {.in = in, .root = path};
    bool directory = source_is_directory(path);
    printable(shown, sizeof shown, path, strlen(path));
    if (directory)
        TRY(see_folder(&u, path, LEVELS_SEEN, err));
    if (*u.table && in->format == &format_list)
        return fail(
            err, APL_E_SOURCE,
            "%s: nothing of it is read, but it has a table, %s: --format list (format=\"list\" in Python) "
            "reads tables in a directory, or give them by name",
            shown, u.table);
    return fail(err, APL_E_SOURCE, "%s: nothing of it is read: it %s of the format %s, unlike others%s%s",
                shown, directory ? "has no files" : "is not", in->format->name, u.count > 0 ? ", but " : "",
                first_unread(&u, left, sizeof left));
}

apl_status unread_find_table(const struct ingest *in, const char *path, char *table, size_t size,
                             apl_error *err)
{
    struct unread u = {.in = in, .root = path};
    char shown[160];
    TRY(see_folder(&u, path, LEVELS_SEEN, err));
    printable(shown, sizeof shown, path, strlen(path));
    bool slash = *shown && shown[strlen(shown) - 1] == '/';
    snprintf(table, size, "%s%s%s", *u.table ? shown : "", *u.table && !slash ? "/" : "", u.table);
    return APL_OK;
}

apl_status unread_check(const struct ingest *in, apl_error *err)
{
    for (size_t i = 0; in->files && i < in->sources.count; i++)
        if (!files_any_of(in->files, i))
            return refuse_source(in, in->sources.paths[i], err);
    return APL_OK;
}
