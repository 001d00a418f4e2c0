/* All graphs of a batch as one: see graph.h. */
#include "graph.h"

#include "batch_part.h"
#include "collation.h"
#include "values.h"

/* ----------------------------------------------------------------------------------------------- alike */

/* Is a field as long as the first of its kind, in all records? */
static apl_status check_alike_in(const struct worker *w, const struct job *job, unsigned f, unsigned first,
                                 apl_error *err)
{
    for (size_t k = 0; k < job->buffer->batch.rows; k++) {
        int64_t one = values_length(w, job, first, k), other = values_length(w, job, f, k);
        if (one == other)
            continue;
        uint64_t id = job->buffer->batch.ids[k];
        fail(err, APL_E_INVALID, "record %llu: field %s is %lld long, and field %s of the same graph %lld",
             (unsigned long long)id, w->spec->schema->fields[first].name, (long long)one,
             w->spec->schema->fields[f].name, (long long)other);
        return fail_records(err, APL_E_INVALID, id, 1);
    }
    return APL_OK;
}

/* Are the fields that are collated in one way as long as the first of them? */
static apl_status check_lengths_alike(const struct worker *w, const struct job *job, apl_collate how,
                                      unsigned first, apl_error *err)
{
    for (unsigned f = 0; f < w->spec->schema->count; f++)
        if (w->spec->options.collations[f].how == how && f != first)
            TRY(check_alike_in(w, job, f, first, err));
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- edges */

static apl_status no_such_node(const struct worker *w, const struct job *job, unsigned f, size_t k,
                               int64_t node, int64_t nodes, apl_error *err)
{
    uint64_t id = job->buffer->batch.ids[k];
    fail(err, APL_E_INVALID, "record %llu: field %s has an edge to node %lld, of a graph of %lld nodes",
         (unsigned long long)id, w->spec->schema->fields[f].name, (long long)node, (long long)nodes);
    return fail_records(err, APL_E_INVALID, id, 1);
}

static int64_t index_at(const uint8_t *value, apl_dtype dtype, size_t i)
{
    return dtype == APL_I32 ? ((const int32_t *)(const void *)value)[i]
                            : ((const int64_t *)(const void *)value)[i];
}

/* One end of a record's n edges: every `step` of `value`, moved by `first`. False: *wrong is no node. */
static bool move_ends(const uint8_t *value, apl_dtype dtype, size_t n, size_t step, int64_t first,
                      int64_t nodes, void *out, int64_t *wrong)
{
    for (size_t i = 0; i < n; i++) {
        int64_t node = index_at(value, dtype, i * step);
        if (node < 0 || node >= nodes) {
            *wrong = node;
            return false;
        }
        if (dtype == APL_I32)
            ((int32_t *)out)[i] = (int32_t)(node + first);
        else
            ((int64_t *)out)[i] = node + first;
    }
    return true;
}

struct edges {
    unsigned field;
    size_t element, all; /* edges of the batch */
    size_t done;
    int64_t first; /* nodes before those of the record */
};

static apl_status add_edges(struct worker *w, struct job *job, struct edges *e, size_t k, apl_error *err)
{
    const apl_field *field = &w->spec->schema->fields[e->field];
    size_t n = (size_t)values_length(w, job, e->field, k);
    int64_t nodes = values_length(w, job, w->spec->options.graph.nodes, k), wrong;
    uint8_t *out = (uint8_t *)job->buffer->batch.columns[e->field].data;
    bool pairs =
        w->spec->options.collations[e->field].axis == 0; /* [*,2]: both ends of an edge lie side by side */
    const uint8_t *value;
    TRY(values_take(w, job, e->field, k, &value, err));
    for (size_t end = 0; end < 2 && n; end++)
        if (!move_ends(value + (pairs ? end : end * n) * e->element, field->dtype, n, pairs ? 2 : 1, e->first,
                       nodes, out + (end * e->all + e->done) * e->element, &wrong))
            return no_such_node(w, job, e->field, k, wrong, nodes, err);
    e->done += n;
    e->first += nodes;
    return APL_OK;
}

/* The column as it is to be: {2, edges}. */
static void describe_edges(apl_column *column, size_t edges, size_t element)
{
    column->ndim = 2;
    column->shape[0] = 2;
    column->shape[1] = -1;
    column->dims = 2;
    column->dim[0] = 2;
    column->dim[1] = (int64_t)edges;
    column->bytes = 2 * edges * element;
}

apl_status graph_edges(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    struct edges e = {.field = f, .element = apl_dtype_size(w->spec->schema->fields[f].dtype)};
    int64_t nodes = 0;
    TRY(check_lengths_alike(w, job, APL_COLLATE_NODES, w->spec->options.graph.nodes,
                            err)); /* else of which nodes? */
    for (size_t k = 0; k < job->buffer->batch.rows; k++) {
        e.all += (size_t)values_length(w, job, f, k);
        nodes += values_length(w, job, w->spec->options.graph.nodes, k);
    }
    if (e.element == 4 && nodes > INT32_MAX)
        return fail(err, APL_E_INVALID, "field %s: the graphs of a batch have more nodes than i32 can number",
                    w->spec->schema->fields[f].name);
    describe_edges(&job->buffer->batch.columns[f], e.all, e.element);
    if (!pool_grow(job->buffer, f, 2 * e.all * e.element + 64))
        return fail_nomem(err);
    for (size_t k = 0; k < job->buffer->batch.rows; k++)
        TRY(add_edges(w, job, &e, k, err));
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- nodes */

static apl_status number_nodes(const struct worker *w, struct job *job, apl_error *err)
{
    const struct graph *g = &w->spec->options.graph;
    size_t rows = job->buffer->batch.rows;
    int64_t *starts =
        batch_part_make(w->spec, job, g->nodes, APL_PART_STARTS, APL_I64, (int64_t)rows + 1, -1);
    if (!starts)
        return fail_nomem(err);
    starts[0] = 0;
    for (size_t k = 0; k < rows; k++)
        starts[k + 1] = starts[k] + values_length(w, job, g->nodes, k);
    int64_t *graphs = batch_part_make(w->spec, job, g->nodes, APL_PART_GRAPHS, APL_I64, starts[rows], -1);
    if (!graphs)
        return fail_nomem(err);
    for (size_t k = 0; k < rows; k++)
        for (int64_t i = starts[k]; i < starts[k + 1]; i++)
            graphs[i] = (int64_t)k;
    return APL_OK;
}

apl_status graph_finish(const struct worker *w, struct job *job, apl_error *err)
{
    const struct graph *g = &w->spec->options.graph;
    if (g->noded)
        TRY(check_lengths_alike(w, job, APL_COLLATE_NODES, g->nodes, err));
    if (g->indexed)
        TRY(check_lengths_alike(w, job, APL_COLLATE_EDGES, g->index, err));
    return g->noded ? number_nodes(w, job, err) : APL_OK;
}
