/* Ranks, as an option lists them. */
#ifndef RANK_ARGS_H
#define RANK_ARGS_H

#define MOST_RANKS 1024u /* that a reader serves */

struct rank_args {
    unsigned list[MOST_RANKS], count, highest;
};

/* Numbers and ranges of them, such as 0-7 or 0,2,4-6, in place of what was listed; 0, or what misuse() returned. */
int rank_args_take(struct rank_args *ranks, const char *value);

#endif
