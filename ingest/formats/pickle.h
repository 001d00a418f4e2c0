/*
 * Reads the pickles of a CIFAR python archive, and nothing else that a pickle may say: a parser of one closed
 * grammar, which knows no callables and imports nothing. A pickle is one dict of known keys, whose values are
 * lists of small ints, lists of texts, a text, an int, or one array of bytes with 3,072 columns.
 */
#ifndef PICKLE_H
#define PICKLE_H

#include "bytes.h"
#include "status.h"

#define PICKLE_COLUMNS 3072 /* bytes in a row of the array */

enum pickle_key {
    KEY_DATA,
    KEY_LABELS,
    KEY_FINE_LABELS,
    KEY_COARSE_LABELS,
    KEY_FILENAMES,
    KEY_BATCH_LABEL,
    KEY_NUM_CASES,
    KEY_NUM_VIS,
    KEY_LABEL_NAMES,
    KEY_FINE_LABEL_NAMES,
    KEY_COARSE_LABEL_NAMES,
    PICKLE_KEYS
};

/* What a pickle must be to be accepted. */
struct pickle_rules {
    const char *what;  /* such as "a CIFAR-10 batch", for messages */
    uint32_t allowed;  /* bit k: key k may be there */
    uint32_t required; /* bit k: key k must be there */
    uint64_t rows;     /* of the array as published; never more */
    bool partial;      /* fewer rows will do */
};

/* What becomes of the array's rows. They come once labels and names are known, so that both can be asked for:
 * straight from the cursor if they are known by then, else when all of the pickle has been read. */
struct pickle_rows {
    apl_status (*begin)(void *user, uint64_t count, apl_error *err);
    apl_status (*row)(void *user, uint64_t row, const uint8_t *pixels, apl_error *err);
    void *user;
};

struct pickle;

struct pickle *pickle_new(void); /* NULL: out of memory */
void pickle_free(struct pickle *p);

/* Reads one pickle, the `size` bytes that the cursor gives, in place of the one before. Messages begin with
 * the byte that is at fault. */
apl_status pickle_read(struct pickle *p, struct cursor *c, uint64_t size, const struct pickle_rules *rules,
                       const struct pickle_rows *rows, apl_error *err);

bool pickle_has(const struct pickle *p, enum pickle_key key);

/* Elements of the list under a key, and one of them; the list is there and i is below its count. */
size_t pickle_count(const struct pickle *p, enum pickle_key key);
uint8_t pickle_label(const struct pickle *p, enum pickle_key key, size_t i);
const char *pickle_text(const struct pickle *p, enum pickle_key key, size_t i, size_t *size);

#endif
