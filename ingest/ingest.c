/* apl_ingest: a source is read member by member and its rows appended to a writer. */
#include "apl_ingest.h"

#include "cifar.h"
#include "sized.h"
#include "source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#define REPORT_ROWS 341 /* about 1 MB of rows from one report to the next */

struct ingest {
    apl_ingest_options options;
    apl_writer_options writing;
    const char *db;
    struct source *source;
    apl_writer *writer;
    struct pickle *pickle;
    const struct cifar_dataset *dataset; /* NULL until a member has been recognised */
    unsigned member;                     /* the one being read */
    uint32_t members_seen, classes_seen; /* bit i: member i; names of classes i */
    struct cifar_classes classes[CIFAR_MAX_LABELS];
    bool have_schema, names; /* do rows have names? */
    bool not_the_source;     /* what has failed is the writer, or the caller has cancelled */
    uint64_t unreported;     /* rows since the last report */
    apl_ingest_progress progress;
};

/* ------------------------------------------------------------------------------- talking to the caller */

static int report_read(struct ingest *in)
{
    if (!in->options.progress)
        return 0;
    if (in->source) {
        in->progress.source_bytes = source_bytes(in->source);
        in->progress.source_size = source_size(in->source);
    }
    return in->options.progress(in->options.user, &in->progress);
}

static int report_reading(void *user)
{
    struct ingest *in = user;
    apl_progress p = {0};
    if (in->writer)
        apl_writer_progress(in->writer, &p);
    in->progress.records = p.records;
    in->progress.raw_bytes = p.raw_bytes;
    in->progress.stored_bytes = p.stored_bytes;
    return report_read(in);
}

static int report_checking(void *user, const apl_progress *p)
{
    struct ingest *in = user;
    in->progress.phase = APL_INGEST_CHECKING;
    in->progress.records = p->records;
    in->progress.raw_bytes = p->raw_bytes;
    in->progress.stored_bytes = p->stored_bytes;
    return report_read(in);
}

static void notice(struct ingest *in, const char *name, const char *text)
{
    char line[sizeof(((apl_error *)0)->message)];
    if (!in->options.notice)
        return;
    snprintf(line, sizeof line, "%s: %s%s%s", source_name(in->source), name, *name ? ": " : "", text);
    in->options.notice(in->options.user, line);
}

/* ------------------------------------------------------------------------------------- rows to records */

static apl_status add_fields(struct ingest *in, apl_error *err)
{
    static const int64_t image[3] = {3, 32, 32}, text[1] = {-1};
    TRY(apl_writer_add_field(in->writer, "image", APL_U8, APL_INPUT, 3, image, err));
    for (unsigned l = 0; l < in->dataset->label_count; l++)
        TRY(apl_writer_add_field(in->writer, in->dataset->labels[l].field, APL_U8, APL_TARGET, 0, NULL, err));
    if (in->names)
        TRY(apl_writer_add_field(in->writer, "filename", APL_UTF8, APL_NAME, 1, text, err));
    in->have_schema = true;
    return APL_OK;
}

static apl_status begin_member(void *user, uint64_t rows, bool names, apl_error *err)
{
    struct ingest *in = user;
    const struct cifar_member *member = &in->dataset->members[in->member];
    if (in->have_schema && names != in->names)
        return fail(err, APL_E_SOURCE, "%s, unlike the members before it",
                    names ? "names its rows' files" : "does not name its rows' files");
    if (rows < member->rows) {
        char text[64], file[32];
        snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " rows", rows, member->rows);
        notice(in, cifar_file_name(in->dataset, in->member, file), text);
    }
    in->names = names;
    in->not_the_source = true;
    if (!in->have_schema)
        TRY(add_fields(in, err));
    TRY(apl_writer_begin_member(in->writer, member->name, member->split, in->member, err));
    in->not_the_source = false;
    return APL_OK;
}

static apl_status append_row(void *user, const struct cifar_row *row, apl_error *err)
{
    struct ingest *in = user;
    unsigned labels = in->dataset->label_count;
    int64_t size = (int64_t)row->name_size;
    apl_value values[CIFAR_MAX_LABELS + 2] = {{row->image, NULL}};
    for (unsigned l = 0; l < labels; l++)
        values[1 + l].data = &row->label[l];
    values[1 + labels] = (apl_value){row->name, &size};
    apl_status status = apl_writer_append(in->writer, values, err);
    if (status == APL_OK && ++in->unreported == REPORT_ROWS) {
        in->unreported = 0;
        if (report_reading(in))
            status = fail(err, APL_E_CANCELLED, "cancelled");
    }
    in->not_the_source = status != APL_OK;
    return status;
}

/* ------------------------------------------------------------------------------------ member by member */

static bool is_wanted(const char *name, void *user)
{
    struct cifar_part part;
    (void)user;
    return cifar_find(name, &part);
}

/* Does the member belong with those before it? */
static apl_status admit(struct ingest *in, const struct cifar_part *part, apl_error *err)
{
    if (!in->dataset)
        in->dataset = part->dataset;
    if (in->dataset != part->dataset)
        return fail(err, APL_E_SOURCE, "belongs to %s, but members before it to %s", part->dataset->format,
                    in->dataset->format);
    uint32_t bit = 1u << part->number;
    uint32_t *seen = part->kind == CIFAR_ROWS ? &in->members_seen : &in->classes_seen;
    if (*seen & bit)
        return fail(err, APL_E_SOURCE, "is there twice");
    *seen |= bit;
    return APL_OK;
}

static apl_status open_writer(struct ingest *in, apl_error *err)
{
    if (in->writer)
        return APL_OK;
    in->not_the_source = true;
    if (!in->writing.tool)
        in->writing.tool = "aplingest " APL_VERSION_STRING;
    TRY(apl_writer_open(in->db, &in->writing, &in->writer, err));
    in->not_the_source = false;
    return APL_OK;
}

static apl_status read_rows(struct ingest *in, unsigned number, uint64_t size, apl_error *err)
{
    const struct cifar_sink sink = {begin_member, append_row, in};
    const struct cifar_dataset *dataset = in->dataset;
    struct cursor *c = source_cursor(in->source);
    bool partial = in->options.partial;
    in->member = number;
    if (dataset->python) {
        TRY(open_writer(in, err));
        return cifar_python_rows(in->pickle, dataset, number, c, size, partial, &sink, err);
    }
    uint64_t rows;
    TRY(cifar_binary_size(dataset, number, size, partial, &rows, err));
    TRY(open_writer(in, err));
    if (rows)
        return cifar_binary_rows(dataset, c, rows, &sink, err);
    char file[32];
    notice(in, cifar_file_name(dataset, number, file), "empty");
    return APL_OK;
}

static apl_status read_classes(struct ingest *in, unsigned number, uint64_t size, apl_error *err)
{
    const struct cifar_dataset *dataset = in->dataset;
    struct cursor *c = source_cursor(in->source);
    TRY(open_writer(in, err));
    if (dataset->python)
        return cifar_python_classes(in->pickle, dataset, c, size, in->classes, err);
    return cifar_binary_classes(&dataset->labels[number], c, size, &in->classes[number], err);
}

/* Gives a failure in a member the name of who is to blame: the source where that is broken, else the member.
 */
static apl_status blame(struct ingest *in, const char *name, apl_status status, apl_error *err)
{
    if (in->not_the_source)
        return status;
    apl_error broken;
    if (source_failure(in->source, &broken) != APL_OK) {
        *err = broken;
        return broken.status;
    }
    return fail_in(err, status, "%s: %s", source_name(in->source), name);
}

static apl_status read_member(struct ingest *in, const struct source_member *member, apl_error *err)
{
    struct cifar_part part;
    if (!cifar_find(member->name, &part))
        return APL_OK;
    apl_status status = admit(in, &part, err);
    if (status == APL_OK)
        status = part.kind == CIFAR_ROWS ? read_rows(in, part.number, member->size, err)
                                         : read_classes(in, part.number, member->size, err);
    return status == APL_OK ? APL_OK : blame(in, member->name, status, err);
}

static apl_status read_source(struct ingest *in, apl_error *err)
{
    struct source_member member;
    apl_status status;
    while ((status = source_next(in->source, &member, err)) == APL_OK)
        TRY(read_member(in, &member, err));
    if (status != APL_END)
        return status;
    if (!in->dataset)
        return fail(err, APL_E_SOURCE,
                    "%s: has no member of CIFAR-10 or CIFAR-100 (looked for: data_batch_1.bin, data_batch_1, "
                    "train.bin, train and those that go with them)",
                    source_name(in->source));
    return APL_OK;
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

static void find_missing(const struct ingest *in, struct names *missing)
{
    const struct cifar_dataset *dataset = in->dataset;
    char file[32];
    for (unsigned i = 0; i < dataset->member_count; i++)
        if (!(in->members_seen >> i & 1))
            add_name(missing, cifar_file_name(dataset, i, file));
    for (unsigned i = 0; i < (dataset->python ? 1 : dataset->label_count); i++)
        if (!(in->classes_seen >> i & 1))
            add_name(missing, dataset->python ? dataset->meta_file : dataset->labels[i].names_file);
}

static apl_status check_members(struct ingest *in, apl_error *err)
{
    struct names missing = {.count = 0};
    find_missing(in, &missing);
    if (missing.count) {
        char text[sizeof missing.text + 16];
        snprintf(text, sizeof text, "lacks %s", missing.text);
        if (!in->options.partial)
            return fail(err, APL_E_INCOMPLETE, "%s: %s", source_name(in->source), text);
        notice(in, "", text);
    }
    if (!in->have_schema)
        return fail(err, APL_E_INCOMPLETE, "%s: has no rows", source_name(in->source));
    return APL_OK;
}

/* Hands over the names of one label's classes, if all of them are there. */
static apl_status set_classes(struct ingest *in, unsigned l, apl_error *err)
{
    const struct cifar_label *label = &in->dataset->labels[l];
    const struct cifar_classes *classes = &in->classes[l];
    const char *names[100], *at = (const char *)classes->text.data;
    if (classes->count == 0 && in->options.partial)
        return APL_OK;
    if (classes->count < label->classes) {
        char text[64];
        snprintf(text, sizeof text, "names of %u of %u classes", classes->count, label->classes);
        const char *file = in->dataset->python ? in->dataset->meta_file : label->names_file;
        if (!in->options.partial)
            return fail(err, APL_E_INCOMPLETE, "%s: %s: %s", source_name(in->source), file, text);
        notice(in, file, text);
        return APL_OK;
    }
    for (unsigned i = 0; i < classes->count; i++, at += strlen(at) + 1)
        names[i] = at;
    return apl_writer_set_classes(in->writer, label->field, names, classes->count, err);
}

/* ------------------------------------------------------------------------------------------ the driver */

static apl_status describe_fields(struct ingest *in, apl_ingest_summary *sum, apl_error *err)
{
    TRY(check_members(in, err));
    for (unsigned l = 0; l < in->dataset->label_count; l++)
        TRY(set_classes(in, l, err));
    TRY(source_digest(in->source, sum->source_digest, err));
    snprintf(sum->format, sizeof sum->format, "%s", in->dataset->format);
    return apl_writer_set_source(in->writer, sum->format, sum->source_digest, err);
}

/* The size of the file that has been made. */
static uint64_t file_size(const char *db)
{
    size_t size = strlen(db) + sizeof "/data.mdb";
    char *path = malloc(size);
    struct stat st = {0};
    if (path) {
        snprintf(path, size, "%s/data.mdb", db);
        if (stat(path, &st) != 0)
            st.st_size = 0;
    }
    free(path);
    return (uint64_t)st.st_size;
}

/* What reading needed: the memory is free for reading back. */
static void close_source(struct ingest *in)
{
    source_close(in->source);
    in->source = NULL;
    pickle_free(in->pickle);
    in->pickle = NULL;
}

static apl_status commit(struct ingest *in, apl_ingest_summary *sum, apl_error *err)
{
    apl_progress appended;
    apl_writer_progress(in->writer, &appended);
    in->progress.source_bytes = sum->source_bytes = source_bytes(in->source);
    in->progress.source_size = source_size(in->source);
    close_source(in);
    apl_writer_on_commit(in->writer, report_checking, in);
    TRY(apl_writer_commit(in->writer, err));
    sum->records = in->progress.records = appended.records;
    sum->raw_bytes = in->progress.raw_bytes = appended.raw_bytes;
    sum->file_bytes = in->progress.stored_bytes = file_size(in->db);
    in->progress.phase = APL_INGEST_DONE;
    report_read(in);
    return APL_OK;
}

static apl_status take_ingest_options(struct ingest *in, const apl_ingest_options *options, apl_error *err)
{
    in->options = (apl_ingest_options)APL_INGEST_OPTIONS_INIT;
    in->writing = (apl_writer_options)APL_WRITER_OPTIONS_INIT;
    TRY(options_take(&in->options, sizeof in->options, options, "apl_ingest_options", err));
    return options_take(&in->writing, sizeof in->writing, in->options.writer, "apl_writer_options", err);
}

apl_status apl_ingest(const char *source, const char *db, const apl_ingest_options *options,
                      apl_ingest_summary *summary, apl_error *err)
{
    apl_error own;
    apl_ingest_summary sum = {.format = ""};
    struct ingest in = {.db = db};
    apl_status status;
    if (!err)
        err = &own;
    if (!source || !db)
        return fail(err, APL_E_INVALID, "the source and the store must be named");
    TRY(take_ingest_options(&in, options, err));
    in.pickle = pickle_new();
    if (!in.pickle)
        return fail_nomem(err);
    GUARD(source_open(source, is_wanted, report_reading, &in, &in.source, err));
    GUARD(read_source(&in, err));
    GUARD(describe_fields(&in, &sum, err));
    GUARD(commit(&in, &sum, err));
    if (summary)
        *summary = sum;
out:
    close_source(&in);
    apl_writer_close(in.writer);
    for (unsigned l = 0; l < CIFAR_MAX_LABELS; l++)
        cifar_free_classes(&in.classes[l]);
    return status;
}
