/* What is to be sampled, as command lines tell it: completed by what the store says of its classes. */
#ifndef SAMPLING_ARGS_H
#define SAMPLING_ARGS_H

#include "reader_args.h"

/* Fills choice->sampling from what was given, if anything of it was, and lets the options point to it: the
 * choice must stay where it is. APL_E_INVALID, with a message, where --weights does not fit the store's
 * classes. */
apl_status sampling_args(const apl_store *store, struct reader_choice *choice, apl_error *err);

void sampling_args_free(struct reader_choice *choice);

#endif
