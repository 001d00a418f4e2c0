/*
 * The file that a reader offers its figures in, for apldata top and others: PID-N.json in a directory of the user's choice, N counting
 * the process's readers. It is replaced as a whole, so that nobody reads half of it, and only by the process that it is of.
 */
#ifndef MONITOR_FILE_H
#define MONITOR_FILE_H

#include "bytes.h"
#include "status.h"

#include <sys/types.h>

#define MONITOR_NAME 48
#define MONITOR_HEAD 1024 /* of all files of a process on a machine */

struct monitor_file {
    int directory;
    char shown[512];                             /* the directory, safe to print */
    char name[MONITOR_NAME], made[MONITOR_NAME]; /* in the directory; `made` is what becomes it */
};

/* Which process a file is of: the beginning of its JSON, up to the process's number, without it. A number alone would not do: it is
 * another process's elsewhere, and machines can share a directory. */
void monitor_file_head(char head[MONITOR_HEAD]);

/* Opens the directory, and removes files of processes of this user, on this machine, that are no more. APL_E_NOTFOUND, APL_E_IO: there is no
 * such directory. To be closed if it returns APL_OK. */
apl_status monitor_file_open(struct monitor_file *f, const char *directory, apl_error *err);

/* The file now says this. APL_E_IO, with the reason: it cannot be written; what was there stays. */
apl_status monitor_file_write(const struct monitor_file *f, const struct buffer *text, apl_error *err);

/* Removes the file, if there is one. */
void monitor_file_close(struct monitor_file *f);

#endif
