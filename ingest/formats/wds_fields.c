/* From endings to fields: see wds_fields.h. */
#include "wds_fields.h"

#include "file_name.h"
#include "image_kind.h"
#include "npy_header.h"
#include "wds_number.h"

#include <stdio.h>

#define NUMBER_MAX 64u /* bytes of a .cls file */

int wds_find_ending(const struct wds_fields *f, const char *text)
{
    for (unsigned i = 0; i < f->ending_count; i++)
        if (strcmp(f->endings[i].text, text) == 0)
            return (int)i;
    return -1;
}

static enum wds_kind kind_of_ending(const char *text)
{
    static const char *const texts[] = {"txt", "text", "transcript", NULL};
    const char *kind = wds_ending_kind(text);
    char name[WDS_ENDING + 2];
    snprintf(name, sizeof name, "x.%s", kind);
    return image_name(name)           ? WDS_IMAGE
           : strcmp(kind, "cls") == 0 ? WDS_NUMBER
           : strcmp(kind, "npy") == 0 ? WDS_ARRAY
           : word_in(kind, texts)     ? WDS_TEXT
                                      : WDS_BYTES;
}

apl_status wds_add_ending(struct wds_fields *f, const char *text, unsigned *number, apl_error *err)
{
    int known = wds_find_ending(f, text);
    *number = (unsigned)known;
    if (known >= 0)
        return APL_OK;
    if (f->ending_count == WDS_ENDINGS)
        return fail(err, APL_E_UNSUPPORTED, "with it the samples have more than %u endings", WDS_ENDINGS);
    struct wds_ending *e = &f->endings[f->ending_count];
    *e = (struct wds_ending){.kind = kind_of_ending(text)};
    snprintf(e->text, sizeof e->text, "%s", text);
    *number = f->ending_count++;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------- looking */

bool wds_looks(struct wds_fields *f, const struct format_host *host, unsigned ending, const char *name)
{
    struct wds_ending *e = &f->endings[ending];
    if (f->declared.count)
        return false;
    return e->kind == WDS_IMAGE ? survey_wants(&e->survey, host, name)
                                : e->kind == WDS_NUMBER || e->kind == WDS_ARRAY;
}

static void look_at_number(struct wds_ending *e, const struct format_member *m)
{
    int64_t value;
    const uint8_t *text = m->size > NUMBER_MAX ? NULL : cursor_take(m->cursor, (size_t)m->size);
    if (!text || !wds_number(text, (size_t)m->size, &value))
        return;
    e->least = !e->whole || value < e->least ? value : e->least;
    e->most = !e->whole || value > e->most ? value : e->most;
    e->whole = true;
}

static void look_at_array(struct wds_ending *e, const struct format_member *m)
{
    struct npy_header h;
    if (npy_header_read(m->cursor, &h, NULL) != APL_OK || h.structured || h.ndim > APL_MAX_DIMS)
        return;
    if (!e->array) {
        e->array = true;
        e->dtype = h.fields[0].dtype;
        e->ndim = h.ndim;
        memcpy(e->shape, h.shape, h.ndim * sizeof *h.shape);
        return;
    }
    e->mixed |= h.ndim != e->ndim || h.fields[0].dtype != e->dtype;
    for (unsigned d = 0; d < h.ndim && !e->mixed; d++)
        e->shape[d] = h.shape[d] == e->shape[d] ? e->shape[d] : -1;
}

apl_status wds_look(struct wds_fields *f, const struct format_host *host, unsigned ending,
                    struct image_decoder *decoder, const struct format_member *m, struct buffer *bytes,
                    apl_error *err)
{
    struct wds_ending *e = &f->endings[ending];
    if (e->kind == WDS_IMAGE)
        return survey_take(&e->survey, host, decoder, m, bytes, err);
    if (e->kind == WDS_NUMBER)
        look_at_number(e, m);
    else
        look_at_array(e, m);
    return APL_OK;
}

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

void wds_take_sample(struct wds_fields *f, uint64_t endings)
{
    f->samples++;
    for (unsigned i = 0; i < f->ending_count; i++) {
        if (!(endings >> i & 1))
            continue;
        f->endings[i].seen++;
        if (f->endings[i].kind == WDS_IMAGE)
            f->endings[i].together |= endings & ~(UINT64_C(1) << i);
    }
}

/* ------------------------------------------------------------------------------------------------------ deciding */

/* Images of one stem, of which no sample has two, are one field. */
static bool are_one(const struct wds_fields *f, unsigned a, unsigned b)
{
    const struct wds_ending *x = &f->endings[a], *y = &f->endings[b];
    return x->kind == WDS_IMAGE && y->kind == WDS_IMAGE && same_stem(x, y) && !(x->together >> b & 1);
}

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
    all->turned += other->turned;
    all->shaped += other->shaped;
}

static void decide_image(struct wds_field *field, const struct survey *s, const struct format_host *host)
{
    field->plan = survey_plan(s, host);
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

static apl_status decide_field(struct wds_field *field, const struct wds_ending *e, const struct survey *s,
                               const struct format_host *host, apl_error *err)
{
    field->kind = e->kind;
    field->role = APL_INPUT;
    field->dtype = e->kind == WDS_TEXT ? APL_UTF8 : APL_U8;
    field->ndim = 1;
    field->shape[0] = -1;
    switch (e->kind) {
    case WDS_IMAGE:
        decide_image(field, s, host);
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
        images |= f->fields[i].kind == WDS_IMAGE;
    for (unsigned i = 0; i < f->count && images; i++)
        if (f->fields[i].kind != WDS_IMAGE)
            f->fields[i].role = APL_TARGET;
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

/* Of each group that at least half of the samples have, a field. */
static void begin_fields(struct wds_fields *f, unsigned groups, unsigned first[WDS_ENDINGS],
                         struct survey surveys[WDS_ENDINGS])
{
    for (unsigned g = 0; g < groups; g++) {
        uint64_t seen = 0;
        for (unsigned i = 0; i < f->ending_count; i++)
            seen += f->endings[i].field == g ? f->endings[i].seen : 0;
        bool wanted = 2 * seen >= f->samples;
        unsigned at = wanted ? f->count++ : WDS_NO_FIELD;
        if (wanted) {
            f->fields[at] = (struct wds_field){.ending = f->endings[first[g]].text, .seen = seen};
            surveys[at] = (struct survey){0};
            first[at] = first[g];
        }
        for (unsigned i = 0; i < f->ending_count; i++)
            if (f->endings[i].field == g) {
                f->endings[i].field = at == WDS_NO_FIELD ? at : WDS_ENDINGS + 1 + at;
                if (wanted)
                    join_survey(&surveys[at], &f->endings[i].survey);
            }
    }
    for (unsigned i = 0; i < f->ending_count; i++)
        if (f->endings[i].field != WDS_NO_FIELD)
            f->endings[i].field -= WDS_ENDINGS + 1;
}

static apl_status decide_shown(struct wds_fields *f, const struct format_host *host, apl_error *err)
{
    unsigned first[WDS_ENDINGS];
    struct survey surveys[WDS_ENDINGS];
    begin_fields(f, group_endings(f, first), first, surveys);
    name_fields(f, first);
    for (unsigned i = 0; i < f->count; i++)
        TRY(decide_field(&f->fields[i], &f->endings[first[i]], &surveys[i], host, err));
    decide_roles(f);
    f->fields[f->count++] = (struct wds_field){.name = WDS_KEY_NAME,
                                               .kind = WDS_KEY,
                                               .ending = WDS_KEY_NAME,
                                               .dtype = APL_UTF8,
                                               .role = APL_NAME,
                                               .ndim = 1,
                                               .shape = {-1}};
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- as it is declared */

static bool kind_of_declared(const struct declared_field *d, enum wds_kind *kind)
{
    const char *ending = wds_ending_kind(d->ending);
    *kind = strcmp(d->name, WDS_KEY_NAME) == 0 && d->dtype == APL_UTF8 ? WDS_KEY
            : d->media && strcmp(d->media, "image/jpeg") == 0          ? WDS_IMAGE
            : d->media                                                 ? WDS_BYTES
            : d->dtype == APL_UTF8                                     ? WDS_TEXT
            : strcmp(ending, "cls") == 0                               ? WDS_NUMBER
            : strcmp(ending, "png") == 0                               ? WDS_IMAGE
                                                                       : WDS_ARRAY;
    return *kind != WDS_ARRAY || strcmp(ending, "npy") == 0;
}

static bool image_is_possible(const struct declared_field *d)
{
    return d->media || (d->ndim == 3 && (d->dtype == APL_U8 || d->dtype == APL_U16));
}

static void plan_declared(struct wds_field *field, const struct declared_field *d)
{
    field->plan = (struct image_plan){.keep = d->media != NULL, .bits = d->dtype == APL_U16 ? 16 : 8};
    if (d->ndim != 3 || d->shape[0] < 1 || d->shape[1] < 1 || d->shape[2] < 1)
        return;
    field->plan.fixed = true;
    for (unsigned i = 0; i < 3; i++)
        field->plan.shape[i] = d->shape[i] < UINT32_MAX ? (uint32_t)d->shape[i] : 0;
}

static apl_status decide_declared(struct wds_fields *f, const struct format_host *host, apl_error *err)
{
    const struct image_rules *r = &host->images;
    if (r->form != IMAGES_AUTO || r->quality || r->orient || r->sizes.shorter || r->sizes.width ||
        r->sizes.longest)
        return fail(err, APL_E_INVALID,
                    "is an export, which is read back as it was: its images stay what they are");
    for (unsigned i = 0; i < f->ending_count; i++)
        f->endings[i].field = WDS_NO_FIELD;
    for (; f->count < f->declared.count; f->count++) {
        const struct declared_field *d = &f->declared.fields[f->count];
        struct wds_field *field = &f->fields[f->count];
        *field = (struct wds_field){.ending = d->ending,
                                    .dtype = d->dtype,
                                    .role = d->role,
                                    .ndim = d->ndim,
                                    .media = d->media,
                                    .classes = d->classes,
                                    .class_count = d->class_count};
        memcpy(field->shape, d->shape, sizeof field->shape);
        snprintf(field->name, sizeof field->name, "%s", d->name);
        if (strlen(d->name) > APL_MAX_NAME || !kind_of_declared(d, &field->kind) ||
            (field->kind == WDS_IMAGE && !image_is_possible(d)) ||
            (field->kind == WDS_NUMBER && (d->ndim > 0 || d->dtype > APL_I64)))
            return fail(err, APL_E_SOURCE, "field %u of schema.json cannot be a file .%.100s", f->count,
                        d->ending);
        plan_declared(field, d);
        int ending = wds_find_ending(f, d->ending);
        if (ending >= 0) {
            f->endings[ending].field = f->count;
            field->seen = f->endings[ending].seen;
        }
    }
    return APL_OK;
}

apl_status wds_decide(struct wds_fields *f, const struct format_host *host, apl_error *err)
{
    return f->declared.count ? decide_declared(f, host, err) : decide_shown(f, host, err);
}

/* ------------------------------------------------------------------------------------------------------- the writer */

static apl_status add_wds_field(const struct wds_field *f, const struct format_host *host, apl_writer *writer,
                                apl_error *err)
{
    TRY(apl_writer_add_field(writer, f->name, f->dtype, f->role, f->ndim, f->shape, err));
    if (f->media)
        TRY(apl_writer_set_media(writer, f->name, f->media, err));
    if (f->class_count)
        TRY(apl_writer_set_classes(writer, f->name, f->classes, f->class_count, err));
    return f->kind == WDS_IMAGE && f->plan.keep && !host->options->keep_files
               ? apl_writer_set_indexed(writer, f->name, err)
               : APL_OK;
}

/* What is beside images. */
static apl_status add_beside(const struct wds_field *f, apl_writer *writer, apl_error *err)
{
    static const int64_t three[1] = {3};
    char name[APL_MAX_NAME + 16];
    if (!f->shaped)
        return APL_OK;
    snprintf(name, sizeof name, "%s_shape", f->name);
    TRY(apl_writer_add_field(writer, name, APL_U32, APL_NAME, 1, three, err));
    snprintf(name, sizeof name, "%s_orientation", f->name);
    return f->plan.orientations ? apl_writer_add_field(writer, name, APL_U8, APL_NAME, 0, NULL, err) : APL_OK;
}

apl_status wds_add_fields(const struct wds_fields *f, const struct format_host *host, apl_writer *writer,
                          apl_error *err)
{
    for (unsigned i = 0; i < f->count; i++)
        TRY(add_wds_field(&f->fields[i], host, writer, err));
    for (unsigned i = 0; i < f->count; i++)
        TRY(add_beside(&f->fields[i], writer, err));
    return APL_OK;
}

void wds_fields_free(struct wds_fields *f)
{
    declared_free(&f->declared);
}
