/* What the fields that are read are: as their store says, or as a caller says who knows better. */
#ifndef FIELD_KINDS_H
#define FIELD_KINDS_H

#include "spec.h"

/* Gives the spec a schema of its own, that of its store, in which the fields have the kinds that `texts` declare, as apl_kind_parse()
 * reads them; kinds_close() frees them. Before anything else of the spec is resolved. */
apl_status kinds_open(struct spec *spec, const char *const *texts, size_t count, apl_error *err);
void kinds_close(struct spec *spec);

/* The image that a field belongs to by its kind, or by that of what it is `per`; "": neither says. */
const char *kinds_image(const struct schema *schema, const apl_field *field);

/* The boxes that a field has an element for each of, in one step or several; -1: none. */
int kinds_boxes(const struct schema *schema, const apl_field *field);

/* The sum of what is declared of the fields, for states: 0 where nothing is. Is it, of another reader's fields, one in which no field
 * is of another kind than here? Fields that one of the two does not read make no difference. */
uint64_t kinds_sum(const struct spec *spec);
bool kinds_agree(const struct spec *spec, uint64_t sum);

/* The kinds of the fields that are read, as apl_kind_parse() reads them, one after another; cut off where there is no more room. Returns
 * `text`. */
char *kinds_list(const struct spec *spec, char *text, size_t size);

#endif
