/* The table of formats. */
#include "format.h"

#include <stdio.h>

const struct format *const formats[] = {
    &format_cifar, &format_folder,   &format_webdataset, &format_idx, &format_npy,
    &format_list,  &format_tfrecord, &format_tokens,     &format_raw, NULL};

const struct format *format_by_name(const char *name)
{
    for (size_t i = 0; formats[i]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

const char *format_names(char *out, size_t size)
{
    size_t used = 0;
    *out = 0;
    for (size_t i = 0; formats[i] && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s",
                                 i == 0           ? ""
                                 : formats[i + 1] ? ", "
                                                  : " and ",
                                 formats[i]->name);
    return out;
}
