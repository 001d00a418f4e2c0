/* The members of a zip archive, as its directory has them: stored or deflated ones, neither encrypted nor split over disks. */
#ifndef ZIP_LIST_H
#define ZIP_LIST_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads exactly `size` bytes of a file from `offset` on. */
typedef apl_status (*zip_read)(void *user, uint64_t offset, void *out, size_t size, apl_error *err);

struct zip_member {
    char name[256];
    uint64_t offset; /* of its data */
    uint64_t packed, size;
    uint32_t crc;
    bool deflated;
};

struct zip_list {
    struct zip_member *members;
    size_t count;
};

/* Of a file of `size` bytes. Messages do not name the file. The list is to be freed in any case. */
apl_status zip_list_read(zip_read read, void *user, uint64_t size, struct zip_list *list, apl_error *err);
void zip_list_free(struct zip_list *list);

#endif
