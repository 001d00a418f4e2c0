/*
 * The quantised coefficients of a JPEG image of one or three components, and Huffman coded runs of them: what both the files that
 * images came in and their indexed form are made of. Coefficients are in zigzag order; their decoder takes only what the encoder
 * would write for them, so that decoding and encoding are the inverse of each other.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "cpu.h"
#include "huffman.h"
#include "scratch.h"

#define BLOCKS_COMPONENTS 3
#define BLOCK_VALUES      64
#define BLOCK_MOST_BYTES  224 /* that one block takes: 64 values of 27 bits at most, and room to write */
#define BLOCKS_MOST       10  /* in an MCU */

/* Size and sampling of an image. Part of struct rendering, and without padding as that is. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
struct frame {
    uint32_t width, height;            /* pixels */
    uint32_t columns, rows;            /* of MCUs */
    uint16_t components;               /* 1 or 3 */
    uint8_t across[BLOCKS_COMPONENTS]; /* blocks of a component in an MCU; 0: there is no such component */
    uint8_t down[BLOCKS_COMPONENTS];   /* of a single component: 1 */
};
#pragma GCC diagnostic pop

/* Fills in columns and rows of MCUs. */
void frame_measure(struct frame *f);

/* Blocks of one MCU. */
unsigned frame_blocks(const struct frame *f);

/* All blocks of all MCUs, those beyond the image's edge included. */
struct blocks {
    struct frame frame;
    struct scratch memory;
    struct {
        uint32_t stride; /* blocks of a row */
        int16_t *
            values; /* of each block 64, of which only the first, and those that are marked, mean something */
        uint64_t *marks; /* of each block: bit k: value k is not 0 */
    } of[BLOCKS_COMPONENTS];
};

/* Makes room; all blocks are zero if `clear`. false: out of memory. */
bool blocks_reserve(struct blocks *b, const struct frame *frame, bool clear);
void blocks_free(struct blocks *b);

/* The order in which a scan goes through blocks: all components together, by MCUs, or one alone, by blocks. */
struct walk {
    const struct blocks_kernels *kernels; /* of this machine */
    unsigned count;
    uint8_t component[BLOCKS_COMPONENTS], across[BLOCKS_COMPONENTS], down[BLOCKS_COMPONENTS];
    uint32_t columns, rows;
};
struct walk walk_of(const struct frame *f, unsigned count, const uint8_t *components);

/* Decoders and encoders of the components of a walk. */
struct blocks_decoders {
    const struct huffman_decoder *dc[BLOCKS_COMPONENTS], *ac[BLOCKS_COMPONENTS];
};
struct blocks_encoders {
    const struct huffman_encoder *dc[BLOCKS_COMPONENTS], *ac[BLOCKS_COMPONENTS];
};

/* The DC of the block before, of each component of a walk. */
struct predictions {
    int of[BLOCKS_COMPONENTS];
};

/* How often each symbol occurs, of the components of a walk; of those that count together the pointers are the same. */
struct blocks_counts {
    uint32_t *dc[BLOCKS_COMPONENTS], *ac[BLOCKS_COMPONENTS];
};

/* Each of MCU `column` of row `row`. */
struct blocks_kernels {
    /* Decodes it into its blocks; beyond the last column, or if `b` is NULL, into nothing. false: the bits are damaged, or are not
     * what would be written. */
    bool (*decode)(struct blocks *b, const struct walk *w, const struct blocks_decoders *d, uint32_t row,
                   uint32_t column, struct predictions *p, struct bit_reader *bits);
    /* Encodes it: beyond the last column, blocks of nothing. The writer has room for BLOCK_MOST_BYTES for each block. false: a value
     * has no code. */
    bool (*encode)(const struct blocks *b, const struct walk *w, const struct blocks_encoders *e,
                   uint32_t row, uint32_t column, struct predictions *p, struct bit_writer *bits);
    /* Adds to counts. */
    void (*count)(const struct blocks *b, const struct walk *w, const struct blocks_counts *c, uint32_t row,
                  uint32_t column, struct predictions *p);
};

/* Those of a variant; the scalar ones for what was not built in. All give the same. */
const struct blocks_kernels *blocks_kernels_for(enum cpu_variant variant);
extern const struct blocks_kernels blocks_scalar, blocks_avx2;

#endif
