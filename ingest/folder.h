/* A directory with the members of a dataset as files: its own, or those of the first of its subdirectories
 * that has any. */
#ifndef FOLDER_H
#define FOLDER_H

#include "hasher.h"
#include "source.h"

struct folder;

struct folder_options {
    const char *name; /* for messages, safe to print; must live as long as the folder */
    bool follow;      /* symbolic links are what they lead to, wherever that lies */
    source_wants wants;
    int (*poll)(void *user); /* may be NULL */
    void *user;              /* of both */
    struct hasher *sha;      /* takes what source_digest() says; may be NULL */
};

/* Takes over `fd`, that of the directory, also when it fails. */
apl_status folder_open(int fd, const struct folder_options *options, struct folder **folder, apl_error *err);
void folder_close(struct folder *folder);

/* Goes to the next file, by name; its predecessor must have been read to its end. */
apl_status folder_next(struct folder *folder, struct source_member *member, apl_error *err);

/* The file's next bytes, valid until the next call; APL_END after as many as it has. */
apl_status folder_block(struct folder *folder, const uint8_t **data, size_t *size, apl_error *err);

/* The subdirectory that has the files, and a "/"; "": they are the directory's own. */
const char *folder_subfolder(const struct folder *folder);

/* Bytes read so far of all files, and to be read. */
uint64_t folder_bytes(const struct folder *folder);
uint64_t folder_size(const struct folder *folder);

/* Adds samples of its files, up to 64, to what tells it from another. */
apl_status folder_sample(const struct folder *folder, struct sha256 *sha, apl_error *err);

#endif
