/* Undoing xz, zstd and bzip2, by libarchive: reads packed bytes from a callback, writes plain ones. */
#ifndef UNFILTER_H
#define UNFILTER_H

#include "status.h"

enum unfilter_kind { UNFILTER_NONE, UNFILTER_XZ, UNFILTER_ZSTD, UNFILTER_BZIP2 };
struct unfilter;

/* The next packed bytes, valid until the next call; *size == 0 at the end. */
typedef apl_status (*unfilter_read)(void *user, const uint8_t **data, size_t *size, apl_error *err);

apl_status unfilter_open(enum unfilter_kind kind, const char *name, unfilter_read read, void *user,
                         struct unfilter **unfilter, apl_error *err);
void unfilter_close(struct unfilter *unfilter);

/* Fills out[0 ... room-1]; *got < room only at the end, after which nothing but NUL bytes has followed. */
apl_status unfilter_fill(struct unfilter *unfilter, uint8_t *out, size_t room, size_t *got, apl_error *err);

#endif
