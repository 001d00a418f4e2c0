/* What the first reading of a WebDataset shows of the endings of its files. */
#ifndef WDS_ENDINGS_H
#define WDS_ENDINGS_H

#include "wds_fields.h"

/* The number of an ending, or -1. */
int wds_find_ending(const struct wds_fields *f, const char *text);

/* The first reading: the number of the ending, which may be new. APL_E_UNSUPPORTED: there are too many. */
apl_status wds_add_ending(struct wds_fields *f, const char *text, unsigned *number, apl_error *err);

/* Are bytes of such a file to be looked at? */
bool wds_looks(struct wds_fields *f, const struct format_host *host, unsigned ending, const char *name);

/* Looks at them. Reading them for their record reports what is wrong with them. */
apl_status wds_look(struct wds_fields *f, const struct format_host *host, unsigned ending,
                    struct image_decoder *decoder, const struct format_member *member, struct buffer *bytes,
                    apl_error *err);

/* A sample had these endings: a bit of each. */
void wds_take_sample(struct wds_fields *f, uint64_t endings);

#endif
