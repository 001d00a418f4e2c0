/*
 * Files that appear whole or not at all: written under temporary names in the same directory, and renamed together at
 * the end. Devices and FIFOs are written to directly: see place.h. Any number of files can be written: those that are
 * finished, or put in one go, are not kept open. Every call that fails has said why on stderr.
 *
 * With `force`, a folder that holds an export is replaced as a whole, and refused if it holds anything else: see outmade.h. In any other
 * that `make` was set for, files of the same names are replaced, and it is refused if it holds others.
 */
#ifndef OUTFILE_H
#define OUTFILE_H

#include "outswap.h"
#include "outtree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct outfile {
    FILE *stream;    /* NULL: finished */
    char *name;      /* with the folder */
    char *path;      /* with links resolved */
    char *temporary; /* in the same directory, until it is renamed */
    bool into;       /* a device or FIFO: there is no temporary */
};

struct outset {
    char *folder;
    bool force;           /* replace what is there */
    bool alone;           /* the folder is to hold nothing else */
    bool made_folder;     /* so remove it on failure */
    bool names_foreign;   /* names come from a store, and links of such names are not followed */
    bool locked;          /* against those who clear up after exports that were killed, */
    int lock;             /* by this descriptor */
    struct outswap *swap; /* the folder is replaced as a whole; NULL: it is not */
    struct outfile *files;
    size_t count;
    struct outtree *trees; /* the folders in it */
    size_t tree_count;
    uint64_t put; /* files below these */
};

/* A set of files in `folder`, which is created if `make` is set and it does not exist. */
int outset_open(struct outset *set, const char *folder, bool make, bool force);

/* Starts the file `name` of the folder; its number in the set, or -1. Names with a slash, "." and ".." are refused,
 * since names may come from a store. */
int outset_add(struct outset *set, const char *name);

/* Writes all bytes, at the end of file `i` or at `offset`; use only one of the two on a file. */
int outset_write(struct outset *set, int i, const void *data, size_t size);
int outset_write_at(struct outset *set, int i, const void *data, size_t size, uint64_t offset);

/* Closes file `i`, to which nothing more is written. */
int outset_finish(struct outset *set, int i);

/* Writes the whole file `name`, a path that outtree_path_is_safe() and has at least one folder. The first folder of the
 * path must not exist before: it appears with all that is put below it. `twice` is what to say if the set has the file
 * already. */
int outset_put(struct outset *set, const char *name, const void *data, size_t size, const char *twice);

/* The files of the set. */
uint64_t outset_count(const struct outset *set);

/* Closes the files and gives them, and the folders, their names. */
int outset_commit(struct outset *set);

/* Frees the set; what was not committed is removed. */
void outset_close(struct outset *set);

#endif
