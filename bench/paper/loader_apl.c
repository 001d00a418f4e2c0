/* APL's reader. Whatever is not asked for is left at its default. */
#include "loader.h"

#include "measure.h"

struct loader {
    apl_store *store;
    apl_reader *reader;
    apl_batch *lent;
    unsigned image, label;
    apl_error err;
};

/* The images and labels of CIFAR-10, as all other loaders give them. */
static void find_fields(struct loader *l, const char *db, const char *const *names)
{
    const int image = apl_store_find_field(l->store, names[0]),
              label = apl_store_find_field(l->store, names[1]);
    const apl_field *f = image < 0 || label < 0 ? NULL : apl_store_field(l->store, (unsigned)image);
    if (!f || f->dtype != APL_U8 || f->ndim != 3 || f->shape[0] != 3 || f->shape[1] != (int64_t)PAPER_SIDE ||
        f->shape[2] != (int64_t)PAPER_SIDE)
        paper_die("%s: is no store of CIFAR-10", db);
    l->image = (unsigned)image;
    l->label = (unsigned)label;
}

static struct loader *open_apl(const struct loading *asked)
{
    static const char *const names[2] = {"image", "label"};
    struct loader *l = must_have(calloc(1, sizeof *l));
    const apl_transform transform = paper_transform(asked->augmented);
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    options.split = asked->split;
    options.fields = names;
    options.field_count = 2;
    options.batch_size = asked->batch_size;
    options.seed = asked->seed;
    options.sequential = !asked->shuffled;
    options.window = asked->shuffled ? asked->window : 0;
    options.threads = asked->ahead > 0 ? asked->ahead : APL_NO_THREADS;
    options.transforms = &transform;
    options.transform_count = 1;
    must(apl_store_open(asked->db, NULL, &l->store, &l->err), &l->err);
    find_fields(l, asked->db, names);
    must(apl_reader_open(l->store, &options, &l->reader, &l->err), &l->err);
    return l;
}

static bool next_apl(struct loader *l, struct batch *batch)
{
    if (l->lent)
        apl_batch_release(l->lent);
    l->lent = NULL;
    const apl_status status = apl_reader_next(l->reader, &l->lent, &l->err);
    if (status == APL_END) {
        must(apl_reader_next_epoch(l->reader, &l->err), &l->err);
        return false;
    }
    must(status, &l->err);
    *batch = (struct batch){apl_batch_column(l->lent, l->image)->data,
                            apl_batch_column(l->lent, l->label)->data, apl_batch_rows(l->lent)};
    return true;
}

static size_t staged_apl(const struct loader *l)
{
    (void)l;
    return 0;
}

static void close_apl(struct loader *l)
{
    if (l->lent)
        apl_batch_release(l->lent);
    apl_reader_close(l->reader);
    apl_store_close(l->store);
    free(l);
}

const struct loader_kind paper_apl = {"apl", open_apl, next_apl, staged_apl, close_apl};
