/* What a caller asks of a reader, in structs as this library knows them, whatever the caller's version. */
#ifndef ASKED_H
#define ASKED_H

#include "spec.h"

struct asked {
    apl_reader_options options; /* points to those below; its transforms are still the caller's */
    apl_sampling sampling;
    apl_blend blend;
    apl_source *sources; /* to be freed */
};

/* `options` may be NULL. */
apl_status asked_take(struct asked *asked, const apl_reader_options *options, apl_error *err);
void asked_free(struct asked *asked);

#endif
