/* Which format a source is of: what was asked for, what its files tell, or what a first reading of its names does. */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "host.h"

/* Begins the format of in->sources and opens what it reads first. *files: what is to be freed, where in->files has not become theirs. */
apl_status choose_format(struct ingest *in, struct files **files, apl_error *err);

/* Closes the format, and what it read. */
void end_format(struct ingest *in);

/* What is wrong with a source from which nothing came. If it is a pipe, the error also says how to give that. */
apl_status refuse_pipe(const struct ingest *in, apl_status status, apl_error *err);

#endif
