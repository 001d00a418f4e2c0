/* From files to records: see wds_samples.h. */
#include "wds_samples.h"

#include "member.h"
#include "parallel.h"
#include "wds_endings.h"

#include <inttypes.h>
#include <stdio.h>

#define GATHER_BYTES ((size_t)16 << 20) /* of files and samples of images, unless one record has more */

/* ----------------------------------------------------------------------------------------------------- appending */

static apl_status begin_record(struct wds_samples *w, apl_error *err)
{
    if (!w->writer) {
        TRY(w->host->writer(w->host->user, &w->writer, err));
        TRY(w->host->made_fields(w->host->user, wds_add_fields(w->fields, w->host, w->writer, err), err));
    }
    return wds_splits_begin_member(w->splits, w->host, w->writer, err);
}

static bool does_vary(const struct wds_field *f)
{
    for (unsigned d = 0; d < f->ndim; d++)
        if (f->shape[d] < 0)
            return true;
    return false;
}

static void tally_image(struct wds_samples *w, const struct wds_sample *s, unsigned field)
{
    char path[1200];
    snprintf(path, sizeof path, "%s: .%s", s->shown, w->fields->fields[field].ending);
    image_tally_take(&w->tally, w->host, path, &s->values[field].made);
}

static apl_status append_sample(struct wds_samples *w, const struct wds_sample *s, apl_error *err)
{
    apl_value values[3 * (APL_MAX_FIELDS + 1)];
    unsigned n = 0;
    TRY(begin_record(w, err));
    for (unsigned i = 0; i < w->fields->count; i++) {
        const struct wds_value *v = &s->values[i];
        values[n++] = (apl_value){v->data ? v->data : "", does_vary(&w->fields->fields[i]) ? v->shape : NULL};
        if (w->fields->fields[i].kind == WDS_IMAGE)
            tally_image(w, s, i);
    }
    for (unsigned i = 0; i < w->fields->count; i++) {
        if (w->fields->fields[i].shaped)
            values[n++] = (apl_value){s->values[i].made.shape, NULL};
        if (w->fields->fields[i].shaped && w->fields->fields[i].plan.orientations)
            values[n++] = (apl_value){&s->values[i].made.orientation, NULL};
    }
    w->records++;
    w->appending = s->shown;
    return w->host->append(w->host->user, values, err);
}

static apl_status make_value(const struct wds_samples *w, struct wds_sample *s, struct image_maker *maker,
                             unsigned field)
{
    const struct wds_field *f = &w->fields->fields[field];
    unsigned masked = f->plan.mask ? w->fields->masked : WDS_NO_FIELD;
    char name[WDS_ENDING + 1] = "";
    apl_error why;
    if (masked != WDS_NO_FIELD)
        snprintf(name, sizeof name, ".%s", w->fields->fields[masked].ending);
    const struct buffer path = {.data = (uint8_t *)name, .size = strlen(name)};
    const struct masked_image image = {*name ? &s->values[masked].made : NULL, &path};
    s->status = wds_make(f, w->host, maker, *name ? &image : NULL, &s->values[field], &why);
    if (s->status != APL_OK)
        fail(&s->error, s->status, ".%s: %s", f->ending, why.message);
    return s->status;
}

/* Masks come after the image that they lie on. */
static apl_status make_sample(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct wds_samples *w = context;
    struct wds_sample *s = &w->samples[task];
    if (!w->makers[worker] && !(w->makers[worker] = image_maker_new(w->host->allow_warnings)))
        return fail_nomem(err);
    for (unsigned masks = 0; masks < 2; masks++)
        for (unsigned i = 0; i < w->fields->count && s->status == APL_OK; i++)
            if (w->fields->fields[i].plan.mask == masks &&
                make_value(w, s, w->makers[worker], i) == APL_E_NOMEM)
                return fail_nomem(err);
    return APL_OK;
}

apl_status wds_samples_flush(struct wds_samples *w, apl_error *err)
{
    unsigned n = w->gathered;
    w->gathered = 0;
    w->gathered_bytes = 0;
    apl_status status = parallel_for(w->threads, n, make_sample, w, err);
    if (status != APL_OK)
        return w->host->not_the_source(w->host->user, status);
    for (unsigned i = 0; i < n; i++) {
        struct wds_sample *s = &w->samples[i];
        apl_error why = s->error;
        TRY(s->status == APL_OK ? append_sample(w, s, err)
                                : w->host->bad(w->host->user, s->shown, &why, err));
    }
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------------- gathering */

void wds_samples_spoil(struct wds_samples *w, const apl_error *why)
{
    struct wds_sample *s = &w->samples[w->gathered];
    if (s->status != APL_OK)
        return;
    s->status = why->status;
    s->error = *why;
}

static void check_complete(struct wds_samples *w)
{
    const struct wds_sample *s = &w->samples[w->gathered];
    apl_error why;
    for (unsigned i = 0; i < w->fields->count; i++) {
        const struct wds_field *f = &w->fields->fields[i];
        if (s->values[i].present)
            continue;
        fail(&why, APL_E_SOURCE, "has no .%s, which %" PRIu64 " of the %" PRIu64 " keys have", f->ending,
             f->seen, w->fields->samples);
        wds_samples_spoil(w, &why);
    }
}

apl_status wds_samples_end(struct wds_samples *w, apl_error *err)
{
    check_complete(w);
    w->gathered++;
    return w->gathered == WDS_GATHERED || w->gathered_bytes >= GATHER_BYTES ? wds_samples_flush(w, err)
                                                                            : APL_OK;
}

apl_status wds_samples_begin(struct wds_samples *w, const char *key, size_t length, apl_error *err)
{
    struct wds_sample *s = &w->samples[w->gathered];
    size_t room = 4 * length + 8;
    free(s->shown);
    if (!(s->shown = malloc(room)))
        return fail_nomem(err);
    printable(s->shown, room < 512 ? room : 512, key, length);
    s->status = APL_OK;
    for (unsigned i = 0; i < w->fields->count; i++) {
        s->values[i].present = w->fields->fields[i].kind == WDS_KEY;
        s->values[i].made.bytes.size = 0;
        if (s->values[i].present)
            buffer_put(&s->values[i].made.bytes, key, length);
        if (s->values[i].made.bytes.failed)
            return fail_nomem(err);
    }
    return APL_OK;
}

/* Why the sample cannot take the file; APL_OK if it can. */
static apl_status check_wds_file(const struct wds_samples *w, const struct wds_sample *s,
                                 const struct wds_name *n, const struct format_member *m, unsigned *field,
                                 apl_error *why)
{
    int ending = wds_find_ending(w->fields, n->ending);
    *field = ending < 0 ? WDS_NO_FIELD : w->fields->endings[ending].field;
    if (*field == WDS_NO_FIELD && w->fields->declared.count)
        return fail(why, APL_E_SOURCE, "has a .%s, which schema.json does not have", n->ending);
    if (*field == WDS_NO_FIELD)
        return fail(why, APL_E_SOURCE, "has a .%s, which only %" PRIu64 " of the %" PRIu64 " keys have",
                    n->ending, ending < 0 ? 0 : w->fields->endings[ending].seen, w->fields->samples);
    if (s->values[*field].present)
        return fail(why, APL_E_SOURCE, "has two files .%s", n->ending);
    if (m->size > APL_MAX_VALUE)
        return fail(why, APL_E_SOURCE, ".%s has %" PRIu64 " bytes, more than the %u of a value", n->ending,
                    m->size, APL_MAX_VALUE);
    return APL_OK;
}

apl_status wds_samples_take(struct wds_samples *w, const struct wds_name *n, const struct format_member *m,
                            apl_error *err)
{
    struct wds_sample *s = &w->samples[w->gathered];
    apl_error why;
    unsigned field;
    if (check_wds_file(w, s, n, m, &field, &why) != APL_OK) {
        wds_samples_spoil(w, &why);
        return APL_OK;
    }
    struct wds_value *v = &s->values[field];
    TRY(member_append(m, m->size, &v->made.bytes, err));
    v->present = true;
    w->gathered_bytes += v->made.bytes.size;
    if (w->fields->fields[field].kind == WDS_IMAGE)
        w->gathered_bytes += image_maker_need(w->makers[0], &w->fields->fields[field].plan, &v->made);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ open and close */

apl_status wds_samples_init(struct wds_samples *w, const struct format_host *host,
                            const struct wds_fields *fields, struct wds_splits *splits, apl_error *err)
{
    w->host = host;
    w->fields = fields;
    w->splits = splits;
    w->threads = threads_for(host->threads);
    w->makers = calloc(w->threads, sizeof *w->makers);
    return w->makers && (w->makers[0] = image_maker_new(host->allow_warnings)) ? APL_OK : fail_nomem(err);
}

apl_status wds_samples_room(struct wds_samples *w, apl_error *err)
{
    for (unsigned i = 0; i < WDS_GATHERED; i++) {
        w->samples[i].values = calloc(w->fields->count, sizeof *w->samples[i].values);
        if (!w->samples[i].values)
            return fail_nomem(err);
    }
    return APL_OK;
}

void wds_samples_free(struct wds_samples *w)
{
    for (unsigned i = 0; i < WDS_GATHERED; i++) {
        for (unsigned f = 0; w->samples[i].values && f < w->fields->count; f++)
            wds_value_free(&w->samples[i].values[f]);
        free(w->samples[i].values);
        free(w->samples[i].shown);
    }
    for (unsigned i = 0; w->makers && i < w->threads; i++)
        image_maker_free(w->makers[i]);
    free(w->makers);
}
