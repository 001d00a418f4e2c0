/* See class_notes.h. */
#include "class_notes.h"

#include <ctype.h>
#include <stdio.h>

static int folded(const char **name)
{
    while (**name == ' ')
        ++*name;
    int c = (unsigned char)**name;
    *name += c != 0;
    return c < 0x80 ? tolower(c) : c;
}

static int compare_folded(const char *a, const char *b)
{
    int x, y;
    do {
        x = folded(&a);
        y = folded(&b);
    } while (x == y && x != 0);
    return x - y;
}

static int by_folded(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    int order = compare_folded(x, y);
    return order ? order : strcmp(x, y);
}

void class_notes_tell(const struct format_host *host, const char *field, const char *const *names,
                      size_t count)
{
    char text[APL_MAX_NAME * 3 + 160];
    const char **sorted = count > 1 ? malloc(count * sizeof *sorted) : NULL;
    if (!sorted)
        return;
    memcpy(sorted, names, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_folded);
    for (size_t i = 1; i < count; i++) {
        if (compare_folded(sorted[i], sorted[i - 1]) != 0)
            continue;
        snprintf(text, sizeof text, "classes of %s that differ in case or blanks alone: '%s' and '%s'", field,
                 sorted[i - 1], sorted[i]);
        host->notice(host->user, "", text);
        break;
    }
    free(sorted);
}
