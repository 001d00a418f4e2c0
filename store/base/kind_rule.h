/* The one rule of kinds: what becomes of a field when the pixels of its image move, by a flip, a crop, a resize ... Whoever moves pixels
 * asks it, readers and ingest alike; no name of a field is ever looked at. */
#ifndef KIND_RULE_H
#define KIND_RULE_H

#include "status.h"

#include <stdbool.h>

enum kind_action {
    KIND_STAYS = APL_STAYS, /* it has nothing to do with where the pixels are */
    KIND_MOVES =
        APL_MOVES, /* it must move as they do, or the pixels must not move; an image moves by what is done to itself */
    KIND_REFUSED =
        APL_REFUSED /* it lies in the image, or may, and cannot be moved: neither must the pixels */
};

/* `in_image`: that of field_may_lie_in_image(), which decides where nobody has said what the field is. */
enum kind_action kind_rule(apl_kind_id id, bool in_image);

/* By type, shape and role alone: could the values lie in an image, or be one? Arrays of numbers could, and kept images; not single
 * numbers, text, bytes of unknown content and other files, nor names and positions, which say which record it is. */
bool field_may_lie_in_image(const apl_field *field);

/* APL_KIND_NONE, where nobody has said. */
apl_kind_id field_kind(const apl_field *field);

/* The form of a kind that has forms; where it says none, the first of them. */
apl_form kind_form(const apl_kind *kind);

/* kind_rule() of a field. */
enum kind_action field_action(const apl_field *field);

#endif
