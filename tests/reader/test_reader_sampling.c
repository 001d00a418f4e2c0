/* Readers that sample: what they deliver is the sample, however they are run, saved and resumed. */
#include "counts.h"
#include "sampling_case.h"

TestSuite(reader_sampling, .init = set_up, .fini = fixture_free, .timeout = 120);

/* ---------------------------------------------------------------------------------------- what comes */

Test(reader_sampling, what_comes_is_the_sample)
{
    for (unsigned l = 0; l < LAWS; l++)
        for (unsigned i = 0; i < WAYS; i++) {
            apl_reader_options o = way(i, l);
            apl_reader *r = fixture_reader(&o);
            uint64_t records = o.sampling->records ? o.sampling->records : TRAIN;
            for (unsigned epoch = 0; epoch < 4; epoch++) {
                struct sequence s = {0};
                uint32_t expected[TRAIN];
                cr_assert_eq(apl_reader_batches(r), (records + 6) / 7);
                read_epoch(r, &s);
                expected_counts(r, expected);
                cr_assert_eq(s.count, records);
                check_counts(&s, expected, law_names[l]);
                sequence_free(&s);
                fixture_next_epoch(r);
            }
            apl_reader_close(r);
        }
}

Test(reader_sampling, strict_order_is_the_same_with_any_threads)
{
    for (unsigned l = 0; l < LAWS; l++)
        for (unsigned window = 0; window < 2; window++) {
            struct sequence s[3] = {{0}};
            for (unsigned k = 0; k < 3; k++) {
                apl_reader_options o = way(window + 4 * k, l);
                apl_reader *r = fixture_reader(&o);
                for (unsigned epoch = 0; epoch < 3; epoch++) {
                    read_batches(r, &s[k], SIZE_MAX);
                    fixture_next_epoch(r);
                }
                apl_reader_close(r);
            }
            check_same(&s[0], &s[1]);
            check_same(&s[0], &s[2]);
            for (unsigned k = 0; k < 3; k++)
                sequence_free(&s[k]);
        }
}

/* Without replacement, each class comes exactly as often as it should: fifteen times each at this size, or
 * sixteen. */
Test(reader_sampling, classes_come_in_proportion)
{
    apl_sampling balanced = APL_SAMPLING_INIT;
    apl_reader_options o = fixture_options();
    balanced.field = "label";
    balanced.records = 155;
    o.sampling = &balanced;
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 5; epoch++) {
        struct sequence s = {0};
        unsigned counts[CLASSES] = {0}, more = 0;
        read_epoch(r, &s);
        for (size_t i = 0; i < s.count; i++)
            counts[fixture_label(s.ids[i])]++;
        for (unsigned c = 0; c < CLASSES; c++) {
            cr_assert(counts[c] == 15 || counts[c] == 16, "class %u: %u", c, counts[c]);
            more += counts[c] == 16;
        }
        cr_assert_eq(more, 5);
        sequence_free(&s);
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
}

/* Each of the times that a record comes is a copy of its own number, and augmented by itself. */
Test(reader_sampling, copies_differ_in_augmentation)
{
    apl_transform crop = APL_TRANSFORM_INIT;
    crop.pad = 3;
    crop.dtype = APL_U8;
    for (unsigned i = 0; i < WAYS; i++) {
        static uint8_t pictures[TRAIN][64][IMAGE_BYTES];
        uint64_t seen[TRAIN] = {0};
        uint32_t expected[TRAIN], pairs = 0, equal = 0;
        apl_reader_options o = way(i, 0);
        o.transforms = &crop;
        o.transform_count = 1;
        apl_reader *r = fixture_reader(&o);
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
            for (size_t k = 0; k < apl_batch_rows(b); k++) {
                uint64_t id = apl_batch_ids(b)[k];
                uint32_t copy = apl_batch_copies(b)[k];
                cr_assert_lt(copy, 64);
                cr_assert(!(seen[id] >> copy & 1), "record %llu, copy %u", (unsigned long long)id, copy);
                seen[id] |= (uint64_t)1 << copy;
                memcpy(pictures[id][copy],
                       (const uint8_t *)apl_batch_column(b, FIELD_IMAGE)->data + k * IMAGE_BYTES,
                       IMAGE_BYTES);
            }
        expected_counts(r, expected);
        for (unsigned id = 0; id < TRAIN; id++)
            cr_assert_eq(seen[id], ((uint64_t)1 << expected[id]) - 1);
        for (unsigned id = 0; id < TRAIN; id++)
            for (unsigned copy = 1; copy < expected[id]; copy++, pairs++)
                equal += memcmp(pictures[id][copy], pictures[id][copy - 1], IMAGE_BYTES) == 0;
        cr_assert(pairs > 40 && equal < pairs / 4, "%u of %u pairs are equal", equal, pairs);
        apl_reader_close(r);
    }
}

Test(reader_sampling, blocks_of_which_nothing_comes_are_not_read)
{
    apl_sampling few = APL_SAMPLING_INIT;
    few.records = 3;
    for (unsigned i = 0; i < WAYS; i++) {
        apl_reader_options o = way(i, 4);
        o.sampling = &few;
        apl_reader *r = fixture_reader(&o);
        apl_stats stats;
        for (unsigned epoch = 0; epoch < 2; epoch++) {
            struct sequence s = {0};
            if (epoch > 0)
                fixture_next_epoch(r);
            read_epoch(r, &s);
            cr_assert_eq(s.count, 3);
            sequence_free(&s);
        }
        /* the third epoch's may be read ahead */
        cr_assert_eq(apl_reader_stats(r, &stats, sizeof stats), APL_OK);
        cr_assert_leq(stats.blocks, 9, "%llu blocks", (unsigned long long)stats.blocks);
        apl_reader_close(r);
    }
}

/* ------------------------------------------------------------------------------------- lanes and ranks */

static void add_sums(uint64_t *sum, const uint64_t *more)
{
    sum[0] += more[0];
    sum[1] += more[1] + (sum[0] < more[0]);
}

/* Some ranks together deliver the sample, and their receipts add up to that of one reader. */
static void check_world(apl_reader_options o, unsigned world, const char *what)
{
    apl_reader *ranks[4], *alone;
    o.ranks.world = 1;
    alone = fixture_reader(&o);
    o.ranks.world = world;
    for (o.ranks.rank = 0; o.ranks.rank < world; o.ranks.rank++)
        ranks[o.ranks.rank] = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 3; epoch++) {
        struct sequence all = {0}, one = {0};
        apl_receipt receipt, whole;
        uint64_t sum[2] = {0, 0};
        uint32_t expected[TRAIN];
        read_epoch(alone, &one);
        expected_counts(alone, expected);
        check_counts(&one, expected, what);
        cr_assert_eq(apl_reader_receipt(alone, &whole, sizeof whole, NULL), APL_OK);
        for (unsigned k = 0; k < world; k++) {
            read_epoch(ranks[k], &all);
            cr_assert_eq(apl_reader_receipt(ranks[k], &receipt, sizeof receipt, NULL), APL_OK);
            cr_assert_eq(receipt.missing + receipt.repeated, 0);
            add_sums(sum, receipt.sum);
        }
        check_counts(&all, expected, what);
        cr_assert(sum[0] == whole.sum[0] && sum[1] == whole.sum[1], "%s: receipts do not add up", what);
        cr_assert_eq(whole.delivered, one.count);
        sequence_free(&all);
        sequence_free(&one);
        fixture_next_epoch(alone);
        for (unsigned k = 0; k < world; k++)
            fixture_next_epoch(ranks[k]);
    }
    apl_reader_close(alone);
    for (unsigned k = 0; k < world; k++)
        apl_reader_close(ranks[k]);
}

Test(reader_sampling, ranks_share_one_sample)
{
    for (unsigned l = 0; l < LAWS; l++)
        for (unsigned world = 2; world <= 4; world++)
            for (unsigned i = 0; i < 4; i++) {
                apl_reader_options o = way(i & 1, l);
                o.window = o.window ? 33 : 0;
                o.ranks.lanes = i & 2 ? world : 1;
                check_world(o, world, law_names[l]);
            }
}

/* -------------------------------------------------------------------------------------- saved, resumed */

#define EPOCHS 2u

struct saved {
    uint8_t bytes[APL_STATE_BYTES + 64];
    size_t size, at;
};

static void save(apl_reader *r, struct saved *s, size_t at)
{
    apl_error err = {0};
    s->size = sizeof s->bytes;
    s->at = at;
    cr_assert_eq(apl_reader_state(r, s->bytes, &s->size, &err), APL_OK, "%s", err.message);
}

static void check_resumed(apl_reader_options o, const struct saved *state, const struct sequence *all,
                          uint32_t (*expected)[TRAIN])
{
    struct sequence s = {.ids = malloc(all->count * sizeof *s.ids), .count = state->at, .room = all->count};
    size_t length = all->count / EPOCHS;
    memcpy(s.ids, all->ids, state->at * sizeof *s.ids);
    o.state = state->bytes;
    o.state_size = state->size;
    o.batch_size = 1 + state->at % 11;
    apl_reader *r = fixture_reader(&o);
    for (; apl_reader_epoch(r) < EPOCHS; fixture_next_epoch(r))
        read_epoch(r, &s);
    apl_reader_close(r);
    cr_assert_eq(s.count, all->count);
    if (o.order == APL_STRICT)
        check_same(all, &s);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++)
        check_counts(&(struct sequence){.ids = s.ids + epoch * length, .count = length}, expected[epoch],
                     "resumed");
    sequence_free(&s);
}

Test(reader_sampling, goes_on_after_every_batch)
{
    static struct saved states[256];
    uint32_t expected[EPOCHS][TRAIN];
    for (unsigned l = 0; l < LAWS; l++)
        for (unsigned i = 0; i < 4; i++) {
            apl_reader_options o = way(i, l);
            struct sequence all = {0};
            size_t n = 0;
            apl_reader *r = fixture_reader(&o);
            for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
                save(r, &states[n++], all.count);
                while (read_batches(r, &all, 1))
                    save(r, &states[n++], all.count);
                expected_counts(r, expected[epoch]);
                fixture_next_epoch(r);
            }
            apl_reader_close(r);
            for (size_t k = 0; k < n; k += sweep_step()) {
                o.threads = k % 5 ? APL_NO_THREADS : 3;
                check_resumed(o, &states[k], &all, expected);
            }
            sequence_free(&all);
        }
}

Test(reader_sampling, states_of_other_samples_are_refused)
{
    struct saved state;
    for (unsigned l = 0; l < LAWS; l++) {
        apl_reader_options o = way(0, l);
        o.seed = 1;
        apl_reader *r = fixture_reader(&o);
        save(r, &state, 0);
        apl_reader_close(r);
        o.state = state.bytes;
        o.state_size = state.size;
        apl_reader_close(fixture_reader(&o));
        for (unsigned other = 0; other <= LAWS; other++) {
            if (other == l)
                continue;
            o.sampling = other < LAWS ? law(other) : NULL;
            cr_assert(strstr(fixture_refused(&o, APL_E_MISMATCH), "sampling"));
        }
        apl_sampling more = *law(l);
        more.records = 30;
        o.sampling = &more;
        fixture_refused(&o, APL_E_MISMATCH);
    }
}
