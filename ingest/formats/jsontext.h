/* The one header of ingest that includes jansson.h. */
#ifndef JSONTEXT_H
#define JSONTEXT_H

#include <jansson.h>

#endif
