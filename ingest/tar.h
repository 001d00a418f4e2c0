/*
 * What libarchive does for us: undoing xz, zstd and bzip2, and finding the members of a tar. It gets plain
 * bytes to work on, never a file, and nothing is ever extracted.
 */
#ifndef TAR_H
#define TAR_H

#include "input.h"
#include "source.h"

/* Undoing compression: reads packed bytes from a callback, writes plain ones. */
enum unfilter_kind { UNFILTER_NONE, UNFILTER_XZ, UNFILTER_ZSTD, UNFILTER_BZIP2 };
struct unfilter;

/* The next packed bytes, valid until the next call; *size == 0 at the end. */
typedef apl_status (*unfilter_read)(void *user, const uint8_t **data, size_t *size, apl_error *err);

apl_status unfilter_open(enum unfilter_kind kind, const char *name, unfilter_read read, void *user,
                         struct unfilter **unfilter, apl_error *err);
void unfilter_close(struct unfilter *unfilter);

/* Fills out[0 ... room-1]; *got < room only at the end, after which nothing but NUL bytes has followed. */
apl_status unfilter_fill(struct unfilter *unfilter, uint8_t *out, size_t room, size_t *got, apl_error *err);

/* The members of a tar. */
struct tar;

struct tar_options {
    const char *name; /* for messages, safe to print; must live as long as the tar */
    source_wants wants;
    void *user;
    bool folders; /* names have them, and there may be as many members as there are */
    bool list;    /* only names, of all files and directories; links and the like count as files */
};

/* `input` must live as long as the tar. */
apl_status tar_open(struct input *input, const struct tar_options *options, struct tar **tar, apl_error *err);
void tar_close(struct tar *tar);

/* Goes to the next wanted member, whose predecessor must have been read to its end; APL_END after the input
 * has been read to its end and nothing but NUL bytes was found behind the tar. */
apl_status tar_next(struct tar *tar, struct source_member *member, apl_error *err);

/* The member's next bytes, valid until the next call; never none. APL_END after as many as it has. */
apl_status tar_block(struct tar *tar, const uint8_t **data, size_t *size, apl_error *err);

#endif
