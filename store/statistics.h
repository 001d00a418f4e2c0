/* Sums over values, for means and standard deviation. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include "block.h"
#include "manifest.h"

/* Adds n bytes and their squares to the moments. */
void moments_add(struct moments *moments, const uint8_t *data, size_t n);

/* Adds sums over other values; false, with nothing added, if they are too large. */
bool moments_combine(struct moments *into, const struct moments *from);

/* Mean and standard deviation (of the population) of values that are at least one. */
void moments_figures(const struct moments *moments, double *mean, double *std);

/* Adds the records from ... to-1 of a column to a split's statistics of that field; APL_E_INVALID for a value
 * that is no class. */
apl_status statistics_add(struct split *split, unsigned f, const apl_field *field,
                          const struct raw_column *column, uint32_t from, uint32_t to, apl_error *err);

/* The sums over the colours of the images in those records. */
struct colour_sums statistics_colours(const apl_field *field, const struct raw_column *column, uint32_t from,
                                      uint32_t to);

/* Adds to a split's summaries those of another, which has no others. */
void statistics_merge(struct split *into, const struct split *from, const struct schema *schema);

/* Makes room for the summaries of split `s` that the manifest has: what is stored bounds what is counted, so that a file that speaks
 * of many splits and many classes is not given memory for each class in each split. */
apl_status statistics_room(const struct manifest *m, struct split *splits, uint32_t s, apl_error *err);

/* Frees the splits, one for each of the manifest's. */
void statistics_free(struct split *splits, const struct manifest *m);

#endif
