/*
 * What the images of a folder are, found out before the first of them is stored: kept as JPEG files, or decoded; of one shape or of
 * any; of 8 bits or 16. JPEG files are known by their first bytes, of others the header is read.
 */
#ifndef SURVEY_H
#define SURVEY_H

#include "decode.h"
#include "format.h"

/* How the images of a store lie in it. */
struct image_plan {
    bool mask;         /* numbers of classes: see mask_maker.h */
    bool keep;         /* as JPEG files; those that are such and that no rule changes as they are */
    bool fixed;        /* else: all have this shape: channels, height, width */
    uint32_t shape[3]; /* of those that are decoded */
    unsigned bits;     /* 8 or 16 */
    bool
        orientations; /* of those that are decoded some are to be turned, but are not: that is stored beside them */
    struct image_rules rules;
};

struct survey {
    uint64_t jpeg, other,
        passed;  /* images of either; not looked at, as they are called JPEG and all so called were */
    bool varies; /* decoded, they would have more than one shape */
    uint64_t wide, turned, shaped; /* of 16 bits; that EXIF says to turn; whose shape is known */
    uint64_t changed;              /* of a palette, scaled or inverted */
    uint32_t shape[3];             /* of the first */
};

/* Is a file of that name to be looked at? If not, it counts as a JPEG. */
bool survey_wants(struct survey *survey, const struct format_host *host, const char *name);

/* Takes a file. What is no image, or damaged, is passed over: reading it will tell. */
apl_status survey_take(struct survey *survey, const struct format_host *host, struct image_decoder *decoder,
                       const struct format_member *member, struct buffer *bytes, apl_error *err);

struct image_plan survey_plan(const struct survey *survey, const struct format_host *host);

#endif
