/*
 * What fuzz targets share. A target is a file target_NAME.c with LLVMFuzzerTestOneInput(); where bytes that
 * are merely random would not get past a checksum, mutate_NAME.c has LLVMFuzzerCustomMutator(). With libFuzzer
 * they make fuzz_NAME; with replay.c instead, and without the mutator, replay_NAME, which runs the inputs that
 * are kept.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "bytes.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer's own mutations; returns the new size, at most `room`. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

/* What must hold whatever the input. */
#define MUST(condition)                                                                    \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                       \
        }                                                                                  \
    } while (0)

/* A folder of this process in memory, removed when it ends. */
const char *fuzz_folder(void);

/* Replaces what the file has by `data`; `name` is a path within the folder. Returns the file's path, good until
 * the next call. */
const char *fuzz_file(const char *name, const void *data, size_t size);

#endif
