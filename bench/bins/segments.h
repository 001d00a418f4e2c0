/*
 * Cells for numbered tickets, in segments that are used again once they are drained. No call waits for another thread.
 *
 * A cell holds one 32-bit value, its state, and the number of the segment that its ticket belongs to: 64 bits that change together.
 * Memory is reclaimed without hazard pointers or epochs:
 *
 *   - Each ticket is taken by exactly one thread, and that ticket is its reference: a segment leaves circulation when all of its
 *     tickets have been taken, so who holds one finds its segment in place.
 *   - Who looks at a cell without holding its ticket may find it emptied, or in use under another number. The number in the cell
 *     is part of what compare-and-swap compares, and no number comes twice: such a swap fails, and nothing else is written.
 *   - Memory goes back to the system in segments_free() alone: an address that was read stays readable.
 *
 * Drained segments lie on a stack whose top carries a tag that each push and pop counts up: a top that was read and has come back
 * meanwhile is not taken for the same (ABA).
 */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_CELLS 1024u
#define CHUNK         1024u /* segments */
#define CHUNKS        8192u
#define MOST_TICKETS \
    ((uint64_t)SEGMENT_CELLS * CHUNK * CHUNKS) /* 2^33: an epoch has fewer than 2^32 deliveries */

struct segment {
    uint32_t index;         /* among all that were made */
    _Atomic uint32_t below; /* on the stack: 1 + the index of the one under it; 0: none */
    _Atomic uint32_t untaken;
    _Atomic uint64_t cells[SEGMENT_CELLS];
};

struct chunk {
    struct segment *_Atomic segment[CHUNK];
};

struct table {
    struct chunk *_Atomic chunk[CHUNKS];
};

struct segments {
    struct table by_number, by_index;        /* by number: that of its first ticket / SEGMENT_CELLS */
    _Alignas(64) _Atomic uint64_t installed; /* numbers 0 ... installed - 1 have segments */
    _Atomic uint32_t made;
    _Alignas(64) _Atomic uint64_t drained; /* the stack: the tag, and below it 1 + the index of its top */
};

/* Zeroed memory is a set of segments with no ticket. */
void segments_free(struct segments *s);

/* All tickets are back: begins with ticket 0. No other call may be under way. */
void segments_begin(struct segments *s);

/* Makes sure that tickets below `end` have cells; false: out of memory, or beyond MOST_TICKETS. */
bool segments_install(struct segments *s, uint64_t end);

/* The caller has taken n tickets of the segment, and does not look at their cells again. */
void segments_taken(struct segments *s, struct segment *segment, uint32_t n);

/* Bytes of all segments that were made. */
uint64_t segments_bytes(struct segments *s);

static inline struct segment *table_at(struct table *table, uint64_t i)
{
    struct chunk *chunk = atomic_load_explicit(&table->chunk[i / CHUNK], memory_order_acquire);
    return chunk ? atomic_load_explicit(&chunk->segment[i % CHUNK], memory_order_acquire) : NULL;
}

/* The segment of a ticket that has a cell. */
static inline struct segment *segment_of(struct segments *s, uint64_t ticket)
{
    return table_at(&s->by_number, ticket / SEGMENT_CELLS);
}

/* ----------------------------------------------------------------------------------------------- cells */

enum cell_state { CELL_EMPTY, CELL_FILLED, CELL_TAKEN };

static inline uint64_t cell(enum cell_state state, uint64_t ticket, uint32_t value)
{
    return (uint64_t)state << 62 | ticket / SEGMENT_CELLS << 32 | value;
}

static inline uint32_t cell_value(uint64_t c)
{
    return (uint32_t)c;
}

/* Is it filled, and under this ticket? */
static inline bool cell_is_filled(uint64_t c, uint64_t ticket)
{
    return c >> 32 == cell(CELL_FILLED, ticket, 0) >> 32;
}

#endif
