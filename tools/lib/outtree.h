/*
 * A folder with all below it that appears whole or not at all: filled under a temporary name beside its own, and renamed at the
 * end. No file stays open, and nothing is held for each. Every call that fails has said why on stderr.
 */
#ifndef OUTTREE_H
#define OUTTREE_H

#include <stdbool.h>
#include <stddef.h>

struct outtree {
    char *path; /* where it will be */
    char *temporary;
    int fd; /* of the temporary folder, while files are put; else -1 */
};

/* Can it be the path of a file below a folder? Not with an absolute path, an empty part, or a part that begins with a dot, as
 * "..", does; nor with more than 24 folders or a part longer than 255 bytes. */
bool outtree_path_is_safe(const char *path);

/* Starts the folder `path`, which must not exist: folders are not replaced. `number` tells those of one process apart. */
int outtree_open(struct outtree *tree, const char *path, size_t number);

/* Writes the file `name`, a safe path, and makes the folders it lies in. `twice` is what to say if there is such a file. */
int outtree_put(struct outtree *tree, const char *name, const void *data, size_t size, const char *twice);

/* Holds nothing open until the next file is put. */
void outtree_rest(struct outtree *tree);

/* Gives the folder its name. */
int outtree_commit(struct outtree *tree);

/* Frees the tree; one that was not committed is removed, with all below it. */
void outtree_close(struct outtree *tree);

/* Removes a folder that was committed. */
void outtree_take_back(const struct outtree *tree);

/* Removes a folder with all below it. */
void outtree_remove(const char *path);

/* Writes all bytes to a descriptor; false with errno set. */
bool write_all(int fd, const void *data, size_t size);

#endif
