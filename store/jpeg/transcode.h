/* From a JPEG file to its indexed form, and back: see indexed.h. */
#ifndef TRANSCODE_H
#define TRANSCODE_H

#include "colours.h"
#include "entropy.h"
#include "indexed.h"
#include "stream.h"

/* The working memory of one thread. */
struct transcoder {
    struct entropy *entropy;
    struct blocks blocks;
    struct buffer plain, pads, parts, restored;
    struct stream stream;
    bool takes_colours;         /* of what is made a file again: */
    struct colour_sums colours; /* of the last; of no image if its components are red, green and blue */
};

apl_status transcoder_init(struct transcoder *t, apl_error *err);
void transcoder_free(struct transcoder *t);

/* Appends the indexed form of a JPEG file to `out`. *indexed is false, and `out` as it was, if it has none: the file is not of a
 * kind that has one, is no JPEG file or a damaged one, or would be restored to other bytes. Likely errors: APL_E_NOMEM. */
apl_status transcode(struct transcoder *t, const uint8_t *file, size_t size, struct buffer *out,
                     bool *indexed, apl_error *err);

/* Sums over the colours of a JPEG file, from its coefficients; of no image if the file is not taken, or is damaged, or its components
 * are red, green and blue. Likely errors: APL_E_NOMEM. */
apl_status transcode_sums(struct transcoder *t, const uint8_t *file, size_t size, struct colour_sums *sums,
                          apl_error *err);

/* See indexed_check(). */
apl_status transcode_check(struct transcoder *t, const struct indexed *x, apl_error *err);

/* Appends the file, of `file_size` bytes, to `out`: to the byte, and with the image that the head describes, or it is an error. Likely
 * errors: APL_E_CORRUPT, APL_E_NOMEM. */
apl_status transcode_back(struct transcoder *t, const uint8_t *bytes, size_t size, size_t file_size,
                          struct buffer *out, apl_error *err);

/* The first step of that: all coefficients, into t->blocks. Likely errors: APL_E_CORRUPT, APL_E_NOMEM. */
apl_status transcode_blocks(struct transcoder *t, const struct indexed *x, apl_error *err);

/* Of the last image that was transcoded, either way: was its file progressive? */
static inline bool transcoder_was_progressive(const struct transcoder *t)
{
    return t->stream.is_progressive;
}

/* Appends the file that t->blocks and t->parts make, of `size` bytes, whose headers must say `r` of the image; `pads` is an enum
 * pads_kind. Likely errors: APL_E_CORRUPT, APL_E_NOMEM. */
apl_status restore_file(struct transcoder *t, const struct rendering *r, unsigned pads, size_t size,
                        struct buffer *out, apl_error *err);

/* restoring.c: what restores a file. Of one of `file` bytes, its parts come to at most so many. */
static inline size_t restoring_most(size_t file)
{
    return 2 * file + 32;
}
enum pads_kind { PADS_ZEROS, PADS_ONES, PADS_LISTED };

/* Appends it; t->parts has the parts. */
apl_status restoring_put(struct transcoder *t, uint64_t sum, unsigned pads, const uint8_t *tables,
                         size_t tables_bytes, struct buffer *out, apl_error *err);

struct restoring {
    uint64_t sum; /* XXH3-64 of the file */
    unsigned pads;
};
/* Takes it, and the parts, of at most `most` bytes, into t->parts. */
apl_status restoring_take(struct transcoder *t, const struct indexed *x, size_t most, struct restoring *r,
                          apl_error *err);

#endif
