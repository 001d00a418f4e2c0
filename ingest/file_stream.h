/* The insides of `files`: which there are, and those that are open. */
#ifndef FILE_STREAM_H
#define FILE_STREAM_H

#include "beside.h"
#include "feed.h"
#include "files.h"
#include "input.h"

struct stream {
    struct format_stream seen; /* first, so that either stands for the other */
    struct feed feed;
    struct input *input;
    struct part *part; /* instead, of a part */
    struct hasher *sha;
    size_t file;
    struct stream *next;
};

struct files {
    struct files_options options;
    struct format_file *seen; /* as formats see them */
    struct place **places;    /* of each */
    size_t count, room;
    size_t below;   /* of the source that is being added: as of a place; */
    size_t source;  /* its number, as of a place */
    size_t added;   /* sources so far */
    unsigned links; /* to directories, that have been followed */
    bool directory; /* one was added */
    bool settled;   /* what tells them apart is known */
    uint64_t closed_bytes;
    struct stream *streams; /* that are open */
    struct beside beside;   /* of one of them: */
    size_t beside_file;     /* its number, and 1 */
    struct hasher *
        beside_sha; /* takes what is read beside them until they are settled, where that tells them apart; NULL: nothing yet */
};

/* Opens a file, `unpack`: what is in it, or the part of it if that is not NULL. It stands in files->streams until it is closed, which
 * takes no digest and reports no failure. */
apl_status stream_open(struct files *files, size_t file, bool unpack, const struct format_part *part,
                       struct stream **out, apl_error *err);
void stream_close(struct files *files, struct stream *s);

#endif
