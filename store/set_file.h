/* The file that the list of a set is in. */
#ifndef SET_FILE_H
#define SET_FILE_H

#include "bytes.h"
#include "status.h"

#include <sys/stat.h>

/* Reads the whole file; it may be anything. APL_E_NOTFOUND if there is none. `st` may be NULL. */
apl_status set_file_read(int directory, const char *name, struct buffer *bytes, struct stat *st,
                         apl_error *err);

/* Writes the list in the directory, which the caller has locked, atomically. A list that it replaces stays beside it, under the
 * name that its content digest gives it, if that is said. Errors name `shown`, the path of the directory. */
apl_status set_file_write(int directory, const char *shown, const struct buffer *list, const uint8_t *before,
                          apl_error *err);

#endif
