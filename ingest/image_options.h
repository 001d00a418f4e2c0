/* The options of an ingest that say what becomes of images. */
#ifndef IMAGE_OPTIONS_H
#define IMAGE_OPTIONS_H

#include "apl_ingest.h"
#include "image_rules.h"
#include "status.h"

/* Checks them; APL_E_INVALID says what is wrong. */
apl_status image_options_take(const apl_ingest_options *options, struct image_rules *rules, apl_error *err);

/* Are there any? */
bool image_options_given(const apl_ingest_options *options);

/* Writes "tool --images pixels --resize short=256", which the store keeps as what made it; returns `out`. */
const char *image_options_tool(const apl_ingest_options *options, const char *tool, char *out, size_t size);

#endif
