/* TFRecord files of an export, whose schema.json lies beside them: see tf_reading.h. */
#include "tf_reading.h"

#include <errno.h>
#include <inttypes.h>

#define SCHEMA_NAME   "schema.json"
#define FEATURES_NAME "features.json"

static bool same_folder(const char *a, const char *b)
{
    const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');
    size_t size_a = end_a ? (size_t)(end_a - a) : 0, size_b = end_b ? (size_t)(end_b - b) : 0;
    return size_a == size_b && memcmp(a, b, size_a) == 0;
}

static apl_status bad_beside(const struct tfrecord *t, size_t file, const char *name, apl_status status,
                             const apl_error *why, apl_error *err)
{
    const char *path = t->host->files[file].path, *slash = strrchr(path, '/');
    return fail(err, status, "%.*s%s: %s", slash ? (int)(slash - path) + 1 : 0, path, name, why->message);
}

apl_status tf_find_features(struct tfrecord *t, apl_error *err)
{
    struct buffer text = {0};
    apl_error why;
    apl_status status = t->host->read_beside(t->host->user, 0, FEATURES_NAME, &text, &why);
    bool absent = status != APL_OK && why.sys_errno == ENOENT;
    if (status == APL_OK)
        status = tf_features_read(text.data, text.size, &t->features, &why);
    buffer_free(&text);
    return status == APL_OK || absent ? APL_OK : bad_beside(t, 0, FEATURES_NAME, status, &why, err);
}

/* Reads what lies beside the file, if it is the schema of an export. */
static apl_status look_for_schema(struct tfrecord *t, size_t file, apl_error *err)
{
    struct buffer text = {0};
    apl_error why;
    apl_status status = t->host->read_beside(t->host->user, file, SCHEMA_NAME, &text, &why);
    bool absent = status != APL_OK && why.sys_errno == ENOENT;
    if (status == APL_OK && tf_declared_is(text.data, text.size)) {
        t->is_export = true;
        status = tf_declared_read(&t->declared, text.data, text.size, &why);
    }
    buffer_free(&text);
    return status == APL_OK || absent ? APL_OK : bad_beside(t, file, SCHEMA_NAME, status, &why, err);
}

/* An export is a folder of its own, which is read alone. */
apl_status tf_find_export(struct tfrecord *t, apl_error *err)
{
    const struct format_file *files = t->host->files;
    for (size_t i = 0; i < t->host->file_count; i++) {
        bool same = i > 0 && same_folder(files[i].path, files[i - 1].path);
        if (!same && !t->is_export)
            TRY(look_for_schema(t, i, err));
        if (t->is_export && i > 0 && !same_folder(files[i].path, files[0].path))
            return fail(
                err, APL_E_INVALID,
                "%s: an export, which its schema.json describes, is read alone: %s is in another folder",
                files[i].path, files[0].path);
    }
    return APL_OK;
}

static apl_status write_declared(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err)
{
    const struct tf_declared *d = &t->declared;
    apl_value values[APL_MAX_FIELDS];
    apl_status status =
        tf_declared_take(&t->declared, &t->example, t->host->unchecked, t->maker, values, why);
    if (status == APL_E_NOMEM)
        return fail_nomem(err);
    *bad = status != APL_OK;
    if (*bad)
        return APL_OK;
    for (unsigned i = 0; i < d->schema.count; i++)
        if (d->values[i].made.bytes.size > 0)
            tf_tally(t, file, d->schema.fields[i].name, &d->values[i].made);
    t->written++;
    return t->host->append(t->host->user, values, err);
}

static apl_status begin_export_split(struct tfrecord *t, size_t split, apl_error *err)
{
    const char *name = t->declared.schema.splits[split].name;
    if (!t->writer) {
        TRY(t->host->writer(t->host->user, &t->writer, err));
        TRY(t->host->made_fields(t->host->user, tf_declared_add(&t->declared, t->host, t->writer, err), err));
    }
    return t->host->not_the_source(
        t->host->user, apl_writer_begin_member(t->writer, name, name, (uint32_t)split << 16, err));
}

static apl_status read_export_split(struct tfrecord *t, size_t file, size_t split, apl_error *err)
{
    const struct declared_split *is = &t->declared.schema.splits[split];
    uint64_t records = is->records;
    if (t->host->part && !t->host->coming(t->host->user, is->name, records))
        return APL_OK;
    TRY(begin_export_split(t, split, err));
    TRY(tf_each_record(t, file, is->name, write_declared, true, err));
    if (t->left || t->frame.record == records || t->host->partial)
        return APL_OK;
    return fail(err, APL_E_INCOMPLETE, "%s: has %s, and " SCHEMA_NAME " says %" PRIu64,
                t->host->files[file].path, number_of(t->frame.record, "record", "records"), records);
}

/* The split that is the file; the number of splits: none is. */
static size_t split_of(const struct declared *schema, const char *file)
{
    size_t s = 0;
    while (s < schema->split_count && strcmp(schema->splits[s].file, file) != 0)
        s++;
    return s;
}

/* Splits without records have no files: they belong to what is given as a whole. */
static bool is_whole_export(const struct tfrecord *t)
{
    const struct declared *schema = &t->declared.schema;
    size_t filled = 0;
    for (size_t s = 0; s < schema->split_count; s++)
        filled += schema->splits[s].records > 0;
    return filled == t->host->file_count;
}

/* Of a directory, all files must be there. */
static apl_status check_all_are_there(const struct tfrecord *t, apl_error *err)
{
    const struct declared *schema = &t->declared.schema;
    char shown[512];
    for (size_t s = 0; s < schema->split_count && t->host->whole && !t->host->partial; s++) {
        const struct declared_split *is = &schema->splits[s];
        bool there = is->records == 0;
        for (size_t i = 0; i < t->host->file_count && !there; i++)
            there = split_of(schema, t->host->files[i].name) == s;
        if (!there)
            return fail(err, APL_E_INCOMPLETE,
                        "%s: the " SCHEMA_NAME " beside it has %s too, which is missing (--partial, or "
                        "partial=True in Python, does without)",
                        t->host->files[0].path, printable(shown, sizeof shown, is->file, strlen(is->file)));
    }
    return APL_OK;
}

static apl_status add_empty_splits(struct tfrecord *t, apl_error *err)
{
    const struct declared *schema = &t->declared.schema;
    for (size_t s = 0; s < schema->split_count && is_whole_export(t) && !t->host->part; s++)
        if (schema->splits[s].records == 0)
            TRY(begin_export_split(t, s, err));
    return APL_OK;
}

/* Of the files that are given, and of what has no file. */
static apl_status count_export(const struct tfrecord *t, apl_error *err)
{
    const struct declared *schema = &t->declared.schema;
    for (size_t s = 0; s < schema->split_count; s++) {
        const struct declared_split *is = &schema->splits[s];
        bool given = is->records == 0 && is_whole_export(t);
        for (size_t i = 0; i < t->host->file_count; i++)
            given |= split_of(schema, t->host->files[i].name) == s;
        if (given)
            TRY(t->host->count(t->host->user, is->name, (uint32_t)s << 16, is->records, err));
    }
    return APL_OK;
}

apl_status tf_read_export(struct tfrecord *t, apl_error *err)
{
    const struct declared *schema = &t->declared.schema;
    if (schema->split_count > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: " SCHEMA_NAME " has more than %d splits", t->host->source,
                    UINT16_MAX);
    TRY(check_all_are_there(t, err));
    TRY(count_export(t, err));
    for (size_t i = 0; i < t->host->file_count; i++) {
        size_t split = split_of(schema, t->host->files[i].name);
        if (split == schema->split_count)
            return fail(err, APL_E_SOURCE, "%s: the " SCHEMA_NAME " beside it does not have it",
                        t->host->files[i].path);
        TRY(read_export_split(t, i, split, err));
    }
    TRY(add_empty_splits(t, err));
    return tf_any_written(t, err);
}
