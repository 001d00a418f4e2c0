/* See warnings.h. */
#include "warnings.h"

#include <limits.h>
#include <string.h>

void warnings_begin(struct warnings *w)
{
    w->count = 0;
    w->first[0] = 0;
}

bool warnings_take(struct warnings *w, const char *text)
{
    if (w->count == 0)
        printable(w->first, sizeof w->first, text, strlen(text));
    w->count += w->count < UINT_MAX;
    return w->allowed;
}

apl_status warnings_check(const struct warnings *w, const char *kind, apl_error *err)
{
    return w->count == 0 || w->allowed ? APL_OK : fail(err, APL_E_CORRUPT, "%s: %s", kind, w->first);
}

apl_status warnings_add(struct warnings *w, const char *kind, const char *text, apl_error *err)
{
    (void)warnings_take(w, text);
    return warnings_check(w, kind, err);
}
