/* Names of classes that are alike but for their case or blanks, such as Cat and cat of two splits: they are classes of their own. */
#ifndef CLASS_NOTES_H
#define CLASS_NOTES_H

#include "format.h"

/* A note names the first two. Names in any order, safe to print. Without the memory to compare them, there is none. */
void class_notes_tell(const struct format_host *host, const char *field, const char *const *names,
                      size_t count);

#endif
