/* Finding the members of a tar, by libarchive: it gets plain bytes to work on, never a file, and nothing is ever extracted. */
#ifndef TAR_H
#define TAR_H

#include "input.h"
#include "source.h"

/* The members of a tar. */
struct tar;

struct tar_options {
    const char *name; /* for messages, safe to print; must live as long as the tar */
    source_wants wants;
    void *user;
    bool folders;    /* names have them, and there may be as many members as there are */
    bool files_only; /* directories are passed over, whatever they are called */
    bool list;       /* only names, of all files and directories; links and the like count as files */
};

/* `input` must live as long as the tar. */
apl_status tar_open(struct input *input, const struct tar_options *options, struct tar **tar, apl_error *err);
void tar_close(struct tar *tar);

/* Goes to the next wanted member, whose predecessor must have been read to its end; APL_END after the input
 * has been read to its end and nothing but NUL bytes was found behind the tar. */
apl_status tar_next(struct tar *tar, struct source_member *member, apl_error *err);

/* After APL_END: is there no end mark, as in an archive that was cut off between two members? */
bool tar_lacks_end(const struct tar *tar);

/* Where names are listed: how many bytes the member has that tar_next() has given; 0 of what is no regular file. */
apl_status tar_look(struct tar *tar, uint64_t *size);

/* Passes over what is left of the member that tar_next() has given. */
apl_status tar_leave(struct tar *tar, apl_error *err);

/* The member's next bytes, valid until the next call; never none. APL_END after as many as it has. */
apl_status tar_block(struct tar *tar, const uint8_t **data, size_t *size, apl_error *err);

#endif
