/* What to read, by options: further stores (--with), only some records (--where). */
#ifndef SOURCE_ARGS_H
#define SOURCE_ARGS_H

#include "reader_args.h"

struct source_args {
    apl_source *mix;
    size_t mix_count;
    uint64_t *ids; /* NULL: all records */
    size_t id_count;
};

/* Opens the stores and looks the records up. `split` is that of `store`; NULL: its first. */
apl_status source_args_open(struct source_args *sources, const struct reader_args *args, apl_store *store,
                            const char *split, apl_error *err);
void source_args_close(struct source_args *sources);

/* Makes the options point to what was opened. Where one store has a weight, the others' default is 1. */
void source_args_set(struct source_args *sources, apl_reader_options *options);

#endif
