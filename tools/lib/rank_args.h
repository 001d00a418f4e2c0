/* Ranks, as an option lists them. */
#ifndef RANK_ARGS_H
#define RANK_ARGS_H

#include <stdbool.h>

#define MOST_RANKS 1024u /* that a reader serves */

struct rank_args {
    unsigned list[MOST_RANKS], count, highest;
    char wrong[100]; /* what was wrong, to be put behind the option's name */
};

/* Numbers and ranges of them, such as 0-7 or 0,2,4-6, in place of what was listed; false: they are wrong. */
bool rank_args_take(struct rank_args *ranks, const char *value);

#endif
