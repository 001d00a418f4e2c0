/*
 * The bytes of a file or of standard input, unpacked if they are gzip, xz, zstd or bzip2: read, hashed and
 * inflated by a thread of its own that runs a few buffers ahead.
 */
#ifndef INPUT_H
#define INPUT_H

#include "hasher.h"
#include "status.h"

#include <stdbool.h>

struct input;

struct input_options {
    const char *name;   /* for messages, safe to print; must live as long as the input */
    bool archive;       /* unpack it, and refuse what is empty, or a store */
    struct hasher *sha; /* takes the bytes as they lie in the file; the input's alone until it has ended */
    const uint8_t *
        head; /* the first bytes, where they were read from the descriptor before; live as long as the input */
    size_t head_size;
    int (*poll)(void *user); /* see source.h; may be NULL */
    void *user;
};

/* Begins to read `fd`, which it takes over, also when it fails. */
apl_status input_open(int fd, const struct input_options *options, struct input **input, apl_error *err);

/* From any state, without waiting for the file. */
void input_close(struct input *input);

/* The next bytes, valid until the next call; never none. APL_END after all has been read and checked. All but
 * the last are a multiple of 512 bytes. */
apl_status input_next(struct input *input, const uint8_t **data, size_t *size, apl_error *err);

/* Do the first 20 bytes of a file, or all that it has, say that it is packed with one of these? */
bool input_is_packed(const uint8_t *bytes, size_t size);

/* Bytes read so far, as they lie in the file. */
uint64_t input_bytes(const struct input *input);

#endif
