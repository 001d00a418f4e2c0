/* A whole data.mdb: opened, described, read in every way, verified. What can be read by one way is the same by
 * the others, and what verify finds whole can be read. */
#include "apl.h"
#include "fuzz.h"

#define SOME_RECORDS 2048u /* of a store that promises more, only some are read: that is only slow */
#define SOME_BYTES   ((uint64_t)4 << 20)

static void describe(const apl_store *store)
{
    const apl_info *info = apl_store_info(store);
    double mean, std;
    uint64_t records = 0;
    for (unsigned s = 0; s < info->splits; s++) {
        const apl_split *split = apl_store_split(store, s);
        records += split->count;
        MUST(apl_store_find_split(store, split->name) == (int)s);
        for (unsigned f = 0; f < info->fields; f++) {
            apl_store_class_count(store, s, f, 1);
            if (apl_store_moments(store, s, f, 0, &mean, &std) == APL_OK)
                MUST(std >= 0);
        }
    }
    MUST(records == info->records);
    for (unsigned m = 0; m < info->members; m++) {
        const apl_member *member = apl_store_member(store, m);
        int split = apl_store_find_split(store, member->split);
        MUST(member->name && split >= 0);
        const apl_split *of = apl_store_split(store, (unsigned)split);
        MUST(member->first >= of->first && member->first + member->count <= of->first + of->count);
    }
    for (unsigned f = 0; f < info->fields; f++) {
        const apl_field *field = apl_store_field(store, f);
        MUST(apl_store_find_field(store, field->name) == (int)f && apl_dtype_size(field->dtype) > 0);
    }
}

/* Looks at every byte of a batch. */
static void look(const apl_store *store, const apl_batch *batch)
{
    volatile uint8_t sum = 0;
    for (unsigned f = 0; f < apl_store_info(store)->fields; f++) {
        const apl_column *column = apl_batch_column(batch, f);
        size_t rows = apl_batch_rows(batch), element = apl_dtype_size(column->dtype);
        const apl_field *field = apl_store_field(store, f);
        for (size_t k = 0; field->class_count && k < rows; k++)
            MUST(load_le((const uint8_t *)column->data + k * element, (unsigned)element) <
                 field->class_count);
        if (column->offsets)
            MUST(column->offsets[0] == 0 && column->offsets[rows] * element == column->bytes);
        for (size_t i = 0; i < column->bytes; i++)
            sum = (uint8_t)(sum + ((const uint8_t *)column->data)[i]);
    }
}

static void get(apl_store *store)
{
    uint64_t n = apl_store_info(store)->records,
             ids[] = {n - 1, 0, n / 2, n / 3, n - 1, 1 % n, n - 1 - n / 5};
    apl_get_options o = APL_GET_OPTIONS_INIT;
    o.threads = APL_NO_THREADS;
    apl_batch *batch;
    apl_error err;
    MUST(apl_store_get(store, n, &batch, &err) == APL_E_NOTFOUND);
    if (apl_store_get(store, n / 2, &batch, &err) == APL_OK) {
        look(store, batch);
        apl_batch_release(batch);
    }
    if (apl_store_get_batch(store, ids, sizeof ids / sizeof *ids, &o, &batch, &err) == APL_OK) {
        look(store, batch);
        apl_batch_release(batch);
    }
}

/* All that can be done to the first field that is a picture; false: none. */
static bool some_transform(apl_store *store, const char *split, apl_transform *transform)
{
    for (unsigned f = 0; f < apl_store_info(store)->fields; f++) {
        *transform = (apl_transform)APL_TRANSFORM_INIT;
        transform->field = apl_store_field(store, f)->name;
        transform->pad = 2;
        transform->pad_mode = f % 2 ? APL_PAD_ZERO : APL_PAD_REFLECT;
        transform->flip = APL_FLIP_RANDOM;
        transform->cutout = 3;
        transform->scale = APL_SCALE_NORMALISE;
        transform->dtype = APL_F32;
        transform->layout = f % 3 ? APL_NCHW : APL_NHWC;
        if (apl_transform_complete(store, split, transform, NULL) == APL_OK)
            return true;
    }
    return false;
}

/* Reads an epoch, and a batch of the next. Returns whether every record was there. */
static bool read_all(apl_store *store, const char *split, uint64_t first, uint64_t records, apl_order order)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_transform transform;
    apl_reader *reader;
    apl_batch *batch;
    apl_status status;
    uint64_t rows = 0;
    o.split = split;
    o.threads = APL_NO_THREADS;
    o.batch_size = 9;
    o.order = order;
    o.bins = 8;
    o.ranks.world = 1;
    o.memory_budget = 64 << 20;
    if (order == APL_FREE) {
        o.faults.skip_corrupt = 3;
        o.transform_count = some_transform(store, split, &transform);
        o.transforms = o.transform_count ? &transform : NULL;
    }
    if (apl_reader_open(store, &o, &reader, NULL) != APL_OK)
        return false;
    while ((status = apl_reader_next(reader, &batch, NULL)) == APL_OK) {
        rows += apl_batch_rows(batch);
        look(store, batch);
        for (size_t i = 0; i < apl_batch_rows(batch); i++)
            MUST(apl_batch_ids(batch)[i] - first < records);
        apl_batch_release(batch);
    }
    bool whole = status == APL_END && rows == records;
    if (status == APL_END && apl_reader_next_epoch(reader, NULL) == APL_OK &&
        apl_reader_next(reader, &batch, NULL) == APL_OK)
        apl_batch_release(batch);
    apl_reader_close(reader);
    return whole;
}

/* Divides a split, and asks for the parts. */
static void divide(apl_store *store)
{
    static uint64_t ids[SOME_RECORDS];
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    uint64_t part = SOME_RECORDS;
    char path[128];
    apl_error err;
    o.name = "some-part";
    o.ratio = 0.4;
    o.replace = 1;
    o.threads = 1;
    for (unsigned f = 0; f < apl_store_info(store)->fields; f++)
        if (apl_store_field(store, f)->role == APL_TARGET)
            o.stratify = apl_store_field(store, f)->name;
    if (apl_split_make(store, &o, &err) != APL_OK)
        return;
    MUST(apl_split_ids(store, o.name, ids, &part, &err) == APL_OK);
    MUST(apl_split_verify(store, o.name, 1, &err) == APL_OK);
    snprintf(path, sizeof path, "%s/%s.split", fuzz_folder(), o.name);
    MUST(remove(path) == 0);
}

static void count_bad(void *user, const apl_bad_block *block)
{
    unsigned *bad = user;
    ++*bad;
    MUST(block->bad_count <= block->count && block->message && block->member);
    for (size_t i = 0; i < block->bad_count; i++)
        MUST(block->bad[i] >= block->first && block->bad[i] - block->first < block->count);
}

static void read_store(apl_store *store)
{
    const apl_info *info = apl_store_info(store);
    unsigned bad = 0;
    apl_error err;
    apl_verify_options verify = APL_VERIFY_OPTIONS_INIT;
    describe(store);
    if (info->records == 0 || info->records > SOME_RECORDS || info->raw_bytes > SOME_BYTES ||
        info->splits > 64)
        return;
    get(store);
    verify.threads = 1;
    verify.user = &bad;
    verify.bad_block = count_bad;
    bool good = apl_store_verify(store, &verify, &err) == APL_OK;
    MUST(!good || bad == 0);
    divide(store);
    for (unsigned s = 0; s < info->splits && s < 3; s++) {
        const apl_split *split = apl_store_split(store, s);
        for (apl_order order = APL_STRICT; order <= APL_FREE; order++) {
            bool whole = read_all(store, split->name, split->first, split->count, order);
            MUST(!good || whole || split->count == 0);
        }
    }
}

static apl_status open_store(const char *folder, apl_io io, apl_store **store)
{
    apl_store_options options = APL_STORE_OPTIONS_INIT;
    options.io = io;
    return apl_store_open(folder, &options, store, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    apl_store *mapped, *read;
    const char *folder = fuzz_folder();
    fuzz_file("data.mdb", data, size);
    apl_status status = open_store(folder, APL_IO_MAP, &mapped);
    MUST(open_store(folder, APL_IO_READ, &read) == status);
    if (status != APL_OK)
        return 0;
    read_store(size / 4096 % 2 ? mapped : read);
    apl_store_close(mapped);
    apl_store_close(read);
    return 0;
}
