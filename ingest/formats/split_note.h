/* Files whose names tell no split, among others whose names do: a test set called holdout.csv would be trained on. */
#ifndef SPLIT_NOTE_H
#define SPLIT_NOTE_H

#include "format.h"

/* From {0}. */
struct split_note {
    size_t told, silent;
    const char *first; /* of the silent ones; the caller's */
};

/* A file, by a name that is safe to print. */
void split_note_take(struct split_note *n, const char *shown, bool told);

/* After the last: worth a line, if there are both. */
void split_note_tell(const struct split_note *n, const struct format_host *host);

#endif
