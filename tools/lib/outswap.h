/*
 * A folder that is replaced as a whole: a new one is filled beside it, and takes its name when it is complete. What the old one holds
 * must be what exports have made: see outmade.h. Every call that fails has said why on stderr.
 */
#ifndef OUTSWAP_H
#define OUTSWAP_H

#include "outmade.h"

struct outswap {
    char *folder; /* with links resolved */
    char *temporary;
    struct outmade made;
    const char *shown; /* the folder, as it was given; the caller's */
};

/* Makes the new folder. Refuses one that holds anything but what exports have made, and what cannot be renamed, such as the current
 * directory. `made` is the swap's from then on. To be closed in any case. */
int outswap_open(struct outswap *swap, const char *folder, struct outmade *made);

/* The path that a file has in the new folder; NULL: out of memory. */
char *outswap_path(const struct outswap *swap, const char *name);

/* Puts the new folder in the place of the old one, and removes that, unless something else has come into it since. */
int outswap_commit(struct outswap *swap);

/* Frees the swap; without a commit before, removes the new folder with all that is in it. */
void outswap_close(struct outswap *swap);

#endif
