/*
 * What a library warns of while it decodes a file: it gives a result, but says that something is wrong. Every decoder reports it here.
 * Whoever asks for a file says whether it may go on; unless it may, the first warning is an error.
 */
#ifndef WARNINGS_H
#define WARNINGS_H

#include "status.h"

#include <stdbool.h>

struct warnings {
    bool allowed;    /* they are counted, and decoding goes on */
    unsigned count;  /* of the file being decoded */
    char first[160]; /* the text of its first, safe to print */
};

/* A new file: there are none yet. */
void warnings_begin(struct warnings *w);

/* Takes one. False: it is an error, so decoding is to stop. */
bool warnings_take(struct warnings *w, const char *text);

/* APL_E_CORRUPT, with the first one's text behind "KIND: ", if it is an error. */
apl_status warnings_check(const struct warnings *w, const char *kind, apl_error *err);

/* The same of one more, which the decoder itself has to say. */
apl_status warnings_add(struct warnings *w, const char *kind, const char *text, apl_error *err);

#endif
