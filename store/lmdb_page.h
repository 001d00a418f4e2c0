/* Pages and keys of an LMDB file, for those that walk it and take values from it: see lmdb_read.h. */
#ifndef LMDB_PAGE_H
#define LMDB_PAGE_H

#include "lmdb_read.h"

#define PAGE_HEAD     16u
#define PAGE_BRANCH   1u
#define PAGE_LEAF     2u
#define PAGE_OVERFLOW 4u
#define PAGE_META     8u

/* All of it, or an error: a file that ends early has been cut since it was opened. The file is one that is not mapped. */
apl_status page_read(const struct lmdb_reader *lmdb, uint64_t offset, uint8_t *to, size_t bytes,
                     apl_error *err);

/* "page 7 of the file: is used twice" */
apl_status page_bad(uint64_t page, const char *what, apl_error *err);

/* Does the page begin as page `number` does, and is it of exactly the type `type`? */
apl_status page_check(const uint8_t *page, uint64_t number, unsigned type, apl_error *err);

int compare_keys(const struct key *a, const struct key *b);

/* Pages that a value of `size` bytes has of its own. */
static inline uint64_t page_run(uint64_t size, uint32_t page_size)
{
    return (PAGE_HEAD + size - 1) / page_size + 1;
}

#endif
