/* The state of a reader: the first byte picks the reader's options, the state follows. A reader that takes the
 * state hands out what is left of the epoch, each delivery once, and the state that it then has is taken too. Eight
 * bytes are no state, but the epoch that a reader begins with. */
#include "fuzz.h"
#include "small.h"

#define LAST_EPOCH ((uint64_t)INT64_MAX)

static uint64_t read_epoch(apl_reader *reader)
{
    uint64_t rows = 0;
    apl_batch *batch;
    apl_status status;
    while ((status = apl_reader_next(reader, &batch, NULL)) == APL_OK) {
        rows += apl_batch_rows(batch);
        for (size_t i = 0; i < apl_batch_rows(batch); i++)
            MUST(apl_batch_ids(batch)[i] < SMALL_TRAIN + SMALL_TEST);
        apl_batch_release(batch);
    }
    MUST(status == APL_END);
    return rows;
}

static void check_receipt(apl_reader *reader, uint64_t rows)
{
    apl_receipt r;
    MUST(apl_reader_receipt(reader, &r, sizeof r, NULL) == APL_OK);
    MUST(r.delivered == rows && r.missing == 0 && r.repeated == 0);
    MUST(r.last - r.first == r.delivered);
}

static void open_again(apl_reader *reader, apl_reader_options options)
{
    uint8_t state[512];
    size_t size = sizeof state;
    apl_reader *again;
    MUST(apl_reader_state(reader, state, &size, NULL) == APL_OK);
    options.state = state;
    options.state_size = size;
    MUST(apl_reader_open(small_store(), &options, &again, NULL) == APL_OK);
    MUST(apl_reader_epoch(again) == apl_reader_epoch(reader));
    apl_reader_close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    apl_reader *reader;
    apl_error err;
    apl_store *store = small_store();
    if (size == 0)
        return 0;
    apl_reader_options options = small_options(data[0]);
    if (size == 1 + 8) {
        options.first_epoch = load_le(data + 1, 8);
    } else {
        options.state = data + 1;
        options.state_size = size - 1;
    }
    if (apl_reader_open(store, &options, &reader, &err) != APL_OK)
        return 0;
    MUST(apl_reader_epoch(reader) <= LAST_EPOCH);
    open_again(reader, options);
    check_receipt(reader, read_epoch(reader));
    open_again(reader, options);
    if (apl_reader_next_epoch(reader, &err) == APL_OK)
        check_receipt(reader, read_epoch(reader));
    apl_reader_close(reader);
    return 0;
}
