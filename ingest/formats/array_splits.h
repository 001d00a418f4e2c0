/* Exported arrays whose file names do not tell splits and fields: the splits.json beside them says what each is. */
#ifndef ARRAY_SPLITS_H
#define ARRAY_SPLITS_H

#include "arrays.h"

struct array_splits {
    void *json; /* owns the strings; NULL: there is no such file */
};

/* Looks for it beside the host's files; one beside files of several folders is refused. To be freed in any case. */
apl_status array_splits_find(struct array_splits *s, const struct format_host *host, apl_error *err);
void array_splits_free(struct array_splits *s);

/* Gives the array of that file its field, in its order and role, and its split. *named false: names of files must tell them. */
apl_status array_splits_name(const struct array_splits *s, const struct format_file *file,
                             struct array *array, bool *named, apl_error *err);

/* After that: where a directory was given, all files that the list has must be there. */
apl_status array_splits_check(const struct array_splits *s, const struct format_host *host, apl_error *err);

#endif
