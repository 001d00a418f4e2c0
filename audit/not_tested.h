/* What is random in the images that a transform makes, and has no test: an audit says so. */
#ifndef NOT_TESTED_H
#define NOT_TESTED_H

#include "apl.h"

#define NOT_TESTED_MOST 16

/* Fills in names, such as "colour jitter"; returns how many. Either may be NULL. */
unsigned not_tested(const apl_transform *transform, const apl_blend *blend,
                    const char *names[NOT_TESTED_MOST]);

#endif
