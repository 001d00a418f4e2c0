/* The files of tokens that a source has, each with its index if it has one, and how its tokens are written. */
#ifndef TOKEN_FILES_H
#define TOKEN_FILES_H

#include "format.h"

/* A file of tokens. */
struct token_file {
    size_t file;
    apl_dtype dtype; /* in the file: an integer */
    bool swap;
    uint64_t header; /* bytes before the tokens */
    uint64_t count;  /* FORMAT_UNKNOWN: as many as there are */
    const char *split;
    uint32_t split_rank;
    uint64_t documents; /* of a source whose parts are made: how many there are */
    bool empty;         /* it has no tokens, and says so itself */
    bool headed;        /* its header says what its tokens are */
    bool indexed;       /* there is an index */
    size_t index;       /* its file */
};

struct token_files {
    const struct format_host *host;
    struct token_file *file;
    size_t count;
};

/* Room for all of the host's files; free(t->file) afterwards. */
apl_status token_files_open(struct token_files *t, const struct format_host *host, apl_error *err);

/* Finds them, and reads the headers of those that have one. */
apl_status token_files_find(struct token_files *t, apl_error *err);

/* Two bytes a token where that is enough for every file: what is stored does not depend on what tokens there happen to be. */
apl_dtype token_files_dtype(const struct token_files *t);

/* Are the names without their endings, .idx and .bin, the same? */
bool token_files_pair(const char *index, const char *data);

/* A message of a parser gets the file's name. */
apl_status token_files_blame(const struct token_files *t, size_t file, apl_status status,
                             const apl_error *why, apl_error *err);

#endif
