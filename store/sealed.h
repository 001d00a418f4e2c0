/* A store that has been written, before it gets its name. */
#ifndef SEALED_H
#define SEALED_H

#include "bytes.h"
#include "status.h"

/* The manifest is put last: makes sure that it, and the tree with it, read back from the file as it was written, and that the blocks are
 * there that it has. */
apl_status sealed_check(int file, const struct buffer *manifest, apl_error *err);

#endif
