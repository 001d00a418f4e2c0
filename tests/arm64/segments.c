/* The NEON variant of decoding segments against the plain one: bits at random, of codes that nearly all bits are. */
#include "segments.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 5
#define SIDE 64 /* samples of a row of the planes */
#define MOST 8192

static uint32_t state = 1;

static uint32_t below(uint32_t bound)
{
    return (sample_random(&state) >> 4) % bound;
}

/* An end of block takes one bit; codes go on to 16 bits, and leave hardly any bits that are no code. */
static void draw_codes(struct segments *s)
{
    uint8_t counts[16] = {1, 1, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, symbols[50] = {0};
    const uint8_t dc_counts[16] = {0, 2, 3, 1, 1, 1, 1, 1, 1, 1},
                  dc_symbols[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    for (int i = 1; i < 50; i++)
        symbols[i] = (uint8_t)(below(i % 4 ? 3 : 15) << 4 | (1 + below(below(4) ? 3 : 10)));
    symbols[20] = 0xf0;
    for (int i = 0; i < 2; i++)
        if (!code_table_make(&s->ac[i], counts, symbols, true) ||
            !code_table_make(&s->dc[i], dc_counts, dc_symbols, false))
            exit(2);
}

static void draw_layout(struct segments *s, unsigned eighths)
{
    s->per_segment = SEGMENTS_LONGEST;
    s->blocks = 3;
    for (unsigned i = 0; i < 3; i++) {
        unsigned most = below(2) ? 255 : 20;
        s->block[i].plane = i;
        s->block[i].offset = 0;
        s->plane[i].size = s->plane[i].step = i == 0 && eighths < 8 ? 2 * eighths : eighths;
        s->plane[i].stride = SIDE;
        for (int k = 0; k < 64; k++)
            s->quant[i][k] = (int16_t)(1 + below(most));
    }
}

int main(void)
{
    static struct segments s;
    static uint8_t bytes[MOST + SEGMENTS_SLACK], planes[2][RUNS][3][8 * SIDE];
    size_t good = 0, compared = 0;
    for (int n = 0; n < 3000; n++) {
        struct segment_run runs[2][RUNS];
        draw_codes(&s);
        draw_layout(&s, 1u << below(4));
        memset(planes, 0, sizeof planes);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)below(256);
        for (int i = 0; i < RUNS; i++) {
            uint32_t first = below(3), end = first + 1 + below(3);
            for (int v = 0; v < 2; v++) {
                runs[v][i] = (struct segment_run){bytes + i * 1000, 3000, first, end, {NULL, NULL, NULL}};
                for (int p = 0; p < 3; p++)
                    runs[v][i].out[p] = planes[v][i][p];
            }
        }
        size_t a = segments_scalar(&s, runs[0], RUNS), b = segments_neon(&s, runs[1], RUNS);
        if (a != b || (a == RUNS && memcmp(planes[0], planes[1], sizeof planes[0]) != 0)) {
            fprintf(stderr, "segments: %s differs\n", a != b ? "what is damaged" : "a sample");
            return 1;
        }
        good += a == RUNS;
        compared++;
    }
    if (good < compared / 10) {
        fprintf(stderr, "segments: only %zu of %zu were whole\n", good, compared);
        return 1;
    }
    printf("%zu of %zu\n", good, compared);
    return 0;
}
