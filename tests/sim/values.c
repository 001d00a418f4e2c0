/* The stores, and what their records hold: see run.h. The thread sanitizer watches what this reads of batches, and nothing else here. */
#include "run.h"

#include "stress/reader_case.h"

static struct case_store stores[STORES];

void stores_write(void)
{
    case_begin();
    alarm(0);
    case_doing = "checking a batch";
    for (unsigned i = 0; i < STORES; i++) {
        const struct shape *shape = &shapes[i];
        char *name = malloc(16);
        HOLDS(name);
        snprintf(name, 16, "store%u", i);
        stores[i] =
            (struct case_store){name, shape->records, shape->first, shape->block, 2, shape->named, ""};
        (shape->kept ? case_write_kept : case_write)(&stores[i], case_folder);
    }
}

void stores_remove(void)
{
    for (unsigned i = 0; i < STORES; i++)
        free((void *)stores[i].name);
    case_end("simulate");
}

apl_store *store_open(const struct scenario *s, unsigned number)
{
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    apl_store *store;
    apl_error err;
    o.io = s->read ? APL_IO_READ : APL_IO_MAP;
    sim_sound(true);
    if (apl_store_open(stores[number].path, &o, &store, &err) != APL_OK)
        sim_fail("%s", err.message);
    sim_sound(false);
    return store;
}

static void check_row(const struct case_store *c, uint64_t id, const apl_batch *batch, size_t k)
{
    const apl_column *image = apl_batch_column(batch, 0), *name = apl_batch_column(batch, 2);
    size_t bytes = (size_t)3 * c->side * c->side;
    HOLDS(id >= c->first && id < c->first + c->records);
    for (size_t i = 0; i < bytes; i++)
        HOLDS(((const uint8_t *)image->data)[k * bytes + i] == case_pixel(id, i));
    HOLDS(((const uint8_t *)apl_batch_column(batch, 1)->data)[k] == id * 7 % 10);
    if (!c->named)
        return;
    char text[64];
    size_t length = case_name(id, text);
    HOLDS(name->offsets[k + 1] - name->offsets[k] == length && name->shapes[k] == (int64_t)length);
    HOLDS(memcmp((const char *)name->data + name->offsets[k], text, length) == 0);
}

void check_values(const struct run *t, const apl_batch *batch)
{
    const struct case_store *own = &stores[t->scenario.store];
    for (size_t k = 0; k < apl_batch_rows(batch); k++) {
        uint64_t id = apl_batch_ids(batch)[k], all = own->first + own->records;
        check_row(id < all ? own : &stores[t->scenario.other], id < all ? id : id - all, batch, k);
    }
}
