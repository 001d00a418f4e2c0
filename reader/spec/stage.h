/*
 * Staging: a reader that has all that it reads kept in the caches of its stores, and makes nothing of it. It asks for what any reader with
 * its options asks for, in the same order and by the same functions, so that these find it there.
 */
#ifndef STAGE_H
#define STAGE_H

#include "spec.h"

/* Is that asked for, and possible? After the stores are known. */
apl_status stage_resolve(struct spec *spec, const apl_reader_options *asked, apl_error *err);

/* Has all that was read been kept? The error says why not. */
apl_status stage_is_kept(const struct spec *spec, apl_error *err);

#endif
