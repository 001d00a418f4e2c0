/* Parts of one directory belong together: see set_complete.h. */
#include "set_complete.h"

#include "part_name.h"

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

/* The first part that is missing among those that belong together, which are in order and differ; 0: none. */
static unsigned first_missing(const struct named_part *part, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (part[i].part != i + 1)
            return (unsigned)i + 1;
    return count < part->parts ? (unsigned)count + 1 : 0;
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
        return fail(err, APL_E_INCOMPLETE, "%s: part %u of %u is missing: %s%s", shown, missing,
                    part[i].parts, folder, name);
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
