/* What a caller asks of a reader, checked and completed. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "reader.h"

/* Fills r->options, r->sources and r->subset from what was asked for. */
apl_status options_resolve(apl_reader *r, const apl_reader_options *asked, apl_error *err);

#endif
