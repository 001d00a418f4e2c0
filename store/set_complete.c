/* Parts of one directory belong together: see set_complete.h. */
#define _DEFAULT_SOURCE /* realpath */
#include "set_complete.h"

#include "part_name.h"
#include "store_file.h"
#include "url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A shard whose name is that of a part. */
struct named_part {
    const char *name;
    size_t folder; /* bytes of the name up to the part's own */
    unsigned part, parts;
};

static bool read_name(const char *name, struct named_part *is)
{
    const char *slash = strrchr(name, '/');
    *is = (struct named_part){.name = name, .folder = slash ? (size_t)(slash + 1 - name) : 0};
    return part_name_read(name + is->folder, &is->part, &is->parts);
}

static int by_set_of_parts(const struct named_part *x, const struct named_part *y)
{
    size_t shorter = x->folder < y->folder ? x->folder : y->folder;
    int order = memcmp(x->name, y->name, shorter);
    if (order == 0)
        order = (x->folder > y->folder) - (x->folder < y->folder);
    return order ? order : (x->parts > y->parts) - (x->parts < y->parts);
}

static int by_part(const void *a, const void *b)
{
    const struct named_part *x = a, *y = b;
    int order = by_set_of_parts(x, y);
    return order ? order : (x->part > y->part) - (x->part < y->part);
}

/* The first part that is missing among those that belong together, which are in order and may be given more than once; 0: none. */
static unsigned first_missing(const struct named_part *part, size_t count)
{
    unsigned next = 1;
    for (size_t i = 0; i < count && part[i].part <= next; i++)
        next = part[i].part + 1;
    return next <= part->parts ? next : 0;
}

static apl_status check_each_set(const struct named_part *part, size_t count, const char *shown,
                                 apl_error *err)
{
    for (size_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && by_set_of_parts(&part[i], &part[i + same]) == 0;)
            same++;
        unsigned missing = first_missing(&part[i], same);
        if (!missing)
            continue;
        char name[PART_NAME_BYTES], folder[512];
        part_name_make(missing, part[i].parts, name);
        printable(folder, sizeof folder, part[i].name, part[i].folder);
        return fail(err, APL_E_INCOMPLETE, "%s%spart %u of %u is missing: %s%s", shown, *shown ? ": " : "",
                    missing, part[i].parts, folder, name);
    }
    return APL_OK;
}

apl_status set_check_complete(const struct shard *shards, uint32_t count, const char *shown, apl_error *err)
{
    size_t found = 0;
    struct named_part *part = calloc((size_t)count + 1, sizeof *part);
    if (!part)
        return fail_nomem(err);
    for (uint32_t i = 0; i < count; i++)
        found += read_name(shards[i].name, &part[found]);
    qsort(part, found, sizeof *part, by_part);
    apl_status status = check_each_set(part, found, shown, err);
    free(part);
    return status;
}

/* ------------------------------------------------------------------------------------- stores at any paths */

/* realpath(); of what leads nowhere, the path as it is written. */
static char *real_path(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

/* Where the path really leads, but for its last part, which may be a link: its name counts, as in a list. */
static char *real_place(const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    if (strcmp(last, ".") == 0 || strcmp(last, "..") == 0 || slash == path)
        return real_path(path);
    char *parent = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    char *above = parent ? real_path(parent) : NULL;
    size_t size = above ? strlen(above) + strlen(last) + 2 : 0;
    char *place = above ? malloc(size) : NULL;
    if (place)
        snprintf(place, size, "%s/%s", above, last);
    free(above);
    free(parent);
    return place;
}

/* The path in a form in which parts of one directory begin alike. To be freed; NULL: out of memory. */
static char *one_form(const char *path)
{
    char *plain = url_is(path) ? shown_url(path) : strdup(path);
    size_t n = plain ? strlen(plain) : 0;
    while (n > 1 && plain[n - 1] == '/')
        plain[--n] = 0;
    if (!plain || url_is(path))
        return plain;
    char *place = real_place(plain);
    free(plain);
    return place;
}

apl_status apl_set_check_parts(const char *const *stores, size_t count, apl_error *err)
{
    if (!stores || count > UINT32_MAX / 2)
        return fail(err, APL_E_INVALID, "apl_set_check_parts: stores is NULL, or too many");
    struct shard *shards = calloc(count + 1, sizeof *shards);
    apl_status status = shards ? APL_OK : fail_nomem(err);
    for (size_t i = 0; i < count && status == APL_OK; i++)
        if (!stores[i])
            status = fail(err, APL_E_INVALID, "apl_set_check_parts: stores[%zu] is NULL", i);
        else if (!(shards[i].name = one_form(stores[i])))
            status = fail_nomem(err);
    if (status == APL_OK)
        status = set_check_complete(shards, (uint32_t)count, "", err);
    for (size_t i = 0; shards && i < count; i++)
        free(shards[i].name);
    free(shards);
    return status;
}
