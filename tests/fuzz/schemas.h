/* The schemas that blocks are fuzzed with: fields of every kind that blocks treat differently. */
#ifndef SCHEMAS_H
#define SCHEMAS_H

#include "schema.h"

#define SCHEMAS 5u

/* Schema `number` of 0 ... SCHEMAS-1. */
const struct schema *fuzz_schema(unsigned number);

#endif
