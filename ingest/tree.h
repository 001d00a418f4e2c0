/* A directory with all its subdirectories as a source: files in the byte order of their paths, each read in one go or in a few. */
#ifndef TREE_H
#define TREE_H

#include "hasher.h"
#include "source.h"

#include <sys/stat.h>

struct tree;

struct tree_options {
    const char *name; /* for messages, safe to print; must live as long as the tree */
    source_wants wants;
    bool list;   /* only names, of files and links, wanted or not, and of directories: nothing is opened */
    bool follow; /* symbolic links are what they lead to, wherever that lies */
    struct stat except;      /* of a store that is left out; st_ino 0: of none */
    int (*poll)(void *user); /* may be NULL */
    void *user;              /* of both */
    struct hasher *sha;      /* takes what source_digest() says; may be NULL; quick, of a list */
};

/* Takes over `fd`, that of the directory, also when it fails. */
apl_status tree_open(int fd, const struct tree_options *options, struct tree **tree, apl_error *err);
void tree_close(struct tree *tree);

/* Goes to the next wanted file, whose predecessor must have been read to its end. Names that begin with a dot are passed over;
 * without `follow`, a symbolic link that is wanted, or that leads to a directory, is an error; with it, one that leads nowhere, or
 * back to a directory above it. */
apl_status tree_next(struct tree *tree, struct source_member *member, apl_error *err);

/* Where names are listed: opens the file that tree_next() has given. */
apl_status tree_look(struct tree *tree, uint64_t *size, apl_error *err);

/* The file's next bytes, valid until the next call; APL_END after as many as it has. */
apl_status tree_block(struct tree *tree, const uint8_t **data, size_t *size, apl_error *err);

/* Bytes read so far of all files. */
uint64_t tree_bytes(const struct tree *tree);

#endif
