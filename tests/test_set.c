/* Sets: many stores as one; and what is wrong with one is named. */
#include "counts.h"
#include "hash.h"
#include "store_fixture.h"

static void set_up(void)
{
    fx_set_up();
    fx_shell("mkdir '%s/%s'", fx_place, "set");
}

TestSuite(set, .init = set_up, .fini = fx_tear_down, .timeout = 240);

#define SHARDS  3
#define RECORDS 235u

/* Their numbers are those that the set gives them. */
static const struct fx_member members[SHARDS][3] = {
    {{"a", "train", 0, 40}, {"b", "train", 1, 33}, {"c", "test", 2, 21}},
    {{"d", "train", 3, 50}, {"e", "extra", 4, 9}, {"f", "test", 5, 0}},
    {{"g", "test", 6, 17}, {"h", "train", 7, 64}, {"i", "train", 8, 1}},
};
static const struct fx_recipe whole = {fx_fields, COUNT(fx_fields), members[0],
                                       COUNT(members) * COUNT(*members)};

static const char *shard_path(unsigned i)
{
    char name[32];
    snprintf(name, sizeof name, "set/s%u", i);
    return fx_path(name);
}

static void make_shard(unsigned i, int shuffle)
{
    struct fx_recipe r = {fx_fields, COUNT(fx_fields), members[i], COUNT(members[i])};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.block_records = 16 + 8 * (i == 1); /* shards may differ in that */
    o.shuffle = shuffle;
    o.shuffle_seed = i;
    o.threads = APL_NO_THREADS;
    fx_make(shard_path(i), &r, &o);
}

static void make_shards(int shuffle)
{
    for (unsigned i = 0; i < SHARDS; i++)
        make_shard(i, shuffle);
}

static apl_status join(unsigned from, unsigned count, int append, int replace)
{
    const char *paths[SHARDS];
    apl_set_options o = APL_SET_OPTIONS_INIT;
    o.append = append;
    o.replace = replace;
    for (unsigned i = 0; i < count; i++)
        paths[i] = shard_path(from + i);
    return apl_set_join(fx_path("set"), paths, count, &o, &fx_err);
}

static apl_store *open_set(unsigned most)
{
    apl_store *s = NULL;
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    o.open_shards = most;
    OK(apl_store_open(fx_path("set"), &o, &s, &fx_err));
    return s;
}

static apl_store *made_set(unsigned most)
{
    make_shards(0);
    OK(join(0, SHARDS, 0, 0));
    return open_set(most);
}

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

/* The ids of an epoch, in order; how many. */
static size_t epoch(apl_store *s, unsigned threads, uint64_t skip, uint64_t *ids)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r = NULL;
    apl_batch *b;
    size_t n = 0;
    o.split = "train";
    o.batch_size = 7;
    o.seed = 5;
    o.threads = threads;
    o.faults.skip_corrupt = skip;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    apl_status status;
    while ((status = apl_reader_next(r, &b, &fx_err)) == APL_OK) {
        memcpy(ids + n, apl_batch_ids(b), apl_batch_rows(b) * sizeof *ids);
        n += apl_batch_rows(b);
        apl_batch_release(b);
    }
    apl_reader_close(r);
    return status == APL_END ? n : SIZE_MAX;
}

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

/* ------------------------------------------------------------------------------------------- what does not fit */

static apl_status join_two(const char *a, const char *b)
{
    const char *paths[2] = {a, b};
    return apl_set_join(fx_path("set"), paths, 2, NULL, &fx_err);
}

Test(set, refuses_shards_that_do_not_fit)
{
    struct fx_recipe r = {fx_fields, COUNT(fx_fields), members[1], COUNT(members[1])};
    make_shard(0, 0);
    r.field_count--;
    fx_make(fx_path("set/less"), &r, NULL);
    FAILS(APL_E_MISMATCH, join_two(shard_path(0), fx_path("set/less")));
    SAYS("less: has no field track, which");
    FAILS(APL_E_MISMATCH, join_two(fx_path("set/less"), shard_path(0)));
    SAYS("s0: has the field track, which");
    static const char *const other[3] = {"cat", "cow", "emu"};
    apl_field fields[COUNT(fx_fields)];
    memcpy(fields, fx_fields, sizeof fields);
    fields[1].classes = other;
    fx_make(fx_path("set/classes"), &(struct fx_recipe){fields, COUNT(fields), members[1], 3}, NULL);
    FAILS(APL_E_MISMATCH, join_two(shard_path(0), fx_path("set/classes")));
    SAYS("classes: class 1 of field label is cow, but dog in");
    fields[0].shape[1] = 7;
    fx_make(fx_path("set/shape"), &(struct fx_recipe){fields, COUNT(fields), members[1], 3}, NULL);
    FAILS(APL_E_MISMATCH, join_two(shard_path(0), fx_path("set/shape")));
    SAYS("shape: field image is u8[3,7,5], but u8[3,6,5] in");
    make_shard(1, 1);
    FAILS(APL_E_MISMATCH, join_two(shard_path(0), shard_path(1)));
    SAYS("s1: ");
    cr_assert(!fx_exists(fx_path("set/set.apl")));
}

Test(set, refuses_shards_that_are_elsewhere_or_twice)
{
    make_shards(0);
    FAILS(APL_E_INVALID, join_two(shard_path(0), fx_path("set/../set/s0/../../out")));
    SAYS("does not lie below");
    FAILS(APL_E_INVALID, join_two(shard_path(0), "/"));
    FAILS(APL_E_INVALID, join_two(shard_path(0), fx_path("set")));
    FAILS(APL_E_INVALID, join_two(shard_path(0), fx_path("set/./s0")));
    SAYS("s0 comes twice");
    fx_shell("ln -s s0 '%s/%s'", fx_place, "set/again");
    FAILS(APL_E_INVALID, join_two(shard_path(0), fx_path("set/again")));
    SAYS("is the same store as");
    FAILS(APL_E_NOTFOUND, join_two(shard_path(0), fx_path("set/none")));
    SAYS("none");
    FAILS(APL_E_EXISTS, apl_set_join(shard_path(0), (const char *const[]){shard_path(0)}, 1, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_set_join(fx_path("set"), NULL, 0, NULL, &fx_err));
    FAILS(APL_E_NOTFOUND,
          apl_set_join(fx_path("nowhere"), (const char *const[]){shard_path(0)}, 1, NULL, &fx_err));
    OK(join_two(fx_path("set/../set/s0"), fx_path("set//s1/")));
    apl_store *s = open_set(0);
    cr_assert_str_eq(apl_store_shard(s, 1)->name, "s1");
    apl_store_close(s);
}

/* ----------------------------------------------------------------------------------------------- bad shards */

struct told {
    uint64_t blocks, bad;
    char member[64];
};

static void on_bad(void *user, const apl_bad_block *b)
{
    struct told *t = user;
    t->blocks++;
    t->bad += b->bad_count;
    snprintf(t->member, sizeof t->member, "%s", b->member);
    for (size_t i = 0; i < b->bad_count; i++)
        cr_assert(b->bad[i] - b->first < b->count);
}

/* Shard 1 is bad: its records are 73 ... 122 of train and 226 ... 234 of extra. */
static void check_lost(const char *what)
{
    uint64_t ids[RECORDS], first[RECORDS];
    apl_store *s = open_set(0);
    apl_batch *b = NULL;
    OK(apl_store_get(s, 72, &b, &fx_err));
    apl_batch_release(b);
    FAILS(APL_E_CORRUPT, apl_store_get(s, 80, &b, &fx_err));
    SAYS("shard s1 (records 73 to 122): ");
    SAYS(what);
    cr_assert(fx_err.first_record == 73 && fx_err.records == 50);
    struct told told = {0};
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    o.user = &told;
    o.bad_block = on_bad;
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &o, &fx_err));
    SAYS("s1");
    cr_assert(told.blocks == 2 && told.bad == 59 && strcmp(told.member, "s1") == 0);
    static const unsigned threads[] = {APL_NO_THREADS, 1, 2, 4};
    for (unsigned t = 0; t < COUNT(threads); t++) {
        cr_assert_eq(epoch(s, threads[t], 0, ids), SIZE_MAX);
        cr_assert_eq(epoch(s, threads[t], 49, ids), SIZE_MAX);
        cr_assert_eq(epoch(s, threads[t], 50, t ? ids : first), 138);
        for (unsigned i = 0; i < 138; i++)
            cr_assert(first[i] < 73 || first[i] > 122);
        cr_assert(t == 0 || memcmp(ids, first, 138 * sizeof *ids) == 0, "%u threads", threads[t]);
    }
    apl_store_close(s);
}

Test(set, names_a_shard_that_is_missing)
{
    apl_store_close(made_set(0));
    fx_shell("mv '%s/set/s1' '%s/s1'", fx_place, fx_place);
    check_lost("there is no such directory");
    fx_shell("mkdir '%s/%s'", fx_place, "set/s1");
    check_lost("there is no data.mdb in it");
    fx_shell("rmdir '%s/set/s1' && ln -s s1 '%s/set/s1'", fx_place, fx_place);
    check_lost("s1");
}

Test(set, names_a_shard_that_has_been_replaced)
{
    apl_store_close(made_set(0));
    fx_shell("mv '%s/set/s1' '%s/set/keep'", fx_place, fx_place);
    fx_shell("cp -r '%s/set/s0' '%s/set/s1'", fx_place, fx_place);
    check_lost("has been replaced");
    /* the same content in other blocks */
    fx_shell("rm -r '%s/%s'", fx_place, "set/s1");
    struct fx_recipe r = {fx_fields, COUNT(fx_fields), members[1], COUNT(members[1])};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.block_records = 5;
    fx_make(shard_path(1), &r, &o);
    check_lost("is not as the list says");
}

Test(set, names_a_shard_that_is_damaged)
{
    apl_store_close(made_set(0));
    fx_shell("chmod u+w '%s/set/s1/data.mdb' && truncate -s 8192 '%s/set/s1/data.mdb'", fx_place, fx_place);
    check_lost("s1/data.mdb");
    fx_shell("truncate -s 0 '%s/%s'", fx_place, "set/s1/data.mdb");
    check_lost("it is empty");
}

Test(set, leaves_a_shard_of_a_newer_format_alone)
{
    size_t size, at = 0;
    uint64_t ids[RECORDS];
    apl_store_close(made_set(0));
    uint8_t *data = fx_read(fx_path("set/s1/data.mdb"), &size);
    for (size_t i = 0; i + 8 < size && !at; i++)
        at = memcmp(data + i, "APLM", 4) == 0 ? i : 0;
    data[at + 4] = 9; /* the major version of its format */
    fx_write(fx_path("set/s1/data.mdb"), data, size);
    free(data);
    apl_store *s = open_set(0);
    apl_batch *b = NULL;
    FAILS(APL_E_VERSION, apl_store_get(s, 80, &b, &fx_err));
    SAYS("shard s1");
    SAYS("9.");
    FAILS(APL_E_VERSION, apl_store_verify(s, NULL, &fx_err));
    SAYS("shard s1");
    cr_assert_eq(epoch(s, 2, 50, ids), SIZE_MAX); /* it is not damaged, and is not left out */
    cr_assert_eq(fx_err.status, APL_E_VERSION);
    FAILS(APL_E_VERSION, join(0, SHARDS, 0, 1));
    SAYS("s1");
    apl_store_close(s);
}

Test(set, names_a_block_that_is_damaged)
{
    size_t size, at = 0;
    uint64_t ids[RECORDS];
    apl_store_close(made_set(0));
    uint8_t *data = fx_read(fx_path("set/s1/data.mdb"), &size);
    for (size_t i = 0; i + 4 < size && !at; i++)
        at = memcmp(data + i, "APLB", 4) == 0 && data[i + 20] == 3 && data[i + 24] == 0 ? i : 0;
    data[at + 60] ^= 1; /* in the header of the first block of member d: 24 records */
    fx_write(fx_path("set/s1/data.mdb"), data, size);
    free(data);
    apl_store *s = open_set(0);
    apl_batch *b = NULL;
    FAILS(APL_E_CORRUPT, apl_store_get(s, 75, &b, &fx_err));
    SAYS("s1/d: block 0 (records 73 to 96)");
    struct told told = {0};
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    o.user = &told;
    o.bad_block = on_bad;
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &o, &fx_err));
    cr_assert(told.blocks == 1 && strcmp(told.member, "s1/d") == 0 && fx_err.first_record == 73);
    cr_assert_eq(epoch(s, 2, 24, ids), 188 - 24);
    apl_store_close(s);
}

/* ------------------------------------------------------------------------------------------------- bad lists */

static apl_status open_bytes(const uint8_t *bytes, size_t size)
{
    apl_store *s = NULL;
    fx_write(fx_path("set/set.apl"), bytes, size);
    apl_status status = apl_store_open(fx_path("set"), NULL, &s, &fx_err);
    if (status == APL_OK) {
        apl_batch *b = NULL;
        for (uint64_t id = 0; id < apl_store_info(s)->records; id += 17)
            if (apl_store_get(s, id, &b, &fx_err) == APL_OK)
                apl_batch_release(b);
        apl_store_close(s);
    }
    return status;
}

/* A list whose checksum is right. */
static apl_status open_sealed(uint8_t *bytes, size_t size)
{
    uint64_t sum = hash_xxh3_64(bytes + 24, size - 24), n = size;
    memcpy(bytes + 8, &n, 8);
    memcpy(bytes + 16, &sum, 8);
    return open_bytes(bytes, size);
}

Test(set, finds_every_changed_byte_of_its_list)
{
    size_t size;
    apl_store_close(made_set(0));
    uint8_t *list = fx_read(fx_path("set/set.apl"), &size);
    for (size_t i = 0; i < size; i++) {
        list[i] ^= 0x41;
        apl_status status = open_bytes(list, size);
        list[i] ^= 0x41;
        bool minor = i == 6 || i == 7; /* of the version: not for readers */
        cr_assert(status == (minor              ? APL_OK
                             : i == 4 || i == 5 ? APL_E_VERSION
                                                : APL_E_CORRUPT),
                  "byte %zu: %d", i, status);
        SAYS(minor ? "" : "set.apl: ");
    }
    for (size_t n = 0; n < size; n += n < 64 ? 1 : 7)
        cr_assert_eq(open_bytes(list, n), APL_E_CORRUPT, "%zu bytes", n);
    free(list);
}

/* Whatever a list says whose checksum is right, nothing breaks. */
Test(set, believes_nothing)
{
    size_t size;
    apl_store_close(made_set(0));
    uint8_t *list = fx_read(fx_path("set/set.apl"), &size);
    static const uint8_t values[] = {0x00, 0xff, 0x80, 0x01};
    for (size_t i = 24; i < size; i += sweep_step())
        for (unsigned v = 0; v < COUNT(values); v++) {
            uint8_t was = list[i];
            list[i] = values[v];
            open_sealed(list, size);
            list[i] = was;
        }
    for (size_t n = 24; n < size; n += 3 * sweep_step())
        cr_assert_neq(open_sealed(list, n), APL_OK);
    free(list);
}

static void forge_name(const char *from, const char *to)
{
    size_t size;
    uint8_t *list = fx_read(fx_path("set/set.apl"), &size);
    for (size_t i = 0; i + 2 < size; i++)
        if (list[i] == strlen(from) && list[i + 1] == 0 && memcmp(list + i + 2, from, strlen(from)) == 0)
            memcpy(list + i + 2, to, strlen(to));
    FAILS(APL_E_CORRUPT, open_sealed(list, size));
    free(list);
}

Test(set, follows_no_name_out_of_its_directory)
{
    static const char *const bad[] = {"..", "/x", "x/"};
    apl_store_close(made_set(0));
    fx_shell("cp '%s/set/set.apl' '%s/list'", fx_place, fx_place);
    for (unsigned i = 0; i < 3; i++) {
        fx_shell("cp -f '%s/list' '%s/set/set.apl'", fx_place, fx_place);
        forge_name("s1", bad[i]);
        SAYS("is not a path down from the list");
    }
    fx_shell("cp -f '%s/list' '%s/set/set.apl'", fx_place, fx_place);
    forge_name("s1", "s0");
    SAYS("shard s0 comes twice");
}

Test(set, is_not_made_of_what_is_no_list)
{
    apl_store *s = NULL;
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
    SAYS("is not a store");
    fx_shell("mkdir '%s/%s'", fx_place, "set/set.apl");
    FAILS(APL_E_CORRUPT, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
    SAYS("not a regular file");
    fx_shell("rmdir '%s/set/set.apl' && ln -s set.apl '%s/set/set.apl'", fx_place, fx_place);
    FAILS(APL_E_IO, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
    fx_shell("rm '%s/set/set.apl' && mkfifo '%s/set/set.apl'", fx_place, fx_place);
    FAILS(APL_E_CORRUPT, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
}

/* A store that cannot be opened leaves the descriptors of its caller alone. */
Test(set, closes_nothing_that_is_not_its_own)
{
    apl_store *s = NULL;
    struct stat st;
    cr_assert_eq(fstat(0, &st), 0);
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("none"), NULL, &s, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("set"), NULL, &s, &fx_err));
    cr_assert_eq(fstat(0, &st), 0, "descriptor 0 was closed");
    apl_store_close(made_set(0));
    cr_assert_eq(fstat(0, &st), 0, "descriptor 0 was closed");
}
