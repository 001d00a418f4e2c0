/* Mutates what an indexed image taken apart says in one of its two places, or in both alike: its own head, and the first header of the
 * file that it restores. Lengths agree afterwards; target_twice.c makes the checksums right. */
#include "fuzz.h"
#include "indexed.h"
#include "repair.h"

#define HEAD 2u

/* An input that was right: the front, and the first header within the parts. */
struct twice {
    uint8_t *front, *lengths, *header;
    size_t front_bytes, header_bytes;
    const uint8_t *end;
};

static bool find_both(uint8_t *data, size_t size, struct twice *w)
{
    struct indexed x;
    size_t front = size >= HEAD + INDEXED_HEAD ? (size_t)load_le(data + HEAD + 8, 4) : 0;
    if (front < INDEXED_HEAD || front > size - HEAD || indexed_parse(data + HEAD, front, &x, NULL) != APL_OK)
        return false;
    uint8_t *parts = data + HEAD + front;
    size_t left = size - HEAD - front, scans = left ? parts[0] : 0, head = 1 + 4 * scans + 4;
    if (scans == 0 || left < head || load_le(parts + 1, 4) > left - head)
        return false;
    *w = (struct twice){.front = data + HEAD,
                        .front_bytes = front,
                        .lengths = parts + 1,
                        .header = parts + head,
                        .header_bytes = (size_t)load_le(parts + 1, 4),
                        .end = data + size};
    return true;
}

/* The payload of a segment of the first header, by its marker, from `from` on; NULL: it has none. */
static uint8_t *segment_of(const struct twice *w, unsigned marker, size_t *bytes)
{
    for (size_t at = 2; at + 4 <= w->header_bytes;) {
        uint8_t *s = w->header + at;
        size_t length = (size_t)s[2] << 8 | s[3];
        if (s[0] != 0xff || length < 2 || length + 2 > w->header_bytes - at)
            return NULL;
        *bytes = length - 2;
        if (s[1] == marker)
            return s + 4;
        at += 2 + length;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------ one of the two */

static void change_head(const struct twice *w, unsigned *seed)
{
    static const uint8_t places[] = {1, 2, 2, 3, 4, 5, 6, 7, 12};
    uint8_t *at = w->front + places[draw(seed, sizeof places)];
    *at = (uint8_t)(draw(seed, 2) ? draw(seed, 5) : *at + draw(seed, 3) - 1);
}

static void change_table(uint8_t *table, unsigned *seed)
{
    for (unsigned n = 1 + draw(seed, 3); n > 0; n--)
        table[draw(seed, BLOCK_VALUES)] = (uint8_t)(1 + draw(seed, 255));
}

static void change_own_table(const struct twice *w, unsigned *seed)
{
    change_table(w->front + INDEXED_HEAD + BLOCK_VALUES * draw(seed, w->front[12]), seed);
}

/* The frame, tables, or what colours are known by. */
static void change_header(const struct twice *w, unsigned *seed)
{
    static const uint8_t markers[] = {0xc0, 0xc0, 0xc2, 0xdb, 0xdb, 0xe0, 0xee, 0xda, 0xdd, 0xc4};
    size_t bytes;
    uint8_t *payload = segment_of(w, markers[draw(seed, sizeof markers)], &bytes);
    if (!payload || bytes == 0)
        return;
    uint8_t *at = payload + draw(seed, (unsigned)bytes);
    *at = (uint8_t)(draw(seed, 2) ? draw(seed, 256) : *at + draw(seed, 3) - 1);
}

/* A segment becomes another one that decoders skip, or heed. */
static void change_marker(const struct twice *w, unsigned *seed)
{
    static const uint8_t markers[] = {0xe0, 0xee, 0xfe, 0xe1, 0xc0, 0xc1, 0xc2};
    size_t bytes;
    uint8_t *payload = segment_of(w, markers[draw(seed, sizeof markers)], &bytes);
    if (payload)
        payload[-3] = markers[draw(seed, sizeof markers)];
}

/* ----------------------------------------------------------------------------------------------- both alike */

static void change_both_tables(const struct twice *w, unsigned *seed)
{
    size_t bytes;
    uint8_t *said = segment_of(w, 0xdb, &bytes);
    unsigned entry = draw(seed, BLOCK_VALUES), value = 1 + draw(seed, 255);
    if (!said || bytes <= BLOCK_VALUES)
        return;
    said[1 + entry] = w->front[INDEXED_HEAD + entry] = (uint8_t)value;
}

static void change_both_sizes(const struct twice *w, unsigned *seed)
{
    size_t bytes;
    uint8_t *frame = segment_of(w, draw(seed, 4) ? 0xc0 : 0xc2, &bytes);
    unsigned down = draw(seed, 2), size = (unsigned)load_le(w->front + (down ? 6 : 4), 2);
    if (!frame || bytes < 5)
        return;
    size += draw(seed, 9) - 4;
    store_le(w->front + (down ? 6 : 4), size, 2);
    frame[down ? 1 : 3] = (uint8_t)(size >> 8);
    frame[down ? 2 : 4] = (uint8_t)size;
}

/* --------------------------------------------------------------------------------------------------- lengths */

/* A table more, or less, for the front. */
static size_t change_tables(uint8_t *data, size_t size, size_t room, const struct twice *w, unsigned *seed)
{
    uint8_t *at = w->front + INDEXED_HEAD + BLOCK_VALUES;
    bool more = draw(seed, 2);
    if (more ? size + BLOCK_VALUES > room || w->front[12] > 2 : w->front[12] < 2)
        return size;
    if (more)
        memmove(at + BLOCK_VALUES, at, (size_t)(w->end - at));
    else
        memmove(at, at + BLOCK_VALUES, (size_t)(w->end - at) - BLOCK_VALUES);
    if (more)
        memcpy(at, at - BLOCK_VALUES, BLOCK_VALUES);
    w->front[12] = (uint8_t)(w->front[12] + (more ? 1 : -1));
    store_le(data + HEAD + 8, w->front_bytes + (more ? BLOCK_VALUES : (size_t)-BLOCK_VALUES), 4);
    return size + (more ? BLOCK_VALUES : (size_t)-BLOCK_VALUES);
}

/* A segment of the header stands in it twice, or no more. */
static size_t change_segments(size_t size, size_t room, const struct twice *w, unsigned *seed)
{
    static const uint8_t markers[] = {0xdb, 0xe0, 0xee, 0xc4, 0xdd, 0xc0, 0xc2};
    size_t bytes;
    bool more = draw(seed, 2);
    uint8_t *payload = segment_of(w, markers[draw(seed, sizeof markers)], &bytes);
    if (!payload || (more && size + bytes + 4 > room))
        return size;
    uint8_t *segment = payload - 4, *behind = payload + bytes;
    bytes += 4;
    if (more)
        memmove(behind, segment, (size_t)(w->end - segment));
    else
        memmove(segment, behind, (size_t)(w->end - behind));
    store_le(w->lengths, w->header_bytes + (more ? bytes : 0 - bytes), 4);
    return more ? size + bytes : size - bytes;
}

static size_t cut_out(size_t size, const struct twice *w, uint8_t *at, size_t bytes)
{
    memmove(at, at + bytes, (size_t)(w->end - at) - bytes);
    return size - bytes;
}

/* The last scan is missing. */
static size_t drop_scan(size_t size, const struct twice *w)
{
    uint8_t *scans = w->lengths - 1, *last = w->lengths + 4 * (size_t)(*scans - 1);
    size_t bytes = (size_t)load_le(last, 4);
    uint8_t *at = w->header;
    for (const uint8_t *length = w->lengths; length < last && (size_t)(w->end - at) >= load_le(length, 4);
         length += 4)
        at += load_le(length, 4);
    if (*scans < 2 || bytes > (size_t)(w->end - at))
        return size;
    --*scans;
    size = cut_out(size, w, at, bytes);
    return cut_out(size, w, last, 4);
}

/* Any bytes of the first header. */
static size_t change_any(size_t size, size_t room, const struct twice *w)
{
    size_t behind = (size_t)(w->end - w->header) - w->header_bytes, most = w->header_bytes + (room - size);
    uint8_t *copy = malloc(behind + 1), *header = malloc(most + 1);
    MUST(copy && header);
    memcpy(copy, w->header + w->header_bytes, behind);
    memcpy(header, w->header, w->header_bytes);
    size_t bytes = LLVMFuzzerMutate(header, w->header_bytes, most);
    memcpy(w->header, header, bytes);
    memcpy(w->header + bytes, copy, behind);
    store_le(w->lengths, bytes, 4);
    free(copy);
    free(header);
    return size - w->header_bytes + bytes;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static void (*const changes[])(const struct twice *w, unsigned *seed) = {
        change_head,   change_own_table,   change_header,     change_header,
        change_marker, change_both_tables, change_both_sizes, change_both_tables};
    struct twice w;
    if (draw(&seed, 12) == 0 || !find_both(data, size, &w))
        return LLVMFuzzerMutate(data, size, room);
    data[0] = (uint8_t)draw(&seed, 256);
    switch (draw(&seed, 8)) {
    case 0:
        return change_tables(data, size, room, &w, &seed);
    case 1:
        return change_segments(size, room, &w, &seed);
    case 2:
        return change_any(size, room, &w);
    case 3:
        return drop_scan(size, &w);
    default:
        changes[draw(&seed, sizeof changes / sizeof *changes)](&w, &seed);
        return size;
    }
}
