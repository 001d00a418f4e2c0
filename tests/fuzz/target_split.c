/* A split file of the small store: what is accepted is whole, comes out the same after being written, and can
 * be asked and read. */
#include "fuzz.h"
#include "small.h"
#include "split_file.h"

static void write_again(const struct split_file *f, const struct manifest *m)
{
    struct buffer one = {0}, two = {0};
    struct split_file again;
    MUST(split_file_encode(f, &one, NULL) == APL_OK);
    MUST(split_file_decode(one.data, one.size, m, &again, NULL) == APL_OK);
    MUST(split_file_encode(&again, &two, NULL) == APL_OK);
    MUST(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
    split_file_free(&again);
    buffer_free(&one);
    buffer_free(&two);
}

static void list(apl_store *store)
{
    apl_split_list *splits;
    MUST(apl_split_list_open(store, &splits, NULL) == APL_OK);
    MUST(apl_split_list_file(splits, 0) && !apl_split_list_file(splits, 1));
    apl_split_list_close(splits);
}

static void ask(apl_store *store, const char *name, uint64_t records)
{
    uint64_t ids[SMALL_TRAIN + SMALL_TEST], classes[3], count = SMALL_TRAIN + SMALL_TEST;
    apl_error err;
    if (apl_split_ids(store, name, ids, &count, &err) != APL_OK)
        return; /* the store has a split of its own of that name, or one of its names is ambiguous */
    for (uint64_t i = 0; i < count; i++)
        MUST(ids[i] < SMALL_TRAIN + SMALL_TEST && (i == 0 || ids[i - 1] < ids[i]));
    if (apl_store_find_split(store, name) < 0)
        MUST(count == records);
    MUST(apl_split_class_counts(store, name, 1, classes, &err) == APL_OK);
    MUST(classes[0] + classes[1] + classes[2] == count);
}

static void read_split(apl_store *store, const char *name)
{
    apl_reader *reader;
    apl_batch *batch;
    apl_reader_options options = small_options(0);
    options.split = name;
    if (apl_reader_open(store, &options, &reader, NULL) != APL_OK)
        return;
    while (apl_reader_next(reader, &batch, NULL) == APL_OK)
        apl_batch_release(batch);
    apl_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    apl_store *store = small_store();
    struct split_file f;
    char file[256];
    apl_error err;
    if (split_file_decode(data, size, &store->manifest, &f, &err) != APL_OK)
        return 0;
    MUST(!bitset_count_both(&f.tables[SPLIT_PART], &f.tables[SPLIT_REST]));
    MUST(bitset_count(&f.tables[SPLIT_PART]) == f.records[SPLIT_PART]);
    write_again(&f, &store->manifest);
    if (split_name_ok(f.name)) {
        snprintf(file, sizeof file, "small/%s.split", f.name);
        const char *path = fuzz_file(file, data, size);
        list(store);
        ask(store, f.name, f.records[SPLIT_PART]);
        read_split(store, f.name);
        if (apl_split_verify(store, f.name, 1, &err) == APL_OK)
            MUST(f.records[SPLIT_PART] + f.records[SPLIT_REST] <= SMALL_TRAIN);
        char *rest = split_rest_name(&f);
        ask(store, rest, f.records[SPLIT_REST]);
        free(rest);
        remove(path);
    }
    split_file_free(&f);
    return 0;
}
