/* What the first reading of a WebDataset shows of its endings: see wds_endings.h. */
#include "wds_endings.h"

#include "file_name.h"
#include "image_kind.h"
#include "mask_maker.h"
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

/* Which of the images are masks, the names of fields say, which are not known before all endings are. */
static apl_status look_at_image(struct wds_ending *e, const struct format_host *host,
                                struct image_decoder *decoder, const struct format_member *m,
                                struct buffer *bytes, apl_error *err)
{
    bytes->size = 0;
    TRY(survey_take(&e->survey, host, decoder, m, bytes, err));
    return host->options->mask_column_count && bytes->size
               ? mask_survey_take(&e->masks, &host->images, decoder, bytes, err)
               : APL_OK;
}

apl_status wds_look(struct wds_fields *f, const struct format_host *host, unsigned ending,
                    struct image_decoder *decoder, const struct format_member *m, struct buffer *bytes,
                    apl_error *err)
{
    struct wds_ending *e = &f->endings[ending];
    if (e->kind == WDS_IMAGE)
        return look_at_image(e, host, decoder, m, bytes, err);
    if (e->kind == WDS_NUMBER)
        look_at_number(e, m);
    else
        look_at_array(e, m);
    return APL_OK;
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
