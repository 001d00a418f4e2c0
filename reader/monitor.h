/*
 * A reader that can be watched: where its options, or APL_MONITOR, name a directory, a thread of its own writes a file there each second,
 * while it is open, that says what it has done (monitor_file, monitor_text). Otherwise there is no thread, and nothing is done. In a
 * child of fork() the reader is the parent's, and so is the file.
 */
#ifndef MONITOR_H
#define MONITOR_H

#include "reader.h"

/* The reader has been opened: it can be watched from now on if `directory`, or where that is NULL APL_MONITOR, names a directory that
 * exists; neither, or "": it is not. `name` is of the store or the socket. APL_E_NOTFOUND, APL_E_IO: the directory
 * cannot be written to. Later failures end nothing: the file is as old as it is until one can be written again. */
apl_status monitor_open(apl_reader *r, const char *directory, const char *name, apl_error *err);

/* With the reader's lock held: the thread is to end. Then: has it done so? */
void monitor_stop(apl_reader *r);
bool monitor_has_left(const apl_reader *r);

/* Joins the thread, or leaves it to itself. */
void monitor_release(apl_reader *r, bool left);

void monitor_free(apl_reader *r);

#endif
