/* Files that lie beside data, and hold none. */
#ifndef DESCRIBING_H
#define DESCRIBING_H

#include <stdbool.h>

/* Does a file of that name, without its folders, describe data, or check it, such as README.md, LICENSE or SHA256SUMS? */
bool name_only_describes(const char *name);

#endif
