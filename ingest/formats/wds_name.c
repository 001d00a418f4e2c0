/* Takes a name apart: see wds_name.h. */
#include "wds_name.h"

#include <ctype.h>
#include <string.h>

/* Of the whole set, not of a sample: the first folder is called __so__. */
static bool is_meta(const char *name)
{
    size_t length = strcspn(name, "/");
    return length >= 4 && strncmp(name, "__", 2) == 0 && strncmp(name + length - 2, "__", 2) == 0;
}

bool wds_name_read(struct wds_name *n, const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name, *dot = strchr(base, '.');
    if (!dot || dot == base || !dot[1] || is_meta(name))
        return false;
    n->key = (size_t)(dot - name);
    size_t length = strlen(dot + 1);
    length = length < WDS_ENDING ? length : WDS_ENDING - 1;
    for (size_t i = 0; i < length; i++)
        n->ending[i] = (char)tolower((unsigned char)dot[1 + i]);
    n->ending[length] = 0;
    return true;
}

const char *wds_ending_kind(const char *ending)
{
    const char *dot = strrchr(ending, '.');
    return dot ? dot + 1 : ending;
}
