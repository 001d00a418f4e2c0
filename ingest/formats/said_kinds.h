/* What the fields of a store are: as the caller says (--field), or else as the source does; of single numbers of which neither says
 * anything, plain by default. */
#ifndef SAID_KINDS_H
#define SAID_KINDS_H

#include "format.h"

/* What the caller says, in texts as apl_kind_parse() has them. */
struct said_kind {
    char field[APL_MAX_NAME + 1];
    apl_kind kind;
};
struct said_kinds {
    struct said_kind *said;
    size_t count;
};

/* Reads the options' texts. To be freed in any case. */
apl_status said_kinds_read(const apl_ingest_options *options, struct said_kinds *kinds, apl_error *err);
void said_kinds_free(struct said_kinds *kinds);

/* What the caller says of a field; NULL: nothing. */
const apl_kind *said_kinds_find(const struct said_kinds *kinds, const char *field);

/* For formats: says of a field that has been added what the source tells it to be; what the caller says of it comes later, and counts. `of`: its
 * image; NULL: the only one. */
apl_status said_kinds_set(apl_writer *writer, const char *field, apl_kind_id id, apl_form form,
                          const char *of, apl_origin origin, apl_error *err);

/*
 * Once the format, whose state that is, has added its fields: takes what the caller says, and what is so by default, which is told once. APL_E_INVALID: the
 * caller speaks of a field that is not there, or that cannot be this; or images are to be moved (resized, turned) beside what lies in them and
 * would stay behind.
 */
apl_status said_kinds_settle(const struct format_host *host, const struct format *format, const void *state,
                             apl_writer *writer, apl_error *err);

/* Before the writer commits: tells what is common in good data, and has been stored as it is. */
void said_kinds_tell(const struct format_host *host, const apl_writer *writer);

#endif
