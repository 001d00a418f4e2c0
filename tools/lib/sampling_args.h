/* What to sample, by options, with class names looked up in the store. */
#ifndef SAMPLING_ARGS_H
#define SAMPLING_ARGS_H

#include "reader_args.h"

/* Fills choice->sampling from the options given, if any, and makes choice->options point to it: the choice must not
 * be moved. APL_E_INVALID, with a message, where --weights does not fit the store's
 * classes, or --record-weights names a file of anything but numbers. Of a field's weights the reader tells. */
apl_status sampling_args(const apl_store *store, struct reader_choice *choice, apl_error *err);

void sampling_args_free(struct reader_choice *choice);

#endif
