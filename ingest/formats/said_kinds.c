/* Who says what a field is: see said_kinds.h. */
#include "said_kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------- what is said */

apl_status said_kinds_read(const apl_ingest_options *o, struct said_kinds *kinds, apl_error *err)
{
    *kinds = (struct said_kinds){.said = calloc(o->kind_count + 1, sizeof *kinds->said)};
    if (!kinds->said)
        return fail_nomem(err);
    for (size_t i = 0; i < o->kind_count; i++) {
        struct said_kind *said = &kinds->said[kinds->count];
        TRY(apl_kind_parse(o->kinds[i], said->field, &said->kind, err));
        if (said_kinds_find(kinds, said->field))
            return fail(err, APL_E_INVALID, "%s: --field says twice what %s is", o->kinds[i], said->field);
        kinds->count++;
    }
    return APL_OK;
}

void said_kinds_free(struct said_kinds *kinds)
{
    free(kinds->said);
    *kinds = (struct said_kinds){0};
}

const apl_kind *said_kinds_find(const struct said_kinds *kinds, const char *field)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (strcmp(kinds->said[i].field, field) == 0)
            return &kinds->said[i].kind;
    return NULL;
}

apl_status said_kinds_set(apl_writer *writer, const char *field, apl_kind_id id, apl_form form,
                          const char *of, apl_origin origin, apl_error *err)
{
    apl_kind kind = {.id = id, .form = form, .origin = origin};
    snprintf(kind.of, sizeof kind.of, "%s", of ? of : "");
    return apl_writer_set_kind(writer, field, &kind, err);
}

static apl_status lacks_field(const apl_writer *writer, const char *field, apl_error *err)
{
    char all[200] = "";
    const apl_field *f;
    size_t used = 0;
    for (unsigned i = 0; (f = apl_writer_field(writer, i)) && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", f->name);
    return fail(err, APL_E_INVALID, "there is no field %s, for --field; there are %s", field, all);
}

static const apl_field *field_called(const apl_writer *writer, const char *name)
{
    const apl_field *f;
    for (unsigned i = 0; (f = apl_writer_field(writer, i)); i++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

static apl_status take_said(const struct said_kinds *kinds, apl_writer *writer, apl_error *err)
{
    for (size_t i = 0; i < kinds->count; i++) {
        const struct said_kind *said = &kinds->said[i];
        if (!field_called(writer, said->field))
            return lacks_field(writer, said->field, err);
        TRY(apl_writer_set_kind(writer, said->field, &said->kind, err));
    }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- by default */

#define NAMED 3 /* fields of which that is told */

static bool has_image(const apl_writer *writer)
{
    const apl_field *f;
    for (unsigned i = 0; (f = apl_writer_field(writer, i)); i++)
        if (f->kind && f->kind->id == APL_KIND_IMAGE)
            return true;
    return false;
}

static void tell_of_plain(const struct format_host *host, unsigned count, const char *names)
{
    char text[NAMED * (APL_MAX_NAME + 2) + 200];
    snprintf(
        text, sizeof text,
        "%s of single numbers %s plain, by default, and %s when images move: %s%s (--field NAME=KIND says "
        "otherwise)",
        number_of(count, "field", "fields"), count == 1 ? "is" : "are", count == 1 ? "stays" : "stay",
        count > NAMED ? "the first are " : "", names);
    host->notice(host->user, "", text);
}

/* Beside images, one line names them: coordinates may be among them. */
static apl_status take_defaults(const struct format_host *host, apl_writer *writer, apl_error *err)
{
    const apl_field *f;
    unsigned count = 0;
    char names[NAMED * (APL_MAX_NAME + 2)] = "";
    for (unsigned i = 0; (f = apl_writer_field(writer, i)); i++) {
        if (f->kind || f->ndim > 0)
            continue;
        if (f->role != APL_NAME && count++ < NAMED) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", f->name);
        }
        TRY(said_kinds_set(writer, f->name, APL_KIND_PLAIN, APL_FORM_NONE, NULL, APL_BY_DEFAULT, err));
    }
    if (count > 0 && has_image(writer))
        tell_of_plain(host, count, names);
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- what is counted */

static void add_count(char text[512], uint64_t count, const char *what)
{
    size_t used = strlen(text);
    if (count > 0)
        snprintf(text + used, 512 - used, "%s%s: %" PRIu64, used ? ", " : "", what, count);
}

static void tell_of_counts(const struct format_host *host, const apl_writer *writer, const apl_field *f)
{
    apl_kind_counts c;
    char text[512] = "", line[1024];
    if (apl_writer_counts(writer, f->name, &c) != APL_OK)
        return;
    add_count(text, c.outside, "beyond their image, at least in part");
    add_count(text, c.no_area, "without an area");
    add_count(text, c.hidden, "not visible");
    if (*text)
        snprintf(line, sizeof line, "%s: of %" PRIu64 " %s, %s (kept as they are)", f->name, c.elements,
                 f->kind->id == APL_KIND_BOXES ? "boxes" : "points", text);
    else if (c.ignored > 0)
        snprintf(line, sizeof line, "%s: masks with pixels that are to be ignored: %" PRIu64, f->name,
                 c.ignored);
    else
        return;
    host->notice(host->user, "", line);
}

void said_kinds_tell(const struct format_host *host, const apl_writer *writer)
{
    const apl_field *f;
    for (unsigned i = 0; (f = apl_writer_field(writer, i)); i++)
        if (f->kind)
            tell_of_counts(host, writer, f);
}

/* ---------------------------------------------------------------------------------------- images that are moved */

static const char *option_that_moves(const struct format_host *host)
{
    const struct image_sizes *s = &host->images.sizes;
    return s->shorter || s->width ? "--resize"
           : s->longest           ? "--max-side"
           : host->images.orient  ? "--orient"
                                  : NULL;
}

static apl_status refuse_moving(const char *option, const apl_field *f, apl_error *err)
{
    char kind[APL_KIND_BYTES];
    if (!f->kind)
        return fail(err, APL_E_INVALID,
                    "%s moves images, but what is '%s'? (--field %s=plain if it has nothing to do with them; "
                    "boxes,xyxy, keypoints,xy, mask or pinned if it lies in them)",
                    option, f->name, f->name);
    apl_kind_print(NULL, f->kind, kind, sizeof kind);
    kind[strcspn(kind, ",")] = 0;
    return fail(
        err, APL_E_INVALID,
        "%s cannot be used beside '%s' (%s), which would stay where it is: store images as they are, and "
        "resize them when they are read",
        option, f->name, kind);
}

/* Formats move their images, and some of what lies in them. */
static apl_status check_moves(const struct format_host *host, const struct format *format, const void *state,
                              const apl_writer *writer, apl_error *err)
{
    const char *option = option_that_moves(host);
    const apl_field *f;
    for (unsigned i = 0; option && (f = apl_writer_field(writer, i)); i++) {
        bool moved = f->kind && (f->kind->id == APL_KIND_IMAGE || (format->moves && format->moves(state, f)));
        if (apl_field_action(f, NULL) != APL_STAYS && !moved)
            return refuse_moving(option, f, err);
    }
    return APL_OK;
}

apl_status said_kinds_settle(const struct format_host *host, const struct format *format, const void *state,
                             apl_writer *writer, apl_error *err)
{
    TRY(take_said(host->kinds, writer, err));
    TRY(take_defaults(host, writer, err));
    return check_moves(host, format, state, writer, err);
}
