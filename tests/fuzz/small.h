/* A small store, the same each time it is made: what states and split files are of. */
#ifndef SMALL_H
#define SMALL_H

#include "apl.h"

#define SMALL_TRAIN 40u /* records */
#define SMALL_TEST  10u

/* The store in the folder `small`, made at the first call. */
apl_store *small_store(void);

/* The options of the reader whose state it is: `pick` is the first byte of an input. */
apl_reader_options small_options(uint8_t pick);

#endif
