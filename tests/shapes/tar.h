/* Writes a tar archive (ustar), through a compressor if its name asks for one. */
#ifndef TAR_H
#define TAR_H

#include <stdio.h>
#include <sys/types.h>

struct tar {
    FILE *out;
    pid_t compressor; /* 0: none */
};

/* Opens `path` ("-": standard output) for writing; .gz, .tgz, .zst, .xz and .bz2 are compressed by the
 * programs of the system. 0, or -1 and errno. */
int tar_open(struct tar *tar, const char *path);

/* A folder (data NULL and name ending in '/') or a file. */
void tar_put(struct tar *tar, const char *name, const void *data, size_t size);

/* Ends the archive. 0 if all of it was written. */
int tar_close(struct tar *tar);

#endif
