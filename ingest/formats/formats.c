/* The table of formats. */
#include "format.h"

const struct format *const formats[] = {&format_cifar, &format_folder, NULL};

const struct format *format_by_name(const char *name)
{
    for (size_t i = 0; formats[i]; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}
