/* A zip archive as a source: its members in the order of its directory, each checked against its CRC. */
#ifndef ZIPFILE_H
#define ZIPFILE_H

#include "hasher.h"
#include "source.h"

struct zipfile;

struct zipfile_options {
    const char *name; /* for messages, safe to print; must live as long as the archive */
    source_wants wants;
    int (*poll)(void *user); /* may be NULL */
    void *user;              /* of both */
    bool folders;            /* names have them */
    bool list;               /* only names, of all files and directories */
    struct hasher
        *sha; /* takes the archive's bytes, after the last member; of a list, the directory; may be NULL */
};

/* Are the first bytes of a file those of a zip archive, but not of NumPy's arrays? */
bool zipfile_is(const uint8_t *head, size_t size);

/* Takes over `fd`, a regular file, also when it fails. Refuses an archive whose members overlap or, unless names are listed, of which
 * two have one name. */
apl_status zipfile_open(int fd, const struct zipfile_options *options, struct zipfile **zip, apl_error *err);
void zipfile_close(struct zipfile *zip);

/* Goes to the next wanted member, whose predecessor must have been read to its end. */
apl_status zipfile_next(struct zipfile *zip, struct source_member *member, apl_error *err);

/* Where names are listed: makes the member's bytes readable. *size: how many there are. */
apl_status zipfile_look(struct zipfile *zip, uint64_t *size, apl_error *err);

/* The member's next bytes, valid until the next call; APL_END after as many as it has, and its CRC was right. */
apl_status zipfile_block(struct zipfile *zip, const uint8_t **data, size_t *size, apl_error *err);

/* Bytes of the archive read so far. */
uint64_t zipfile_bytes(const struct zipfile *zip);

#endif
