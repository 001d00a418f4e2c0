/* Braces, then wildcards: see expand.h. */
#include "expand.h"

#include "file_name.h"
#include "listing.h"

#include <errno.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES_MAX    1000000u
#define BRACES_MAX   8u
#define FOLDERS_DOWN 32u

void expanded_free(struct expanded *out)
{
    for (size_t i = 0; i < out->count; i++)
        free(out->paths[i]);
    free(out->paths);
    free(out->below);
    *out = (struct expanded){0};
}

static bool make_room_for_paths(struct expanded *out)
{
    if (out->count < out->room)
        return true;
    size_t room = out->room ? 2 * out->room : 16;
    char **paths = realloc(out->paths, room * sizeof *paths);
    if (paths)
        out->paths = paths;
    size_t *below = realloc(out->below, room * sizeof *below);
    if (below)
        out->below = below;
    if (!paths || !below)
        return false;
    out->room = room;
    return true;
}

apl_status expand_add(struct expanded *out, const char *path, apl_error *err)
{
    if (out->count == NAMES_MAX)
        return fail(err, APL_E_INVALID, "the sources name more than %u files", NAMES_MAX);
    if (!make_room_for_paths(out))
        return fail_nomem(err);
    out->below[out->count] = 0;
    out->paths[out->count] = strdup(path);
    return out->paths[out->count] ? (out->count++, APL_OK) : fail_nomem(err);
}

static bool names_something(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || lstat(path, &st) == 0;
}

static apl_status add_matches(struct expanded *out, const char *pattern, apl_error *err)
{
    glob_t found;
    if (names_something(pattern) || !strpbrk(pattern, "*?["))
        return expand_add(out, pattern, err);
    int result = glob(pattern, GLOB_NOCHECK, NULL, &found);
    if (result != 0)
        return result == GLOB_NOSPACE ? fail_nomem(err)
                                      : fail_errno(err, errno, "%s: cannot be listed", pattern);
    apl_status status = APL_OK;
    for (size_t i = 0; i < found.gl_pathc && status == APL_OK; i++)
        status = expand_add(out, found.gl_pathv[i], err);
    globfree(&found);
    return status;
}

/* --------------------------------------------------------------------------------------------------------- braces */

/* The braces of a pattern: {first..last} or {one,two}. */
struct braces {
    const char *open, *close; /* of the pattern; at the end of both: the last of them */
    bool range;
    uint64_t first, last;
    int width; /* of numbers, with zeros in front */
};

static bool read_range(struct braces *b)
{
    int first = 0, last = 0, end = 0;
    unsigned long long from, to;
    if (sscanf(b->open, "{%n%19llu%n", &first, &from, &last) != 1 || b->open[first] < '0' ||
        b->open[first] > '9' || strncmp(b->open + last, "..", 2) != 0)
        return false;
    const char *second = b->open + last + 2;
    if (*second < '0' || *second > '9' || sscanf(second, "%19llu%n", &to, &end) != 1 ||
        second + end != b->close)
        return false;
    b->first = from;
    b->last = to;
    b->width = b->open[first] == '0' || *second == '0' ? (last - first > end ? last - first : end) : 0;
    return true;
}

/* Where the alternative ends that begins at `text`: at a comma or brace that is not of braces within it; or at the pattern's end. */
static const char *alternative_end(const char *text)
{
    unsigned inside = 0;
    for (; *text && (inside > 0 || (*text != ',' && *text != '}')); text++) {
        inside += *text == '{';
        inside -= *text == '}' ? 1 : 0;
    }
    return text;
}

/* The first braces that mean something. */
static bool find_braces(const char *pattern, struct braces *b)
{
    for (const char *open = strchr(pattern, '{'); open; open = strchr(open + 1, '{')) {
        const char *end = alternative_end(open + 1);
        bool several = *end == ',';
        while (*end == ',')
            end = alternative_end(end + 1);
        *b = (struct braces){.open = open, .close = end};
        if (*end != '}')
            continue;
        b->range = !several && read_range(b);
        if (b->range || several)
            return true;
    }
    return false;
}

static apl_status expand_braces(struct expanded *out, const char *pattern, unsigned depth, apl_error *err);

/* One of the alternatives, between what comes before and behind. */
static apl_status expand_one(struct expanded *out, const char *pattern, const struct braces *b,
                             const char *text, size_t length, unsigned depth, apl_error *err)
{
    size_t before = (size_t)(b->open - pattern), size = before + length + strlen(b->close);
    char *path = malloc(size + 1);
    if (!path)
        return fail_nomem(err);
    snprintf(path, size + 1, "%.*s%.*s%s", (int)before, pattern, (int)length, text, b->close + 1);
    apl_status status = expand_braces(out, path, depth + 1, err);
    free(path);
    return status;
}

static apl_status expand_range(struct expanded *out, const char *pattern, const struct braces *b,
                               unsigned depth, apl_error *err)
{
    char number[32];
    bool up = b->first <= b->last;
    uint64_t count = up ? b->last - b->first : b->first - b->last;
    for (uint64_t i = 0; i <= count; i++) {
        int length = snprintf(number, sizeof number, "%0*llu", b->width,
                              (unsigned long long)(up ? b->first + i : b->first - i));
        TRY(expand_one(out, pattern, b, number, (size_t)length, depth, err));
    }
    return APL_OK;
}

static apl_status expand_braces(struct expanded *out, const char *pattern, unsigned depth, apl_error *err)
{
    struct braces b;
    if (depth == BRACES_MAX || !find_braces(pattern, &b))
        return add_matches(out, pattern, err);
    if (b.range)
        return expand_range(out, pattern, &b, depth, err);
    for (const char *at = b.open; at < b.close;) {
        const char *text = at + 1;
        at = alternative_end(text);
        TRY(expand_one(out, pattern, &b, text, (size_t)(at - text), depth, err));
    }
    return APL_OK;
}

apl_status expand_source(const char *source, struct expanded *out, apl_error *err)
{
    return names_something(source) ? expand_add(out, source, err) : expand_braces(out, source, 0, err);
}

/* ---------------------------------------------------------------------------------------------------- directories */

static apl_status add_below(struct expanded *out, const char *directory, const char *name, apl_error *err)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        return fail_nomem(err);
    snprintf(path, size, "%s/%s", directory, name);
    apl_status status = expand_add(out, path, err);
    free(path);
    return status;
}

static apl_status add_archives(struct expanded *out, const char *directory, const struct listing *list,
                               apl_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (name_is_archive(list->files[i]))
            TRY(add_below(out, directory, list->files[i], err));
    return APL_OK;
}

static bool has_any(const struct listing *list, bool (*other)(const char *name))
{
    for (size_t i = 0; i < list->count; i++)
        if (other(list->files[i]))
            return true;
    return false;
}

static apl_status expand_folder(struct expanded *out, const char *folder, bool (*other)(const char *name),
                                unsigned levels, bool *claimed, apl_error *err);

static apl_status expand_folders(struct expanded *out, const char *directory, const struct listing *list,
                                 bool (*other)(const char *name), unsigned levels, bool *claimed,
                                 apl_error *err)
{
    struct expanded folders = {0};
    apl_status status = APL_OK;
    for (size_t i = 0; i < list->folder_count && status == APL_OK; i++)
        status = add_below(&folders, directory, list->folders[i], err);
    for (size_t i = 0; i < folders.count && status == APL_OK && !*claimed; i++)
        status = expand_folder(out, folders.paths[i], other, levels, claimed, err);
    expanded_free(&folders);
    return status;
}

/* *claimed: a folder has files of another kind, or cannot be listed, which reading the directory will tell. */
static apl_status expand_folder(struct expanded *out, const char *folder, bool (*other)(const char *name),
                                unsigned levels, bool *claimed, apl_error *err)
{
    struct listing list;
    apl_error why;
    size_t before = out->count;
    apl_status status = listing_read(folder, false, &list, &why);
    *claimed = status != APL_OK || levels == 0 || has_any(&list, other);
    status = status == APL_E_NOMEM ? fail_nomem(err) : APL_OK;
    if (status == APL_OK && !*claimed)
        status = add_archives(out, folder, &list, err);
    if (status == APL_OK && !*claimed && out->count == before)
        status = expand_folders(out, folder, &list, other, levels - 1, claimed, err);
    listing_free(&list);
    return status;
}

apl_status expand_archives(const char *directory, bool (*other)(const char *name), struct expanded *out,
                           apl_error *err)
{
    struct listing list;
    bool claimed = false;
    apl_status status = listing_read(directory, false, &list, err);
    if (status == APL_OK)
        status = add_archives(out, directory, &list, err);
    if (status == APL_OK && out->count == 0 && !has_any(&list, other))
        status = expand_folders(out, directory, &list, other, FOLDERS_DOWN, &claimed, err);
    if (claimed)
        expanded_free(out);
    listing_free(&list);
    return status;
}
