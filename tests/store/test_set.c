/* Sets: many stores as one. */
#include "hash.h"
#include "set.h"
#include "set_case.h"

TestSuite(set, .init = set_set_up, .fini = fx_tear_down, .timeout = 240);

/* ------------------------------------------------------------------------------------------- as one store */

static void check_splits(const apl_store *s)
{
    static const apl_split due[] = {{"train", 0, 188}, {"test", 188, 38}, {"extra", 226, 9}};
    static const char *const order[] = {"s0/a", "s0/b", "s1/d", "s2/h", "s2/i",
                                        "s0/c", "s1/f", "s2/g", "s1/e"};
    uint64_t first = 0;
    cr_assert_eq(apl_store_info(s)->splits, COUNT(due));
    for (unsigned i = 0; i < COUNT(due); i++) {
        const apl_split *is = apl_store_split(s, i);
        cr_assert_str_eq(is->name, due[i].name);
        cr_assert(is->first == due[i].first && is->count == due[i].count, "%s", is->name);
    }
    cr_assert_eq(apl_store_info(s)->members, COUNT(order));
    for (unsigned i = 0; i < COUNT(order); i++) {
        const apl_member *m = apl_store_member(s, i);
        cr_assert_str_eq(m->name, order[i]);
        cr_assert_eq(m->first, first);
        first += m->count;
    }
}

/* Sums are those of the values. */
static void check_sums(apl_store *s)
{
    apl_batch *all = fx_get_all(s);
    const uint8_t *images = apl_batch_column(all, 0)->data, *labels = apl_batch_column(all, 1)->data;
    for (unsigned i = 0; i < apl_store_info(s)->splits; i++) {
        const apl_split *split = apl_store_split(s, i);
        uint64_t counts[3] = {0};
        double sum = 0, mean, deviation;
        for (uint64_t id = split->first; id < split->first + split->count; id++) {
            counts[labels[id]]++;
            for (unsigned k = 30; k < 60; k++) /* channel 1 */
                sum += images[id * 90 + k];
        }
        for (unsigned c = 0; c < 3; c++)
            cr_assert_eq(apl_store_class_count(s, i, 1, c), counts[c]);
        OK(apl_store_moments(s, i, 0, 1, &mean, &deviation));
        cr_assert_float_eq(mean, sum / (30.0 * (double)split->count), 1e-9);
    }
    apl_batch_release(all);
}

static void check_digest(const apl_store *s)
{
    uint8_t digest[32];
    struct sha256 *sha = sha256_new();
    cr_assert_eq(apl_store_info(s)->shards, SHARDS);
    for (unsigned i = 0; i < SHARDS; i++) {
        apl_store *one = fx_open(shard_path(i));
        const apl_shard *is = apl_store_shard(s, i);
        cr_assert(memcmp(apl_store_info(one)->content_digest, is->content_digest, 32) == 0);
        cr_assert_eq(is->records, apl_store_info(one)->records);
        cr_assert_eq(is->file_bytes, apl_store_info(one)->file_bytes);
        sha256_add(sha, is->content_digest, 32);
        cr_assert_null(apl_store_shard(one, 0));
        apl_store_close(one);
    }
    cr_assert_null(apl_store_shard(s, SHARDS));
    sha256_end(sha, digest);
    sha256_free(sha);
    cr_assert(memcmp(digest, apl_store_info(s)->content_digest, 32) == 0);
}

Test(set, is_one_store)
{
    for (unsigned most = 0; most < 3; most++) {
        apl_store *s = most ? open_set(most) : made_set(0);
        cr_assert_eq(apl_store_info(s)->records, RECORDS);
        check_splits(s);
        fx_check(s, &whole);
        check_sums(s);
        check_digest(s);
        OK(apl_store_verify(s, NULL, &fx_err));
        apl_store_close(s);
    }
}

/* ------------------------------------------------------------------------------------------------- colours */

/* Images of any size; those of a split are of one shard, of both, and of none that has colours. */
static void write_images(const char *path, uint8_t first, unsigned count)
{
    static const int64_t any[3] = {-1, -1, -1};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w;
    uint8_t pixels[3 * 40];
    o.threads = APL_NO_THREADS;
    OK(apl_writer_open(path, &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, any, &fx_err));
    OK(apl_writer_begin_member(w, path, "train", 0, &fx_err));
    for (unsigned i = first; i < first + count; i++) {
        const int64_t shape[3] = {3, 1 + i % 4, 1 + i % 10};
        const apl_value value = {pixels, shape};
        for (unsigned k = 0; k < sizeof pixels; k++)
            pixels[k] = (uint8_t)(i * 7 + k * k);
        OK(apl_writer_append(w, &value, &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

Test(set, has_the_colours_of_all_its_shards)
{
    write_images(shard_path(0), 0, 11);
    write_images(shard_path(1), 11, 30);
    write_images(fx_path("all"), 0, 41);
    OK(join(0, 2, 0, 0));
    apl_store *set = open_set(1), *all = fx_open(fx_path("all"));
    for (unsigned c = 0; c < 3; c++) {
        double mean, std, mean_all, std_all;
        OK(apl_store_moments(set, 0, 0, c, &mean, &std));
        OK(apl_store_moments(all, 0, 0, c, &mean_all, &std_all));
        cr_assert(mean == mean_all && std == std_all && std > 0, "%u: %g %g", c, mean, mean_all);
    }
    apl_transform t = APL_TRANSFORM_INIT;
    t.scale = APL_SCALE_NORMALISE;
    t.crop_height = t.crop_width = 1;
    t.dtype = APL_F32;
    OK(apl_transform_complete(set, "train", &t, &fx_err));
    double mean, std;
    OK(apl_store_moments(all, 0, 0, 2, &mean, &std));
    cr_assert(t.mean[2] == (float)mean && t.std[2] == (float)std);
    apl_store_close(set);
    apl_store_close(all);
}

Test(set, of_shuffled_shards_says_where_records_were)
{
    make_shards(1);
    OK(join(0, SHARDS, 0, 0));
    apl_store *s = open_set(1);
    fx_check(s, &whole);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

Test(set, can_be_moved_and_has_one_form)
{
    apl_store_close(made_set(0));
    fx_shell("cp '%s/set/set.apl' '%s/list'", fx_place, fx_place);
    OK(join(0, SHARDS, 0, 1));
    cr_assert(fx_same(fx_path("list"), fx_path("set/set.apl")));
    fx_shell("mv '%s/set' '%s/moved'", fx_place, fx_place);
    apl_store *s = fx_open(fx_path("moved"));
    fx_check(s, &whole);
    apl_store_close(s);
    fx_shell("mv '%s/moved' '%s/set'", fx_place, fx_place);
}

Test(set, divides_into_splits)
{
    apl_store *s = made_set(1);
    uint64_t ids[RECORDS], n = RECORDS;
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    o.name = "val";
    o.ratio = 0.3;
    for (int by = 0; by < 3; by++) {
        o.by = (apl_split_by)by;
        o.replace = by > 0;
        OK(apl_split_make(s, &o, &fx_err));
        OK(apl_split_verify(s, "val", 1, &fx_err));
        n = RECORDS;
        OK(apl_split_ids(s, "val", ids, &n, &fx_err));
        cr_assert(n > 20 && n < 100 && ids[n - 1] < 188, "%llu", (unsigned long long)n);
    }
    apl_store_close(s);
}

Test(set, is_read_with_its_splits_elsewhere)
{
    apl_store *s = NULL;
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    apl_store_close(made_set(0));
    fx_shell("mkdir '%s/%s'", fx_place, "splits");
    o.split_directory = fx_path("splits");
    OK(apl_store_open(fx_path("set"), &o, &s, &fx_err));
    fx_check(s, &whole);
    apl_split_options split = APL_SPLIT_OPTIONS_INIT;
    split.name = "val";
    split.ratio = 0.3;
    OK(apl_split_make(s, &split, &fx_err));
    cr_assert(fx_exists(fx_path("splits/val.split")) && !fx_exists(fx_path("set/val.split")));
    apl_store_close(s);
}

/* Blocks have the sizes of their shards, and go no further than members, or in shuffled shards than splits. */
static void check_blocks(int shuffled)
{
    apl_store *s = open_set(0);
    uint64_t first, count, blocks = 0;
    static const uint64_t plain[] = {0, 16, 32, 40, 56, 72, 73, 97, 121, 123};
    static const uint64_t shuffle[] = {0, 16, 32, 48, 64, 73, 97, 121, 123, 139};
    const uint64_t *due = shuffled ? shuffle : plain;
    for (uint64_t id = 0; id < RECORDS; id = first + count, blocks++) {
        OK(apl_store_block(s, id, &first, &count, &fx_err));
        cr_assert_eq(first, id);
        cr_assert(blocks > 9 || first == due[blocks], "block %llu", (unsigned long long)blocks);
        for (uint64_t i = 0, f, c; i < count; i++) {
            OK(apl_store_block(s, id + i, &f, &c, &fx_err));
            cr_assert(f == first && c == count);
        }
    }
    cr_assert_eq(blocks, apl_store_info(s)->blocks);
    FAILS(APL_E_NOTFOUND, apl_store_block(s, RECORDS, &first, &count, &fx_err));
    FAILS(APL_E_INVALID, apl_store_block(s, 0, NULL, &count, &fx_err));
    FAILS(APL_E_INVALID, apl_store_block(NULL, 0, &first, &count, &fx_err));
    apl_store_close(s);
}

Test(set, has_the_blocks_of_its_shards)
{
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        make_shards(shuffled);
        OK(join(0, SHARDS, 0, 0));
        check_blocks(shuffled);
        fx_shell("rm -r '%s'/set/%s", fx_place, "*");
    }
}

/* Takes a block; the number of its shard. */
static unsigned take_block(const apl_store *s, uint64_t number)
{
    apl_store *taken;
    uint64_t own;
    const struct run *run;
    OK(set_take_block(s, number, &taken, &own, &run, &fx_err));
    unsigned shard = (unsigned)(strrchr(taken->name, '/')[2] - '0');
    store_release(taken);
    return shard;
}

static bool is_open(const apl_store *s, uint64_t number)
{
    uint64_t own;
    bool asked;
    apl_store *taken = set_find_open(s, number, &own, &asked);
    if (taken)
        store_release(taken);
    return taken;
}

/* Of two shards that may be open, the one that was used last stays when a third is needed. */
Test(set, keeps_those_shards_open_that_were_used_last)
{
    static const unsigned orders[][4] = {{0, 1, 0, 2}, {1, 0, 1, 2}, {0, 2, 0, 1}, {2, 1, 2, 0}};
    apl_store *all = made_set(0);
    uint64_t block_of[SHARDS];
    for (uint64_t number = apl_store_info(all)->blocks; number-- > 0;)
        block_of[take_block(all, number)] = number;
    for (size_t i = 0; i < COUNT(orders); i++) {
        apl_store *two = open_set(2);
        for (unsigned k = 0; k < 4; k++)
            cr_assert_eq(take_block(two, block_of[orders[i][k]]), orders[i][k]);
        cr_assert(is_open(two, block_of[orders[i][0]]));
        cr_assert(!is_open(two, block_of[orders[i][1]]));
        cr_assert(is_open(two, block_of[orders[i][3]]));
        apl_store_close(two);
    }
    apl_store_close(all);
}

Test(set, is_not_written_over)
{
    apl_writer *w = NULL;
    apl_store_close(made_set(0));
    fx_shell("cp '%s/set/set.apl' '%s/list'", fx_place, fx_place);
    for (int replace = 0; replace < 2; replace++) {
        apl_writer_options o = APL_WRITER_OPTIONS_INIT;
        o.replace = replace;
        FAILS(APL_E_INVALID, apl_writer_open(fx_path("set"), &o, &w, &fx_err));
        SAYS("set: is a set, and cannot be a store too");
    }
    cr_assert_str_eq(fx_list(fx_path("set")), "s0 s1 s2 set.apl ");
    cr_assert(fx_same(fx_path("list"), fx_path("set/set.apl")));
}

/* -------------------------------------------------------------------------------------------------- reading */

Test(set, is_read_as_a_store_is)
{
    uint64_t first[RECORDS], ids[RECORDS];
    bool seen[188] = {0};
    apl_store *s = made_set(0);
    cr_assert_eq(epoch(s, APL_NO_THREADS, 0, first), 188);
    for (unsigned i = 0; i < 188; i++) {
        cr_assert(first[i] < 188 && !seen[first[i]]);
        seen[first[i]] = true;
    }
    apl_store_close(s);
    for (unsigned most = 1; most < 4; most++) {
        s = open_set(most);
        cr_assert_eq(epoch(s, 3, 0, ids), 188);
        cr_assert(memcmp(ids, first, sizeof *ids * 188) == 0);
        apl_store_close(s);
    }
}

static apl_store *child_set;

static int read_in_child(void)
{
    apl_batch *b;
    if (apl_store_get(child_set, 100, &b, NULL) != APL_OK)
        return 1;
    apl_batch_release(b);
    return 0;
}

Test(set, is_read_in_a_child)
{
    child_set = made_set(1);
    cr_assert_eq(read_in_child(), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(read_in_child());
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert_eq(status, 0);
    apl_store_close(child_set);
}

/* -------------------------------------------------------------------------------------------------- growing */

Test(set, grows_and_keeps_its_old_list)
{
    make_shards(0);
    OK(join(0, 2, 0, 0));
    apl_store *before = open_set(0), *old = NULL;
    FAILS(APL_E_EXISTS, join(2, 1, 0, 0));
    OK(join(2, 1, 1, 0));
    apl_store *s = open_set(0);
    check_splits(s);
    fx_check(s, &whole);
    char name[64] = "set/set-";
    for (unsigned i = 0; i < 8; i++)
        snprintf(name + 8 + 2 * i, 3, "%02x", apl_store_info(before)->content_digest[i]);
    strcat(name, ".apl");
    OK(apl_store_open(fx_path(name), NULL, &old, &fx_err));
    cr_assert_eq(apl_store_info(old)->shards, 2);
    cr_assert(memcmp(apl_store_info(old)->content_digest, apl_store_info(before)->content_digest, 32) == 0);
    uint64_t one[RECORDS], two[RECORDS];
    size_t n = epoch(before, 0, 0, one);
    cr_assert(n == 123 && epoch(old, 0, 0, two) == n && memcmp(one, two, n * sizeof *one) == 0);
    apl_store_close(old);
    apl_store_options expecting = APL_STORE_OPTIONS_INIT;
    expecting.expected_content = apl_store_info(before)->content_digest;
    OK(apl_store_open(fx_path("set"), &expecting, &old, &fx_err));
    cr_assert(epoch(old, 0, 0, two) == n && memcmp(one, two, n * sizeof *one) == 0);
    apl_store_close(old);
    cr_assert_eq(rename(fx_path(name), fx_path("elsewhere")), 0);
    FAILS(APL_E_MISMATCH, apl_store_open(fx_path("set"), &expecting, &old, &fx_err));
    SAYS("the content digest is not the one expected");
    apl_store_close(before);
    apl_store_close(s);
    /* the same list as at once */
    fx_shell("cp '%s/set/set.apl' '%s/grown'", fx_place, fx_place);
    OK(join(0, SHARDS, 0, 1));
    cr_assert(fx_same(fx_path("grown"), fx_path("set/set.apl")));
    FAILS(APL_E_INVALID, join(0, 1, 1, 0));
    SAYS("s0 comes twice");
}

/* Where a reader stands after some batches, and the ids that follow. */
static size_t take_state(apl_store *s, const void *from, size_t from_size, unsigned batches, void *state,
                         uint64_t *ids, apl_status *opened)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r = NULL;
    apl_batch *b;
    size_t n = 0, size = APL_STATE_BYTES;
    o.split = "train";
    o.batch_size = 7;
    o.seed = 5;
    o.state = from;
    o.state_size = from_size;
    *opened = apl_reader_open(s, &o, &r, &fx_err);
    if (*opened != APL_OK)
        return 0;
    for (; batches; batches--) {
        OK(apl_reader_next(r, &b, &fx_err));
        apl_batch_release(b);
    }
    if (state)
        OK(apl_reader_state(r, state, &size, &fx_err));
    while (apl_reader_next(r, &b, &fx_err) == APL_OK) {
        memcpy(ids + n, apl_batch_ids(b), apl_batch_rows(b) * sizeof *ids);
        n += apl_batch_rows(b);
        apl_batch_release(b);
    }
    apl_reader_close(r);
    return state ? size : n;
}

Test(set, tells_which_list_a_state_belongs_to)
{
    uint8_t state[APL_STATE_BYTES];
    uint64_t due[RECORDS], ids[RECORDS];
    apl_status opened;
    make_shards(0);
    OK(join(0, 2, 0, 0));
    apl_store *before = open_set(0), *old = NULL;
    size_t size = take_state(before, NULL, 0, 4, state, due, &opened);
    OK(join(2, 1, 1, 0));
    apl_store *s = open_set(0);
    take_state(s, state, size, 0, NULL, ids, &opened);
    cr_assert_eq(opened, APL_E_MISMATCH);
    char *list = strstr(fx_err.message, fx_path("set/set-"));
    cr_assert(list && strstr(fx_err.message, "of another list of this set"), "%s", fx_err.message);
    char path[256];
    snprintf(path, sizeof path, "%s", list);
    OK(apl_store_open(path, NULL, &old, &fx_err));
    cr_assert_eq(take_state(old, state, size, 0, NULL, ids, &opened), 123 - 4 * 7);
    cr_assert(memcmp(ids, due, (123 - 4 * 7) * sizeof *ids) == 0);
    apl_store_close(old);
    fx_shell("rm '%s'/set/set-*%s", fx_place, ".apl");
    take_state(s, state, size, 0, NULL, ids, &opened);
    cr_assert_eq(opened, APL_E_MISMATCH);
    SAYS("there is no older list set-");
    apl_store_close(before);
    apl_store_close(s);
}
