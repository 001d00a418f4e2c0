/*
 * An ingest that makes one part of a set: the shard SET/part-0003-of-0016, and as the last part to arrive, the list.
 *
 * A shard says in its manifest, behind the tool's name, which part it is, of which run and of which data. The run is a digest of all that
 * shapes the set: the sources' names and sizes, the records of each split and the options. That of the data has what each part reads of
 * the sources before it knows its own share, and samples of other files. Shards of earlier versions have only the run, and are told by
 * that. Nothing else is kept in the directory, so there is nothing that a part that is killed could leave wrong.
 */
#ifndef PARTS_H
#define PARTS_H

#include "host.h"

/* Checks what is asked for, makes the directory of the set if need be, and makes in->db its shard. */
apl_status parts_begin(struct ingest *in, const char *set, const char *source, apl_error *err);

/* Once all records of all splits have been counted: refuses more parts than the largest split has records. */
apl_status parts_enough(const struct ingest *in, apl_error *err);

/* Opens the writer of the shard, once all records of all splits have been counted. Sets in->present and fails with APL_E_EXISTS if the
 * shard is there, of the same run. Refuses a directory with parts of another set. */
apl_status parts_writer(struct ingest *in, apl_error *err);

/* Begins the splits of which the part has no records, so that all shards have all splits. */
apl_status parts_splits(struct ingest *in, apl_error *err);

/* Of a shard that is there already: what it holds. */
apl_status parts_present(struct ingest *in, apl_ingest_summary *sum, apl_error *err);

/* Seals the list, if all shards are there and no other part has. */
apl_status parts_seal(struct ingest *in, apl_error *err);

/* Frees what it had. failed: also removes the directory of the set, if this part has made it, and nothing is in it. */
void parts_end(struct ingest *in, bool failed);

/* parts_run.c: the run and the data, in hexadecimal digits. */
#define PARTS_RUN_BYTES 17
apl_status parts_run(const struct ingest *in, char run[PARTS_RUN_BYTES], char data[PARTS_RUN_BYTES],
                     apl_error *err);

#endif
