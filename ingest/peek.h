/* The names of the first files in an archive, to tell what it is. */
#ifndef PEEK_H
#define PEEK_H

#include <stddef.h>

#define PEEK_NAMES 16

/* Up to PEEK_NAMES names with their folders, raw bytes, each to be freed; as many as could be read, and none after one of CIFAR's. */
size_t peek_members(const char *path, char *names[PEEK_NAMES]);

#endif
