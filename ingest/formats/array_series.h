/* Arrays that look like parts of one, such as x_0.npy and x_1.npy, but become fields side by side. */
#ifndef ARRAY_SERIES_H
#define ARRAY_SERIES_H

#include "arrays.h"

struct array_series_name;

/* From {0} to array_series_free(). */
struct array_series {
    struct array_series_name *names;
    size_t count, room;
};

void array_series_free(struct array_series *s);

/* An array by its split, field, type and shape, of a file that is `below`: see struct format_file. */
apl_status array_series_take(struct array_series *s, const struct array *array, const char *below,
                             apl_error *err);

/* After the last: worth a line, if names of fields differ only in a number, or if the arrays of a split are from several folders of
 * a source. */
void array_series_tell(const struct array_series *s, const struct format_host *host);

#endif
