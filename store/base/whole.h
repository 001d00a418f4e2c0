/* Reading and writing all of some bytes of a file, however many calls that takes. */
#ifndef WHOLE_H
#define WHOLE_H

#include <stddef.h>
#include <stdint.h>

#define WHOLE_ENDED (-1) /* the file ends before */

/* Bytes offset ... offset+size-1 of a file. 0, WHOLE_ENDED, or the errno of what failed. */
int read_whole(int fd, void *to, size_t size, uint64_t offset);

/* 0, or the errno of what failed: ENOSPC where nothing more can be written. */
int write_whole(int fd, const void *from, size_t size, uint64_t offset);

#endif
