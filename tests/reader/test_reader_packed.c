/* Documents laid end to end into rows of tokens: nothing is lost, whoever reads, wherever it resumes. */
#include "tokens_fixture.h"

#define TRAIN 150
#define BLOCK 8
#define ROW   64
#define BATCH 3

static void set_up(void)
{
    tokens_make(TRAIN, BLOCK);
}

TestSuite(reader_packed, .init = set_up, .fini = fixture_free, .timeout = 60);

static const unsigned counts[] = {APL_NO_THREADS, 1, 3};
static apl_collation both[2];

static apl_reader_options packed(unsigned threads)
{
    apl_reader_options o = fixture_options();
    both[0] = tokens_collation("tokens", APL_COLLATE_PACK);
    both[1] = tokens_collation("weights", APL_COLLATE_PACK);
    both[0].length = both[1].length = ROW;
    both[1].fill = 9;
    o.collations = both;
    o.collation_count = 2;
    o.batch_size = BATCH;
    o.threads = threads;
    o.seed = 5;
    o.window = 24;
    return o;
}

/* ----------------------------------------------------------------------------------------- what has come */

/* Of each document, tokens that have come; and a digest of the order in which pieces did. */
struct told {
    size_t tokens[TRAIN], ended, batches, rows;
    uint64_t order[8 * TRAIN];
    size_t pieces;
};

static void check_row_ends(const apl_batch *b, const int32_t *segments, const bool *seen)
{
    const uint16_t *tokens = apl_batch_column(b, TOKENS_TOKENS)->data;
    const uint8_t *weights = apl_batch_column(b, TOKENS_WEIGHTS)->data;
    for (size_t i = 0; i < apl_batch_rows(b) * ROW; i++)
        if (!seen[i])
            cr_assert(tokens[i] == 0 && weights[i] == 9 && segments[i] == 0);
}

static void check_piece(const apl_batch *b, const apl_piece *p, int32_t number, bool *seen)
{
    const uint16_t *tokens = apl_batch_column(b, TOKENS_TOKENS)->data;
    const uint8_t *weights = apl_batch_column(b, TOKENS_WEIGHTS)->data;
    const int32_t *segments = apl_batch_part(b, TOKENS_TOKENS, APL_PART_SEGMENTS)->data,
                  *positions = apl_batch_part(b, TOKENS_TOKENS, APL_PART_POSITIONS)->data;
    cr_assert(p->length > 0 && p->start + p->length <= ROW && p->row < apl_batch_rows(b));
    cr_assert(p->offset + p->length <= tokens_length(p->id));
    for (size_t i = 0, at = p->row * ROW + p->start; i < p->length; i++, at++) {
        cr_assert_not(seen[at]);
        seen[at] = true;
        cr_assert_eq(tokens[at], tokens_at(p->id, p->offset + i));
        cr_assert_eq(weights[at], tokens_weight(p->id, p->offset + i));
        cr_assert_eq(segments[at], number);
        cr_assert_eq(positions[at], (int32_t)i);
    }
}

/* Adds a batch, each piece of which must go on where the one of its document before ended: `apart` where other ranks may have that. */
static void tell(struct told *t, const apl_batch *b, bool apart)
{
    size_t n;
    bool seen[BATCH * ROW] = {false};
    const apl_piece *pieces = apl_batch_pieces(b, &n);
    const apl_column *column = apl_batch_column(b, TOKENS_TOKENS);
    cr_assert(column->how == APL_COLLATE_PACK && column->dims == 2 && column->dim[1] == ROW);
    for (size_t i = 0, number = 1; i < n; i++, number++) {
        const apl_piece *p = &pieces[i];
        number = i == 0 || p->row != pieces[i - 1].row ? 1 : number;
        check_piece(b, p, (int32_t)number, seen);
        cr_assert(apart || p->offset == t->tokens[p->id] % (tokens_length(p->id)));
        cr_assert(p->start > 0 || apl_batch_ids(b)[p->row] == p->id);
        t->tokens[p->id] += p->length;
        t->order[t->pieces++ % (8 * TRAIN)] = p->id << 32 | p->offset;
    }
    check_row_ends(b, apl_batch_part(b, TOKENS_TOKENS, APL_PART_SEGMENTS)->data, seen);
    t->batches++;
    t->rows += apl_batch_rows(b);
}

static size_t all_tokens(void)
{
    size_t n = 0;
    for (uint64_t id = 0; id < TRAIN; id++)
        n += tokens_length(id);
    return n;
}

static void check_all(const struct told *t, unsigned times)
{
    for (uint64_t id = 0; id < TRAIN; id++)
        cr_assert_eq(t->tokens[id], times * tokens_length(id), "document %d", (int)id);
}

static void read_all(apl_reader *r, struct told *t, bool apart)
{
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
        tell(t, b, apart);
}

static apl_receipt receipt_of(apl_reader *r)
{
    apl_receipt receipt;
    cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
    return receipt;
}

/* ------------------------------------------------------------------------------------------------ whole */

Test(reader_packed, rows_put_together_again_are_the_documents)
{
    struct told first = {0}, alone = {0};
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = packed(counts[i % 3]);
        struct told t = {0}, again = {0};
        o.window = i < 3 ? 24 : 0;
        apl_reader *r = fixture_reader(&o);
        cr_assert_eq(apl_reader_batches(r), (all_tokens() + ROW * BATCH - 1) / (ROW * BATCH));
        read_all(r, &t, false);
        check_all(&t, 1);
        cr_assert_eq(t.batches, apl_reader_batches(r));
        cr_assert_eq(t.rows, (all_tokens() + ROW - 1) / ROW);
        apl_receipt receipt = receipt_of(r);
        cr_assert(receipt.delivered == TRAIN && receipt.missing == 0 && receipt.repeated == 0);
        cr_assert(receipt.last == all_tokens() && receipt.dropped == 0);
        fixture_next_epoch(r);
        read_all(r, &again, false);
        check_all(&again, 1);
        cr_assert(memcmp(t.order, again.order, sizeof t.order) != 0, "another epoch is another order");
        struct told *same = i < 3 ? &first : &alone;
        if (i % 3 == 0)
            *same = t;
        cr_assert(memcmp(same, &t, sizeof t) == 0, "the same for any number of threads");
        apl_reader_close(r);
    }
}

Test(reader_packed, in_order_of_ids_and_several_times)
{
    apl_reader_options o = packed(APL_NO_THREADS);
    struct told t = {0}, twice = {0};
    o.sequential = 1;
    apl_reader *r = fixture_reader(&o);
    read_all(r, &t, false);
    check_all(&t, 1);
    for (size_t i = 1; i < t.pieces; i++)
        cr_assert_lt(t.order[i - 1], t.order[i]);
    apl_reader_close(r);
    o = packed(2);
    o.reuse = 2;
    r = fixture_reader(&o);
    read_all(r, &twice, true);
    check_all(&twice, 2);
    cr_assert_eq(receipt_of(r).delivered, 2 * TRAIN);
    apl_reader_close(r);
}

/* Alone, fields that are not named are not read. */
Test(reader_packed, one_field_in_long_rows_and_short)
{
    static const uint64_t rows[] = {1, 7, 1000, 100000};
    for (unsigned i = 0; i < 4; i++) {
        apl_reader_options o = packed(counts[i % 3]);
        size_t tokens = 0, n;
        both[0].length = rows[i];
        o.collation_count = 1;
        apl_reader *r = fixture_reader(&o);
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
            const apl_piece *p = apl_batch_pieces(b, &n);
            const uint16_t *at = apl_batch_column(b, TOKENS_TOKENS)->data;
            cr_assert_null(apl_batch_column(b, TOKENS_WEIGHTS));
            for (size_t k = 0; k < n; k++, tokens += p[k - 1].length)
                for (size_t j = 0; j < p[k].length; j++)
                    cr_assert_eq(at[p[k].row * rows[i] + p[k].start + j],
                                 tokens_at(p[k].id, p[k].offset + j));
        }
        cr_assert_eq(tokens, all_tokens());
        apl_reader_close(r);
    }
}

/* The same tokens and pieces, and no arrays beside them. */
Test(reader_packed, without_segments_batches_have_the_tokens_alone)
{
    apl_reader_options o = packed(2);
    apl_reader *with = fixture_reader(&o);
    both[0].no_segments = both[1].no_segments = 1;
    apl_reader *without = fixture_reader(&o);
    for (apl_batch *a, *b; (a = fixture_next(with)); apl_batch_release(a), apl_batch_release(b)) {
        size_t n, pieces;
        cr_assert_not_null(b = fixture_next(without));
        const apl_piece *wanted = apl_batch_pieces(a, &n), *seen = apl_batch_pieces(b, &pieces);
        cr_assert(pieces == n && memcmp(wanted, seen, n * sizeof *seen) == 0);
        for (unsigned f = TOKENS_TOKENS; f <= TOKENS_WEIGHTS; f += TOKENS_WEIGHTS - TOKENS_TOKENS) {
            const apl_column *x = apl_batch_column(a, f), *y = apl_batch_column(b, f);
            cr_assert(x->bytes == y->bytes && memcmp(x->data, y->data, x->bytes) == 0);
        }
        cr_assert_null(apl_batch_part(b, TOKENS_TOKENS, APL_PART_SEGMENTS));
        cr_assert_null(apl_batch_part(b, TOKENS_TOKENS, APL_PART_POSITIONS));
    }
    cr_assert_null(fixture_next(without));
    apl_receipt a = receipt_of(with), b = receipt_of(without);
    cr_assert(memcmp(&a, &b, sizeof a) == 0);
    apl_reader_close(with);
    apl_reader_close(without);
}

/* -------------------------------------------------------------------------------------- resuming, ranks */

Test(reader_packed, resumes_at_every_batch_with_other_threads_and_batches)
{
    apl_reader_options o = packed(2);
    apl_reader *r = fixture_reader(&o);
    size_t batches = (size_t)apl_reader_batches(r);
    apl_reader_close(r);
    for (size_t cut = 0; cut <= batches; cut++) {
        struct told t = {0};
        uint8_t state[APL_STATE_BYTES];
        size_t size = sizeof state;
        o = packed(counts[cut % 3]);
        r = fixture_reader(&o);
        for (size_t k = 0; k < cut; k++) {
            apl_batch *b = fixture_next(r);
            tell(&t, b, false);
            apl_batch_release(b);
        }
        cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
        apl_receipt before = receipt_of(r);
        apl_reader_close(r);
        o = packed(counts[(cut + 1) % 3]);
        o.state = state;
        o.state_size = size;
        o.batch_size = 1 + cut % BATCH;
        r = fixture_reader(&o);
        read_all(r, &t, false);
        check_all(&t, 1);
        apl_receipt after = receipt_of(r);
        cr_assert_eq(before.last, after.first);
        cr_assert_eq(before.delivered + after.delivered, TRAIN);
        fixture_next_epoch(r);
        apl_batch_release(fixture_next(r));
        apl_reader_close(r);
    }
}

Test(reader_packed, ranks_share_the_rows)
{
    for (unsigned world = 2; world <= 4; world++) {
        struct told t = {0};
        uint64_t delivered = 0, batches = 0;
        for (unsigned rank = 0; rank < world; rank++) {
            apl_reader_options o = packed(counts[rank % 3]);
            o.ranks.rank = rank;
            o.ranks.world = world;
            o.window = rank % 2 ? 24 : 0;
            o.window = 24;
            apl_reader *r = fixture_reader(&o);
            struct told own = {0};
            read_all(r, &t, true);
            fixture_next_epoch(r);
            read_all(r, &own, true);
            cr_assert(batches == 0 || batches == own.batches, "as many on each rank");
            batches = own.batches;
            cr_assert_eq(batches, apl_reader_batches(r));
            delivered += receipt_of(r).delivered;
            apl_reader_close(r);
        }
        check_all(&t, 1);
        cr_assert_eq(delivered, TRAIN);
    }
}

Test(reader_packed, drop_last_drops_what_is_not_full)
{
    apl_reader_options o = packed(1);
    struct told t = {0};
    o.drop_last = 1;
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 3; epoch++) {
        read_all(r, &t, true);
        cr_assert_eq(receipt_of(r).dropped, all_tokens() % (ROW * BATCH));
        fixture_next_epoch(r);
    }
    cr_assert_eq(t.rows, 3 * (all_tokens() / (ROW * BATCH)) * BATCH);
    apl_reader_close(r);
}

Test(reader_packed, an_epoch_may_be_left_in_the_middle)
{
    for (unsigned i = 0; i < 3; i++) {
        apl_reader_options o = packed(counts[i]);
        struct told t = {0};
        apl_reader *r = fixture_reader(&o);
        for (unsigned k = 0; k < 5; k++)
            apl_batch_release(fixture_next(r));
        fixture_next_epoch(r);
        read_all(r, &t, false);
        check_all(&t, 1);
        apl_reader_close(r);
    }
}

/* ---------------------------------------------------------------------------------------------- damage */

/* Of two fields that are packed alike one is corrupt in a block: that block is left out, and all else is there. */
Test(reader_packed, a_corrupt_block_is_an_error_or_is_left_out)
{
    apl_reader_options o = packed(2);
    struct told t = {0};
    tokens_damage(49);
    fixture_refused(&o, APL_E_CORRUPT);
    o.faults.skip_corrupt = BLOCK;
    apl_reader *r = fixture_reader(&o);
    read_all(r, &t, false);
    for (uint64_t id = 0; id < TRAIN; id++)
        cr_assert_eq(t.tokens[id], id / BLOCK == 49 / BLOCK ? 0 : tokens_length(id), "document %d", (int)id);
    cr_assert_eq(receipt_of(r).skipped, BLOCK);
    apl_reader_close(r);
}

/* --------------------------------------------------------------------------------------------- refusals */

Test(reader_packed, states_of_readers_that_do_not_pack_are_others)
{
    apl_reader_options o = packed(1), plain = fixture_options();
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    plain.seed = 5;
    plain.window = 24;
    apl_reader *r = fixture_reader(&plain);
    cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
    apl_reader_close(r);
    o.state = state;
    o.state_size = size;
    fixture_refused(&o, APL_E_MISMATCH);
}

Test(reader_packed, refuses_what_makes_no_sense)
{
    static const char *const fields[] = {"tokens", "size"};
    apl_reader_options o = packed(1);
    o.order = APL_FREE;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID), "pack is for strict order, without lanes");
    o = packed(1);
    both[1].length = 5;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID),
                     "field weights: is packed to 5, and another field to 64");
    both[0].length = 0;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID),
                     "field tokens: pack wants the length of a row, 1 to 2^31 - 1, and no truncate");
    o = packed(1);
    both[1].no_segments = 1;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID),
                     "field weights: is packed without segments, unlike another field");
    both[0].no_segments = 1;
    both[0].how = APL_COLLATE_PAD;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID), "field tokens: no_segments has no meaning for pad");
    o = packed(1);
    o.fields = fields;
    o.field_count = 2;
    o.collation_count = 1;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID),
                     "field size: is not packed, as field tokens is: rows are of all or of none");
    o = packed(1);
    both[1] = tokens_collation("pair", APL_COLLATE_PACK);
    both[1].length = ROW;
    cr_assert_str_eq(fixture_refused(&o, APL_E_INVALID),
                     "field pair: is i32[2,*]; pack is for fields with one varying dimension, the first");
}

/* ------------------------------------------------------------------------------------ documents of no tokens */

/* Delivered over all ranks, in an epoch that begins with documents 0, 1, 2: 53 tokens, and 3, which has none. */
static uint64_t delivered_in_order(unsigned world, size_t row)
{
    uint64_t delivered = 0;
    for (unsigned rank = 0; rank < world; rank++) {
        apl_reader_options o = packed(APL_NO_THREADS);
        both[0].length = both[1].length = row;
        o.batch_size = 1;
        o.sequential = 1;
        o.window = 0;
        o.ranks.world = world;
        o.ranks.rank = rank;
        apl_reader *r = fixture_reader(&o);
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
            continue;
        apl_receipt receipt = receipt_of(r);
        cr_assert(receipt.missing == 0 && receipt.repeated == 0);
        delivered += receipt.delivered;
        apl_reader_close(r);
    }
    return delivered;
}

/* Where the part of one rank ends and that of the next begins, it is the next one's. */
Test(reader_packed, an_empty_document_between_ranks_comes_once)
{
    cr_assert(tokens_length(0) + tokens_length(1) + tokens_length(2) == 53 && tokens_length(3) == 0);
    for (unsigned world = 1; world <= 3; world++)
        cr_assert_eq(delivered_in_order(world, 53), TRAIN, "%u ranks", world);
}

Test(reader_packed, empty_documents_at_the_end_come_too)
{
    fixture_free();
    tokens_make(144, BLOCK);
    cr_assert_eq(tokens_length(143), 0);
    for (unsigned world = 1; world <= 3; world++)
        cr_assert_eq(delivered_in_order(world, ROW), 144, "%u ranks", world);
}
