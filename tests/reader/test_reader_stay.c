/* What a budget leaves over keeps decoded blocks for the next epoch: fewer loads, the same batches. */
#include "reader_fixture.h"

#define TRAIN  401
#define BLOCK  4
#define EPOCHS 5

static void set_up(void)
{
    fixture_make(TRAIN, 9, BLOCK);
}

TestSuite(reader_stay, .init = set_up, .fini = fixture_free, .timeout = 120);

/* The order of some epochs (values are checked on the way), and the blocks loaded in each. */
static void read_epochs(const apl_reader_options *o, struct sequence *sequences, uint64_t *loads)
{
    apl_reader *r = fixture_reader(o);
    uint64_t before = 0;
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        apl_stats stats;
        sequences[epoch] = (struct sequence){0};
        read_epoch(r, &sequences[epoch]);
        cr_assert_eq(apl_reader_stats(r, &stats, sizeof stats), APL_OK);
        cr_assert_leq(stats.memory, stats.memory_budget);
        loads[epoch] = stats.blocks - before;
        before = stats.blocks;
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
}

static apl_reader_options stay_options(uint64_t window, uint64_t budget)
{
    static const char *const fields[] = {"image", "label"};
    apl_reader_options o = fixture_options();
    o.fields = fields; /* blocks with values of varying shape do not stay */
    o.field_count = 2;
    o.batch_size = 7;
    o.seed = 9;
    o.window = window;
    o.memory_budget = budget;
    return o;
}

static void check(const apl_reader_options *tight, const apl_reader_options *roomy, bool same_order)
{
    struct sequence a[EPOCHS], b[EPOCHS];
    uint64_t few[EPOCHS], many[EPOCHS], all_few = 0, all_many = 0;
    unsigned times = tight->reuse ? tight->reuse : 1;
    read_epochs(tight, a, many);
    read_epochs(roomy, b, few);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        if (same_order)
            check_same(&a[epoch], &b[epoch]);
        check_once(&b[epoch], 0, TRAIN, times, false);
        all_few += few[epoch];
        all_many += many[epoch];
        sequence_free(&a[epoch]);
        sequence_free(&b[epoch]);
    }
    /* All but the first epoch find everything there. */
    cr_assert_leq(all_few, all_many / EPOCHS + 20, "%llu and %llu loads", (unsigned long long)all_few,
                  (unsigned long long)all_many);
}

Test(reader_stay, strict)
{
    const uint64_t windows[] = {BLOCK, 21, 200};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        for (unsigned reuse = 1; reuse <= 2; reuse++) {
            apl_reader_options tight = stay_options(windows[w], 0),
                               roomy = stay_options(windows[w], 64 << 20);
            tight.reuse = roomy.reuse = reuse;
            check(&tight, &roomy, true);
            roomy.threads = 3;
            check(&tight, &roomy, true);
        }
}

Test(reader_stay, free_order)
{
    apl_reader_options tight = stay_options(40, 0), roomy = stay_options(40, 64 << 20);
    tight.order = roomy.order = APL_FREE;
    check(&tight, &roomy, false);
}

Test(reader_stay, sequential)
{
    apl_reader_options tight = stay_options(40, 0), roomy = stay_options(40, 64 << 20);
    tight.sequential = roomy.sequential = 1;
    check(&tight, &roomy, true);
}

/* An epoch that is given up, and batches that are dropped, leave nothing behind that keeps a block for ever. */
Test(reader_stay, epochs_given_up)
{
    apl_reader_options o = stay_options(30, 64 << 20);
    o.drop_last = 1;
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 30; epoch++) {
        struct sequence s = {0};
        read_batches(r, &s, epoch % 3 ? epoch : SIZE_MAX);
        check_once(&s, 0, TRAIN, 1, true);
        sequence_free(&s);
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
}
