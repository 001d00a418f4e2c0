/* What is found where a path leads: see files.h. */
#include "distinct.h"
#include "file_name.h"
#include "file_stream.h"
#include "found_file.h"
#include "listing.h"
#include "path_split.h"
#include "zipfile.h"

#include <stdio.h>
#include <sys/stat.h>

#define LEVELS_DOWN 32 /* directories that hold nothing but the next */
#define MOST_LINKS \
    (1u << 17) /* to directories: links that fork, and fork again, are as endless as those that go round */

/* A directory, and the one that it lies in. */
struct way {
    const struct way *above;
    dev_t device;
    ino_t inode;
};

/* The first bytes, unpacked. */
static apl_status look_inside(struct files *files, size_t file, apl_error *err)
{
    struct format_file *seen = &files->seen[file];
    struct place *place = files->places[file];
    struct stream *s;
    TRY(stream_open(files, file, seen->packed, NULL, &s, err));
    const struct cursor *c = &s->feed.cursor;
    const uint8_t *data;
    while (seen->head_size < PLACE_HEAD && (data = cursor_take(&s->feed.cursor, 1))) {
        size_t n = 1 + cursor_left(c) < PLACE_HEAD - seen->head_size ? 1 + cursor_left(c)
                                                                     : PLACE_HEAD - seen->head_size;
        memcpy(place->head + seen->head_size, data, n);
        seen->head_size += n;
        s->feed.cursor.at += n - 1;
    }
    apl_status status = feed_failure(&s->feed, err);
    stream_close(files, s);
    seen->head = place->head;
    seen->archive = status == APL_OK && (is_tar(seen->head, seen->head_size) ||
                                         (!seen->packed && zipfile_is(seen->head, seen->head_size)));
    if (seen->archive)
        place->member_count = peek_members(place->open_path, place->members);
    seen->members = (const char *const *)place->members;
    seen->member_count = place->member_count;
    return status;
}

static bool make_room(struct files *files)
{
    if (files->count < files->room)
        return true;
    size_t room = files->room ? 2 * files->room : 16;
    struct format_file *seen = realloc(files->seen, room * sizeof *seen);
    if (seen)
        files->seen = seen;
    struct place **places = realloc(files->places, room * sizeof *places);
    if (places)
        files->places = places;
    if (!seen || !places)
        return false;
    files->room = room;
    return true;
}

/* Does the same directory hold the file unpacked? It came shortly before. */
static bool has_unpacked(const struct files *files, const char *name)
{
    for (size_t i = files->count; i > 0 && files->count - i < 64; i--)
        if (!files->seen[i - 1].packed && strcmp(files->seen[i - 1].name, name) == 0)
            return true;
    return false;
}

/* `given`: by name, not found in a directory. */
static apl_status add_file(struct files *files, const char *path, bool given, apl_error *err)
{
    bool follow = given || files->options.follow;
    struct place *place = make_room(files) ? place_new(path, files->below, follow) : NULL;
    bool packed = false;
    if (!place)
        return fail_nomem(err);
    apl_status status = place_find(place, files->options.any_bytes, &packed, err);
    if (status != APL_OK) {
        place_free(place);
        return status;
    }
    if (packed && !given && has_unpacked(files, place->name)) {
        place_free(place);
        return APL_OK;
    }
    size_t i = files->count++;
    place->source = files->source;
    files->places[i] = place;
    files->seen[i] = (struct format_file){.name = place->name,
                                          .path = place->path,
                                          .below = place->open_path + place->below,
                                          .size = packed ? FORMAT_UNKNOWN : (uint64_t)place->st.st_size,
                                          .packed = packed};
    return given || !files->options.unopened ? look_inside(files, i, err) : APL_OK;
}

/* ------------------------------------------------------------------------------------------------- directories */

static char *joined(const char *folder, const char *name)
{
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *path = malloc(size);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (path)
        snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    return path;
}

/* With the ending of what is packed, or without. */
static apl_status find_wanted(const struct files *files, const char *name, bool *wanted, apl_error *err)
{
    size_t bare;
    *wanted = files->options.wants(name, files->options.asked);
    if (*wanted || !ends_packed(name, &bare))
        return APL_OK;
    char *unpacked = strndup(name, bare);
    *wanted = unpacked && files->options.wants(unpacked, files->options.asked);
    free(unpacked);
    return unpacked ? APL_OK : fail_nomem(err);
}

static apl_status add_wanted(struct files *files, const char *folder, const char *name, bool *any,
                             apl_error *err)
{
    bool wanted;
    TRY(find_wanted(files, name, &wanted, err));
    *any |= wanted;
    if (!wanted)
        return APL_OK;
    char *path = joined(folder, name);
    apl_status status = path ? add_file(files, path, false, err) : fail_nomem(err);
    free(path);
    return status;
}

static apl_status add_names(struct files *files, const char *folder, const struct listing *list, bool *any,
                            apl_error *err)
{
    *any = false;
    for (size_t i = 0; i < list->count; i++)
        TRY(add_wanted(files, folder, list->files[i], any, err));
    return APL_OK;
}

/* Where links are followed, a directory may lie in itself: its files would be there again and again. */
static apl_status check_links(struct files *files, const char *path, struct way *way, apl_error *err)
{
    char shown[256];
    struct stat st;
    if (files->options.poll && files->options.poll(files->options.user))
        return fail(err, APL_E_CANCELLED, "cancelled");
    if (!files->options.follow)
        return APL_OK;
    printable(shown, sizeof shown, path, strlen(path));
    files->links += way->above && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    if (files->links > MOST_LINKS)
        return fail(err, APL_E_SOURCE, "%s: is a symbolic link, after 131,072 others to directories", shown);
    if (stat(path, &st) != 0)
        return APL_OK; /* it cannot be listed either */
    way->device = st.st_dev;
    way->inode = st.st_ino;
    for (const struct way *w = way->above; w; w = w->above)
        if (w->device == way->device && w->inode == way->inode)
            return fail(err, APL_E_SOURCE,
                        "%s: leads, by a symbolic link, back to a directory that it lies in", shown);
    return APL_OK;
}

static apl_status add_folder(struct files *files, const char *path, const struct way *above, int levels,
                             apl_error *err)
{
    struct listing list;
    struct way way = {.above = above};
    bool any = false;
    TRY(check_links(files, path, &way, err));
    apl_status status = listing_read(path, files->options.follow, &list, err);
    if (status == APL_OK)
        status = add_names(files, path, &list, &any, err);
    bool down = !any && levels > 0 && (files->options.deep || (list.count == 0 && list.folder_count == 1));
    for (size_t i = 0; status == APL_OK && down && i < list.folder_count; i++) {
        char *inner = joined(path, list.folders[i]);
        status = inner ? add_folder(files, inner, &way, levels - 1, err) : fail_nomem(err);
        free(inner);
    }
    listing_free(&list);
    return status;
}

apl_status files_add(struct files *files, const char *path, apl_error *err)
{
    struct stat st;
    bool directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    files->below = path_split_from(path, directory);
    files->source = ++files->added;
    if (!directory)
        return add_file(files, path, true, err);
    files->directory = true;
    return add_folder(files, path, NULL, LEVELS_DOWN, err);
}

apl_status files_check_distinct(const struct files *files, apl_error *err)
{
    const char **paths = malloc((files->count + 1) * sizeof *paths);
    if (!paths)
        return fail_nomem(err);
    for (size_t i = 0; i < files->count; i++)
        paths[i] = files->places[i]->open_path;
    apl_status status = distinct_paths(paths, files->count, err);
    free(paths);
    return status;
}

static const char *name_of_added(const struct files *files, const char *path)
{
    size_t i = 0;
    while (i + 1 < files->count && strcmp(files->places[i]->open_path, path) != 0)
        i++;
    return files->seen[i].name;
}

/* By whatever path. */
static bool has_file(const struct files *files, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    for (size_t i = 0; i < files->count; i++)
        if (files->places[i]->st.st_dev == st.st_dev && files->places[i]->st.st_ino == st.st_ino)
            return true;
    return false;
}

apl_status files_add_beside(struct files *files, const char *path,
                            bool (*belongs)(const char *name, const char *other), apl_error *err)
{
    struct listing list;
    size_t length = (size_t)(path_last(path) - path);
    char *folder = length ? strndup(path, length) : strdup(".");
    if (!folder)
        return fail_nomem(err);
    apl_status status = listing_read(folder, files->options.follow, &list, err);
    files->below = path_split_from(path, false);
    files->source = 0;
    for (size_t i = 0; status == APL_OK && i < list.count; i++) {
        size_t bare = strlen(list.files[i]);
        char *name = strndup(list.files[i], (ends_packed(list.files[i], &bare), bare));
        char *beside = length ? joined(folder, list.files[i]) : strdup(list.files[i]);
        if (!name || !beside)
            status = fail_nomem(err);
        else if (belongs(name_of_added(files, path), name) && !has_file(files, beside))
            status = add_file(files, beside, false, err);
        free(name);
        free(beside);
    }
    listing_free(&list);
    free(folder);
    return status;
}
