/* IDX files, as those of MNIST and its kin: each an array behind a header of a few big-endian numbers. Images and labels are told
 * apart, and splits, by the words in the names: train-images-idx3-ubyte. */
#include "array_splits.h"
#include "file_name.h"
#include "split_note.h"

#include <inttypes.h>
#include <stdio.h>

struct idx_file {
    size_t file;
    char prefix[256]; /* what the name has beside split, content and type: the dataset's */
    uint32_t header;  /* bytes */
};

struct idx {
    const struct format_host *host;
    struct arrays *arrays;
    struct array_splits splits; /* of an export that needs them */
    struct split_note note;     /* of others */
    struct idx_file *files;     /* of each of the host's */
};

/* ------------------------------------------------------------------------------------------------- headers */

/* Two zeros, a type, a rank, the dimensions as big-endian u32. */
static apl_dtype idx_type(uint8_t code)
{
    switch (code) {
    case 0x08:
        return APL_U8;
    case 0x09:
        return APL_I8;
    case 0x0b:
        return APL_I16;
    case 0x0c:
        return APL_I32;
    case 0x0d:
        return APL_F32;
    case 0x0e:
        return APL_F64;
    default:
        return (apl_dtype)0;
    }
}

static bool sniff_idx(const struct format_file *file)
{
    const uint8_t *h = file->head;
    return file->head_size >= 8 && h[0] == 0 && h[1] == 0 && (int)idx_type(h[2]) != 0 && h[3] >= 1 &&
           h[3] <= APL_MAX_DIMS + 1 && file->head_size >= 4u + 4u * h[3] && !file->archive;
}

/* idx1, idx3 and the like. */
static bool is_idx_word(const char *word)
{
    return (word[0] == 'i' || word[0] == 'I') && (word[1] == 'd' || word[1] == 'D') &&
           (word[2] == 'x' || word[2] == 'X') && word[3] >= '0' && word[3] <= '9' && !word[4];
}

static bool wants_idx(const void *state, const char *name)
{
    struct file_name n;
    (void)state;
    if (!file_name_read(&n, name))
        return false;
    for (unsigned i = 0; i < n.count; i++)
        if (is_idx_word(n.words[i]) || word_in(n.words[i], (const char *const[]){"idx", "ubyte", NULL}))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------- names to arrays */

/* Takes the words out that say what is in the file, and of what type. */
static const char *take_content(struct file_name *n)
{
    static const char *const types[] = {"ubyte", "byte", "short", "int", "float", "double", "idx", NULL};
    static const char *const images[] = {"images", "image", NULL}, *const labels[] = {"labels", "label",
                                                                                      NULL};
    const char *content = NULL;
    for (unsigned i = 0; i < n->count;) {
        const char *word = n->words[i];
        const char *now = word_in(word, images) ? "image" : word_in(word, labels) ? "label" : NULL;
        if (now && !content)
            content = now;
        if (now || is_idx_word(word) || word_in(word, types))
            file_name_drop(n, i);
        else
            i++;
    }
    return content;
}

/* train-images-idx3-ubyte and train-labels-idx1-ubyte, and the like. */
static bool belongs_to_idx(const char *name, const char *other)
{
    struct file_name a, b;
    char words[256], others[256];
    if (!wants_idx(NULL, other) || !file_name_read(&a, name) || !file_name_read(&b, other))
        return false;
    const char *content = take_content(&a), *beside = take_content(&b);
    file_name_join(&a, words, sizeof words);
    file_name_join(&b, others, sizeof others);
    return content && beside && strcmp(content, "image") == 0 && strcmp(beside, "label") == 0 &&
           a.split_rank == b.split_rank && !a.split == !b.split && strcmp(words, others) == 0;
}

static apl_status open_idx_array(void *user, const struct array *array, struct format_stream **stream,
                                 apl_error *err);
static apl_status open_idx_rows(void *user, const struct array *array, uint64_t row, uint64_t count,
                                struct format_stream **stream, apl_error *err);

/* Files called so have images, of levels of grey unless there is a third dimension, or labels. */
static void tell_kind(struct array *array, const char *content)
{
    bool labels = strcmp(content, "label") == 0, bytes = array->dtype == APL_U8;
    array->kind = labels && array->ndim == 0             ? APL_KIND_LABEL
                  : !labels && bytes && array->ndim == 2 ? APL_KIND_IMAGE
                                                         : APL_KIND_NONE;
    array->form = array->kind == APL_KIND_IMAGE ? APL_FORM_HW : APL_FORM_NONE;
}

/* Where the name does not say: one number a record is its label. */
static const char *guess_content(const struct array *array)
{
    return array->ndim == 0 && array->dtype != APL_F32 && array->dtype != APL_F64 ? "label" : "image";
}

static apl_status name_array(struct idx *idx, size_t i, struct array *array, apl_error *err)
{
    struct idx_file *f = &idx->files[i];
    const char *name = idx->host->files[i].name;
    struct file_name n;
    if (!file_name_read(&n, name))
        return fail(err, APL_E_SOURCE, "%s: has a name of more than 255 bytes or 16 words", array->path);
    const char *content = take_content(&n);
    const struct path_split is = split_of_path(idx->host->files[i].below);
    array->split = is.split;
    array->split_rank = is.rank;
    split_note_take(&idx->note, array->path, &is);
    snprintf(array->field, sizeof array->field, "%s", content ? content : guess_content(array));
    if (content)
        tell_kind(array, content);
    file_name_join(&n, f->prefix, sizeof f->prefix);
    if (!content)
        f->prefix[0] = 0;
    return APL_OK;
}

static apl_status describe_idx(struct idx *idx, size_t i, struct array *array, apl_error *err)
{
    const struct format_file *file = &idx->host->files[i];
    const uint8_t *h = file->head;
    if (!sniff_idx(file)) /* one that lies beside may be called so, and be anything */
        return fail(err, APL_E_SOURCE, "%s: does not begin as a file of 1 to %d dimensions does", file->path,
                    APL_MAX_DIMS + 1);
    unsigned rank = h[3];
    *array = (struct array){.path = file->path,
                            .dtype = idx_type(h[2]),
                            .swap = true,
                            .ndim = rank - 1,
                            .rows = (uint64_t)h[4] << 24 | (uint64_t)h[5] << 16 | (uint64_t)h[6] << 8 | h[7],
                            .open = open_idx_array,
                            .open_rows = file->packed ? NULL : open_idx_rows,
                            .user = idx};
    for (unsigned d = 1; d < rank; d++) {
        struct cursor c = cursor_over(h + 4 + 4 * d, 4);
        array->shape[d - 1] = cursor_u32be(&c);
    }
    idx->files[i] = (struct idx_file){.file = i, .header = 4 + 4 * rank};
    bool named;
    TRY(array_splits_name(&idx->splits, file, array, &named, err));
    return named ? APL_OK : name_array(idx, i, array, err);
}

/* Files of one dataset belong together: of EMNIST, a directory has several. */
static apl_status check_prefix(const struct idx *idx, size_t i, apl_error *err)
{
    const struct format_file *files = idx->host->files;
    if (strcmp(idx->files[0].prefix, idx->files[i].prefix) == 0)
        return APL_OK;
    return fail(err, APL_E_SOURCE, "%s and %s are of two datasets: name the files of one", files[0].path,
                files[i].path);
}

static apl_status open_idx_array(void *user, const struct array *array, struct format_stream **stream,
                                 apl_error *err)
{
    struct idx *idx = user;
    size_t i = 0;
    while (idx->host->files[i].path != array->path)
        i++;
    TRY(idx->host->open_file(idx->host->user, i, stream, err));
    if (!cursor_take((*stream)->cursor, idx->files[i].header))
        return idx->host->cut_off(idx->host->user, *stream, err);
    return APL_OK;
}

/* Some of its rows, of a file that is not packed. */
static apl_status open_idx_rows(void *user, const struct array *array, uint64_t row, uint64_t count,
                                struct format_stream **stream, apl_error *err)
{
    const struct idx *idx = user;
    size_t i = 0;
    while (idx->host->files[i].path != array->path)
        i++;
    return array_open_part(idx->host, i, idx->files[i].header, array, row, count, stream, err);
}

/* ------------------------------------------------------------------------------------------------- the format */

static apl_status read_idx(void *state, apl_error *err)
{
    struct idx *idx = state;
    TRY(array_splits_find(&idx->splits, idx->host, err));
    for (size_t i = 0; i < idx->host->file_count; i++) {
        struct array array;
        TRY(describe_idx(idx, i, &array, err));
        TRY(check_prefix(idx, i, err));
        TRY(arrays_add(idx->arrays, &array, err));
    }
    TRY(array_splits_check(&idx->splits, idx->host, err));
    split_note_tell(&idx->note, idx->host);
    return arrays_read(idx->arrays, err);
}

static apl_status finish_idx(void *state, char format[32], apl_error *err)
{
    (void)state;
    (void)err;
    snprintf(format, 32, "idx");
    return APL_OK;
}

static void close_idx(void *state)
{
    struct idx *idx = state;
    if (!idx)
        return;
    arrays_free(idx->arrays);
    array_splits_free(&idx->splits);
    free(idx->files);
    free(idx);
}

static apl_status open_idx(const struct format_host *host, void **state, apl_error *err)
{
    struct idx *idx = calloc(1, sizeof *idx);
    if (!idx)
        return fail_nomem(err);
    idx->host = host;
    idx->arrays = arrays_new(host);
    idx->files = calloc(host->file_count, sizeof *idx->files);
    if (!idx->arrays || !idx->files) {
        close_idx(idx);
        return fail_nomem(err);
    }
    *state = idx;
    return APL_OK;
}

static const char *where_in_idx(const void *state, char *out, size_t size)
{
    const struct idx *idx = state;
    return arrays_where(idx->arrays, out, size);
}

const struct format format_idx = {
    .name = "idx",
    .title = "IDX files, as those of MNIST: images and labels",
    .uses = FORMAT_CLASSES,
    .open = open_idx,
    .close = close_idx,
    .sniff = sniff_idx,
    .wants = wants_idx,
    .belongs = belongs_to_idx,
    .parts = true,
    .read = read_idx,
    .where = where_in_idx,
    .finish = finish_idx,
};
