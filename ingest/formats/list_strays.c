/* See list_strays.h. */
#include "list_strays.h"

#include "path_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void list_strays_take(struct list_strays *strays, const char *split, const char *path, size_t file,
                      uint64_t row)
{
    const struct path_split is = split_of_folders(path);
    if (!split || !is.told)
        return;
    strays->told |= 1u << is.rank;
    strays->whole |= *path == '/';
    if (strcmp(is.split, split) == 0 || strays->count++ > 0)
        return;
    strays->row = row;
    strays->file = file;
    strays->split = split;
    printable(strays->path, sizeof strays->path, path, strlen(path));
}

void list_strays_tell(const struct list_strays *strays, const struct list_columns *l)
{
    char text[512];
    bool one = (strays->told & (strays->told - 1)) == 0;
    if (strays->count == 0 || (strays->whole && one))
        return;
    snprintf(text, sizeof text,
             "images in folders that are called as another split than their rows': %" PRIu64
             " (first row %" PRIu64 ", in '%s': %s)%s",
             strays->count, strays->row, strays->split, strays->path,
             l->split < 0 ? "; a column called split says of which split each row is" : "");
    l->host->notice(l->host->user, l->host->file_count > 1 ? l->host->files[strays->file].path : "", text);
}
