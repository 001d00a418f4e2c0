/* Images whose pixels are changed on their way from crop to batch. */
#ifndef FINISH_H
#define FINISH_H

#include "worker.h"

/* Is there more to do than assemble() does? */
bool finish_needed(const apl_transform *t);

/* Writes row k of field f: what assemble() makes of the image at `source`, with effects in between, and erased. `placement` may be
 * NULL, as for assemble(). The only error is APL_E_NOMEM. */
apl_status finish_image(struct worker *w, const struct job *job, unsigned f, const struct assembly *assembly,
                        size_t k, const uint8_t *source, const struct placement *placement, apl_error *err);

#endif
