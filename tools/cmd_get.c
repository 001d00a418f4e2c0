/* apldata get: the fields of some records. */
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "describe.h"
#include "expect_args.h"
#include "field_names.h"
#include "image.h"
#include "interrupt.h"
#include "outfile.h"
#include "record_text.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define IMAGES_ACROSS 16

enum format { LISTING, PNG, PPM, RAW, TEXT, FILE_KEPT };

struct job {
    const char *path, *output;
    struct field_names fields;
    const char *field_name; /* the only one of them */
    enum format format;
    bool force;
    uint64_t *ids;
    size_t count;
    int field; /* -1: all */
};

/* Is the output named as files of this media type are? */
static bool suffix_fits(const struct job *job, const char *media)
{
    static const char *const shorter[][2] = {{"jpeg", "jpg"}, {"tiff", "tif"}};
    const char *dot = job->output ? strrchr(job->output, '.') : NULL, *type = strchr(media, '/') + 1;
    bool fits = dot && strcasecmp(dot + 1, type) == 0;
    for (size_t i = 0; dot && i < sizeof shorter / sizeof *shorter; i++)
        fits |= strcmp(type, shorter[i][0]) == 0 && strcasecmp(dot + 1, shorter[i][1]) == 0;
    return fits;
}

/* The field to write as files: the one named, or the only one whose values are files, or files with this suffix. */
static const apl_field *kept_field(const struct job *job, const apl_store *store)
{
    const apl_field *found = NULL, *fitting = NULL;
    unsigned all = 0, fit = 0;
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        const apl_field *field = apl_store_field(store, i);
        if (!field->media || (job->field_name && strcmp(job->field_name, field->name) != 0))
            continue;
        found = field;
        all++;
        if (!suffix_fits(job, field->media))
            continue;
        fitting = field;
        fit++;
    }
    return all == 1 ? found : fit == 1 ? fitting : NULL;
}

static bool has_files(const apl_store *store)
{
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++)
        if (apl_store_field(store, i)->media)
            return true;
    return false;
}

static int set_format(struct job *job, const char *name)
{
    static const struct {
        const char *name;
        enum format format;
    } formats[] = {{"png", PNG}, {"ppm", PPM}, {"raw", RAW}, {"text", TEXT}, {"file", FILE_KEPT}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(name, formats[i].name) == 0) {
            job->format = formats[i].format;
            return 0;
        }
    }
    return misuse("no such format: '%s'; known are png, ppm, raw, text and file", shown(name));
}

/* Without --format, the suffix of the file decides; an unknown one, or that of the original, means the original. */
static int guess_format(struct job *job, const apl_store *store)
{
    static const struct {
        const char *suffix;
        enum format format;
    } suffixes[] = {{".png", PNG}, {".ppm", PPM}, {".pgm", PPM}, {".pnm", PPM},
                    {".raw", RAW}, {".bin", RAW}, {".txt", TEXT}};
    const apl_field *kept = kept_field(job, store);
    const char *dot = kept && suffix_fits(job, kept->media) ? NULL : strrchr(job->output, '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++) {
        if (strcasecmp(dot, suffixes[i].suffix) == 0) {
            job->format = suffixes[i].format;
            return 0;
        }
    }
    job->format = FILE_KEPT;
    if (kept || (!job->field_name && has_files(store))) /* which of them is asked later */
        return 0;
    return misuse("'%s' does not tell the format; --format does", shown(job->output));
}

/* Takes the field that was named. */
static int use_named(struct job *job, const apl_store *store)
{
    job->field = apl_store_find_field(store, job->field_name);
    if (job->format == FILE_KEPT && !apl_store_field(store, (unsigned)job->field)->media)
        return failed("%s: the values of field %s are not files", shown_db(job->path),
                      shown(job->field_name));
    return 0;
}

/* The format takes one field, and none was named. */
static int ask_for_field(const struct job *job, const apl_store *store)
{
    char names[256] = "";
    size_t used = 0;
    for (unsigned i = 0; i < apl_store_info(store)->fields && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 shown(apl_store_field(store, i)->name));
    return misuse("%s writes one field: --fields names it: %s%s", job->format == RAW ? "raw" : "text", names,
                  used < sizeof names ? "" : "...");
}

/* Pixels were asked for, and no field has them. */
static int refuse_pixels(const struct job *job, const apl_store *store)
{
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        const apl_field *field = apl_store_field(store, i);
        if (field->media && strncmp(field->media, "image/", 6) == 0)
            return failed("%s: the images of field %s are %s files: -o with their suffix writes one as it is",
                          shown_db(job->path), shown(field->name), shown(field->media));
    }
    return failed("%s: no field is an image", shown_db(job->path));
}

/* Which field to write. */
static int pick_field(struct job *job, const apl_store *store)
{
    const apl_info *info = apl_store_info(store);
    job->field = -1;
    if (job->field_name)
        return use_named(job, store);
    if (job->format == FILE_KEPT) {
        const apl_field *field = kept_field(job, store);
        job->field = field ? apl_store_find_field(store, field->name) : -1;
        return field ? 0
                     : failed("%s: no field holds files, or several do: --fields names one",
                              shown_db(job->path));
    }
    if (job->format == LISTING)
        return 0;
    if (info->fields == 1)
        job->field = 0;
    bool image = job->format == PNG || job->format == PPM;
    for (unsigned i = 0; i < info->fields && image && job->field < 0; i++)
        if (field_is_image(apl_store_field(store, i)))
            job->field = (int)i;
    if (job->field >= 0)
        return 0;
    return image ? refuse_pixels(job, store) : ask_for_field(job, store);
}

static struct bytes make_raw(const struct job *job, const apl_batch *batch)
{
    const apl_column *column = apl_batch_column(batch, (unsigned)job->field);
    struct bytes out = {.data = malloc(column->bytes + 1), .size = column->bytes};
    if (out.data && column->bytes)
        memcpy(out.data, column->data, column->bytes);
    return out;
}

static int make_image(const struct job *job, const apl_store *store, const apl_batch *batch,
                      struct bytes *out)
{
    size_t rows = apl_batch_rows(batch);
    struct value *values = calloc(rows, sizeof *values);
    if (!values)
        return failed("out of memory");
    for (size_t r = 0; r < rows; r++)
        values[r] = value_of(apl_batch_column(batch, (unsigned)job->field), r, rows);
    struct image image = {0};
    const apl_field *field = apl_store_field(store, (unsigned)job->field);
    const char *why = image_make(&image, field, values, rows, IMAGES_ACROSS);
    free(values);
    if (!why && job->format == PPM && !image_fits_ppm(&image)) {
        image_free(&image);
        why = "PPM takes grey or RGB of 8 bits; --format png takes it";
    }
    if (why)
        return failed("%s: cannot write it as an image: %s", shown_db(job->path), why);
    *out = job->format == PNG ? image_png(&image) : image_ppm(&image);
    image_free(&image);
    return 0;
}

static int make_bytes(const struct job *job, const apl_store *store, const apl_batch *batch,
                      struct bytes *out)
{
    int status = 0;
    *out = (struct bytes){0};
    if (job->format == TEXT)
        *out = records_text(apl_batch_column(batch, (unsigned)job->field), apl_batch_rows(batch));
    else if (job->format == RAW || job->format == FILE_KEPT)
        *out = make_raw(job, batch);
    else
        status = make_image(job, store, batch, out);
    return status || out->data ? status : failed("out of memory");
}

/* Into a file that appears whole or not at all. */
static int write_file(const struct job *job, const struct bytes *bytes)
{
    const char *slash = strrchr(job->output, '/');
    const char *name = slash ? slash + 1 : job->output;
    char *folder =
        slash ? strndup(job->output, (size_t)(slash - job->output) + !(slash - job->output)) : strdup(".");
    if (!folder)
        return failed("out of memory");
    struct outset set = {0};
    interrupt_catch();
    int status = outset_open(&set, folder, false, job->force);
    int file = status ? -1 : outset_add(&set, name);
    if (file < 0 || outset_write(&set, file, bytes->data, bytes->size) || interrupted() ||
        outset_commit(&set))
        status = EXIT_FAILURE;
    outset_close(&set);
    free(folder);
    return status;
}

static int deliver(const struct job *job, const struct bytes *bytes)
{
    if (job->output && strcmp(job->output, "-") != 0)
        return write_file(job, bytes);
    if (write_all(STDOUT_FILENO, bytes->data, bytes->size))
        return EXIT_SUCCESS;
    return failed_errno(errno, "standard output");
}

static int put_records(const struct job *job, const apl_store *store, const apl_batch *batch)
{
    if (job->format == LISTING) {
        for (size_t r = 0; r < apl_batch_rows(batch); r++)
            record_list(store, batch, r, job->field);
        return EXIT_SUCCESS;
    }
    struct bytes bytes;
    int status = make_bytes(job, store, batch, &bytes);
    if (!status)
        status = deliver(job, &bytes);
    free(bytes.data);
    return status;
}

static int get(struct job *job)
{
    apl_store *store = NULL;
    apl_batch *batch = NULL;
    apl_error err;
    bool to_stdout = !job->output || strcmp(job->output, "-") == 0;
    if (job->format != LISTING && job->format != TEXT && to_stdout && !job->force && isatty(STDOUT_FILENO))
        return failed("binary data not written to a terminal; use -o FILE, or --force");
    if (expect_open(job->path, &store, &err) != APL_OK)
        return failed("%s", err.message);
    int status = job->output && job->format == LISTING ? guess_format(job, store) : 0;
    if (!status)
        status = field_names_check(&job->fields, store, job->path);
    if (!status && job->fields.count > 1 && job->format != LISTING)
        status = misuse("a file holds one field: give one to --fields, or none to -o and --format");
    if (!status)
        status = pick_field(job, store);
    if (!status && job->format == FILE_KEPT && job->count > 1)
        status = misuse("a file holds one record: give one ID, or --format raw");
    if (!status) {
        apl_get_options options = APL_GET_OPTIONS_INIT;
        const char *field = job->field < 0 ? NULL : apl_store_field(store, (unsigned)job->field)->name;
        options.fields = field ? &field : job->fields.count ? job->fields.name : NULL;
        options.field_count = field ? 1 : job->fields.count;
        if (apl_store_get_batch(store, job->ids, job->count, &options, &batch, &err) != APL_OK)
            status = failed("%s", err.message);
        else
            status = put_records(job, store, batch);
    }
    apl_batch_release(batch);
    apl_store_close(store);
    return status;
}

static int take_fields(void *job, const char *names)
{
    return field_names_take(&((struct job *)job)->fields, names);
}

static int take_format(void *job, const char *name)
{
    return set_format(job, name);
}

static int take_output(void *user, const char *file)
{
    struct job *job = user;
    job->output = file;
    return *file ? 0 : misuse("option '-o' needs the name of a file");
}

static const struct option_row rows[] = {
    {0, "fields", "FIELD,...",
     "only these fields; of a file, one (default for images: the first image field)", OPTION_CALL, 0,
     take_fields},
    {0, "format", "FORMAT", "png, ppm, raw, text or file (default: by the suffix of FILE)", OPTION_CALL, 0,
     take_format},
    {'o', "output", "FILE", "write to FILE; '-' is standard output", OPTION_CALL, 0, take_output},
    {0, "force", NULL, "replace FILE; write raw bytes and images to a terminal", OPTION_FLAG,
     offsetof(struct job, force), NULL},
    EXPECT_ROW,
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata get [OPTION]... DB ID...\n"
            "Print the fields of the records with these ids, or write one field of them as a file.\n"
            "\n",
    .tail = "\n"
            "png and ppm put several records into one image, up to 16 side by side; raw writes the bytes of\n"
            "the values one after another; text writes one line per record; file writes a kept\n"
            "file as it came, which is the default where the field holds files.\n",
    .column = 25,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

int cmd_get(int argc, char **argv)
{
    struct job job = {.format = LISTING};
    int status = options_read(&line, &job, argc, argv);
    job.field_name = job.fields.count == 1 ? job.fields.name[0] : NULL;
    if (!status)
        status = take_ids(argc - optind, argv + optind, &job.path, &job.ids, &job.count);
    if (!status)
        status = get(&job);
    free(job.ids);
    return options_status(status);
}
