/* Which split a name means: see split.h. */
#include "split.h"

#include <stdio.h>

#define LIST_TEXT 128

/* "train, test": as many of the source's splits as there is room for. */
static const char *list_splits(const apl_store *store, char text[LIST_TEXT])
{
    char shown[64];
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < store->manifest.split_count; i++) {
        const char *name = store->splits[i].name, *comma = n ? ", " : "";
        printable(shown, sizeof shown, name, strlen(name));
        if (n + strlen(comma) + strlen(shown) >= LIST_TEXT - 8) { /* "..." must fit behind the next comma */
            snprintf(text + n, LIST_TEXT - n, "%s...", comma);
            break;
        }
        n += (size_t)snprintf(text + n, LIST_TEXT - n, "%s%s", comma, shown);
    }
    return text;
}

apl_status split_not_found(const apl_store *store, const char *name, apl_error *err)
{
    char shown[256], list[LIST_TEXT];
    return fail(err, APL_E_NOTFOUND, "%s: has no split %s; the source's splits are %s", store->name,
                *name ? printable(shown, sizeof shown, name, strlen(name)) : "of an empty name",
                list_splits(store, list));
}

/* A rest is called PARENT-NAME, and names may hold '-' themselves: every place where its file's name can begin
 * is tried. */
apl_status split_find_rest(const apl_store *store, const char *name, const char *but, struct split_file *file,
                           apl_error *err)
{
    for (const char *dash = strchr(name, '-'); dash; dash = strchr(dash + 1, '-')) {
        if (but && strcmp(but, dash + 1) == 0)
            continue;
        apl_status status = split_file_read(store, dash + 1, file, err);
        if (status == APL_E_NOTFOUND)
            continue;
        if (status != APL_OK)
            return status;
        size_t parent = strlen(file->parent);
        if (parent == (size_t)(dash - name) && memcmp(file->parent, name, parent) == 0)
            return APL_OK;
        split_file_free(file);
    }
    return split_not_found(store, name, err);
}
