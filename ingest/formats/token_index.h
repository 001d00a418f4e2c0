/*
 * The index of a pair of files with tokens, as pretraining of language models uses them (.idx beside .bin). Little-endian:
 *
 *     9 bytes  "MMIDIDX" and two NULs
 *     u64      version, 1
 *     u8       type of a token: 1 u8, 2 i8, 3 i16, 4 i32, 5 i64, 8 u16
 *     u64      sequences S
 *     u64      numbers in the list of documents D, one more than there are documents
 *     i32      S times: tokens in a sequence
 *     i64      S times: byte in the .bin at which it begins
 *     i64      D times: the sequence with which a document begins, and at the end S
 *     u8       S times, in some files: a kind of each sequence, which is not read
 *
 * Sequences must lie one after another, and each must belong to one document: the list of documents ascends from 0 to S.
 */
#ifndef TOKEN_INDEX_H
#define TOKEN_INDEX_H

#include "bytes.h"
#include "status.h"

struct token_index {
    apl_dtype dtype;
    uint64_t sequences, documents; /* documents: numbers in their list */
    uint64_t lengths_at, pointers_at, documents_at, end;
};

bool token_index_is(const uint8_t *head, size_t size);

/* Reads the header, of a file of `size` bytes (FORMAT_UNKNOWN where it is not known). Messages do not name the file. */
apl_status token_index_read(struct cursor *c, uint64_t size, struct token_index *index, apl_error *err);

/* Reads the three lists side by side. */
struct token_index_reader {
    struct token_index index;
    struct cursor *lengths, *pointers, *documents;
    uint64_t sequence, document_end, at;
    uint64_t documents_read; /* of the numbers in their list */
    uint64_t empty;          /* documents without sequences, so far */
};

/* Each cursor is at the first byte of the file. */
apl_status token_index_open(struct token_index_reader *r, uint64_t size, struct cursor *header,
                            struct cursor *lengths, struct cursor *pointers, struct cursor *documents,
                            apl_error *err);

/* The next sequence: its tokens, and whether its document ends with it. Documents without sequences are counted. APL_END after the last. */
apl_status token_index_next(struct token_index_reader *r, uint64_t *length, bool *ends, apl_error *err);

#endif
