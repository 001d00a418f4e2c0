/* A graph per record, and all graphs of a batch as one. */
#ifndef GRAPH_H
#define GRAPH_H

#include "worker.h"

/* The column of a field of edge indices, which are moved by the nodes of the graphs before. */
apl_status graph_edges(struct worker *w, struct job *job, unsigned field, apl_error *err);

/* Checks that fields of nodes, and of edges, are alike in length, and makes the arrays that say where graphs begin; once all columns
 * have been made. */
apl_status graph_finish(const struct worker *w, struct job *job, apl_error *err);

#endif
