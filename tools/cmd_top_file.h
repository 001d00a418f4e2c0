/* The file of one reader, for `apldata top`. */
#ifndef CMD_TOP_FILE_H
#define CMD_TOP_FILE_H

#include "cmd_top.h"

/* Is it the name of a reader's file: two numbers? *pid: the first, of its process. */
bool top_file_is_name(const char *name, uint64_t *pid);

/* Fills in a reader whose `pid` is set, to be freed in either case. False: the file has just been removed, or *why it is no reader's. */
bool top_file_read(int directory, const char *name, struct top_reader *reader, char why[128]);
void top_file_free(struct top_reader *reader);

#endif
