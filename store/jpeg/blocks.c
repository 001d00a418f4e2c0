/* The blocks of an image, and orders to go through them: see blocks.h. Decoding and encoding are in blocks_body.h. */
#include "blocks.h"

/* --------------------------------------------------------------------------------------------- geometry */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b > 0);
}

void frame_measure(struct frame *f)
{
    f->columns = divide_up(f->width, 8u * f->across[0]);
    f->rows = divide_up(f->height, 8u * f->down[0]);
}

unsigned frame_blocks(const struct frame *f)
{
    unsigned blocks = 0;
    for (unsigned i = 0; i < f->components; i++)
        blocks += (unsigned)f->across[i] * f->down[i];
    return blocks;
}

bool blocks_reserve(struct blocks *b, const struct frame *frame, bool clear)
{
    size_t counts[BLOCKS_COMPONENTS], bytes = 0;
    b->frame = *frame;
    for (unsigned i = 0; i < frame->components; i++) {
        b->of[i].stride = frame->columns * frame->across[i];
        counts[i] = (size_t)b->of[i].stride * frame->rows * frame->down[i];
        bytes += counts[i] * (BLOCK_VALUES * sizeof(int16_t) + sizeof(uint64_t));
    }
    uint8_t *at = scratch_reserve(&b->memory, bytes);
    if (!at)
        return false;
    for (unsigned i = 0; i < frame->components; i++) {
        b->of[i].marks = (uint64_t *)(void *)at;
        at += counts[i] * sizeof(uint64_t);
    }
    for (unsigned i = 0; i < frame->components; i++) {
        b->of[i].values = (int16_t *)(void *)at;
        at += counts[i] * BLOCK_VALUES * sizeof(int16_t);
    }
    if (clear)
        memset(b->memory.data, 0, bytes);
    return true;
}

void blocks_free(struct blocks *b)
{
    scratch_free(&b->memory);
}

struct walk walk_of(const struct frame *f, unsigned count, const uint8_t *components)
{
    struct walk w = {.count = count, .columns = f->columns, .rows = f->rows};
    w.kernels = blocks_kernels_for(cpu_variant());
    for (unsigned i = 0; i < count; i++) {
        w.component[i] = components[i];
        w.across[i] = f->across[components[i]];
        w.down[i] = f->down[components[i]];
    }
    if (count > 1)
        return w;
    unsigned c = components[0];
    w.columns = divide_up(divide_up(f->width * f->across[c], f->across[0]), 8);
    w.rows = divide_up(divide_up(f->height * f->down[c], f->down[0]), 8);
    w.across[0] = w.down[0] = 1;
    return w;
}

const struct blocks_kernels *blocks_kernels_for(enum cpu_variant variant)
{
#if defined(__x86_64__)
    if (variant == CPU_AVX2 || variant == CPU_AVX512)
        return &blocks_avx2;
#endif
    (void)variant;
    return &blocks_scalar;
}
