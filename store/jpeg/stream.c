/* Segments of a JPEG file: see stream.h. Scans are in stream_scan.c. */
#include "stream.h"

enum marker {
    MARKER_SOF0 = 0xc0, /* baseline */
    MARKER_SOF1 = 0xc1, /* sequential */
    MARKER_SOF2 = 0xc2, /* progressive */
    MARKER_DHT = 0xc4,
    MARKER_SOI = 0xd8,
    MARKER_EOI = 0xd9,
    MARKER_SOS = 0xda,
    MARKER_DQT = 0xdb,
    MARKER_DRI = 0xdd,
    MARKER_APP0 = 0xe0,
    MARKER_APP14 = 0xee,
    MARKER_APP15 = 0xef,
    MARKER_COM = 0xfe
};

static uint16_t take_u16(struct cursor *c)
{
    unsigned high = cursor_u8(c);
    return (uint16_t)(high << 8 | cursor_u8(c));
}

/* ----------------------------------------------------------------------------------------------- tables */

static bool take_quantisation(struct stream *s, struct cursor *c)
{
    while (cursor_left(c) > 0) {
        unsigned which = cursor_u8(c);
        const uint8_t *values = cursor_take(c, BLOCK_VALUES);
        /* one that changes between scans would be of some components only */
        if (which > 3 || !values || s->scans > 0 || memchr(values, 0, BLOCK_VALUES))
            return false;
        memcpy(s->tables[which], values, BLOCK_VALUES);
        s->has_table[which] = true;
    }
    return true;
}

static bool take_codes(struct stream *s, struct cursor *c)
{
    while (cursor_left(c) > 0) {
        unsigned which = cursor_u8(c), kind = which >> 4;
        if (kind > 1 || (which & 15) > 3)
            return false;
        struct stream_code *code = &s->codes[kind][which & 15];
        code->there = true;
        if (!huffman_take(c,
                          kind == 0           ? HUFFMAN_DC
                          : s->is_progressive ? HUFFMAN_PROGRESSIVE
                                              : HUFFMAN_AC,
                          &code->code))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ frame */

/* As libjpeg determines the colour space. */
static bool find_colours(struct stream *s)
{
    const uint8_t *id = s->ids;
    s->colours = IMAGE_YCC;
    if (s->frame.components == 1)
        s->colours = IMAGE_GREY;
    else if (!s->has_jfif && s->has_adobe)
        s->colours = s->adobe_transform ? IMAGE_YCC : IMAGE_RGB;
    else if (!s->has_jfif && id[0] == 'R' && id[1] == 'G' && id[2] == 'B')
        s->colours = IMAGE_RGB;
    return s->adobe_transform <= 1;
}

/* The sampling of luma, and none of the others. Of a single component it has no meaning, but must be one that there is. */
static bool sampling_ok(struct frame *f)
{
    if (f->components == 1 && (f->across[0] < 1 || f->across[0] > 4 || f->down[0] < 1 || f->down[0] > 4))
        return false;
    if (f->components == 1)
        f->across[0] = f->down[0] = 1;
    for (unsigned i = 1; i < f->components; i++)
        if (f->across[i] != 1 || f->down[i] != 1)
            return false;
    return f->across[0] >= 1 && f->across[0] <= 2 && f->down[0] >= 1 && f->down[0] <= 2;
}

static bool take_frame(struct stream *s, struct cursor *c)
{
    struct frame *f = &s->frame;
    unsigned bits = cursor_u8(c);
    f->height = take_u16(c);
    f->width = take_u16(c);
    f->components = cursor_u8(c);
    if (s->has_frame || bits != 8 || (f->components != 1 && f->components != 3) || !f->width || !f->height ||
        (uint64_t)f->width * f->height > STREAM_MOST_PIXELS)
        return false;
    for (unsigned i = 0; i < f->components; i++) {
        s->ids[i] = cursor_u8(c);
        unsigned sampling = cursor_u8(c);
        f->across[i] = (uint8_t)(sampling >> 4);
        f->down[i] = sampling & 15;
        s->table_of[i] = cursor_u8(c);
        for (unsigned k = 0; k < i; k++)
            if (s->ids[k] == s->ids[i])
                return false;
        if (s->table_of[i] > 3)
            return false;
    }
    s->has_frame = true;
    if (!cursor_ok(c) || cursor_left(c) > 0 || !sampling_ok(f))
        return false;
    frame_measure(f);
    return true;
}

/* ------------------------------------------------------------------------------------------------- scan */

static bool take_scan_component(struct stream *s, struct cursor *c, unsigned i)
{
    unsigned id = cursor_u8(c), codes = cursor_u8(c), k = 0;
    while (k < s->frame.components && s->ids[k] != id)
        k++;
    bool in_order = i == 0 || k > s->scan.component[i - 1];
    if (k == s->frame.components || !in_order || codes >> 4 > 3 || (codes & 15) > 3)
        return false;
    s->scan.component[i] = (uint8_t)k;
    s->scan.code[0][i] = (uint8_t)(codes >> 4);
    s->scan.code[1][i] = codes & 15;
    return s->has_table[s->table_of[k]];
}

static bool has_codes(const struct stream *s, bool ac)
{
    for (unsigned i = 0; i < s->scan.count; i++)
        if (!s->codes[ac][s->scan.code[ac][i]].there)
            return false;
    return true;
}

/* A scan of whole coefficients, of components that were in none. */
static bool add_sequential(struct stream *s)
{
    const struct band *b = &s->scan.band;
    unsigned of = 0;
    for (unsigned i = 0; i < s->scan.count; i++)
        of |= 1u << s->scan.component[i];
    bool ok = !(s->covered & of) && b->first == 0 && b->last == BLOCK_VALUES - 1 && !b->high && !b->low;
    s->covered |= of;
    return ok && has_codes(s, false) && has_codes(s, true);
}

static bool add_progressive(struct stream *s)
{
    const struct band *b = &s->scan.band;
    if (s->scans > STREAM_MOST_SCANS || !progress_add(&s->progress, b, s->scan.count, s->scan.component))
        return false;
    if (progress_is_whole(&s->progress, s->frame.components))
        s->covered = (1u << s->frame.components) - 1;
    return b->first > 0 ? has_codes(s, true) : b->high > 0 || has_codes(s, false);
}

static bool take_scan(struct stream *s, struct cursor *c)
{
    s->scan.count = cursor_u8(c);
    if (!s->has_frame || s->scan.count < 1 || s->scan.count > s->frame.components ||
        (s->scans == 0 && !find_colours(s)))
        return false;
    for (unsigned i = 0; i < s->scan.count; i++)
        if (!take_scan_component(s, c, i))
            return false;
    s->scans++;
    s->scan.band.first = cursor_u8(c);
    s->scan.band.last = cursor_u8(c);
    unsigned bits = cursor_u8(c);
    s->scan.band.high = (uint8_t)(bits >> 4);
    s->scan.band.low = bits & 15;
    return cursor_ok(c) && cursor_left(c) == 0 &&
           (s->is_progressive ? add_progressive(s) : add_sequential(s));
}

/* --------------------------------------------------------------------------------------------- segments */

static bool take_interval(struct stream *s, struct cursor *c)
{
    s->interval = take_u16(c);
    return cursor_ok(c) && cursor_left(c) == 0;
}

static void look_at_application(struct stream *s, unsigned marker, const struct cursor *c)
{
    size_t left = cursor_left(c);
    if (marker == MARKER_APP0 && left >= 14 && memcmp(c->at, "JFIF", 5) == 0)
        s->has_jfif = true;
    if (marker == MARKER_APP14 && left >= 12 && memcmp(c->at, "Adobe", 5) == 0) {
        s->has_adobe = true;
        s->adobe_transform = c->at[11];
    }
}

/* The marker that begins here, after any number of bytes that may fill up the space before it; 0: none. */
static unsigned take_marker(struct cursor *c)
{
    unsigned byte = cursor_u8(c);
    if (byte != 0xff)
        return 0;
    while (byte == 0xff && cursor_ok(c))
        byte = cursor_u8(c);
    return byte;
}

static bool take_marker_segment(struct stream *s, unsigned marker, struct cursor *c)
{
    switch (marker) {
    case MARKER_SOF0:
    case MARKER_SOF1:
        return take_frame(s, c);
    case MARKER_SOF2:
        s->is_progressive = true;
        return take_frame(s, c);
    case MARKER_DHT:
        return take_codes(s, c);
    case MARKER_DQT:
        return take_quantisation(s, c);
    case MARKER_DRI:
        return take_interval(s, c);
    case MARKER_SOS:
        return take_scan(s, c);
    default:
        look_at_application(s, marker, c);
        return marker == MARKER_COM || (marker >= MARKER_APP0 && marker <= MARKER_APP15);
    }
}

bool stream_next_scan(struct stream *s, struct cursor *c)
{
    unsigned marker = 0;
    if (s->scans == 0 && (cursor_u8(c) != 0xff || cursor_u8(c) != MARKER_SOI))
        return false;
    while (marker != MARKER_SOS) {
        marker = take_marker(c);
        size_t length = take_u16(c);
        const uint8_t *payload = length >= 2 ? cursor_take(c, length - 2) : NULL;
        if (!payload)
            return false;
        struct cursor segment = cursor_over(payload, length - 2);
        if (!take_marker_segment(s, marker, &segment))
            return false;
    }
    return true;
}

struct rendering stream_rendering(const struct stream *s)
{
    struct rendering r = {.frame = s->frame, .colours = s->colours};
    for (unsigned i = 0; i < s->frame.components; i++)
        memcpy(r.tables[i], s->tables[s->table_of[i]], BLOCK_VALUES);
    return r;
}

bool stream_may_hold(const struct stream *s, const struct cursor *left)
{
    const struct frame *f = &s->frame;
    uint64_t across = (uint64_t)(f->columns - 1) * f->across[0] + 1,
             down = (uint64_t)(f->rows - 1) * f->down[0] + 1;
    return across * down <= 8 * (uint64_t)cursor_left(left);
}

bool stream_is_covered(const struct stream *s)
{
    return s->covered == (1u << s->frame.components) - 1;
}

bool stream_ends(const struct cursor *c)
{
    return cursor_left(c) >= 2 && c->at[0] == 0xff && c->at[1] == MARKER_EOI;
}
