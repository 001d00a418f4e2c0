/* apldata stream: batches as they come, for another program. */
#include "args.h"
#include "cache_args.h"
#include "cmd.h"
#include "command_line.h"
#include "expect_args.h"
#include "npy.h"
#include "outfile.h"
#include "reader_args.h"
#include "report.h"
#include "sampling_args.h"
#include "source_args.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stream {
    const char *path;
    bool npy, ids;
    struct reader_args args;
    apl_store *store;
    unsigned fields[APL_MAX_FIELDS]; /* in the order in which they are written */
    const char *names[APL_MAX_FIELDS];
    size_t count;
};

/* The result of a write. */
enum written { WRITTEN, ENOUGH, FAILED };

/* The program that reads may stop when it has enough: that is not a failure. */
static enum written put(const void *data, size_t size)
{
    if (write_all(STDOUT_FILENO, data, size))
        return WRITTEN;
    if (errno == EPIPE)
        return ENOUGH;
    failed_errno(errno, "standard output");
    return FAILED;
}

static enum written put_array(const struct stream *s, apl_dtype dtype, size_t rows, unsigned ndim,
                              const int64_t *shape, const void *data, size_t bytes)
{
    char header[NPY_HEADER_MAX];
    enum written w = WRITTEN;
    if (s->npy)
        w = put(header, npy_header(header, npy_type(dtype), rows, ndim, shape));
    return w == WRITTEN ? put(data, bytes) : w;
}

/* Boxes, and what is per boxes, have a fixed number only as long as they stay where they are. */
static int check_shapes(const struct stream *s, const apl_batch *batch)
{
    for (size_t i = 0; i < s->count; i++)
        if (apl_batch_column(batch, s->fields[i])->offsets)
            return failed(
                "%s: field '%s' varies in shape once boxes move with their image: only fixed shapes "
                "can be streamed",
                shown_db(s->path), shown(s->names[i]));
    return 0;
}

static enum written put_batch(const struct stream *s, const apl_batch *batch)
{
    size_t rows = apl_batch_rows(batch);
    enum written w = WRITTEN;
    if (check_shapes(s, batch))
        return FAILED;
    if (s->ids)
        w = put_array(s, APL_U64, rows, 0, NULL, apl_batch_ids(batch), rows * sizeof(uint64_t));
    for (size_t i = 0; i < s->count && w == WRITTEN; i++) {
        const apl_column *c = apl_batch_column(batch, s->fields[i]);
        w = put_array(s, c->dtype, rows, c->ndim, c->shape, c->data, c->bytes);
    }
    return w;
}

/* --------------------------------------------------------------------------------------------- reading */

static enum written put_epoch(const struct stream *s, apl_reader *reader)
{
    apl_batch *batch;
    apl_error err;
    apl_status status;
    while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
        enum written w = put_batch(s, batch);
        apl_batch_release(batch);
        if (w != WRITTEN)
            return w;
    }
    if (status == APL_END)
        return WRITTEN;
    failed("%s", err.message);
    return FAILED;
}

static int put_epochs(const struct stream *s, const struct reader_choice *choice, apl_reader *reader)
{
    uint64_t epochs = reader_args_given(&s->args, "epochs") ? choice->epochs : 1;
    apl_error err;
    for (uint64_t i = 0;;) {
        enum written w = put_epoch(s, reader);
        if (w != WRITTEN)
            return w == FAILED ? EXIT_FAILURE : EXIT_SUCCESS;
        if (++i == epochs)
            return EXIT_SUCCESS;
        if (apl_reader_next_epoch(reader, &err) != APL_OK)
            return failed("%s", err.message);
    }
}

static bool fits(const apl_field *field)
{
    for (unsigned d = 0; d < field->ndim; d++)
        if (field->shape[d] < 0)
            return false;
    return field->dtype != APL_UTF8;
}

static bool already(const struct stream *s, unsigned field)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->fields[i] == field)
            return true;
    return false;
}

static void add_field(struct stream *s, unsigned field)
{
    s->names[s->count] = apl_store_field(s->store, field)->name;
    s->fields[s->count++] = field;
}

static int pick_fields(struct stream *s, const apl_reader_options *asked)
{
    for (unsigned f = 0; !asked->fields && f < apl_store_info(s->store)->fields; f++)
        if (fits(apl_store_field(s->store, f)))
            add_field(s, f);
    for (size_t i = 0; asked->fields && i < asked->field_count; i++) {
        int f = apl_store_find_field(s->store, asked->fields[i]);
        if (f < 0)
            return failed("%s: no field '%s'", shown_db(s->path), shown(asked->fields[i]));
        if (!fits(apl_store_field(s->store, (unsigned)f)))
            return failed("%s: field '%s' varies in shape: only fixed shapes can be streamed",
                          shown_db(s->path), shown(asked->fields[i]));
        if (!already(s, (unsigned)f))
            add_field(s, (unsigned)f);
    }
    return s->count ? 0 : failed("%s: no field has a fixed shape", shown_db(s->path));
}

static int stream(struct stream *s)
{
    struct reader_choice choice;
    struct source_args sources = {.mix = NULL};
    apl_reader *reader = NULL;
    apl_error err;
    if (isatty(STDOUT_FILENO))
        return failed("binary data not written to a terminal");
    signal(SIGPIPE, SIG_IGN); /* so that write() fails instead */
    if (expect_open(s->path, &s->store, &err) != APL_OK)
        return failed("%s", err.message);
    reader_args_choose(&s->args, 0, &choice);
    int status = pick_fields(s, &choice.options);
    if (!status && (sampling_args(s->store, &choice, &err) != APL_OK ||
                    source_args_open(&sources, &s->args, s->store, choice.options.split, &err) != APL_OK))
        status = failed("%s", err.message);
    if (!status) {
        source_args_set(&sources, &choice.options);
        choice.options.fields = s->names;
        choice.options.field_count = s->count;
    }
    if (!status && apl_reader_open(s->store, &choice.options, &reader, &err) != APL_OK)
        status = failed("%s", err.message);
    if (!status)
        status = put_epochs(s, &choice, reader);
    apl_reader_close(reader);
    sampling_args_free(&choice);
    source_args_close(&sources);
    apl_store_close(s->store);
    return status;
}

static int take_format(void *user, const char *name)
{
    struct stream *s = user;
    s->npy = strcmp(name, "npy") == 0;
    return s->npy || strcmp(name, "raw") == 0
               ? 0
               : misuse("no such format: '%s'; known are raw and npy", shown(name));
}

static const struct option_row rows[] = {
    {0, "format", "raw", "the bytes of the batch's columns, one column after another (default)", OPTION_CALL,
     0, take_format},
    {0, "format", "npy", "each column as a NumPy array, one after another", OPTION_CALL, 0, take_format},
    {0, "ids", NULL, "the ids of the rows first, as u64", OPTION_FLAG, offsetof(struct stream, ids), NULL},
    CACHE_ROWS,
    EXPECT_ROW,
    READER_ROW,
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata stream [OPTION]... DB\n"
            "Read the store DB as training would, and write the batches to standard output.\n"
            "\n",
    .tail = "\n"
            "Columns come in the order of --fields; without it, all fields of fixed shape in that of the "
            "store.\n",
    .column = 28,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .reader = FOR_STREAM,
    .reader_args = offsetof(struct stream, args),
};

int cmd_stream(int argc, char **argv)
{
    struct stream s = {.args = {.who = FOR_STREAM}};
    int status = options_read(&line, &s, argc, argv);
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", NULL});
    if (!status) {
        s.path = argv[optind];
        status = stream(&s);
    }
    reader_args_free(&s.args);
    return options_status(status);
}
