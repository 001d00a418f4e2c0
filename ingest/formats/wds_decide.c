/* From endings to fields: see wds_decide.h. */
#include "wds_decide.h"

#include "mask_maker.h"
#include "wds_declared.h"
#include "wds_masks.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------ endings that are one field */

/* What stands before the last part of an ending: "seg" of "seg.png", "" of "png". */
static size_t stem_of(const char *ending)
{
    const char *kind = wds_ending_kind(ending);
    return kind == ending ? 0 : (size_t)(kind - ending) - 1;
}

static bool same_stem(const struct wds_ending *a, const struct wds_ending *b)
{
    size_t length = stem_of(a->text);
    return length == stem_of(b->text) && memcmp(a->text, b->text, length) == 0;
}

/* Images of one stem, of which no sample has two, are one field. */
static bool are_one(const struct wds_fields *f, unsigned a, unsigned b)
{
    const struct wds_ending *x = &f->endings[a], *y = &f->endings[b];
    return x->kind == WDS_IMAGE && y->kind == WDS_IMAGE && same_stem(x, y) && !(x->together >> b & 1);
}

/* Which endings are one field, the first of each in `first`; *groups of them. */
static unsigned group_endings(struct wds_fields *f, unsigned first[WDS_ENDINGS])
{
    unsigned groups = 0;
    for (unsigned i = 0; i < f->ending_count; i++) {
        unsigned at = groups;
        for (unsigned g = 0; g < groups && at == groups; g++) {
            at = g;
            for (unsigned j = 0; j < i; j++)
                if (f->endings[j].field == g && !are_one(f, j, i))
                    at = groups;
        }
        f->endings[i].field = at;
        if (at == groups)
            first[groups++] = i;
    }
    return groups;
}

static void join_survey(struct survey *all, const struct survey *other)
{
    if (other->shaped && all->shaped)
        all->varies |= memcmp(all->shape, other->shape, sizeof all->shape) != 0;
    else if (other->shaped)
        memcpy(all->shape, other->shape, sizeof all->shape);
    all->jpeg += other->jpeg;
    all->other += other->other;
    all->passed += other->passed;
    all->varies |= other->varies;
    all->wide += other->wide;
    all->changed += other->changed;
    all->turned += other->turned;
    all->shaped += other->shaped;
}

static void join_surveys(struct wds_field *field, const struct wds_ending *e)
{
    join_survey(&field->survey, &e->survey);
    join_survey(&field->masks, &e->masks);
}

/* Of each group that at least half of the samples have, a field. */
static void begin_fields(struct wds_fields *f, unsigned groups, unsigned first[WDS_ENDINGS])
{
    for (unsigned g = 0; g < groups; g++) {
        uint64_t seen = 0;
        for (unsigned i = 0; i < f->ending_count; i++)
            seen += f->endings[i].field == g ? f->endings[i].seen : 0;
        bool wanted = 2 * seen >= f->samples;
        unsigned at = wanted ? f->count++ : WDS_NO_FIELD;
        if (wanted) {
            f->fields[at] = (struct wds_field){.ending = f->endings[first[g]].text, .seen = seen};
            first[at] = first[g];
        }
        for (unsigned i = 0; i < f->ending_count; i++)
            if (f->endings[i].field == g) {
                f->endings[i].field = at == WDS_NO_FIELD ? at : WDS_ENDINGS + 1 + at;
                if (wanted)
                    join_surveys(&f->fields[at], &f->endings[i]);
            }
    }
    for (unsigned i = 0; i < f->ending_count; i++)
        if (f->endings[i].field != WDS_NO_FIELD)
            f->endings[i].field -= WDS_ENDINGS + 1;
}

/* ----------------------------------------------------------------------------------------------- what a field is */

/* "seg" of seg.png; of png alone what such a file usually is. */
static void short_name(const struct wds_ending *e, char *out, size_t size)
{
    size_t length = stem_of(e->text);
    const char *usual = e->kind == WDS_IMAGE    ? "image"
                        : e->kind == WDS_NUMBER ? "label"
                        : e->kind == WDS_TEXT   ? "text"
                                                : e->text;
    snprintf(out, size, "%.*s", (int)(length ? length : strlen(usual)), length ? e->text : usual);
}

/* Fields that would have one name are called by their whole endings. */
static void name_fields(struct wds_fields *f, const unsigned *first)
{
    for (unsigned i = 0; i < f->count; i++)
        short_name(&f->endings[first[i]], f->fields[i].name, sizeof f->fields[i].name);
    uint64_t taken = 0;
    for (unsigned i = 0; i < f->count; i++)
        for (unsigned j = 0; j < f->count; j++)
            if (i != j && strcmp(f->fields[i].name, f->fields[j].name) == 0)
                taken |= UINT64_C(1) << i;
    for (unsigned i = 0; i < f->count; i++) {
        if (!(taken >> i & 1))
            continue;
        memcpy(f->fields[i].name, f->endings[first[i]].text, WDS_ENDING);
        for (char *dot = f->fields[i].name; (dot = strchr(dot, '.'));)
            *dot = '_';
    }
}

/* plan.mask: that it is one has been asked for. */
static void decide_image(struct wds_field *field, const struct format_host *host)
{
    bool mask = field->plan.mask;
    field->plan = mask ? mask_plan(&field->masks, &host->images) : survey_plan(&field->survey, host);
    field->role = mask ? APL_TARGET : APL_INPUT;
    field->shaped = true;
    field->dtype = field->plan.bits == 16 && !field->plan.keep ? APL_U16 : APL_U8;
    field->ndim = field->plan.keep ? 1 : 3;
    field->media = field->plan.keep ? "image/jpeg" : NULL;
    for (unsigned d = 0; d < 3; d++)
        field->shape[d] = field->plan.fixed ? (int64_t)field->plan.shape[d] : -1;
}

static void decide_number(struct wds_field *field, const struct wds_ending *e, const struct format_host *host)
{
    const apl_ingest_options *o = host->options;
    field->role = APL_TARGET;
    field->dtype = e->least < 0 || e->most > UINT32_MAX ? APL_I64
                   : e->most <= UINT8_MAX               ? APL_U8
                   : e->most <= UINT16_MAX              ? APL_U16
                                                        : APL_U32;
    if (strcmp(field->name, "label") != 0 || o->class_count == 0)
        return;
    field->classes = o->classes;
    field->class_count = o->class_count;
    field->dtype = o->class_count <= 256 ? APL_U8 : o->class_count <= 65536 ? APL_U16 : APL_U32;
}

static apl_status decide_array(struct wds_field *field, const struct wds_ending *e, apl_error *err)
{
    if (e->mixed)
        return fail(err, APL_E_SOURCE, "the arrays .%s are not all of one type and of as many dimensions",
                    e->text);
    field->dtype = e->array ? e->dtype : APL_F32;
    field->ndim = e->ndim;
    for (unsigned d = 0; d < e->ndim; d++)
        field->shape[d] = e->shape[d] == 0 ? -1 : e->shape[d];
    return APL_OK;
}

static const char *media_of(const char *ending)
{
    static const struct {
        const char *kind, *media;
    } medias[] = {{"json", "application/json"}, {"jsn", "application/json"}, {"flac", "audio/flac"},
                  {"mp3", "audio/mpeg"},        {"ogg", "audio/ogg"},        {"wav", "audio/wav"},
                  {"mp4", "video/mp4"},         {"webm", "video/webm"},      {"pdf", "application/pdf"},
                  {"html", "text/html"},        {"csv", "text/csv"}};
    for (size_t i = 0; i < sizeof medias / sizeof *medias; i++)
        if (strcmp(wds_ending_kind(ending), medias[i].kind) == 0)
            return medias[i].media;
    return "application/octet-stream";
}

static apl_status decide_field(struct wds_field *field, const struct wds_ending *e,
                               const struct format_host *host, apl_error *err)
{
    field->role = APL_INPUT;
    field->dtype = e->kind == WDS_TEXT ? APL_UTF8 : APL_U8;
    field->ndim = 1;
    field->shape[0] = -1;
    switch (e->kind) {
    case WDS_IMAGE:
        decide_image(field, host);
        return APL_OK;
    case WDS_NUMBER:
        field->ndim = 0;
        decide_number(field, e, host);
        return APL_OK;
    case WDS_ARRAY:
        return decide_array(field, e, err);
    case WDS_BYTES:
        field->media = media_of(e->text);
        return APL_OK;
    default:
        return APL_OK;
    }
}

/* Where there are images, all else is known of them. */
static void decide_roles(struct wds_fields *f)
{
    bool images = false;
    for (unsigned i = 0; i < f->count; i++)
        images |= f->fields[i].kind == WDS_IMAGE && !f->fields[i].plan.mask;
    for (unsigned i = 0; i < f->count && images; i++)
        if (f->fields[i].kind != WDS_IMAGE)
            f->fields[i].role = APL_TARGET;
}

/* Is it called NAME_shape or NAME_orientation, as what comes with images of that name is? */
static bool is_called_beside(const struct wds_field *f, const struct wds_field *image)
{
    size_t length = strlen(image->name);
    return strncmp(f->name, image->name, length) == 0 &&
           (strcmp(f->name + length, "_shape") == 0 || strcmp(f->name + length, "_orientation") == 0);
}

/* Where the source has such fields itself, as an export does, they are kept and none is added. */
static void keep_given_shapes(struct wds_fields *f)
{
    for (unsigned i = 0; i < f->count; i++)
        for (unsigned j = 0; j < f->count; j++)
            if (f->fields[i].kind == WDS_IMAGE && is_called_beside(&f->fields[j], &f->fields[i])) {
                f->fields[i].shaped = false;
                f->fields[j].role = APL_NAME;
            }
}

static apl_status decide_shown(struct wds_fields *f, const struct format_host *host, apl_error *err)
{
    unsigned first[WDS_ENDINGS];
    begin_fields(f, group_endings(f, first), first);
    name_fields(f, first);
    for (unsigned i = 0; i < f->count; i++)
        f->fields[i].kind = f->endings[first[i]].kind;
    TRY(wds_masks_find(f, host, err));
    for (unsigned i = 0; i < f->count; i++)
        TRY(decide_field(&f->fields[i], &f->endings[first[i]], host, err));
    decide_roles(f);
    keep_given_shapes(f);
    f->fields[f->count++] = (struct wds_field){.name = WDS_KEY_NAME,
                                               .kind = WDS_KEY,
                                               .ending = WDS_KEY_NAME,
                                               .dtype = APL_UTF8,
                                               .role = APL_NAME,
                                               .ndim = 1,
                                               .shape = {-1}};
    return APL_OK;
}

apl_status wds_decide(struct wds_fields *f, const struct format_host *host, apl_error *err)
{
    return f->declared.count ? wds_decide_declared(f, host, err) : decide_shown(f, host, err);
}
