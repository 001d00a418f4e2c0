/*
 * Loaders that read records by their numbers, as the paper's baselines do: a source knows how to read, and by_number.c
 * does the rest for all of them: the order of an epoch, batches, threads that load ahead.
 */
#ifndef PAPER_SOURCE_H
#define PAPER_SOURCE_H

#include "loader.h"

struct source_kind {
    void *(*open)(const struct loading *asked, size_t *records);
    /* Reads `n` records, PAPER_ROW bytes each. Readers 0, 1 ... may do so at once. */
    void (*read)(void *source, unsigned reader, const uint64_t *ids, size_t n, uint8_t *rows);
    size_t (*staged)(const void *source);
    void (*close)(void *source);
};

#define PAPER_READERS 16u /* at most */

struct loader *by_number_open(const struct source_kind *kind, const struct loading *asked);
bool by_number_next(struct loader *loader, struct batch *batch);
size_t by_number_staged(const struct loader *loader);
void by_number_close(struct loader *loader);

/* The members of CIFAR-10's archive that make up a split, opened one after another: number `i`, or -1 behind the last. */
int raw_open(const struct loading *asked, unsigned i, char *path, size_t size);

#endif
