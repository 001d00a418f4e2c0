/* Stores with weights whose documents are packed or cut into windows: shares of records and of tokens, ranks, resuming. */
#include "reader_fixture.h"

#include <math.h>

#define BOOKS   40u
#define POSTS   300u
#define ALL     (BOOKS + POSTS)
#define LONGEST 500u
#define ROW     64
#define BATCH   4

static apl_store *posts;
static apl_source other;
static apl_collation how;
static apl_sampling sampling;
static const unsigned counts[] = {APL_NO_THREADS, 1, 3};

/* Books are long, posts are short; some are empty. */
static size_t length_of(uint64_t id)
{
    return id < BOOKS ? 200 + id * 61 % 300 : id % 6 ? 1 + id % 19 : 0;
}

static uint16_t token_at(uint64_t id, size_t i)
{
    return (uint16_t)(1 + id * 97 + i);
}

static apl_store *write_documents(const char *name, uint64_t from, uint64_t to)
{
    char path[128];
    uint16_t tokens[LONGEST];
    int64_t shape[1] = {-1};
    apl_store *store;
    apl_writer *w = NULL;
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.block_records = from ? 32 : 4;
    o.codec = "raw";
    snprintf(path, sizeof path, "%s/%s", fx.place, name);
    cr_assert_eq(apl_writer_open(path, &o, &w, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "tokens", APL_U16, APL_INPUT, 1, shape, NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "m", "train", 0, NULL), APL_OK);
    for (uint64_t id = from; id < to; id++) {
        int64_t n = (int64_t)length_of(id);
        for (size_t i = 0; i < (size_t)n; i++)
            tokens[i] = token_at(id, i);
        cr_assert_eq(apl_writer_append(w, &(apl_value){tokens, &n}, NULL), APL_OK);
    }
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
    cr_assert_eq(apl_store_open(path, NULL, &store, NULL), APL_OK);
    return store;
}

static void set_up(void)
{
    fixture_make(8, 0, 8);
    apl_store_close(fx.store);
    fx.store = write_documents("books", 0, BOOKS);
    posts = write_documents("posts", BOOKS, ALL);
}

static void tear_down(void)
{
    apl_store_close(posts);
    fixture_free();
}

TestSuite(reader_token_mix, .init = set_up, .fini = tear_down, .timeout = 120);

/* ------------------------------------------------------------------------------------------ what is asked */

static apl_reader_options mixed(double own, double weight, apl_collate collate)
{
    apl_reader_options o = fixture_options();
    how = (apl_collation)APL_COLLATION_INIT;
    how.field = "tokens";
    how.how = collate;
    how.length = ROW;
    sampling = (apl_sampling)APL_SAMPLING_INIT;
    other = (apl_source)APL_SOURCE_INIT;
    other.store = posts;
    other.weight = weight;
    o.mix.sources = &other;
    o.mix.count = 1;
    o.mix.weight = own;
    o.collations = &how;
    o.collation_count = 1;
    o.sampling = &sampling;
    o.batch_size = BATCH;
    o.seed = 11;
    return o;
}

static apl_reader_options packed(double own, double weight, unsigned threads)
{
    apl_reader_options o = mixed(own, weight, APL_COLLATE_PACK);
    o.threads = threads;
    return o;
}

/* ------------------------------------------------------------------------------------------- what has come */

/* Tokens of each document and of each store, and the pieces in the order in which they came. */
struct told {
    uint64_t tokens[ALL], of[2], pieces, digest;
    size_t batches;
};

static void tell(struct told *t, const apl_batch *b)
{
    size_t n;
    const apl_piece *p = apl_batch_pieces(b, &n);
    const uint16_t *tokens = apl_batch_column(b, 0)->data;
    for (size_t i = 0; i < n; i++) {
        cr_assert_lt(p[i].id, ALL);
        cr_assert_leq(p[i].offset + p[i].length, length_of(p[i].id));
        for (size_t k = 0; k < p[i].length; k++)
            cr_assert_eq(tokens[p[i].row * ROW + p[i].start + k], token_at(p[i].id, p[i].offset + k));
        t->tokens[p[i].id] += p[i].length;
        t->of[p[i].id >= BOOKS] += p[i].length;
        uint64_t place[] = {t->digest, p[i].id, p[i].copy, p[i].offset, p[i].length};
        t->digest = hash_xxh3_64(place, sizeof place);
    }
    t->pieces += n;
    t->batches++;
}

static struct told read_all(apl_reader *r)
{
    struct told t = {0};
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
        tell(&t, b);
    return t;
}

static uint64_t tokens_of(const struct told *t)
{
    return t->of[0] + t->of[1];
}

static double mean_of(uint64_t from, uint64_t to)
{
    double n = 0;
    for (uint64_t id = from; id < to; id++)
        n += (double)length_of(id);
    return n / (double)(to - from);
}

/* Each document as often as another of its store, or once more; but for some that lie beyond the end. */
static void check_documents(const struct told *t, uint64_t from, uint64_t to)
{
    uint64_t most = 0;
    unsigned cut = 0, less = 0;
    for (uint64_t id = from; id < to; id++) {
        size_t n = length_of(id);
        if (n == 0)
            continue;
        cut += t->tokens[id] % n != 0;
        most = (t->tokens[id] + n - 1) / n > most ? (t->tokens[id] + n - 1) / n : most;
    }
    cr_assert(cut <= 1, "%u documents have not come as a whole", cut);
    for (uint64_t id = from; id < to; id++)
        less += length_of(id) && t->tokens[id] / length_of(id) + 1 < most;
    cr_assert(less < 40, "%u documents come more than once less than others", less);
}

static apl_receipt receipt_of(apl_reader *r)
{
    apl_receipt receipt;
    cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
    return receipt;
}

/* ------------------------------------------------------------------------------------------------- shares */

/* 20 epochs of 20 * BATCH rows or so: as many tokens in each, and of each store its share. */
static void check_shares(apl_reader_options o, double share)
{
    apl_reader *r = fixture_reader(&o);
    double sum = 0, all = 0;
    for (unsigned epoch = 0; epoch < 20; epoch++, fixture_next_epoch(r)) {
        struct told t = read_all(r);
        apl_receipt receipt = receipt_of(r);
        cr_assert(epoch == 0 || (double)tokens_of(&t) == all, "epochs have the same length");
        all = (double)tokens_of(&t);
        cr_assert(receipt.last == tokens_of(&t) && !receipt.dropped && !receipt.missing && !receipt.repeated);
        cr_assert_eq(t.batches, apl_reader_batches(r));
        cr_assert_lt(fabs((double)t.of[0] - share * all), 2.0 * LONGEST, "epoch %u: %f, not %f", epoch,
                     (double)t.of[0], share * all);
        check_documents(&t, 0, BOOKS);
        check_documents(&t, BOOKS, ALL);
        sum += (double)t.of[0];
    }
    cr_assert_lt(fabs(sum / 20 - share * all), LONGEST, "on average: %f, not %f", sum / 20, share * all);
    apl_reader_close(r);
}

Test(reader_token_mix, stores_have_their_shares_of_tokens)
{
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = packed(3, 1, counts[i % 3]);
        o.window = i < 3 ? 0 : 90;
        o.mix.by_tokens = 1;
        check_shares(o, 0.75);
        o.mix.weight = 0.25;
        sampling.records = 2000;
        check_shares(o, 0.2);
    }
}

/* Three posts for each book are as many tokens as these have. */
Test(reader_token_mix, stores_have_their_shares_of_records)
{
    double book = mean_of(0, BOOKS), post = mean_of(BOOKS, ALL);
    for (unsigned i = 0; i < 3; i++) {
        apl_reader_options o = packed(1, 3, counts[i]);
        check_shares(o, book / (book + 3 * post));
        apl_reader *r = fixture_reader(&o);
        struct told t = read_all(r);
        cr_assert_float_eq((double)tokens_of(&t), ALL * (book + 3 * post) / 4, 1);
        double books = (double)t.of[0] / book, others = (double)t.of[1] / post;
        cr_assert(fabs(books - ALL / 4.0) < 8 && fabs(others - ALL * 0.75) < 24, "%f and %f", books, others);
        apl_reader_close(r);
    }
}

/* ------------------------------------------------------------------------------- threads, ranks, resuming */

Test(reader_token_mix, the_same_for_any_number_of_threads)
{
    for (unsigned window = 0; window <= 90; window += 90) {
        struct told first = {0};
        for (unsigned i = 0; i < 3; i++) {
            apl_reader_options o = packed(1, 2, counts[i]);
            o.window = window;
            apl_reader *r = fixture_reader(&o);
            fixture_next_epoch(r);
            struct told t = read_all(r);
            first = i ? first : t;
            cr_assert(memcmp(&t, &first, sizeof t) == 0);
            apl_reader_close(r);
        }
    }
}

Test(reader_token_mix, ranks_share_an_epoch)
{
    for (unsigned world = 2; world <= 4; world++) {
        struct told all = {0}, alone;
        uint64_t delivered = 0;
        apl_reader_options o = packed(1, 2, 1);
        apl_reader *r = fixture_reader(&o);
        alone = read_all(r);
        uint64_t once = receipt_of(r).delivered;
        apl_reader_close(r);
        o.ranks.world = world;
        for (o.ranks.rank = 0; o.ranks.rank < world; o.ranks.rank++) {
            o.threads = counts[o.ranks.rank % 3];
            o.window = o.ranks.rank % 2 ? 0 : ALL;
            r = fixture_reader(&o);
            struct told t = read_all(r);
            for (uint64_t id = 0; id < ALL; id++)
                all.tokens[id] += t.tokens[id];
            cr_assert_eq(t.batches, apl_reader_batches(r));
            delivered += receipt_of(r).delivered;
            fixture_next_epoch(r);
            apl_batch_release(fixture_next(r));
            apl_reader_close(r);
        }
        cr_assert(memcmp(all.tokens, alone.tokens, sizeof all.tokens) == 0);
        cr_assert_eq(delivered, once);
    }
}

static void resume_at(apl_reader_options o, size_t cut, const struct told *whole)
{
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    struct told t = {0};
    apl_reader *r = fixture_reader(&o);
    fixture_next_epoch(r);
    for (size_t k = 0; k < cut; k++) {
        apl_batch *b = fixture_next(r);
        tell(&t, b);
        apl_batch_release(b);
    }
    cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
    apl_reader_close(r);
    o.state = state;
    o.state_size = size;
    o.batch_size = 1 + cut % 5;
    o.threads = counts[cut % 3];
    r = fixture_reader(&o);
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
        tell(&t, b);
    cr_assert(memcmp(t.tokens, whole->tokens, sizeof t.tokens) == 0, "resumed after %zu batches", cut);
    fixture_next_epoch(r);
    apl_batch_release(fixture_next(r));
    apl_reader_close(r);
    o.mix.by_tokens = !o.mix.by_tokens;
    cr_assert(strstr(fixture_refused(&o, APL_E_MISMATCH), "sampling"));
}

Test(reader_token_mix, resumes_at_every_batch)
{
    for (unsigned window = 0; window <= 90; window += 90) {
        apl_reader_options o = packed(1, 2, 1);
        o.window = window;
        apl_reader *r = fixture_reader(&o);
        fixture_next_epoch(r);
        struct told whole = read_all(r);
        apl_reader_close(r);
        for (size_t cut = 0; cut <= whole.batches; cut += 1 + whole.batches / 12)
            resume_at(o, cut, &whole);
        resume_at(o, whole.batches, &whole);
    }
}

Test(reader_token_mix, drop_last_and_epochs_that_are_left)
{
    for (unsigned i = 0; i < 3; i++) {
        apl_reader_options o = packed(1, 2, counts[i]);
        o.window = i == 1 ? 90 : 0;
        apl_reader *r = fixture_reader(&o);
        uint64_t tokens = tokens_of(&(struct told){0}), batches;
        struct told t = read_all(r);
        tokens = tokens_of(&t);
        apl_reader_close(r);
        o.drop_last = 1;
        r = fixture_reader(&o);
        batches = apl_reader_batches(r);
        cr_assert_eq(batches, tokens / (ROW * BATCH));
        for (unsigned epoch = 0; epoch < 4; epoch++, fixture_next_epoch(r)) {
            for (uint64_t k = 0; k < (epoch == 1 ? 2 : batches); k++)
                apl_batch_release(fixture_next(r));
            cr_assert_eq(receipt_of(r).dropped, epoch == 1 ? 0 : tokens % (ROW * BATCH));
        }
        apl_reader_close(r);
    }
}

/* ------------------------------------------------------------------------------------------------ windows */

/* Windows of a store that lie within its documents, or run on. */
static uint64_t windows_of(uint64_t from, uint64_t to, int join)
{
    uint64_t n = 0, all = 0;
    for (uint64_t id = from; id < to; id++) {
        n += length_of(id) / ROW;
        all += length_of(id);
    }
    return join ? all / ROW : n;
}

static void check_windows(apl_reader_options o, uint64_t epoch_windows)
{
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 3; epoch++, fixture_next_epoch(r)) {
        struct told t = read_all(r);
        cr_assert_eq(tokens_of(&t), epoch_windows * ROW);
        cr_assert_eq(t.of[1], (epoch_windows / 4) * ROW, "%llu", (unsigned long long)t.of[1] / ROW);
        cr_assert_eq(receipt_of(r).delivered, epoch_windows);
    }
    apl_reader_close(r);
}

/* All windows have the same length, so that shares of windows are shares of tokens. */
Test(reader_token_mix, windows_of_stores_come_in_proportion)
{
    for (unsigned i = 0; i < 12; i++) {
        apl_reader_options o = mixed(3, 1, APL_COLLATE_WINDOWS);
        how.join = 1;
        o.threads = counts[i % 3];
        o.mix.by_tokens = i & 1;
        o.window = i & 2 ? 60 : 0;
        o.order = i & 4 ? APL_FREE : APL_STRICT;
        sampling.records = 400;
        check_windows(o, 400);
        sampling.records = 0;
        uint64_t all = windows_of(0, BOOKS, 1) + windows_of(BOOKS, ALL, 1);
        o.mix.weight = all / 4 * 3 + all % 4;
        other.weight = (double)(all / 4);
        check_windows(o, all);
    }
}

/* Without weights, a sample is a subset of all windows, or draws of them. */
Test(reader_token_mix, windows_are_sampled_alike)
{
    apl_reader_options o = mixed(0, 0, APL_COLLATE_WINDOWS);
    o.mix.sources = NULL;
    o.mix.count = 0;
    for (sampling.replacement = 0; sampling.replacement < 2; sampling.replacement++) {
        sampling.records = windows_of(0, BOOKS, 0) / 2;
        apl_reader *r = fixture_reader(&o);
        struct told t = read_all(r), next;
        fixture_next_epoch(r);
        next = read_all(r);
        cr_assert(tokens_of(&t) == sampling.records * ROW && tokens_of(&next) == tokens_of(&t));
        cr_assert_neq(next.digest, t.digest);
        apl_reader_close(r);
    }
}

Test(reader_token_mix, a_store_without_windows_is_refused)
{
    apl_reader_options o = mixed(1, 1, APL_COLLATE_WINDOWS);
    const char *said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, "posts: has a weight in the mix, but none of the windows that are read"), "%s",
              said);
}

/* --------------------------------------------------------------------------------------------- refusals */

static void refused(apl_reader_options o, const char *words)
{
    const char *said = fixture_refused(&o, APL_E_INVALID);
    cr_assert(strstr(said, words), "%s", said);
}

Test(reader_token_mix, refuses_what_makes_no_sense)
{
    static const double one[] = {1};
    apl_reader_options o = packed(1, 1, 1);
    sampling.replacement = 1;
    refused(o, "what is packed is sampled by weights of stores, without replacement");
    o = packed(0, 0, 1);
    refused(o, "what is packed is sampled only by weights of the stores of a mix");
    o.mix.by_tokens = 1;
    refused(o, "weights by tokens: no store of the mix has a weight");
    o = packed(1, 1, 1);
    o.mix.by_tokens = 1;
    o.collation_count = 0;
    o.collations = NULL;
    refused(o, "weights by tokens are for values that are packed or windowed");
    o = mixed(0, 0, APL_COLLATE_WINDOWS);
    sampling.weights = one;
    sampling.weight_count = 1;
    refused(o, "windows are sampled alike, or by weights of the stores of a mix");
    o = packed(1, 1, 1);
    o.sequential = 1;
    refused(o, "sampling and sequential exclude each other");
}
