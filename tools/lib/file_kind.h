/* The usual ending of files by what is in them. */
#ifndef FILE_KIND_H
#define FILE_KIND_H

#include "apl.h"

#include <stdbool.h>

/* Of a media type: "jpg" of "image/jpeg"; "bin" of one that is not known. Static. */
const char *file_ending(const char *media);

/* Does the name have an ending, of whatever kind: "a.jpg", but not "a", ".a" or "b.c/a"? */
bool has_ending(const char *name);

#endif
