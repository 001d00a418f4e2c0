/*
 * Files that appear whole or not at all: written under temporary names beside where they belong, and renamed
 * together at the end. What is no regular file is written into as the bytes come: see place.h. Every call that fails
 * has said why on stderr.
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
    char *path;      /* where that leads, by way of links */
    char *temporary; /* beside it, until it is renamed */
    bool into;       /* a device or the like: there is no temporary */
};

struct outset {
    char *folder;
    bool force;       /* replace what is there */
    bool made_folder; /* so remove it when nothing comes of it */
    struct outfile *files;
    size_t count;
};

/* Files are to go into `folder`, which is made if `make` says so and need be. */
int outset_open(struct outset *set, const char *folder, bool make, bool force);

/* Begins the file `name` of the folder; its number in the set, or -1. Names with a slash or of dots alone are
 * refused, since they may come from a store. */
int outset_add(struct outset *set, const char *name);

/* All of the bytes: at the end of file `i`, or at `offset`. A file takes one of the two. */
int outset_write(struct outset *set, int i, const void *data, size_t size);
int outset_write_at(struct outset *set, int i, const void *data, size_t size, uint64_t offset);

/* Closes the files and gives them their names. */
int outset_commit(struct outset *set);

/* Frees the set; what was not committed is removed. */
void outset_close(struct outset *set);

/* All of the bytes to a descriptor; false with errno set. */
bool write_all(int fd, const void *data, size_t size);

#endif
