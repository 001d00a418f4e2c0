/* What features are, by their connectors' names: see tf_features.h. */
#include "tf_features.h"

#include "jsontext.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 16

/* Where a feature stands: its name so far; in a sequence, the boxes that its elements have, or "". */
struct tf_where {
    char name[APL_MAX_NAME + 1], boxes[APL_MAX_NAME + 1];
    bool listed;
    unsigned depth;
};

/* "BBoxFeature" of tensorflow_datasets.core.features.bbox_feature.BBoxFeature. */
static const char *connector_of(const json_t *feature)
{
    const char *name = json_string_value(json_object_get(feature, "pythonClassName"));
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot ? dot + 1 : name ? name : "";
}

static bool kind_of_connector(const char *connector, apl_kind *kind)
{
    static const struct {
        const char *connector;
        apl_kind_id kind;
        apl_form form;
    } kinds[] = {{"Image", APL_KIND_IMAGE, APL_FORM_NONE},
                 {"LabeledImage", APL_KIND_MASK, APL_FORM_NONE},
                 {"BBoxFeature", APL_KIND_BOXES, APL_FORM_YXYX_REL},
                 {"ClassLabel", APL_KIND_LABEL, APL_FORM_NONE},
                 {"Text", APL_KIND_TEXT, APL_FORM_NONE}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(connector, kinds[i].connector) == 0) {
            *kind = (apl_kind){.id = kinds[i].kind, .form = kinds[i].form, .origin = APL_FROM_SOURCE};
            return true;
        }
    return false;
}

/* One number in each element of a sequence. */
static bool is_scalar(const json_t *feature)
{
    const json_t *tensor = json_object_get(feature, "tensor");
    const json_t *dimensions = json_object_get(json_object_get(tensor, "shape"), "dimensions");
    return strcmp(connector_of(feature), "ClassLabel") == 0 || (tensor && json_array_size(dimensions) == 0);
}

/* The feature of boxes among those of a dict; NULL: there is none, or there are several. */
static const char *boxes_among(json_t *features)
{
    const char *name, *found = NULL;
    json_t *feature;
    unsigned count = 0;
    json_object_foreach(features, name, feature) if (strcmp(connector_of(feature), "BBoxFeature") == 0)
    {
        found = name;
        count++;
    }
    return count == 1 ? found : NULL;
}

static apl_status take_connector(struct tf_features *t, json_t *feature, const struct tf_where *at,
                                 apl_error *err);

/* "objects/bbox"; false: it would be too long. */
static bool join_name(char out[APL_MAX_NAME + 1], const char *before, const char *name)
{
    size_t n = strlen(before), slash = n > 0, m = strlen(name);
    if (n + slash + m > APL_MAX_NAME)
        return false;
    memcpy(out, before, n);
    memcpy(out + n, "/", slash);
    memcpy(out + n + slash, name, m + 1);
    return true;
}

static apl_status take_connectors(struct tf_features *t, json_t *features, const struct tf_where *at,
                                  apl_error *err)
{
    const char *name, *boxes = at->listed ? boxes_among(features) : NULL;
    json_t *feature;
    json_object_foreach(features, name, feature)
    {
        struct tf_where below = {.listed = at->listed, .depth = at->depth + 1};
        if (!join_name(below.name, at->name, name) ||
            (boxes && strcmp(boxes, name) != 0 && !join_name(below.boxes, at->name, boxes)))
            continue; /* no record can have it */
        TRY(take_connector(t, feature, &below, err));
    }
    return APL_OK;
}

/* Of a feature that records have: a scalar of a sequence is one for each of its boxes, if it has boxes. */
static apl_status take_leaf(struct tf_features *t, const json_t *feature, const struct tf_where *at,
                            apl_error *err)
{
    struct tf_told *told = &t->told[t->count];
    *told = (struct tf_told){.listed = at->listed};
    bool known = kind_of_connector(connector_of(feature), &told->kind),
         each = at->boxes[0] && is_scalar(feature);
    if (!known && !each)
        return APL_OK;
    if (t->count == TF_FEATURES_MAX)
        return fail(err, APL_E_SOURCE, "has more than %u features", TF_FEATURES_MAX);
    if (!known)
        told->kind = (apl_kind){.id = APL_KIND_PLAIN, .origin = APL_FROM_SOURCE};
    memcpy(told->name, at->name, sizeof told->name);
    if (each)
        memcpy(told->kind.per, at->boxes, sizeof told->kind.per);
    t->count++;
    return APL_OK;
}

static apl_status take_connector(struct tf_features *t, json_t *feature, const struct tf_where *at,
                                 apl_error *err)
{
    json_t *dict = json_object_get(json_object_get(feature, "featuresDict"), "features");
    json_t *sequence = json_object_get(json_object_get(feature, "sequence"), "feature");
    struct tf_where within = *at;
    if (at->depth > DEEPEST)
        return fail(err, APL_E_SOURCE, "has features within features, more than %d deep", DEEPEST);
    if (dict)
        return take_connectors(t, dict, at, err);
    if (!sequence)
        return take_leaf(t, feature, at, err);
    within.listed = true;
    within.depth++;
    return at->listed ? APL_OK
                      : take_connector(t, sequence, &within, err); /* ragged ones are several features */
}

apl_status tf_features_read(const void *text, size_t size, struct tf_features *t, apl_error *err)
{
    static const struct tf_where top;
    json_error_t why;
    *t = (struct tf_features){.told = calloc(TF_FEATURES_MAX + 1, sizeof *t->told)};
    if (!t->told)
        return fail_nomem(err);
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    if (!json)
        return fail(err, APL_E_SOURCE, "is not JSON: line %d, column %d", why.line, why.column);
    apl_status status = take_connector(t, json, &top, err);
    json_decref(json);
    return status;
}

void tf_features_free(struct tf_features *t)
{
    free(t->told);
    *t = (struct tf_features){0};
}

const struct tf_told *tf_features_find(const struct tf_features *t, const char *name)
{
    for (unsigned i = 0; i < t->count; i++)
        if (strcmp(t->told[i].name, name) == 0)
            return &t->told[i];
    return NULL;
}
