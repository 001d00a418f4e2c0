/*
 * Images in folders by class as a format. Each becomes a record: the file as it is, or its samples, its label, its path, its
 * channels, height and width. Images are gathered, decoded on all cores, and appended in the order in which they came.
 */
#include "describing.h"
#include "file_name.h"
#include "folder_classes.h"
#include "folder_layout.h"
#include "folder_name.h"
#include "hidden_path.h"
#include "image_fields.h"
#include "image_kind.h"
#include "image_tally.h"
#include "key_log.h"
#include "member.h"
#include "parallel.h"
#include "split_note.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>

#define GATHER_FILES 64u
#define GATHER_BYTES ((size_t)16 << 20) /* of files and samples, unless one image has more */

/* An image that was read. */
struct image {
    struct made_image made;
    struct buffer path; /* as records have it */
    char *shown;        /* as the source has it, safe to print */
    struct class_place place;
    apl_status status; /* what came of making it */
    apl_error error;
};

struct folder_images {
    const struct format_host *host;
    struct class_tree *tree;
    struct key_log *paths;   /* of images, each of which may come once */
    bool asked, again;       /* of a part: was it asked about this image, and has its path come before? */
    apl_status asked_status; /* what came of asking */
    apl_writer *writer;      /* the host's; NULL until the first image */
    struct image images[GATHER_FILES];
    unsigned gathered;
    size_t gathered_bytes;
    unsigned threads;
    struct image_maker **makers; /* of each thread */
    struct survey survey;
    struct image_plan plan;
    struct image_tally tally;
    struct folder_classes classes;    /* their names and numbers */
    uint64_t listed, others, records; /* images, and other files, that were listed; records made */
    bool described;                   /* files that only describe data lie beside them */
    char first_other[256];            /* of the others, safe to print */
    char archive[256];                /* the first of them that is one; "": none */
    char table[256];                  /* the same of what is read from a directory only if it is asked for, */
    char python[256];                 /* and of what only Python reads */
    struct path_split source;         /* the split that the source's own name tells */
    bool like_split;   /* the source is a directory that is called nearly so, such as test_data */
    const char *split; /* of the current member; NULL: none */
    uint32_t members;
    uint32_t ranks_used[32]; /* members of each split */
};

/* ------------------------------------------------------------------------------------------------ listing */

/* A directory called test_data or the like, not crash_test; with a "/" at its end. */
static bool is_directory_like_split(const char *below)
{
    char name[256];
    size_t length = strlen(below);
    if (length < 2 || length > sizeof name || below[length - 1] != '/')
        return false;
    memcpy(name, below, length - 1);
    name[length - 1] = 0;
    return folder_like_split(name);
}

static apl_status begin_folder_source(void *state, const char *below, const char *shown, apl_error *err)
{
    struct folder_images *f = state;
    (void)shown;
    (void)err;
    f->source = split_of_path(below);
    f->like_split = is_directory_like_split(below);
    class_tree_call(f->tree, f->source.split, f->source.rank);
    return APL_OK;
}

static bool wants_image(const void *state, const char *name)
{
    (void)state;
    return (image_name(name) || folder_classes_is_file(name)) && !path_is_hidden(name);
}

/* Parquet, Feather and Arrow's own. */
static bool is_of_python(const char *name)
{
    return name_ends(name, ".parquet") || name_ends(name, ".feather") || name_ends(name, ".arrow");
}

/* The first file that would be read if its format were asked for, or in Python. */
static void see_table(struct folder_images *f, const char *name)
{
    if (!*f->table && path_is_table(name))
        printable(f->table, sizeof f->table, name, strlen(name));
    if (!*f->python && is_of_python(name))
        printable(f->python, sizeof f->python, name, strlen(name));
}

static apl_status list_file(void *state, const char *name, bool directory, apl_error *err)
{
    struct folder_images *f = state;
    if (path_is_hidden(name) || !*name || (!directory && folder_classes_is_file(name)))
        return APL_OK;
    if (!directory && !image_name(name)) {
        const char *slash = strrchr(name, '/');
        if (name_only_describes(slash ? slash + 1 : name)) {
            f->described = true;
            return APL_OK;
        }
        if (f->others++ == 0)
            printable(f->first_other, sizeof f->first_other, name, strlen(name));
        if (!*f->archive && name_is_archive(name))
            printable(f->archive, sizeof f->archive, name, strlen(name));
        see_table(f, name);
        return APL_OK;
    }
    f->listed += !directory;
    if (!directory)
        TRY(key_log_add(f->paths, name, strlen(name), err));
    return class_tree_add(f->tree, name, directory, err);
}

static void tell_count(const struct folder_images *f, uint64_t count, const char *what)
{
    char text[128];
    snprintf(text, sizeof text, "%s: %" PRIu64, what, count);
    if (count)
        f->host->notice(f->host->user, "", text);
}

static void tell_others(const struct folder_images *f)
{
    char text[400];
    snprintf(text, sizeof text,
             "files left out, as their names are not those of images: %" PRIu64 ", first %s", f->others,
             f->first_other);
    if (f->others)
        f->host->notice(f->host->user, "", text);
}

/* A folder without images may be called as no split is. */
static apl_status count_split_images(const struct folder_images *f, apl_error *err)
{
    const char *name;
    uint32_t rank;
    uint64_t images;
    for (uint32_t i = 0; class_tree_split(f->tree, i, &name, &rank, &images); i++)
        if (images > 0)
            TRY(f->host->count(f->host->user, name, rank << 16, images, err));
    return APL_OK;
}

/* Of a directory whose format was not given, this is all that is said. */
static apl_status has_no_images(const struct folder_images *f, apl_error *err)
{
    if (f->others == 0 && !f->described)
        return fail(err, APL_E_SOURCE, "%s: has no images, nor any other files", f->host->source);
    if (*f->archive)
        return fail(
            err, APL_E_SOURCE,
            "%s: has no images in folders by class, but an archive, %s: unpack it, or give it as the source",
            f->host->source, f->archive);
    if (*f->table && !f->host->options->format)
        return fail(
            err, APL_E_SOURCE,
            "%s: has no images in folders by class, but a table, %s: --format list (format=\"list\" in "
            "Python) reads tables in a directory, or give them by name",
            f->host->source, f->table);
    if (*f->python && !f->host->options->format)
        return fail(
            err, APL_E_SOURCE,
            "%s: has no images in folders by class, but %s, which python -m apldata ingest reads, and "
            "convert() in Python",
            f->host->source, f->python);
    return fail(err, APL_E_SOURCE,
                "%s: has no images (files called .jpg, .jpeg, .png, ...) in folders by class%s",
                f->host->source,
                f->host->options->format ? ""
                                         : ", nor files of another format that is recognised: --format raw "
                                           "(format=\"raw\" in Python) takes any files");
}

static apl_status has_no_classes(const struct folder_images *f, apl_error *err)
{
    bool table = *f->table && !f->host->options->format;
    return fail(err, APL_E_SOURCE,
                "%s: its images lie in no folders by class, such as cat/1.jpg or train/cat/1.jpg%s%s%s",
                f->host->source, table ? "; there is a table, " : "", table ? f->table : "",
                table ? ": --format list (format=\"list\" in Python) reads it, with the images that it names"
                      : "");
}

/* What the source's own name tells, where its folders tell nothing. */
static void tell_split(const struct folder_images *f)
{
    struct split_note note = {.given = f->like_split};
    if (class_tree_has_splits(f->tree))
        return;
    split_note_take(&note, "", &f->source);
    split_note_tell(&note, f->host);
}

static apl_status end_list(void *state, apl_error *err)
{
    struct folder_images *f = state;
    apl_error odd;
    const char *const *names;
    if (f->listed == 0)
        return has_no_images(f, err);
    TRY(key_log_end(f->paths, err));
    apl_status status = class_tree_decide(f->tree, f->host->partial, err);
    if ((status == APL_OK || status == APL_E_INCOMPLETE) &&
        folder_layout_check(f->tree, f->host, &odd) != APL_OK)
        return fail(err, odd.status, "%s: %s", f->host->source, odd.message);
    folder_layout_tell(f->tree, f->host);
    if (status != APL_OK)
        return fail_in(err, status, "%s", f->host->source);
    if (class_tree_classes(f->tree, &names) == 0 || class_tree_strays(f->tree) == f->listed)
        return has_no_classes(f, err);
    tell_split(f);
    tell_count(f, class_tree_strays(f->tree), "images left out, as they lie in no class");
    tell_others(f);
    f->plan = survey_plan(&f->survey, f->host);
    TRY(count_split_images(f, err));
    return folder_classes_settle(&f->classes, f->tree, f->host, err);
}

/* ------------------------------------------------------------------------------------------------- looking */

static bool looks_at(void *state, const char *name)
{
    struct folder_images *f = state;
    return wants_image(state, name) &&
           (folder_classes_is_file(name) || survey_wants(&f->survey, f->host, name));
}

static apl_status look_at(void *state, const struct format_member *m, apl_error *err)
{
    struct folder_images *f = state;
    struct image_decoder *decoder = image_maker_decoder(f->makers[0]);
    if (folder_classes_is_file(m->name))
        return folder_classes_read(&f->classes, m, err);
    return survey_take(&f->survey, f->host, decoder, m, &f->images[0].made.bytes, err);
}

/* ------------------------------------------------------------------------------------------------- making */

static apl_status make_gathered(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct folder_images *f = context;
    struct image *image = &f->images[task];
    if (!f->makers[worker] && !(f->makers[worker] = image_maker_new(f->host->allow_warnings)))
        return fail_nomem(err);
    image->status = image_make(f->makers[worker], &f->plan, f->host->unchecked, &image->made, &image->error);
    if (image->status == APL_OK && !utf8_valid((const char *)image->path.data, image->path.size))
        image->status = fail(&image->error, APL_E_SOURCE, "its path is not UTF-8");
    if (image->status == APL_E_NOMEM)
        *err = image->error;
    return image->status == APL_E_NOMEM ? APL_E_NOMEM : APL_OK;
}

/* ----------------------------------------------------------------------------------------------- appending */

static apl_status add_image_fields(struct folder_images *f, apl_error *err)
{
    TRY(image_fields_add(f->writer, &image_usual_names, &f->plan, f->host->options->keep_files, err));
    TRY(folder_classes_add_field(&f->classes, f->writer, err));
    TRY(image_fields_add_beside(f->writer, &image_usual_names, &f->plan, err));
    return folder_classes_name(&f->classes, f->writer, err);
}

/* Images of one split after another are a member. Where splits come mixed, as in an archive that is not sorted, each has several:
 * their numbers are next to each other all the same. */
static apl_status begin_split(struct folder_images *f, const struct class_place *place, apl_error *err)
{
    if (f->split == place->split)
        return APL_OK;
    if (!f->split)
        TRY(f->host->made_fields(f->host->user, add_image_fields(f, err), err));
    uint32_t number = f->ranks_used[place->split_rank]++;
    if (number > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: its splits come mixed: sort the archive", f->host->source);
    TRY(apl_writer_begin_member(f->writer, place->split, place->split, place->split_rank << 16 | number,
                                err));
    f->split = place->split;
    return APL_OK;
}

static apl_status append_image(struct folder_images *f, const struct image *image, apl_error *err)
{
    struct image_values v;
    image_values_of(&v, &image_usual_names, &f->plan, &image->made, &image->path);
    apl_value values[2 + IMAGE_FIELDS_BESIDE] = {v.image,
                                                 folder_classes_label(&f->classes, &image->place.label)};
    memcpy(values + 2, v.beside, sizeof v.beside);
    if (!f->writer)
        TRY(f->host->writer(f->host->user, &f->writer, err));
    TRY(f->host->not_the_source(f->host->user, begin_split(f, &image->place, err)));
    f->records++;
    image_tally_take(&f->tally, f->host, image->shown, &image->made);
    return f->host->append(f->host->user, values, err);
}

/* Checks what has been gathered and appends it. */
static apl_status flush(struct folder_images *f, apl_error *err)
{
    unsigned n = f->gathered;
    f->gathered = 0;
    f->gathered_bytes = 0;
    apl_status status = parallel_for(f->threads, n, make_gathered, f, err);
    if (status != APL_OK)
        return f->host->not_the_source(f->host->user, status);
    for (unsigned i = 0; i < n; i++) {
        struct image *image = &f->images[i];
        if (image->status == APL_OK)
            TRY(append_image(f, image, err));
        else {
            apl_error why = image->error;
            TRY(f->host->bad(f->host->user, image->shown, &why, err));
        }
    }
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- gathering */

static apl_status take_names(struct image *image, const struct format_member *m, apl_error *err)
{
    free(image->shown);
    image->shown = strdup(m->path);
    image->path.size = 0;
    buffer_put(&image->path, image->place.path, strlen(image->place.path));
    return image->shown && !image->path.failed ? APL_OK : fail_nomem(err);
}

/* Has an image of that path come before? */
static apl_status comes_again(struct folder_images *f, const char *name, bool *again, apl_error *err)
{
    const char *first;
    TRY(key_log_show(f->paths, name, strlen(name), "", &first, err));
    *again = first != NULL;
    return APL_OK;
}

/* Which of two is right, the caller must say. */
static apl_status check_once(struct folder_images *f, const struct format_member *m, apl_error *err)
{
    bool again = f->again;
    if (!f->asked)
        TRY(comes_again(f, m->name, &again, err));
    f->asked = false;
    return again ? fail(err, APL_E_SOURCE,
                        "is there twice, as tar -r and -u leave older versions: pack the archive again")
                 : APL_OK;
}

static apl_status gather_image(void *state, const struct format_member *m, apl_error *err)
{
    struct folder_images *f = state;
    struct image *image = &f->images[f->gathered];
    if (folder_classes_is_file(m->name) || !class_tree_find(f->tree, m->name, &image->place))
        return APL_OK;
    TRY(check_once(f, m, err));
    if (m->size > APL_MAX_VALUE) {
        TRY(flush(f, err));
        apl_error why;
        fail(&why, APL_E_SOURCE, "has %" PRIu64 " bytes, more than the %u of a value", m->size,
             APL_MAX_VALUE);
        return f->host->bad(f->host->user, m->path, &why, err);
    }
    TRY(take_names(image, m, err));
    image->made.bytes.size = 0;
    TRY(member_append(m, m->size, &image->made.bytes, err));
    f->gathered_bytes += image->made.bytes.size + image_maker_need(f->makers[0], &f->plan, &image->made);
    f->gathered++;
    return f->gathered == GATHER_FILES || f->gathered_bytes >= GATHER_BYTES ? flush(f, err) : APL_OK;
}

/* An image that lies in no class is nobody's. */
static bool passes_image(void *state, const char *name)
{
    struct folder_images *f = state;
    struct class_place place;
    if (folder_classes_is_file(name))
        return true;
    f->asked = true;
    if (f->asked_status == APL_OK)
        f->asked_status = comes_again(f, name, &f->again, NULL);
    return !class_tree_find(f->tree, name, &place) || !f->host->own(f->host->user, place.split, 1);
}

static bool has_enough_images(void *state)
{
    const struct folder_images *f = state;
    return f->host->ended(f->host->user);
}

static apl_status finish_folder(void *state, char format[32], apl_error *err)
{
    struct folder_images *f = state;
    TRY(flush(f, err));
    if (f->asked_status != APL_OK)
        return fail_nomem(err);
    if (f->records == 0)
        return fail(err, APL_E_SOURCE, "%s: all of its images are bad", f->host->source);
    image_tally_tell(&f->tally, f->host);
    snprintf(format, 32, "folder");
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- open and close */

static void close_folder(void *state)
{
    struct folder_images *f = state;
    if (!f)
        return;
    for (unsigned i = 0; i < GATHER_FILES; i++) {
        image_free(&f->images[i].made);
        buffer_free(&f->images[i].path);
        free(f->images[i].shown);
    }
    for (unsigned i = 0; f->makers && i < f->threads; i++)
        image_maker_free(f->makers[i]);
    free(f->makers);
    class_tree_free(f->tree);
    key_log_free(f->paths);
    folder_classes_free(&f->classes);
    free(f);
}

static apl_status open_folder_images(const struct format_host *host, void **state, apl_error *err)
{
    struct folder_images *f = calloc(1, sizeof *f);
    if (!f)
        return fail_nomem(err);
    f->host = host;
    f->threads = threads_for(host->threads);
    f->makers = calloc(f->threads, sizeof *f->makers);
    f->tree = class_tree_new();
    f->paths = key_log_new(host);
    if (!f->makers || !(f->makers[0] = image_maker_new(host->allow_warnings)) || !f->tree || !f->paths) {
        close_folder(f);
        return fail_nomem(err);
    }
    *state = f;
    return APL_OK;
}

const struct format format_folder = {
    .name = "folder",
    .title = "images in folders by class: CLASS/*.jpg or SPLIT/CLASS/*.png",
    .uses = FORMAT_FOLDERS | FORMAT_IMAGES,
    .folders = true,
    .open = open_folder_images,
    .close = close_folder,
    .begin_source = begin_folder_source,
    .wants = wants_image,
    .list = list_file,
    .listed = end_list,
    .looks = looks_at,
    .look = look_at,
    .member = gather_image,
    .parts = true,
    .passes = passes_image,
    .enough = has_enough_images,
    .finish = finish_folder,
};
