/* Other names for the classes of folders, as ImageNet's wnids have them: lines of a file, "n01440764 tench, Tinca tinca". */
#ifndef CLASS_MAP_H
#define CLASS_MAP_H

#include "status.h"

#include <stdint.h>

/* The lines, as the caller of the ingest gave them. */
struct class_map {
    const char *const *lines; /* a folder, blanks or a tab, a name; or nothing */
    size_t count;
    const char *file; /* for errors; safe to print */
};

/*
 * The name of each of `count` folders, which are sorted, in *names: an array that the caller frees, with all names in its one
 * allocation. Where folders have one name, as ImageNet has two cranes, each gets its folder too: "crane (n02012849)". Lines of
 * folders that there are not mean nothing. Likely errors: APL_E_INVALID names the line, or the folder that has none.
 */
apl_status class_map_names(const struct class_map *map, const char *const *folders, uint32_t count,
                           const char ***names, apl_error *err);

#endif
