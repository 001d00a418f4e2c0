/*
 * Files that appear whole or not at all: written under temporary names in the same directory, and renamed together at
 * the end. Devices and FIFOs are written to directly: see place.h. Every call that fails has said why on stderr.
 */
#ifndef OUTFILE_H
#define OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct outfile {
    FILE *stream;
    char *name;      /* with the folder */
    char *path;      /* with links resolved */
    char *temporary; /* in the same directory, until it is renamed */
    bool into;       /* a device or FIFO: there is no temporary */
};

struct outset {
    char *folder;
    bool force;       /* replace what is there */
    bool made_folder; /* so remove it on failure */
    struct outfile *files;
    size_t count;
};

/* A set of files in `folder`, which is created if `make` is set and it does not exist. */
int outset_open(struct outset *set, const char *folder, bool make, bool force);

/* Starts the file `name` of the folder; its number in the set, or -1. Names with a slash, "." and ".." are refused,
 * since names may come from a store. */
int outset_add(struct outset *set, const char *name);

/* Writes all bytes, at the end of file `i` or at `offset`; use only one of the two on a file. */
int outset_write(struct outset *set, int i, const void *data, size_t size);
int outset_write_at(struct outset *set, int i, const void *data, size_t size, uint64_t offset);

/* Closes the files and gives them their names. */
int outset_commit(struct outset *set);

/* Frees the set; what was not committed is removed. */
void outset_close(struct outset *set);

/* Writes all bytes to a descriptor; false with errno set. */
bool write_all(int fd, const void *data, size_t size);

#endif
