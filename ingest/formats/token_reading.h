/* A reading of tokens: what its parts share. format_tokens.c finds the files, token_stream.c cuts streams, token_pair.c follows the
 * index of a pair; both make documents by token_document.c. */
#ifndef TOKEN_READING_H
#define TOKEN_READING_H

#include "format.h"
#include "token_files.h"

struct tokens {
    const struct format_host *host;
    struct token_files files;
    apl_writer *writer;
    apl_dtype dtype; /* in the store: u16 or u32 */
    struct buffer document;
    uint64_t records;
    const char *split;    /* of the file being read */
    bool counting;        /* its documents, whose number is: */
    uint64_t documents;   /* none is appended */
    uint32_t members[64]; /* of each split */
    uint64_t empty;       /* documents without tokens, in pairs, which are left out */
    size_t empty_files;   /* that have such; */
    size_t first_empty;   /* the first of them */
};

/* One token of the file as a number; negative ones are far beyond what fits. */
uint64_t tokens_value(const struct token_file *f, const uint8_t *at, size_t item);

/* Adds `count` tokens, of which the first is the file's token `number`, to the document. */
apl_status tokens_put(struct tokens *t, const struct token_file *f, const uint8_t *data, size_t count,
                      uint64_t number, apl_error *err);

/* The document is whole: it becomes a record, is counted, or passed over as another part's. */
apl_status tokens_append(struct tokens *t, apl_error *err);

/* How many tokens are there at once, of `most`: at least 1, and no more than a buffer of them. */
size_t tokens_ready(struct cursor *c, size_t item, uint64_t most);

/* The file ends within token `number`. */
apl_status tokens_ragged_end(struct tokens *t, const struct token_file *f, struct format_stream *stream,
                             uint64_t number, apl_error *err);

/* Is what follows in this split other parts'? */
bool tokens_all_read(const struct tokens *t);

/* Goes on behind `tokens` tokens of the file, without reading those before it, where it is not packed. *moved: so it was. */
apl_status tokens_continue_at(const struct tokens *t, const struct token_file *f, uint64_t tokens,
                              struct format_stream **stream, bool *moved, apl_error *err);

/* The length of the pieces into which a stream without documents is cut, in tokens. */
uint32_t tokens_chunk(const struct tokens *t);

/* The tokens of a stream that is cut into pieces of equal length; FORMAT_UNKNOWN where it must be read to know. */
uint64_t tokens_in_stream(const struct tokens *t, const struct token_file *f);

/* The documents of a stream, whose header has been read. `*at` may be reopened. */
apl_status tokens_read_stream(struct tokens *t, const struct token_file *f, struct format_stream **at,
                              apl_error *err);

/* The documents of a pair, by its index. */
apl_status tokens_read_pair(struct tokens *t, const struct token_file *f, struct format_stream **data,
                            apl_error *err);

#endif
