/* See array_series.h. */
#include "array_series.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAMES_LOOKED_AT 256u /* more are no fields of a store either */

/* `like`: what arrays of one series have in common: all but the last number in the field's name. */
struct array_series_name {
    char like[APL_MAX_NAME + 1 + 32 * APL_MAX_DIMS];
    const char *split, *path; /* the arrays' */
    size_t folder; /* bytes of the path's folder, if the file was found in a folder of a directory; 0: not */
};

void array_series_free(struct array_series *s)
{
    free(s->names);
    *s = (struct array_series){0};
}

static bool is_array_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The name without its last number; "": it has none. */
static size_t put_stem(const char *field, char *out, size_t size)
{
    size_t end = strlen(field);
    while (end > 0 && !is_array_digit(field[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && is_array_digit(field[begin - 1]))
        begin--;
    *out = 0;
    return end > begin ? (size_t)snprintf(out, size, "%.*s#%s", (int)begin, field, field + end) : 0;
}

static size_t folder_of(const char *path, const char *below)
{
    const char *first = strchr(below, '/'), *slash = strrchr(path, '/');
    return first && strchr(first + 1, '/') && slash ? (size_t)(slash - path) : 0;
}

apl_status array_series_take(struct array_series *s, const struct array *array, const char *below,
                             apl_error *err)
{
    if (s->count == NAMES_LOOKED_AT)
        return APL_OK;
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 8;
        struct array_series_name *names = realloc(s->names, room * sizeof *names);
        if (!names)
            return fail_nomem(err);
        s->names = names;
        s->room = room;
    }
    struct array_series_name *is = &s->names[s->count++];
    *is = (struct array_series_name){
        .split = array->split, .path = array->path, .folder = folder_of(array->path, below)};
    size_t used = put_stem(array->field, is->like, sizeof is->like);
    if (used > 0)
        used += (size_t)snprintf(is->like + used, sizeof is->like - used, "/%d", (int)array->dtype);
    for (unsigned d = 0; used > 0 && d < array->ndim; d++)
        used += (size_t)snprintf(is->like + used, sizeof is->like - used, ",%" PRId64, array->shape[d]);
    return APL_OK;
}

static bool same_series(const struct array_series_name *a, const struct array_series_name *b)
{
    return *a->like && strcmp(a->like, b->like) == 0 && strcmp(a->split, b->split) == 0;
}

static bool other_folder(const struct array_series_name *a, const struct array_series_name *b)
{
    return a->folder && b->folder && strcmp(a->split, b->split) == 0 &&
           (a->folder != b->folder || memcmp(a->path, b->path, a->folder) != 0);
}

/* The first pair of which that holds, and how many more are like the first of it. */
static size_t find_pair(const struct array_series *s,
                        bool (*holds)(const struct array_series_name *, const struct array_series_name *),
                        const struct array_series_name **first, const struct array_series_name **second)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t count = 0;
        *first = &s->names[i];
        for (size_t j = i + 1; j < s->count; j++)
            if (holds(*first, &s->names[j]) && count++ == 0)
                *second = &s->names[j];
        if (count > 0)
            return count;
    }
    return 0;
}

static const char *name_in_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void array_series_tell(const struct array_series *s, const struct format_host *host)
{
    const struct array_series_name *first = NULL, *second = NULL;
    char text[512], more[40] = "";
    size_t count = find_pair(s, same_series, &first, &second);
    if (count > 1)
        snprintf(more, sizeof more, " (and %zu more)", count - 1);
    snprintf(text, sizeof text,
             "and %.120s%s become fields side by side; if they are parts of one array, join them first, as "
             "np.concatenate() does",
             second ? name_in_path(second->path) : "", more);
    if (count > 0)
        host->notice(host->user, first->path, text);
    if (find_pair(s, other_folder, &first, &second) == 0)
        return;
    snprintf(text, sizeof text, "becomes a field beside that of another folder, %.300s", first->path);
    host->notice(host->user, second->path, text);
}
