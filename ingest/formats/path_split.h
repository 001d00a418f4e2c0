/* Of which split a file is, as its path tells: the one rule for all formats whose files are of splits. */
#ifndef PATH_SPLIT_H
#define PATH_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct path_split {
    const char *split; /* "train" where nothing tells another */
    uint32_t rank;     /* splits come in this order: train first */
    const char *other; /* another split that the file's name tells too; NULL: none */
    bool told;
    bool by_folder; /* it is the name of a folder that tells it */
    const char
        *like; /* where nothing tells: a split that is among the words of a folder's name; NULL: none */
};

/* What a word in the file's name tells; or else the nearest folder that is called as a split is and no more, in whatever case; or else
 * train. `path` begins at path_split_from(): with the folder that was given as a source, or, of a file that was given,
 * with its folder. What is further up tells nothing. */
struct path_split split_of_path(const char *path);

/* The same by the folders alone. */
struct path_split split_of_folders(const char *path);

/* Where in the path of a source, a directory or a file, what may tell a split begins: in bytes. */
size_t path_split_from(const char *source, bool directory);

#endif
