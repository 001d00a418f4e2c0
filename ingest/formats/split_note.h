/* Files whose names leave their split open: a test set called holdout.csv, beside train.csv, or train_test.csv would be trained on. */
#ifndef SPLIT_NOTE_H
#define SPLIT_NOTE_H

#include "format.h"
#include "path_split.h"

/* Files of which the same is to be said: how many, and the first. */
struct split_noted {
    size_t count;
    char shown[256];
    const char *split, *other;
};

/* From {0}. */
struct split_note {
    const char *by; /* what of a file does not tell its split; NULL: "its name tells no split" */
    bool given;     /* all is of a directory that was given */
    size_t files, told;
    const char *split;          /* of all so far; NULL: of several */
    struct split_noted silent;  /* whose names tell none, */
    struct split_noted like;    /* though a folder's nearly does; */
    struct split_noted several; /* that tell more than one; */
    struct split_noted folders; /* whose folders tell it */
};

/* A file, by a name that is safe to print, and what its path tells. */
void split_note_take(struct split_note *n, const char *shown, const struct path_split *is);

/* After the last: worth a line, if some names tell none and others do, or if some tell several; if folders would have told it if they were
 * called a little otherwise (of files, if others lie elsewhere: many a folder is called test_x); or if folders put all in a split other than train. */
void split_note_tell(const struct split_note *n, const struct format_host *host);

#endif
