/* The parsers of files that lie side by side: the first byte says which, and how many bytes the stream gives at a time. What they say of
 * an input must lie within it. Records of TFRecord files come with and without their frames, so that checksums hold nobody up. */
#include "fuzz.h"
#include "npy_header.h"
#include "tf_example.h"
#include "tf_frame.h"
#include "token_index.h"
#include "trickle.h"
#include "zip_list.h"

static void read_npy(struct cursor *c, size_t size)
{
    static struct npy_header h;
    if (npy_header_read(c, &h, NULL) != APL_OK)
        return;
    MUST(h.size <= size && h.ndim <= NPY_MAX_DIMS && h.field_count >= 1 && h.field_count <= NPY_MAX_FIELDS);
    for (unsigned i = 0; i < h.field_count; i++) {
        uint64_t bytes = apl_dtype_size(h.fields[i].dtype);
        MUST(bytes > 0);
        for (unsigned d = 0; d < h.fields[i].ndim; d++)
            bytes *= (uint64_t)h.fields[i].shape[d];
        MUST(h.fields[i].offset + bytes <= h.item && memchr(h.fields[i].name, 0, sizeof h.fields[i].name));
    }
    for (unsigned d = 0; d < h.ndim; d++)
        MUST(h.shape[d] >= 0);
}

struct bytes {
    const uint8_t *data;
    size_t size;
};

static apl_status read_at(void *user, uint64_t offset, void *out, size_t size, apl_error *err)
{
    const struct bytes *b = user;
    (void)err;
    MUST(offset <= b->size && size <= b->size - offset);
    memcpy(out, b->data + offset, size);
    return APL_OK;
}

static void read_zip(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size};
    struct zip_list list;
    bool good = zip_list_read(read_at, &b, size, &list, NULL) == APL_OK;
    for (size_t i = 0; good && i < list.count; i++) {
        const struct zip_member *m = &list.members[i];
        MUST(m->offset <= size && m->packed <= size - m->offset && (m->deflated || m->size == m->packed));
    }
    zip_list_free(&list);
}

static void read_example(const uint8_t *data, size_t size)
{
    static struct tf_example e;
    if (tf_example_parse(data, size, &e, NULL) != APL_OK)
        return;
    MUST(e.count <= TF_MAX_FEATURES);
    for (unsigned i = 0; i < e.count; i++) {
        const struct tf_feature *f = &e.features[i];
        MUST(f->name_size >= 1 && f->name_size <= APL_MAX_NAME);
        if (f->kind == TF_BYTES)
            MUST(f->count == 0 || (f->bytes >= data && f->bytes + f->bytes_size <= data + size));
        if (f->kind != TF_FLOATS && f->kind != TF_INTS)
            continue;
        MUST(f->count <= size);
        uint8_t *out = malloc(f->count * 8 + 1);
        MUST(out);
        tf_feature_values(f, out);
        free(out);
    }
}

static void read_frames(struct cursor *c, size_t size)
{
    struct tf_frame frame = {.cursor = c};
    const uint8_t *data;
    size_t n, total = 0;
    apl_status status;
    while ((status = tf_frame_next(&frame, &data, &n, NULL)) == APL_OK || status == APL_E_CORRUPT) {
        total += n + 16;
        MUST(total <= size);
        read_example(data, n);
    }
    buffer_free(&frame.bytes);
}

static void read_index(const uint8_t *data, size_t size, size_t step)
{
    struct trickle t[4];
    struct cursor c[4];
    struct token_index_reader r;
    uint64_t length, sequences = 0;
    bool ends = true;
    for (unsigned i = 0; i < 4; i++)
        c[i] = trickle_over(&t[i], data, size, step);
    if (token_index_open(&r, size, &c[0], &c[1], &c[2], &c[3], NULL) == APL_OK) {
        apl_status status;
        while ((status = token_index_next(&r, &length, &ends, NULL)) == APL_OK)
            MUST(length <= INT32_MAX && ++sequences <= size / 12);
        MUST(status != APL_END || (ends && sequences == r.index.sequences));
    }
    for (unsigned i = 0; i < 4; i++)
        free(t[i].block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trickle t;
    if (size == 0)
        return 0;
    size_t step = data[0] & 8 ? 1 + data[0] / 16 * 97 : 0;
    struct cursor c = trickle_over(&t, data + 1, size - 1, step);
    switch (data[0] & 7) {
    case 0:
        read_npy(&c, size - 1);
        break;
    case 1:
        read_zip(data + 1, size - 1);
        break;
    case 2:
        read_example(data + 1, size - 1);
        break;
    case 3:
        read_frames(&c, size - 1);
        break;
    default:
        read_index(data + 1, size - 1, step);
        break;
    }
    free(t.block);
    return 0;
}
