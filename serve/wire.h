/*
 * What server and client say to each other over a socket of kind SOCK_SEQPACKET: one struct a message, in the byte order of the machine
 * that both are on. What is received is checked by wire_check() before it is looked at.
 */
#ifndef WIRE_H
#define WIRE_H

#include "status.h"

#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC   0x564c5041u /* "APLV" */
#define WIRE_VERSION 6u
#define WIRE_AHEAD   4u   /* batches that a client may ask for before its caller has got them */
#define WIRE_TOKENS  64u  /* batches that a message gives back, at most */
#define WIRE_COLUMNS 128u /* of a batch, at most: of fields and of parts */

enum wire_type {
    /* of clients */
    WIRE_HELLO = 1, /* I am this rank: the first message */
    WIRE_NEXT,      /* lend me one more batch; these I give back */
    WIRE_RELEASE,   /* these I give back */
    WIRE_EPOCH,     /* I begin this epoch */
    WIRE_WHY,       /* why has what I asked for not come? Sent as the header alone */
    /* of servers */
    WIRE_WELCOME = 65, /* what there is to know, with the descriptor of the memory: answers HELLO */
    WIRE_BATCH,        /* answers NEXT */
    WIRE_END,          /* the epoch is over: answers every NEXT that came before, as does: */
    WIRE_ERROR,        /* or answers EPOCH or WHY; to HELLO, or broken rules, which ends the connection */
    WIRE_BEGUN         /* answers EPOCH; a NEXT that is not answered by then never is */
};

struct wire_header {
    uint32_t magic;
    uint16_t version, type;
    uint32_t size; /* of the message */
    uint32_t zero;
};

/* Where a client wants to begin. */
enum wire_where {
    WIRE_BEGINNING, /* where the server did */
    WIRE_STATE,
    WIRE_AT_EPOCH, /* at the beginning of `epoch` */
    WIRE_ON,       /* wherever the server is */
    WIRE_LEAVE     /* nowhere: the server is to stop, unless a rank has a client */
};

struct wire_hello {
    struct wire_header h;
    uint32_t rank, where;
    uint64_t epoch;
    uint32_t wait_ms, zero; /* how long it may take until ranks that are elsewhere have left */
    uint8_t state[APL_STATE_BYTES];
};

/* NEXT and RELEASE; only as many of the tokens are sent as there are. */
struct wire_tokens {
    struct wire_header h;
    uint64_t taken; /* the last token that the client's caller has got */
    uint64_t count;
    uint64_t token[WIRE_TOKENS];
};

/* EPOCH, BEGUN and END. */
struct wire_epoch {
    struct wire_header h;
    uint64_t epoch;
};

struct wire_welcome {
    struct wire_header h;
    uint32_t rank, world;
    uint32_t drop_last, packed; /* packed: tokens of a row, 0 for none */
    uint64_t batch_size;        /* of each rank */
    uint64_t epoch, position;   /* where the rank's next batch begins */
    uint64_t deliveries;        /* of an epoch; */
    uint64_t length;            /* the same, or tokens */
    uint64_t seed;
    uint64_t region;     /* bytes of the memory */
    uint64_t most;       /* deliveries of a batch, at most */
    uint8_t content[32]; /* digests, as in states */
    uint64_t order[2];
    uint64_t kinds;      /* of the fields that are read, as in states */
    uint32_t pid, slots; /* of the server */
    uint64_t budget;
};

/* A column of a field, or of a part of one. */
struct wire_column {
    uint32_t field, part; /* part: APL_PART_..., + 1; 0: of the field itself */
    uint32_t dtype, ndim, how, dims;
    uint32_t offsets, shapes; /* are there any? */
    uint64_t data, bytes;     /* where in the memory */
    int64_t shape[APL_MAX_DIMS], dim[APL_MAX_DIMS + 1];
};

/* Beside its columns, at `arrays` in the memory, a batch has arrays one after another: ids (u64) of rows, those that were left out (u64),
 * pieces; of each column that has them, offsets (u64, rows + 1) and shapes (i64, rows x ndim); numbers of deliveries (u32) and copies
 * (u32) of rows. */
struct wire_batch {
    struct wire_header h;
    uint64_t token; /* by which it is given back */
    uint64_t epoch, position, end;
    uint64_t rows, skipped, pieces, finished;
    uint64_t arrays, array_bytes;
    uint64_t delivered, left_out, sum[2]; /* for the receipt */
    uint32_t copies, has_pieces;          /* are there any? */
    uint64_t columns;
    struct wire_column column[WIRE_COLUMNS]; /* only those that are used are sent */
};

struct wire_error {
    struct wire_header h;
    int32_t status;
    uint32_t answers; /* the type of the message that failed */
    apl_error error;
};

union wire_any {
    struct wire_header h;
    struct wire_hello hello;
    struct wire_tokens tokens;
    struct wire_epoch epoch;
    struct wire_welcome welcome;
    struct wire_batch batch;
    struct wire_error error;
    uint8_t bytes[sizeof(struct wire_batch)];
};

/* The sizes of messages with as many tokens or columns. */
static inline size_t wire_tokens_size(uint64_t count)
{
    return offsetof(struct wire_tokens, token) + (size_t)count * sizeof(uint64_t);
}
static inline size_t wire_batch_size(uint64_t columns)
{
    return offsetof(struct wire_batch, column) + (size_t)columns * sizeof(struct wire_column);
}

static inline struct wire_header wire_header(enum wire_type type, size_t size)
{
    return (struct wire_header){WIRE_MAGIC, WIRE_VERSION, (uint16_t)type, (uint32_t)size, 0};
}

/* Is a message of `size` bytes, which fits into the union, one that is understood, and as long as it says? Texts in it end, and can be printed. */
apl_status wire_check(union wire_any *message, size_t size, apl_error *err);

#endif
