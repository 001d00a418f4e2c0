/* Files whose names leave their split open: a test set called holdout.csv, beside train.csv, or train_test.csv would be trained on. */
#ifndef SPLIT_NOTE_H
#define SPLIT_NOTE_H

#include "format.h"

/* From {0}. */
struct split_note {
    size_t told;
    size_t silent, several;                   /* of files whose names tell none, or more than one, */
    const char *first_silent, *first_several; /* and the first of them; the caller's */
    const char *split, *other;                /* of the first of several */
};

/* A file, by a name that is safe to print; NULL: its name does not matter. Its split, as its name tells it (NULL: not), and another one that
 * it tells too, if any. */
void split_note_take(struct split_note *n, const char *shown, const char *split, const char *other);

/* The same of a file's own name. */
void split_note_take_name(struct split_note *n, const char *shown, const char *name);

/* After the last: worth a line, if some names tell none and others do, or if some tell several. */
void split_note_tell(const struct split_note *n, const struct format_host *host);

#endif
