/* A NumPy array in a file of the host's: its header, and its rows, one after another or many at a time. */
#ifndef NPY_ROWS_H
#define NPY_ROWS_H

#include "arrays.h"
#include "npy_header.h"

/* An array in a file, or in a member of a zip archive. */
struct npy {
    const struct format_host *host;
    struct arrays *arrays; /* that its fields are added to */
    size_t file;
    char *path;              /* for messages, safe to print */
    struct format_part part; /* the member; of a file all of it */
    bool in_zip;
    struct npy_header header;
    struct buffer whole; /* all its elements, where they are held in memory */
};

apl_status npy_read_header(struct npy *npy, apl_error *err);

/* For struct array, whose `user` is the struct npy: what rows are read from, behind the header, which is the same as before; */
apl_status npy_open(void *user, const struct array *array, struct format_stream **stream, apl_error *err);
/* the same of some rows alone, of a file of its own that is not packed; */
apl_status npy_open_rows(void *user, const struct array *array, uint64_t row, uint64_t count,
                         struct format_stream **stream, apl_error *err);
/* and rows of an array in Fortran order, each of which is spread over the file. */
apl_status npy_fortran_rows(void *user, const struct array *array, uint64_t row, uint64_t count, uint8_t *out,
                            apl_error *err);

/* A packed array whose rows are spread over it is held in memory: `bytes` bytes. */
apl_status npy_hold(struct npy *npy, uint64_t bytes, apl_error *err);

/* A stored member that is read here and there is read once from end to end for its CRC. */
apl_status npy_check_crc(const struct npy *npy, apl_error *err);

#endif
