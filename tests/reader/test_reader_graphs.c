/* A graph per record: those of a batch become one, over thread mixes, windows, ranks and resumes. */
#include "reader_fixture.h"

#define GRAPHS 120
enum { GRAPH_X, GRAPH_EDGES, GRAPH_PAIRS, GRAPH_FIELDS };

static size_t nodes_of(uint64_t id)
{
    return id % 5;
}

static size_t edges_of(uint64_t id)
{
    return nodes_of(id) ? id * 7 % 9 : 0;
}

static int64_t end_at(uint64_t id, size_t end, size_t i)
{
    return (int64_t)((i * 3 + end * 5 + id) % nodes_of(id));
}

static void append(apl_writer *w, uint64_t id)
{
    float x[8];
    int64_t edges[2 * 16];
    int32_t pairs[2 * 16];
    size_t n = edges_of(id);
    int64_t nodes[1] = {(int64_t)nodes_of(id)}, wide[2] = {2, (int64_t)n}, tall[2] = {(int64_t)n, 2};
    for (size_t i = 0; i < nodes_of(id); i++)
        x[i] = (float)(id * 10 + i);
    for (size_t i = 0; i < n; i++)
        for (size_t end = 0; end < 2; end++) {
            edges[end * n + i] = end_at(id, end, i);
            pairs[2 * i + end] = (int32_t)end_at(id, end, i);
        }
    apl_value values[GRAPH_FIELDS] = {{x, nodes}, {edges, wide}, {pairs, tall}};
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
}

static void set_up(void)
{
    static char db[sizeof fx.db + 8];
    int64_t one[1] = {-1}, wide[2] = {2, -1}, tall[2] = {-1, 2};
    apl_writer *w;
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    fixture_make(8, 0, 8);
    apl_store_close(fx.store);
    snprintf(db, sizeof db, "%s-graphs", fx.db);
    o.block_records = 8;
    o.threads = 1;
    cr_assert_eq(apl_writer_open(db, &o, &w, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "x", APL_F32, APL_INPUT, 1, one, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "edges", APL_I64, APL_INPUT, 2, wide, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "pairs", APL_I32, APL_INPUT, 2, tall, NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "all", "train", 0, NULL), APL_OK);
    for (uint64_t id = 0; id < GRAPHS; id++)
        append(w, id);
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
    cr_assert_eq(apl_store_open(db, NULL, &fx.store, NULL), APL_OK);
}

TestSuite(reader_graphs, .init = set_up, .fini = fixture_free, .timeout = 60);

static void check_batch(const apl_batch *b, struct sequence *s)
{
    const apl_column *x = apl_batch_column(b, GRAPH_X), *edges = apl_batch_column(b, GRAPH_EDGES),
                     *pairs = apl_batch_column(b, GRAPH_PAIRS);
    const int64_t *graphs = apl_batch_part(b, GRAPH_X, APL_PART_GRAPHS)->data,
                  *starts = apl_batch_part(b, GRAPH_X, APL_PART_STARTS)->data;
    size_t node = 0, edge = 0, all = (size_t)edges->dim[1];
    cr_assert(edges->dims == 2 && edges->dim[0] == 2 && pairs->dims == 2 && pairs->dim[0] == 2);
    cr_assert_eq(pairs->dim[1], edges->dim[1]);
    for (size_t k = 0; k < apl_batch_rows(b); k++) {
        uint64_t id = apl_batch_ids(b)[k];
        cr_assert_eq(starts[k], (int64_t)node);
        for (size_t i = 0; i < edges_of(id); i++, edge++)
            for (size_t end = 0; end < 2; end++) {
                cr_assert_eq(((const int64_t *)edges->data)[end * all + edge],
                             end_at(id, end, i) + starts[k]);
                cr_assert_eq(((const int32_t *)pairs->data)[end * all + edge],
                             end_at(id, end, i) + starts[k]);
            }
        for (size_t i = 0; i < nodes_of(id); i++, node++) {
            cr_assert_eq(((const float *)x->data)[node], (float)(id * 10 + i));
            cr_assert_eq(graphs[node], (int64_t)k);
        }
    }
    cr_assert(edge == all && x->dim[0] == (int64_t)node && starts[apl_batch_rows(b)] == (int64_t)node);
    sequence_add(s, b);
}

static apl_reader_options options(unsigned threads)
{
    static apl_collation c[3];
    apl_reader_options o = fixture_options();
    static const char *const names[3] = {"x", "edges", "pairs"};
    for (unsigned i = 0; i < 3; i++) {
        c[i] = (apl_collation)APL_COLLATION_INIT;
        c[i].field = names[i];
        c[i].how = i ? APL_COLLATE_EDGE_INDEX : APL_COLLATE_NODES;
    }
    o.collations = c;
    o.collation_count = 3;
    o.threads = threads;
    return o;
}

Test(reader_graphs, become_one_a_batch)
{
    static const unsigned counts[] = {APL_NO_THREADS, 1, 3};
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = options(counts[i / 2]);
        struct sequence s = {0};
        o.window = i % 2 ? 24 : 0;
        apl_reader *r = fixture_reader(&o);
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
            check_batch(b, &s);
        check_once(&s, 0, GRAPHS, 1, false);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

Test(reader_graphs, resume_and_are_shared_by_ranks)
{
    struct sequence s = {0};
    for (unsigned rank = 0; rank < 2; rank++) {
        apl_reader_options o = options(rank);
        uint8_t state[APL_STATE_BYTES];
        size_t size = sizeof state;
        o.ranks.rank = rank;
        o.ranks.world = 2;
        apl_reader *r = fixture_reader(&o);
        apl_batch *b = fixture_next(r);
        check_batch(b, &s);
        apl_batch_release(b);
        cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
        apl_reader_close(r);
        o.state = state;
        o.state_size = size;
        r = fixture_reader(&o);
        for (; (b = fixture_next(r)); apl_batch_release(b))
            check_batch(b, &s);
        apl_reader_close(r);
    }
    check_once(&s, 0, GRAPHS, 1, false);
    sequence_free(&s);
}

/* An edge to a node that the graph does not have: the one behind the last, or one before the first. */
Test(reader_graphs, edges_lead_to_nodes_that_there_are)
{
    static const int64_t wrong[] = {3, -1, 2};
    for (size_t i = 0; i < 3; i++) {
        char db[sizeof fx.db + 16];
        apl_writer *w;
        apl_batch *b;
        apl_error err = {0};
        int64_t one[1] = {-1}, wide[2] = {2, -1}, nodes[1] = {3}, edges[2] = {2, 1}, ends[2] = {0, wrong[i]};
        const float x[3] = {0};
        snprintf(db, sizeof db, "%s-wrong-%zu", fx.db, i);
        cr_assert_eq(apl_writer_open(db, NULL, &w, NULL), APL_OK);
        cr_assert_eq(apl_writer_add_field(w, "x", APL_F32, APL_INPUT, 1, one, NULL), APL_OK);
        cr_assert_eq(apl_writer_add_field(w, "edges", APL_I64, APL_INPUT, 2, wide, NULL), APL_OK);
        cr_assert_eq(apl_writer_begin_member(w, "all", "train", 0, NULL), APL_OK);
        cr_assert_eq(apl_writer_append(w, (apl_value[]){{x, nodes}, {ends, edges}}, NULL), APL_OK);
        cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
        apl_writer_close(w);
        apl_store_close(fx.store);
        cr_assert_eq(apl_store_open(db, NULL, &fx.store, NULL), APL_OK);
        apl_reader_options o = options(APL_NO_THREADS);
        o.collation_count = 2;
        apl_reader *r = fixture_reader(&o);
        cr_assert_eq(apl_reader_next(r, &b, &err), i == 2 ? APL_OK : APL_E_INVALID, "%s", err.message);
        if (i == 2)
            apl_batch_release(b);
        apl_reader_close(r);
    }
}
