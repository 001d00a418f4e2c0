/* CIFAR as a format: which members belong together, their rows as records, and whether all were there. */
#include "cifar.h"
#include "image_fields.h"
#include "said_kinds.h"

#include <inttypes.h>
#include <stdio.h>

struct cifar {
    const struct format_host *host;
    apl_writer *writer; /* the host's */
    struct pickle *pickle;
    const struct cifar_dataset *dataset; /* NULL until a member has been recognised */
    unsigned member;                     /* the one being read */
    uint32_t members_seen, classes_seen; /* bit i: member i; names of classes i */
    struct cifar_classes classes[CIFAR_MAX_LABELS];
    bool have_schema, names; /* do rows have names? */
    uint64_t row, from, to;  /* of the member: the next; those that are the ingest's own are from ... to-1 */
};

/* ------------------------------------------------------------------------------------- rows to records */

static apl_status add_cifar_fields(struct cifar *c, apl_error *err)
{
    static const int64_t image[3] = {3, 32, 32};
    TRY(apl_writer_add_field(c->writer, "image", APL_U8, APL_INPUT, 3, image, err));
    TRY(said_kinds_set(c->writer, "image", APL_KIND_IMAGE, APL_FORM_CHW, NULL, APL_FROM_SOURCE, err));
    for (unsigned l = 0; l < c->dataset->label_count; l++) {
        const char *name = c->dataset->labels[l].field;
        TRY(apl_writer_add_field(c->writer, name, APL_U8, APL_TARGET, 0, NULL, err));
        TRY(said_kinds_set(c->writer, name, APL_KIND_LABEL, APL_FORM_NONE, NULL, APL_FROM_SOURCE, err));
    }
    c->have_schema = true;
    return c->names ? text_field_add(c->writer, "filename", APL_NAME, err) : APL_OK;
}

static apl_status start_rows(struct cifar *c, const struct cifar_member *member, apl_error *err)
{
    if (!c->have_schema)
        TRY(c->host->made_fields(c->host->user, add_cifar_fields(c, err), err));
    return apl_writer_begin_member(c->writer, member->name, member->split, c->member, err);
}

static apl_status begin_member(void *user, uint64_t rows, bool names, apl_error *err)
{
    struct cifar *c = user;
    const struct cifar_member *member = &c->dataset->members[c->member];
    if (c->have_schema && names != c->names)
        return fail(err, APL_E_SOURCE, "%s, unlike the members before it",
                    names ? "names its rows' files" : "does not name its rows' files");
    if (rows < member->rows) {
        char text[64], file[32];
        snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " rows", rows, member->rows);
        c->host->notice(c->host->user, cifar_file_name(c->dataset, c->member, file), text);
    }
    c->names = names;
    return c->host->not_the_source(c->host->user, start_rows(c, member, err));
}

static apl_status append_row(void *user, const struct cifar_row *row, apl_error *err)
{
    struct cifar *c = user;
    unsigned labels = c->dataset->label_count;
    int64_t size = (int64_t)row->name_size;
    uint64_t number = c->row++;
    if (number < c->from || number >= c->to)
        return APL_OK;
    apl_value values[CIFAR_MAX_LABELS + 2] = {{row->image, NULL}};
    for (unsigned l = 0; l < labels; l++)
        values[1 + l].data = &row->label[l];
    values[1 + labels] = (apl_value){row->name, &size};
    return c->host->append(c->host->user, values, err);
}

/* ------------------------------------------------------------------------------------ member by member */

static bool wants(const void *state, const char *name)
{
    struct cifar_part part;
    (void)state;
    return cifar_find(name, &part);
}

/* Members come in any order, but all have as many rows as were published. */
static apl_status count_rows(const struct cifar *c, apl_error *err)
{
    const struct format_host *host = c->host;
    if (host->part && host->partial)
        return fail(err, APL_E_UNSUPPORTED, "%s: parts cannot be made of a source that may lack rows",
                    host->source);
    for (unsigned i = 0; i < c->dataset->member_count; i++) {
        const struct cifar_member *m = &c->dataset->members[i];
        TRY(host->count(host->user, m->split, i, m->rows, err));
    }
    return APL_OK;
}

/* Which rows of a member are the ingest's own: from ... to-1. */
static void find_own_rows(const struct cifar *c, unsigned member, uint64_t *from, uint64_t *to)
{
    const struct cifar_member *m = &c->dataset->members[member];
    uint64_t first, count, begin = 0;
    for (unsigned i = 0; i < member; i++)
        begin += strcmp(c->dataset->members[i].split, m->split) == 0 ? c->dataset->members[i].rows : 0;
    c->host->share(c->host->user, m->split, &first, &count);
    uint64_t end = count > m->rows + begin ? UINT64_MAX : first + count;
    *from = first > begin ? first - begin : 0;
    *to = end > begin ? end - begin : 0;
    *to = *to < m->rows ? *to : m->rows;
}

/* Has a part nothing of this member? */
static bool is_of_others(const struct cifar *c, unsigned member)
{
    uint64_t from, to;
    find_own_rows(c, member, &from, &to);
    return c->host->part && from >= to;
}

/* Does the member belong with those before it? */
static apl_status admit(struct cifar *c, const struct cifar_part *part, apl_error *err)
{
    if (!c->dataset) {
        c->dataset = part->dataset;
        TRY(c->host->not_the_source(c->host->user, count_rows(c, err)));
    }
    if (c->dataset != part->dataset)
        return fail(err, APL_E_SOURCE, "belongs to %s, but members before it to %s", part->dataset->format,
                    c->dataset->format);
    uint32_t bit = 1u << part->number;
    uint32_t *seen = part->kind == CIFAR_ROWS ? &c->members_seen : &c->classes_seen;
    if (*seen & bit)
        return fail(err, APL_E_SOURCE, "appears twice");
    *seen |= bit;
    return APL_OK;
}

static apl_status read_rows(struct cifar *c, const struct format_member *m, unsigned number, apl_error *err)
{
    const struct cifar_sink sink = {begin_member, append_row, c};
    const struct cifar_dataset *dataset = c->dataset;
    bool partial = c->host->partial;
    c->member = number;
    c->row = 0;
    find_own_rows(c, number, &c->from, &c->to);
    if (is_of_others(c, number))
        return APL_OK;
    if (dataset->python) {
        TRY(c->host->writer(c->host->user, &c->writer, err));
        return cifar_python_rows(c->pickle, dataset, number, m->cursor, m->size, partial, &sink, err);
    }
    uint64_t rows;
    TRY(cifar_binary_size(dataset, number, m->size, partial, &rows, err));
    TRY(c->host->writer(c->host->user, &c->writer, err));
    if (rows)
        return cifar_binary_rows(dataset, m->cursor, rows, &sink, err);
    char file[32];
    c->host->notice(c->host->user, cifar_file_name(dataset, number, file), "empty");
    return APL_OK;
}

static apl_status read_classes(struct cifar *c, const struct format_member *m, unsigned number,
                               apl_error *err)
{
    const struct cifar_dataset *dataset = c->dataset;
    TRY(c->host->writer(c->host->user, &c->writer, err));
    if (dataset->python)
        return cifar_python_classes(c->pickle, dataset, m->cursor, m->size, c->classes, err);
    return cifar_binary_classes(&dataset->labels[number], m->cursor, m->size, &c->classes[number], err);
}

static apl_status read_member(void *state, const struct format_member *m, apl_error *err)
{
    struct cifar *c = state;
    struct cifar_part part;
    if (!cifar_find(m->name, &part))
        return APL_OK;
    TRY(admit(c, &part, err));
    return part.kind == CIFAR_ROWS ? read_rows(c, m, part.number, err) : read_classes(c, m, part.number, err);
}

/* --------------------------------------------------------------------------------------- was that all? */

/* A list of names in one line. */
struct names {
    char text[256];
    unsigned count;
};

static void add_name(struct names *names, const char *name)
{
    size_t used = strlen(names->text);
    snprintf(names->text + used, sizeof names->text - used, "%s%s", names->count++ ? ", " : "", name);
}

static void find_missing(const struct cifar *c, struct names *missing)
{
    const struct cifar_dataset *dataset = c->dataset;
    char file[32];
    for (unsigned i = 0; i < dataset->member_count; i++)
        if (!(c->members_seen >> i & 1) && !is_of_others(c, i))
            add_name(missing, cifar_file_name(dataset, i, file));
    for (unsigned i = 0; i < (dataset->python ? 1 : dataset->label_count); i++)
        if (!(c->classes_seen >> i & 1))
            add_name(missing, dataset->python ? dataset->meta_file : dataset->labels[i].names_file);
}

/* All that a part needs has come. */
static bool has_enough_cifar(void *state)
{
    const struct cifar *c = state;
    struct names missing = {.count = 0};
    if (!c->dataset)
        return false;
    find_missing(c, &missing);
    return missing.count == 0;
}

static apl_status check_members(struct cifar *c, apl_error *err)
{
    struct names missing = {.count = 0};
    find_missing(c, &missing);
    if (missing.count) {
        char text[sizeof missing.text + 16];
        snprintf(text, sizeof text, "lacks %s", missing.text);
        if (!c->host->partial)
            return fail(err, APL_E_INCOMPLETE, "%s: %s", c->host->source, text);
        c->host->notice(c->host->user, "", text);
    }
    if (!c->have_schema)
        return fail(err, APL_E_INCOMPLETE, "%s: has no rows", c->host->source);
    return APL_OK;
}

/* Hands over the names of one label's classes, if all of them are there. */
static apl_status set_classes(struct cifar *c, unsigned l, apl_error *err)
{
    const struct cifar_label *label = &c->dataset->labels[l];
    const struct cifar_classes *classes = &c->classes[l];
    const char *names[100], *at = (const char *)classes->text.data;
    if (classes->count == 0 && c->host->partial)
        return APL_OK;
    if (classes->count < label->classes) {
        char text[64];
        snprintf(text, sizeof text, "names of %u of %u classes", classes->count, label->classes);
        const char *file = c->dataset->python ? c->dataset->meta_file : label->names_file;
        if (!c->host->partial)
            return fail(err, APL_E_INCOMPLETE, "%s: %s: %s", c->host->source, file, text);
        c->host->notice(c->host->user, file, text);
        return APL_OK;
    }
    for (unsigned i = 0; i < classes->count; i++, at += strlen(at) + 1)
        names[i] = at;
    return apl_writer_set_classes(c->writer, label->field, names, classes->count, err);
}

static apl_status finish_cifar(void *state, char format[32], apl_error *err)
{
    struct cifar *c = state;
    if (!c->dataset)
        return fail(err, APL_E_SOURCE,
                    "%s: has no member of CIFAR-10 or CIFAR-100 (looked for: data_batch_1.bin, data_batch_1, "
                    "train.bin, train and those that go with them), and no images in folders by class",
                    c->host->source);
    TRY(check_members(c, err));
    for (unsigned l = 0; l < c->dataset->label_count; l++)
        TRY(set_classes(c, l, err));
    snprintf(format, 32, "%s", c->dataset->format);
    return APL_OK;
}

static void close_cifar(void *state)
{
    struct cifar *c = state;
    if (!c)
        return;
    pickle_free(c->pickle);
    for (unsigned l = 0; l < CIFAR_MAX_LABELS; l++)
        cifar_free_classes(&c->classes[l]);
    free(c);
}

static apl_status open_cifar(const struct format_host *host, void **state, apl_error *err)
{
    struct cifar *c = calloc(1, sizeof *c);
    if (!c)
        return fail_nomem(err);
    c->host = host;
    c->pickle = pickle_new();
    if (!c->pickle) {
        free(c);
        return fail_nomem(err);
    }
    *state = c;
    return APL_OK;
}

const struct format format_cifar = {
    .name = "cifar",
    .title = "CIFAR-10 and CIFAR-100, binary or python",
    .open = open_cifar,
    .close = close_cifar,
    .wants = wants,
    .member = read_member,
    .parts = true,
    .enough = has_enough_cifar,
    .finish = finish_cifar,
};
