/* Windows over documents: each once an epoch, whoever reads, wherever it resumes. */
#include "tokens_fixture.h"

#define TRAIN  150
#define BLOCK  8
#define LENGTH 40
#define STRIDE 24
#define BATCH  16
#define MOST   1000

static void set_up(void)
{
    tokens_make(TRAIN, BLOCK);
}

TestSuite(reader_windows, .init = set_up, .fini = fixture_free, .timeout = 60);

static const unsigned counts[] = {APL_NO_THREADS, 1, 3};
static apl_collation both[2];

static apl_reader_options windows(unsigned threads, int join)
{
    apl_reader_options o = fixture_options();
    both[0] = tokens_collation("tokens", APL_COLLATE_WINDOWS);
    both[1] = tokens_collation("weights", APL_COLLATE_WINDOWS);
    both[0].length = both[1].length = LENGTH;
    both[0].stride = both[1].stride = STRIDE;
    both[0].join = both[1].join = join;
    o.collations = both;
    o.collation_count = 2;
    o.batch_size = BATCH;
    o.threads = threads;
    o.seed = 5;
    o.window = 300;
    return o;
}

/* -------------------------------------------------------------------------------- what is to be delivered */

/* Where each window begins: document << 32 | offset, in the order of their numbers. */
static size_t plain_windows(uint64_t *begin)
{
    size_t n = 0;
    for (uint64_t id = 0; id < TRAIN; id++)
        for (size_t at = 0; at + LENGTH <= tokens_length(id); at += STRIDE)
            begin[n++] = id << 32 | at;
    return n;
}

static size_t joined_windows(uint64_t *begin)
{
    size_t n = 0, all = 0, start = 0, k = 0;
    for (uint64_t id = 0; id < TRAIN; id++)
        all += tokens_length(id);
    for (uint64_t id = 0; id < TRAIN; start += tokens_length(id++))
        for (; k < start + tokens_length(id) && k + LENGTH <= all; k += STRIDE)
            begin[n++] = id << 32 | (k - start);
    return n;
}

static size_t all_windows(int join, uint64_t *begin)
{
    return join ? joined_windows(begin) : plain_windows(begin);
}

/* The pieces of a row are the window: its tokens, from where it begins through the documents that follow. */
static size_t check_row(const apl_batch *b, size_t row, const apl_piece *p, uint64_t begin)
{
    const uint16_t *tokens = apl_batch_column(b, TOKENS_TOKENS)->data;
    const uint8_t *weights = apl_batch_column(b, TOKENS_WEIGHTS)->data;
    uint64_t id = begin >> 32, offset = begin & UINT32_MAX;
    size_t n = 0;
    for (size_t at = 0; at < LENGTH; at++, offset++) {
        for (; offset == tokens_length(id); offset = 0)
            id++;
        cr_assert_eq(tokens[row * LENGTH + at], tokens_at(id, offset), "row %zu, token %zu", row, at);
        cr_assert_eq(weights[row * LENGTH + at], tokens_weight(id, offset));
        n += n == 0 || p[n - 1].id != id;
        cr_assert(p[n - 1].id == id && p[n - 1].row == row && p[n - 1].copy == apl_batch_copies(b)[row]);
        cr_assert_eq(p[n - 1].offset + at - p[n - 1].start, offset);
        cr_assert(at >= p[n - 1].start && at < p[n - 1].start + p[n - 1].length);
    }
    return n;
}

struct told {
    unsigned seen[MOST];
    uint64_t order[4 * MOST];
    size_t rows, batches, all;
    uint64_t begin[MOST];
};

static void tell(struct told *t, const apl_batch *b)
{
    size_t n, at = 0;
    const apl_piece *pieces = apl_batch_pieces(b, &n);
    const apl_column *column = apl_batch_column(b, TOKENS_TOKENS);
    cr_assert(column->how == APL_COLLATE_WINDOWS && column->dims == 2 && column->dim[1] == LENGTH);
    cr_assert(column->dim[0] == (int64_t)apl_batch_rows(b) && column->shape[0] == LENGTH);
    cr_assert_null(apl_batch_column(b, TOKENS_SIZE));
    for (size_t row = 0; row < apl_batch_rows(b); row++) {
        uint64_t id = apl_batch_ids(b)[row];
        cr_assert_lt(id, t->all);
        at += check_row(b, row, pieces + at, t->begin[id]);
        t->seen[id]++;
        t->order[t->rows++] = id;
    }
    cr_assert_eq(at, n);
    t->batches++;
}

static struct told *told(int join)
{
    struct told *t = calloc(1, sizeof *t);
    cr_assert_not_null(t);
    t->all = all_windows(join, t->begin);
    cr_assert(t->all > 60 && t->all < MOST);
    return t;
}

static void read_all(apl_reader *r, struct told *t)
{
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
        tell(t, b);
}

static void check_all(const struct told *t, unsigned times)
{
    for (size_t i = 0; i < t->all; i++)
        cr_assert_eq(t->seen[i], times, "window %zu: %u times", i, t->seen[i]);
}

static apl_receipt receipt_of(apl_reader *r)
{
    apl_receipt receipt;
    cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
    cr_assert(receipt.missing == 0 && receipt.repeated == 0);
    return receipt;
}

/* ------------------------------------------------------------------------------------------------ whole */

Test(reader_windows, each_comes_once_in_an_order_that_threads_do_not_change)
{
    for (int join = 0; join < 2; join++)
        for (unsigned whole = 0; whole < 2; whole++) {
            struct told *first = told(join);
            for (unsigned i = 0; i < 3; i++) {
                apl_reader_options o = windows(counts[i], join);
                struct told *t = told(join), *again = told(join);
                o.window = whole ? 0 : join ? 60 : 40;
                apl_reader *r = fixture_reader(&o);
                cr_assert_eq(apl_reader_batches(r), (t->all + BATCH - 1) / BATCH);
                read_all(r, t);
                check_all(t, 1);
                cr_assert_eq(receipt_of(r).delivered, t->all);
                fixture_next_epoch(r);
                read_all(r, again);
                check_all(again, 1);
                cr_assert(memcmp(t->order, again->order, sizeof t->order) != 0);
                if (i == 0)
                    memcpy(first, t, sizeof *t);
                cr_assert(memcmp(first, t, sizeof *t) == 0, "the same for any number of threads");
                apl_reader_close(r);
                free(t);
                free(again);
            }
            free(first);
        }
}

Test(reader_windows, in_order_in_free_order_in_lanes_and_several_times)
{
    for (unsigned i = 0; i < 8; i++) {
        int join = i % 2;
        apl_reader_options o = windows(counts[i % 3], join);
        struct told *t = told(join);
        o.sequential = i / 2 == 0;
        o.order = i / 2 == 1 ? APL_FREE : APL_STRICT;
        o.ranks.lanes = i / 2 == 2 ? 3 : 0;
        o.reuse = i / 2 == 3 ? 2 : 1;
        apl_reader *r = fixture_reader(&o);
        read_all(r, t);
        check_all(t, o.reuse);
        for (size_t k = 0; o.sequential && k < t->rows; k++)
            cr_assert_eq(t->order[k], k);
        apl_reader_close(r);
        free(t);
    }
}

/* Of some records alone: members of blocks, which are joined as if there were no others. */
Test(reader_windows, of_the_records_that_are_read)
{
    static const uint64_t ids[] = {5, 6, 28, 51, 52, 120};
    for (int join = 0; join < 2; join++) {
        apl_reader_options o = windows(1, join);
        size_t all = 0, alone = 0, rows = 0, n;
        for (unsigned i = 0; i < 6; i++) {
            all += tokens_length(ids[i]);
            alone += tokens_length(ids[i]) < LENGTH ? 0 : (tokens_length(ids[i]) - LENGTH) / STRIDE + 1;
        }
        o.ids = ids;
        o.id_count = 6;
        apl_reader *r = fixture_reader(&o);
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
            const apl_piece *p = apl_batch_pieces(b, &n);
            const uint16_t *tokens = apl_batch_column(b, TOKENS_TOKENS)->data;
            for (size_t k = 0; k < n; k++)
                for (size_t j = 0; j < p[k].length; j++)
                    cr_assert_eq(tokens[p[k].row * LENGTH + p[k].start + j],
                                 tokens_at(p[k].id, p[k].offset + j));
            rows += apl_batch_rows(b);
        }
        cr_assert_eq(rows, join ? (all - LENGTH) / STRIDE + 1 : alone);
        apl_reader_close(r);
    }
}

/* Longer than blocks, of one token, and further apart than they are long. */
Test(reader_windows, of_any_length_and_stride)
{
    static const struct {
        uint64_t length, stride;
    } shapes[] = {{1, 1}, {1, 7}, {2000, 900}, {33, 333}, {64, 0}};
    size_t all = 0;
    for (uint64_t id = 0; id < TRAIN; id++)
        all += tokens_length(id);
    for (unsigned i = 0; i < 5; i++) {
        apl_reader_options o = windows(1, 1);
        size_t rows = 0, n, tokens = 0;
        both[0].length = shapes[i].length;
        both[0].stride = shapes[i].stride;
        o.collation_count = 1;
        o.window = 0;
        apl_reader *r = fixture_reader(&o);
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
            const apl_piece *p = apl_batch_pieces(b, &n);
            const uint16_t *at = apl_batch_column(b, TOKENS_TOKENS)->data;
            for (size_t k = 0; k < n; tokens += p[k++].length)
                for (size_t j = 0; j < p[k].length; j++)
                    cr_assert_eq(at[p[k].row * shapes[i].length + p[k].start + j],
                                 tokens_at(p[k].id, p[k].offset + j));
            rows += apl_batch_rows(b);
        }
        uint64_t stride = shapes[i].stride ? shapes[i].stride : shapes[i].length;
        cr_assert_eq(rows, (all - shapes[i].length) / stride + 1);
        cr_assert_eq(tokens, rows * shapes[i].length);
        apl_reader_close(r);
    }
}

/* -------------------------------------------------------------------------------------- resuming, ranks */

Test(reader_windows, resumes_at_every_batch_with_other_threads_and_batches)
{
    for (int join = 0; join < 2; join++) {
        struct told *t = told(join);
        size_t batches = (t->all + BATCH - 1) / BATCH;
        for (size_t cut = 0; cut <= batches; cut++) {
            uint8_t state[APL_STATE_BYTES];
            size_t size = sizeof state;
            apl_reader_options o = windows(counts[cut % 3], join);
            memset(t->seen, 0, sizeof t->seen);
            t->rows = 0;
            apl_reader *r = fixture_reader(&o);
            for (size_t k = 0; k < cut; k++) {
                apl_batch *b = fixture_next(r);
                tell(t, b);
                apl_batch_release(b);
            }
            cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
            apl_receipt before = receipt_of(r);
            apl_reader_close(r);
            o = windows(counts[(cut + 1) % 3], join);
            o.state = state;
            o.state_size = size;
            o.batch_size = 1 + cut % BATCH;
            r = fixture_reader(&o);
            read_all(r, t);
            check_all(t, 1);
            cr_assert_eq(before.delivered + receipt_of(r).delivered, t->all);
            apl_reader_close(r);
        }
        free(t);
    }
}

Test(reader_windows, ranks_share_them)
{
    for (unsigned world = 2; world <= 3; world++) {
        struct told *t = told(1);
        uint64_t delivered = 0;
        for (unsigned rank = 0; rank < world; rank++) {
            apl_reader_options o = windows(counts[rank % 3], 1);
            o.ranks.rank = rank;
            o.ranks.world = world;
            o.window = 60;
            apl_reader *r = fixture_reader(&o);
            read_all(r, t);
            delivered += receipt_of(r).delivered;
            apl_reader_close(r);
        }
        check_all(t, 1);
        cr_assert_eq(delivered, t->all);
        free(t);
    }
}

/* ---------------------------------------------------------------------------------------------- damage */

#define BAD 49 /* of the block 48 ... 55 */

Test(reader_windows, a_corrupt_block_is_an_error_or_is_left_out)
{
    for (int join = 0; join < 2; join++) {
        apl_reader_options o = windows(counts[1 + join], join);
        size_t skipped = 0, n, rows = 0;
        if (join == 0)
            tokens_damage(BAD);
        const char *message = fixture_refused(&o, APL_E_CORRUPT);
        cr_assert(strstr(message, "first") && strstr(message, "tokens"), "%s", message);
        o.faults.skip_corrupt = BLOCK;
        apl_reader *r = fixture_reader(&o);
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
            const apl_piece *p = apl_batch_pieces(b, &n);
            for (size_t k = 0; k < n; k++)
                cr_assert(p[k].id / BLOCK != BAD / BLOCK);
            apl_batch_skipped(b, &n);
            skipped += n;
            rows += apl_batch_rows(b);
        }
        cr_assert(skipped == BLOCK && rows > 50, "%zu, %zu", skipped, rows);
        cr_assert_eq(receipt_of(r).skipped, BLOCK);
        apl_reader_close(r);
    }
}

/* The columns of a block that is read again are checked again. */
Test(reader_windows, what_becomes_corrupt_while_the_reader_is_open_is_an_error)
{
    apl_reader_options o = windows(APL_NO_THREADS, 1);
    apl_error err = {0};
    apl_batch *b;
    apl_status status;
    o.window = 60;
    apl_reader *r = fixture_reader(&o);
    tokens_damage(BAD);
    while ((status = apl_reader_next(r, &b, &err)) == APL_OK)
        apl_batch_release(b);
    cr_assert_eq(status, APL_E_CORRUPT, "%s", err.message);
    cr_assert(err.first_record == 48 && err.records == BLOCK, "%llu", (unsigned long long)err.first_record);
    apl_reader_close(r);
}

/* --------------------------------------------------------------------------------------------- refusals */

Test(reader_windows, states_of_other_windows_are_others)
{
    apl_reader_options o = windows(1, 1);
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_reader *r = fixture_reader(&o);
    cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
    apl_reader_close(r);
    o.state = state;
    o.state_size = size;
    both[0].stride = both[1].stride = STRIDE + 1;
    fixture_refused(&o, APL_E_MISMATCH);
    /* as many of them, from the same records */
    o = windows(1, 1);
    both[0].stride = both[1].stride = 1000000;
    r = fixture_reader(&o);
    size = sizeof state;
    cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
    apl_reader_close(r);
    o.state = state;
    o.state_size = size;
    apl_reader_close(fixture_reader(&o));
    both[0].stride = both[1].stride = 1000001;
    cr_assert_not_null(strstr(fixture_refused(&o, APL_E_MISMATCH), "order: collation differs"));
}

Test(reader_windows, refuses_what_makes_no_sense)
{
    static const char *const fields[] = {"tokens", "size"};
    apl_reader_options o = windows(1, 0);
    both[1].stride = 5;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID),
                     "field weights: has other windows than another field");
    both[0].length = 0;
    cr_assert_str_eq(
        fixture_refused(&o, APL_E_INVALID),
        "field tokens: windows want a length, 1 to 2^31 - 1, a stride of as much at most, and neither "
        "fill nor truncate");
    both[0].length = 500;
    o.collation_count = 1;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID),
                     "field tokens: no value is as long as a window, which has 500");
    o = windows(1, 0);
    o.collation_count = 1;
    o.fields = fields;
    o.field_count = 2;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID),
                     "field size: is not windowed, as field tokens is: rows are of all or of none");
    o = windows(1, 0);
    both[1].how = APL_COLLATE_RAGGED;
    both[1].length = 0;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID),
                     "field weights: stride and join have no meaning for ragged");
    apl_sampling sampling = APL_SAMPLING_INIT;
    o = windows(1, 0);
    o.sampling = &sampling;
    sampling.weight_field = "size";
    cr_assert_str_eq(
        fixture_refused(&o, APL_E_INVALID),
        "windows are sampled alike, or by weights of the stores of a mix, not of classes or records");
}
