/* apldata show: records in the terminal, with their images drawn. */
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "draw.h"
#include "expect_args.h"
#include "field_names.h"
#include "image_read.h"
#include "image_scale.h"
#include "interrupt.h"
#include "json.h"
#include "record_text.h"
#include "report.h"
#include "terminal.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST       64u  /* columns that an image takes, unless more are asked for */
#define MOST_COLUMNS 1000 /* that can be asked for */
#define SMALL        256u /* pixels: smaller images are enlarged towards that, where pixels are small */
#define SOME         64u  /* records at a time */

struct job {
    const char *path;
    struct field_names fields; /* none: all */
    uint64_t *ids;
    size_t count;
    unsigned columns; /* 0: by the terminal */
    bool as_given;
    enum terminal_images as;
    struct terminal terminal;
    apl_store *store;
    unsigned drawable; /* fields of images */
    int status;
};

/* --------------------------------------------------------------------------------------------- an image */

/* How many pixels of the terminal, or half cells, an image may have. */
static void box_of(const struct job *job, size_t *width, size_t *height)
{
    const struct terminal *t = &job->terminal;
    size_t columns = job->columns ? job->columns : t->columns < WIDEST ? t->columns : WIDEST;
    size_t rows = job->columns ? MOST_COLUMNS : t->rows > 16 ? t->rows - 6u : 10;
    if (t->images == IMAGES_BLOCKS) {
        *width = t->utf8 ? columns : columns / 2;
        *height = t->utf8 ? 2 * rows : rows;
    } else {
        *width = columns * t->cell_width;
        *height = rows * t->cell_height;
    }
    *width = *width ? *width : 1;
}

static int draw(const struct job *job, const struct image *image)
{
    return job->terminal.images == IMAGES_KITTY   ? draw_kitty(image)
           : job->terminal.images == IMAGES_SIXEL ? draw_sixel(image)
                                                  : draw_blocks(image, &job->terminal);
}

/* Images of a few pixels would be specks. */
static int draw_enlarged(const struct job *job, const struct image *image)
{
    size_t width, height;
    struct image large;
    box_of(job, &width, &height);
    width = width < SMALL ? width : SMALL;
    height = height < SMALL ? height : SMALL;
    size_t across = width / image->width, down = height / image->height,
           times = across < down ? across : down;
    if (job->terminal.images == IMAGES_BLOCKS || times < 2)
        return draw(job, image);
    if (!image_enlarge(image, times, &large))
        return failed("out of memory");
    int status = draw(job, &large);
    image_free(&large);
    return status;
}

struct drawing {
    struct job *job;
    const apl_field *field;
};

static int take_image(void *user, uint64_t id, const struct image *image, const char *why)
{
    struct drawing *d = user;
    if (image)
        return draw_enlarged(d->job, image);
    fflush(stdout);
    d->job->status = failed("%s: record %llu: field %s cannot be drawn: %s", shown(d->job->path),
                            (unsigned long long)id, shown(d->field->name), why);
    return 0;
}

static int draw_field(struct job *job, uint64_t id, unsigned field, const struct value *value)
{
    struct drawing drawing = {job, apl_store_field(job->store, field)};
    struct image_size size;
    size_t box_width, box_height;
    if (!image_size_of(drawing.field, value, &size))
        return take_image(&drawing, id, NULL, "it is not an image");
    size_t width = size.width, height = size.height;
    box_of(job, &box_width, &box_height);
    image_fit(&width, &height, box_width, box_height);
    const struct image_request request = {.store = job->store,
                                          .field = field,
                                          .ids = &id,
                                          .count = 1,
                                          .width = width,
                                          .height = height,
                                          .threads = APL_NO_THREADS,
                                          .take = take_image,
                                          .user = &drawing};
    return images_read(&request);
}

/* --------------------------------------------------------------------------------------------- records */

static int show_record(struct job *job, const apl_batch *batch, size_t row)
{
    int status = 0;
    record_head(job->store, batch, row);
    for (unsigned i = 0; i < apl_store_info(job->store)->fields && !status; i++) {
        const apl_column *column = apl_batch_column(batch, i);
        if (!column)
            continue;
        bool drawn = job->terminal.images != IMAGES_NONE && image_is_readable(apl_store_field(job->store, i));
        struct value v = value_of(column, row, apl_batch_rows(batch));
        if (!drawn)
            record_field(job->store, batch, row, i);
        if (drawn && job->drawable > 1)
            printf("%s\n", shown(apl_store_field(job->store, i)->name));
        if (drawn)
            status = draw_field(job, apl_batch_ids(batch)[row], i, &v);
    }
    return interrupted() ? EXIT_FAILURE : status;
}

static int show_some(struct job *job, size_t from, size_t n)
{
    apl_get_options options = APL_GET_OPTIONS_INIT;
    apl_batch *batch = NULL;
    apl_error err;
    int status = 0;
    options.fields = job->fields.count ? job->fields.name : NULL;
    options.field_count = job->fields.count;
    if (apl_store_get_batch(job->store, job->ids + from, n, &options, &batch, &err) != APL_OK)
        return failed("%s", err.message);
    for (size_t row = 0; row < n && !status; row++) {
        if (from + row > 0)
            putchar('\n');
        status = show_record(job, batch, row);
    }
    apl_batch_release(batch);
    return status;
}

static int show(struct job *job)
{
    apl_error err;
    int status;
    if (expect_open(job->path, &job->store, &err) != APL_OK)
        return failed("%s", err.message);
    status = field_names_check(&job->fields, job->store, job->path);
    for (unsigned i = 0; i < apl_store_info(job->store)->fields; i++)
        job->drawable += image_is_readable(apl_store_field(job->store, i));
    for (size_t from = 0; from < job->count && !status; from += SOME)
        status = show_some(job, from, job->count - from < SOME ? job->count - from : SOME);
    apl_store_close(job->store);
    return report_complete(status ? status : job->status);
}

/* --------------------------------------------------------------------------------------------- options */

static int take_as(void *user, const char *name)
{
    static const char *const names[] = {"text", "blocks", "sixel", "kitty"};
    struct job *job = user;
    job->as_given = true;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            job->as = (enum terminal_images)i;
            return 0;
        }
    return misuse("images are shown as kitty, sixel, blocks or text, not '%s'", shown(name));
}

static int take_columns(void *user, const char *text)
{
    uint64_t n;
    if (!parse_number(text, 1, MOST_COLUMNS, &n))
        return misuse("the number of columns must be 1 to %d, not '%s'", MOST_COLUMNS, shown(text));
    ((struct job *)user)->columns = (unsigned)n;
    return 0;
}

static int take_fields(void *user, const char *names)
{
    return field_names_take(&((struct job *)user)->fields, names);
}

static const struct option_row rows[] = {
    {0, "as", "HOW",
     "draw images by the protocols kitty or sixel, as coloured blocks,\nor print text alone (default: what "
     "the terminal supports)",
     OPTION_CALL, 0, take_as},
    {0, "columns", "N",
     "the most columns that an image takes (default: 64, or as many as\nfit into the window)", OPTION_CALL, 0,
     take_columns},
    {0, "fields", "FIELD,...", "only these fields", OPTION_CALL, 0, take_fields},
    EXPECT_ROW,
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata show [OPTION]... DB ID...\n"
            "Show the records with these ids in the terminal: images are drawn, all else is printed.\n"
            "\n",
    .tail =
        "\n"
        "Control characters in values are escaped. If the output is not a terminal, only text is printed,\n"
        "unless --as says otherwise.\n",
    .column = 23,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

int cmd_show(int argc, char **argv)
{
    struct job job = {.path = NULL};
    int status = options_read(&line, &job, argc, argv);
    if (!status)
        status = take_ids(argc - optind, argv + optind, &job.path, &job.ids, &job.count);
    terminal_find(&job.terminal);
    if (job.as_given)
        job.terminal.images = job.as;
    if (!status)
        status = show(&job);
    free(job.ids);
    return options_status(status);
}
