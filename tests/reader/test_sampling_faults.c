/* Readers that sample, where something goes wrong: damaged blocks, epochs given up, budgets, samples that cannot be. */
#include "sampling_case.h"

TestSuite(sampling_faults, .init = set_up, .fini = fixture_free, .timeout = 120);

/* Opens a copy of the store in which the picture of a record is damaged. */
static apl_store *corrupted(uint64_t id)
{
    static uint8_t bytes[1 << 20];
    char path[128];
    uint8_t image[IMAGE_BYTES];
    apl_store *store = NULL;
    fixture_shell("cp -r '%s' '%s/bad'", fx.db, fx.place);
    fixture_shell("chmod -R u+w '%s%s'", fx.place, "");
    snprintf(path, sizeof path, "%s/bad/data.mdb", fx.place);
    FILE *f = fopen(path, "r+b");
    long size = (long)fread(bytes, 1, sizeof bytes, f), at = 0;
    fixture_image(id, image);
    while (at + IMAGE_BYTES <= size && memcmp(bytes + at, image, IMAGE_BYTES) != 0)
        at++;
    cr_assert_lt(at + IMAGE_BYTES, size);
    fseek(f, at + 100, SEEK_SET);
    fputc(image[100] ^ 4, f);
    cr_assert_eq(fclose(f), 0);
    snprintf(path, sizeof path, "%s/bad", fx.place);
    cr_assert_eq(apl_store_open(path, NULL, &store, NULL), APL_OK);
    return store;
}

Test(sampling_faults, records_of_corrupt_blocks_are_left_out)
{
    apl_store *whole = fx.store, *bad = corrupted(60);
    fx.store = bad;
    for (unsigned l = 0; l < LAWS - 1; l++)
        for (unsigned i = 0; i < WAYS; i++) {
            apl_reader_options o = way(i, l);
            o.faults.skip_corrupt = BLOCK;
            apl_reader *r = fixture_reader(&o);
            for (unsigned epoch = 0; epoch < 3; epoch++) {
                struct sequence s = {0};
                uint32_t expected[TRAIN];
                apl_receipt receipt;
                for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
                    size_t n;
                    const uint64_t *ids = apl_batch_skipped(b, &n);
                    for (size_t k = 0; k < n; k++)
                        cr_assert(ids[k] >= 56 && ids[k] < 72, "%llu", (unsigned long long)ids[k]);
                    sequence_add(&s, b);
                    apl_batch rows = *b; /* those left out as if they were rows */
                    rows.ids = (uint64_t *)ids;
                    rows.rows = n;
                    sequence_add(&s, &rows);
                }
                expected_counts(r, expected);
                check_counts(&s, expected, law_names[l]);
                cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
                cr_assert_eq(receipt.delivered + receipt.skipped, s.count);
                cr_assert_eq(receipt.missing + receipt.repeated, 0);
                sequence_free(&s);
                fixture_next_epoch(r);
            }
            apl_reader_close(r);
        }
    fx.store = whole;
    apl_store_close(bad);
}

Test(sampling_faults, epochs_given_up_leave_nothing_behind)
{
    for (unsigned l = 0; l < LAWS; l++)
        for (unsigned i = 0; i < WAYS; i++) {
            apl_reader_options o = way(i, l);
            o.drop_last = i & 1;
            apl_reader *r = fixture_reader(&o);
            for (unsigned epoch = 0; epoch < 12; epoch++) {
                struct sequence s = {0};
                uint32_t expected[TRAIN];
                if (!read_batches(r, &s, epoch % 3 ? epoch : SIZE_MAX) && !o.drop_last) {
                    expected_counts(r, expected);
                    check_counts(&s, expected, law_names[l]);
                }
                sequence_free(&s);
                fixture_next_epoch(r);
            }
            apl_reader_close(r);
        }
}

Test(sampling_faults, stays_within_its_budget)
{
    static const char *const fields[] = {"image", "label"};
    for (unsigned l = 0; l < LAWS; l++)
        for (unsigned i = 0; i < WAYS; i++) {
            apl_reader_options o = way(i, l);
            apl_stats stats;
            o.fields = fields;
            o.field_count = 2;
            o.memory_budget = 1;
            const char *message = fixture_refused(&o, APL_E_INVALID), *needs = strstr(message, " needs ");
            cr_assert_not_null(needs, "%s", message);
            o.memory_budget = strtoull(needs + 7, NULL, 10);
            o.window = 0;
            if (strstr(message, "any window"))
                o.window = BLOCK;
            apl_reader *r = fixture_reader(&o);
            struct sequence s = {0};
            read_epoch(r, &s);
            cr_assert_eq(apl_reader_stats(r, &stats, sizeof stats), APL_OK);
            cr_assert_leq(stats.memory, stats.memory_budget);
            sequence_free(&s);
            apl_reader_close(r);
        }
}

static void refused(const apl_sampling *s, apl_status status, const char *part)
{
    apl_reader_options o = fixture_options();
    o.sampling = s;
    const char *message = fixture_refused(&o, status);
    cr_assert(strstr(message, part), "%s", message);
}

Test(sampling_faults, what_cannot_be_is_refused)
{
    double weights[TRAIN] = {1};
    apl_sampling s = APL_SAMPLING_INIT, zero = {0};
    refused(&zero, APL_E_INVALID, "APL_SAMPLING_INIT");
    s.records = TRAIN + 1;
    refused(&s, APL_E_INVALID, "102 records an epoch without replacement, of 101");
    s.records = UINT32_MAX;
    refused(&s, APL_E_UNSUPPORTED, "2^32");
    s.records = 0;
    s.weights = weights;
    refused(&s, APL_E_INVALID, "both or none");
    s.weight_count = 3;
    refused(&s, APL_E_INVALID, "3 weights for the 101 records");
    s.weight_count = TRAIN;
    refused(&s, APL_E_INVALID, "of 1 that has a weight");
    weights[7] = -1;
    refused(&s, APL_E_INVALID, "weights[7] is -1");
    weights[7] = 0.0 / (weights[1] * 0);
    refused(&s, APL_E_INVALID, "weights[7] is ");
    weights[7] = 1.0 / weights[1];
    refused(&s, APL_E_INVALID, "weights[7] is inf");
    weights[7] = weights[0] = 0;
    refused(&s, APL_E_INVALID, "none is above 0");
    weights[0] = 1;
    s.field = "label";
    s.weight_count = 3;
    refused(&s, APL_E_INVALID, "there are 3 weights, but record 31 has the label 3");
    s.weight_count = CLASSES + 1;
    weights[CLASSES] = 1;
    refused(&s, APL_E_INVALID, "weights[10] is not 0");
    s.field = "image";
    refused(&s, APL_E_INVALID, "field image does not hold one integer");
    s.field = "shape";
    refused(&s, APL_E_NOTFOUND, "shape");
    s = (apl_sampling)APL_SAMPLING_INIT;
    s.records = 100000;
    s.field = "label";
    s.replacement = 1;
    double one[CLASSES] = {1};
    s.weights = one;
    s.weight_count = CLASSES;
    apl_reader_options o = fixture_options();
    o.sampling = &s;
    apl_reader_close(fixture_reader(&o));
    s.records = 1000000;
    refused(&s, APL_E_UNSUPPORTED, "copies can be told apart");
}

Test(sampling_faults, excludes_reuse_and_the_order_of_ids)
{
    apl_reader_options o = way(0, 0);
    o.reuse = 2;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "reuse"));
    o.reuse = 1;
    o.sequential = 1;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "sequential"));
}
