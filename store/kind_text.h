/* Kinds as text, and whether one is well-formed: the words of apl/kind.h are here alone. Which fields can have it, schema.h says. */
#ifndef KIND_TEXT_H
#define KIND_TEXT_H

#include "status.h"

#include <stdbool.h>

/* "boxes"; "?" for a number that is no kind. Static. */
const char *kind_word(apl_kind_id id);

/* Makes of a kind that anyone may have filled in one that can be relied on: strings that end, names that are names, words that there are,
 * each with a value that it can have, and the default form where none is given. APL_E_INVALID: says what is wrong. */
apl_status kind_check(const apl_kind *kind, apl_kind *checked, apl_error *err);

/* The value of "flip=", "ignore=" or "rate=": a place in kind->parameters, up to a comma or the end; NULL: it is not there. */
const char *kind_parameter(const apl_kind *kind, const char *word);

/* Do two fields have one kind, whoever has said it? NULL, and what nobody has said (APL_BY_DEFAULT), count as no kind. */
bool kind_agrees(const apl_kind *a, const apl_kind *b);

#endif
