/* The file that the list of a set is in. */
#ifndef SET_FILE_H
#define SET_FILE_H

#include "bytes.h"
#include "set_list.h"
#include "status.h"

#include <sys/stat.h>

/* Reads the whole file; it may be anything. APL_E_NOTFOUND if it is missing. `st` may be NULL. */
apl_status set_file_read(int directory, const char *name, struct buffer *bytes, struct stat *st,
                         apl_error *err);

/* The name that a list of that content digest keeps when another replaces it: set-DIGEST.apl. */
void set_kept_name(const uint8_t digest[32], char name[SET_KEPT_BYTES]);

/* Writes the list in the directory, which the caller has locked, under that name, atomically. What has the name is replaced, or,
 * without `replace`, is APL_E_EXISTS. Errors name `shown`, the path of the directory. */
apl_status set_file_write(int directory, const char *shown, const char *name, const struct buffer *list,
                          bool replace, apl_error *err);

#endif
