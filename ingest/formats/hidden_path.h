/* Which members of a source are passed over because of their names. */
#ifndef HIDDEN_PATH_H
#define HIDDEN_PATH_H

#include <stdbool.h>

/* Does a part of the path begin with a dot, or is it what macOS leaves in archives? "." and ".." hide nothing: a path that
 * leads out of the archive must be refused, not passed over. */
bool path_is_hidden(const char *path);

#endif
