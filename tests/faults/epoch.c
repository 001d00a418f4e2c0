/* Reads two epochs of a store, with whatever of a reader calls for files, memory and threads: epoch DB. Prints a sum
 * over all that came, which does not depend on the order of threads. */
#include <apl.h>

#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ at[i]) * 0x100000001b3u;
    return sum;
}

static apl_status read_epoch(apl_reader *reader, apl_error *err)
{
    apl_batch *batch;
    apl_status status;
    uint64_t sum = 0, rows = 0;
    while ((status = apl_reader_next(reader, &batch, err)) == APL_OK) {
        for (unsigned c = 0; apl_batch_column(batch, c); c++) {
            const apl_column *column = apl_batch_column(batch, c);
            sum = mix(sum, column->data, column->bytes);
        }
        rows += apl_batch_rows(batch);
        apl_batch_release(batch);
    }
    if (status != APL_END)
        return status;
    printf("%llu records, %016llx\n", (unsigned long long)rows, (unsigned long long)sum);
    return APL_OK;
}

/* Half way through, another reader takes over from the state of the first. */
static apl_status read_all(apl_store *store, apl_reader_options *options, apl_error *err)
{
    apl_reader *reader;
    unsigned char state[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_status status = apl_reader_open(store, options, &reader, err);
    if (status != APL_OK)
        return status;
    status = read_epoch(reader, err);
    if (status == APL_OK)
        status = apl_reader_next_epoch(reader, err);
    if (status == APL_OK)
        status = apl_reader_state(reader, state, &size, err);
    apl_reader_close(reader);
    if (status != APL_OK)
        return status;
    options->state = state;
    options->state_size = size;
    status = apl_reader_open(store, options, &reader, err);
    if (status != APL_OK)
        return status;
    status = read_epoch(reader, err);
    apl_reader_close(reader);
    return status;
}

int main(int argc, char **argv)
{
    apl_store *store;
    apl_error err;
    apl_transform augment = APL_TRANSFORM_INIT;
    augment.pad = 4;
    augment.flip = APL_FLIP_RANDOM;
    augment.dtype = APL_F16;
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    options.batch_size = 16;
    options.threads = 2;
    options.window = 64;
    options.transforms = &augment;
    options.transform_count = 1;
    apl_status status = apl_store_open(argc == 2 ? argv[1] : "db", NULL, &store, &err);
    if (status == APL_OK) {
        status = read_all(store, &options, &err);
        apl_store_close(store);
    }
    if (status != APL_OK)
        fprintf(stderr, "epoch: %s\n", err.message);
    return status == APL_OK ? 0 : 1;
}
