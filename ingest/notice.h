/* What the caller of an ingest is told that is no error. */
#ifndef NOTICE_H
#define NOTICE_H

#include "apl_ingest.h"

/* Gives the caller a notice, if he wants any, made safe to print. */
void notice_tell(const apl_ingest_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
