/* The one rule of kinds: see kind_rule.h. */
#include "kind_rule.h"

#include <string.h>

static const enum kind_action rule[] = {
    [APL_KIND_IMAGE] = KIND_MOVES,     [APL_KIND_MASK] = KIND_MOVES,        [APL_KIND_MAP] = KIND_MOVES,
    [APL_KIND_BOXES] = KIND_MOVES,     [APL_KIND_KEYPOINTS] = KIND_REFUSED, /* not yet */
    [APL_KIND_VECTORS] = KIND_REFUSED, [APL_KIND_PINNED] = KIND_REFUSED,    [APL_KIND_LABEL] = KIND_STAYS,
    [APL_KIND_TEXT] = KIND_STAYS,      [APL_KIND_TOKENS] = KIND_STAYS,      [APL_KIND_AUDIO] = KIND_STAYS,
    [APL_KIND_PLAIN] = KIND_STAYS,
};

/* A kind of a later version is refused: it may be one that moves. */
enum kind_action kind_rule(apl_kind_id id, bool in_image)
{
    if (id == APL_KIND_NONE)
        return in_image ? KIND_REFUSED : KIND_STAYS;
    return (unsigned)id < sizeof rule / sizeof *rule ? rule[id] : KIND_REFUSED;
}

bool field_may_lie_in_image(const apl_field *field)
{
    if (field->media)
        return strncmp(field->media, "image/", 6) == 0;
    bool of_record =
        field->role == APL_NAME || field->role == APL_POSITION; /* its key, its size as it came */
    if (field->dtype == APL_UTF8 || field->ndim == 0 || of_record)
        return false;
    return field->dtype != APL_U8 || field->ndim > 1 || field->shape[0] >= 0;
}

apl_kind_id field_kind(const apl_field *field)
{
    return field->kind ? field->kind->id : APL_KIND_NONE;
}

apl_form kind_form(const apl_kind *kind)
{
    if (kind->form != APL_FORM_NONE)
        return kind->form;
    return kind->id == APL_KIND_MAP         ? APL_FORM_NEAREST
           : kind->id == APL_KIND_BOXES     ? APL_FORM_XYXY
           : kind->id == APL_KIND_KEYPOINTS ? APL_FORM_XY
                                            : APL_FORM_NONE;
}

enum kind_action field_action(const apl_field *field)
{
    return kind_rule(field_kind(field), field_may_lie_in_image(field));
}

apl_action apl_field_action(const apl_field *field, const apl_kind *kind)
{
    if (!field)
        return APL_REFUSED;
    apl_kind_id id = kind ? kind->id : field_kind(field);
    return (apl_action)kind_rule(id, field_may_lie_in_image(field));
}
