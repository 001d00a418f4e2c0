/*
 * Reading a whole store: every block is decoded and checked, every record's hash compared, and the digests
 * and statistics of its fields are taken, on all cores. The writer does this before it seals a store, and
 * `verify` whenever it is asked to.
 */
#ifndef READBACK_H
#define READBACK_H

#include "block.h"
#include "hash.h"
#include "lmdb_read.h"
#include "manifest.h"

struct readback {
    const struct lmdb_reader *lmdb;
    const struct entry *entries;     /* of block 0, 1, ... */
    const struct manifest *manifest; /* its records, block size, schema, segments and splits */
    /* Of each block, XXH3-128 of the header that it must have; NULL: any that is right. */
    const struct hash128 *headers;
    const uint8_t *digests; /* of each block, SHA-256 that it must have, 32 bytes; NULL: any */
    uint8_t *take_digests;  /* where those that blocks have go; or NULL */
    unsigned threads;       /* at least 1 */
    void *user;
    int (*progress)(void *user, uint64_t records);             /* from the calling thread; non-zero cancels */
    void (*bad_block)(void *user, const apl_bad_block *block); /* one at a time; NULL: stop at the first */
};

/* What was found. */
struct findings {
    uint64_t bad_blocks;
    uint8_t digests[APL_MAX_FIELDS][32];
    uint64_t raw_bytes[APL_MAX_FIELDS], stored_bytes[APL_MAX_FIELDS];
    uint64_t indexed[APL_MAX_FIELDS],
        progressive[APL_MAX_FIELDS];   /* those of progressive files also count as indexed */
    struct split *splits;              /* one for each of the manifest's, with summaries where it has them */
    uint64_t unsummed[APL_MAX_FIELDS]; /* images that count, where it has no summary of them */
};

/* Reads all of it. With bad_block, APL_OK even if there are bad blocks. */
apl_status readback(const struct readback *what, struct findings *found, apl_error *err);
void findings_free(struct findings *found, const struct manifest *manifest);

#endif
