/* The fields that --fields chooses: see field_names.h. */
#include "field_names.h"

#include "args.h"
#include "report.h"

#include <string.h>

int field_names_take(struct field_names *names, const char *value)
{
    for (char *at = (char *)value; at;) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma++ = 0;
        if (!*at)
            return misuse("--fields needs names, with a comma between two");
        if (names->count == APL_MAX_FIELDS)
            return misuse("more than %d fields", APL_MAX_FIELDS);
        names->name[names->count++] = at;
        at = comma;
    }
    return 0;
}

int field_names_check(const struct field_names *names, const apl_store *store, const char *path)
{
    for (unsigned i = 0; i < names->count; i++)
        if (apl_store_find_field(store, names->name[i]) < 0)
            return failed("%s: no field '%s'", shown_db(path), shown(names->name[i]));
    return 0;
}
