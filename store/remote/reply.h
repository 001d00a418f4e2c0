/* What the headers of an answer say. */
#ifndef REPLY_H
#define REPLY_H

#include "transport.h"

/* Takes a header into the reply, if it is of use. */
void reply_take_header(struct reply *reply, const char *name, const char *value);

#endif
