/* Making sure of splits: are their records on the sides that the rule says? */
#include "split.h"

/* The records that the file divides: both its tables. */
static apl_status both_sides(const apl_store *store, const struct split_file *file, struct selection *parent,
                             apl_error *err)
{
    TRY(selection_open(store, file->source, parent, err));
    TRY(bitset_init(&parent->bits, parent->count, err));
    parent->records = file->records[SPLIT_PART] + file->records[SPLIT_REST];
    for (uint64_t i = 0; i < parent->count; i++)
        if (bitset_test(&file->tables[SPLIT_PART], i) || bitset_test(&file->tables[SPLIT_REST], i))
            bitset_set(&parent->bits, i);
    return APL_OK;
}

static apl_status compare(const apl_store *store, const struct split_file *is, const struct split_file *due,
                          apl_error *err)
{
    char shown[4 * SPLIT_FILE_BYTES];
    split_file_shown(is, shown);
    for (uint64_t i = 0; i < is->tables[SPLIT_PART].count; i++)
        if (bitset_test(&is->tables[SPLIT_PART], i) != bitset_test(&due->tables[SPLIT_PART], i))
            return fail_records(err,
                                fail(err, APL_E_CORRUPT, "%s/%s: record %llu is on the wrong side",
                                     store->directory_name, shown, (unsigned long long)(is->first + i)),
                                is->first + i, 1);
    return APL_OK;
}

apl_status apl_split_verify(apl_store *store, const char *name, unsigned threads, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    if (!store || !name)
        return fail(err, APL_E_INVALID, "apl_split_verify: store or name is NULL");
    struct split_file is;
    TRY(split_file_read(store, name, &is, err));
    struct split_file due = {.stratify = is.stratify,
                             .group = is.group,
                             .by = is.by,
                             .rule = is.rule,
                             .ratio = is.ratio,
                             .seed = is.seed,
                             .number = is.number,
                             .parts = is.parts,
                             .concentration = is.concentration,
                             .generation = is.generation};
    struct selection parent = {0};
    apl_status status;
    GUARD(bitset_init(&due.tables[SPLIT_PART], is.tables[SPLIT_PART].count, err));
    GUARD(both_sides(store, &is, &parent, err));
    GUARD(split_divide(store, &parent, threads, &(struct split_set){&due, 1}, NULL, err));
    GUARD(compare(store, &is, &due, err));
    GUARD(split_check_parents(store, &is, NULL, err));
out:
    due.stratify = due.group = NULL;
    split_file_free(&due);
    split_file_free(&is);
    selection_close(&parent);
    return status;
}
