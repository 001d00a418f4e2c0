/* The members of a zip archive, as its directory has them: stored or deflated ones, not encrypted. */
#ifndef ZIP_LIST_H
#define ZIP_LIST_H

#include "bytes.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads exactly `size` bytes of a file from `offset` on. */
typedef apl_status (*zip_read)(void *user, uint64_t offset, void *out, size_t size, apl_error *err);

/* An entry of the directory, valid until the next one. */
struct zip_entry {
    const uint8_t *name; /* raw bytes, */
    size_t name_size;
    char shown[256];       /* and safe to print */
    uint64_t local;        /* where the member's own header is */
    uint64_t packed, size; /* bytes in the archive, and of the file */
    uint32_t crc;
    bool encrypted,
        link; /* link: or anything else that is no regular file and no directory, where it was packed under Unix */
    unsigned method; /* 0: stored, 8: deflated */
};

/* The directory being read, part by part. */
struct zip_directory {
    zip_read read;
    void *user;
    uint64_t size; /* of the archive */
    uint64_t entries, bytes, begin;
    uint64_t taken, at; /* entries that have been read; where the window ends in the directory */
    struct buffer window;
    struct cursor cursor; /* over it */
};

/* Finds the directory of an archive of `size` bytes, to be closed in any case. Messages do not name the archive. */
apl_status zip_directory_open(zip_read read, void *user, uint64_t size, struct zip_directory *d,
                              apl_error *err);
void zip_directory_close(struct zip_directory *d);

/* The next entry; APL_END after the last. */
apl_status zip_directory_next(struct zip_directory *d, struct zip_entry *entry, apl_error *err);

/* Begins again. */
void zip_directory_rewind(struct zip_directory *d);

/* Where an entry's data begin. With `named`, its own header must have the name that the directory has. Refuses what cannot be
 * read: encrypted members, other methods. */
apl_status zip_find_data(const struct zip_directory *d, const struct zip_entry *entry, bool named,
                         uint64_t *offset, apl_error *err);

/* All members of an archive that has few. */
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
