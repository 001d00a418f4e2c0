/* What a caller asks of a reader, checked and completed. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "spec.h"

/* Fills spec->options, spec->sources and spec->subset from what was asked for. */
apl_status options_resolve(struct spec *spec, const apl_reader_options *asked, apl_error *err);

#endif
