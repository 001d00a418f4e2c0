/* Writes pickles of protocol 2 with the opcodes that Python 2's cPickle uses. */
#ifndef PICKLE_H
#define PICKLE_H

#include <stdint.h>
#include <stdio.h>

struct pickle {
    FILE *out;
    unsigned memo;
};

/* A pickle of one dict: begin, then for every entry a key (pickle_text) and its value, then end. */
void pickle_begin(struct pickle *p, FILE *out);
void pickle_end(struct pickle *p);

void pickle_text(struct pickle *p, const char *text);
void pickle_int(struct pickle *p, unsigned n);

/* A list of n items, each written by `item`. */
void pickle_list(struct pickle *p, size_t n, void (*item)(struct pickle *p, size_t i, const void *user),
                 const void *user);

/* A numpy array of u8[rows, columns]. */
void pickle_array(struct pickle *p, const uint8_t *data, size_t rows, unsigned columns);

#endif
