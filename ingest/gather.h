/* The sources of an ingest: what the caller has named, with patterns and directories of archives expanded. */
#ifndef GATHER_H
#define GATHER_H

#include "host.h"

/* Fills in->given and in->sources, and the notices about them. */
apl_status gather_sources(struct ingest *in, const char *source, apl_error *err);

void gather_free(struct ingest *in);

#endif
