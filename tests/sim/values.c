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
        case_write(&stores[i], case_folder);
    }
}

void stores_remove(void)
{
    for (unsigned i = 0; i < STORES; i++)
        free((void *)stores[i].name);
    case_end("simulate");
}

apl_store *store_of(const struct scenario *s)
{
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    apl_store *store;
    apl_error err;
    struct sim_faults faults = sim_faults;
    o.io = s->read ? APL_IO_READ : APL_IO_MAP;
    sim_faults = (struct sim_faults){0};
    if (apl_store_open(stores[s->store].path, &o, &store, &err) != APL_OK)
        sim_fail("%s", err.message);
    sim_faults = faults;
    return store;
}

void check_values(const struct run *t, const apl_batch *batch)
{
    case_check(&stores[t->scenario.store], batch);
}
