/* A part of a file, such as a member of a zip archive: stored or deflated, and checked against its CRC. */
#ifndef PART_H
#define PART_H

#include "format.h"

struct part;

/* Reads from `fd`, which it takes over, also when it fails. `name` is for messages and must live as long as the part. */
apl_status part_open(int fd, const char *name, const struct format_part *what, struct part **part,
                     apl_error *err);
void part_close(struct part *part);

/* The next bytes, valid until the next call; APL_END after all have been read and checked. */
apl_status part_next(struct part *part, const uint8_t **data, size_t *size, apl_error *err);

/* Reads exactly `size` bytes from `offset` on. */
apl_status part_read_at(int fd, const char *name, uint64_t offset, void *out, size_t size, apl_error *err);

#endif
