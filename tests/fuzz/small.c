#include "small.h"

#include "fuzz.h"

static void append(apl_writer *w, unsigned id)
{
    uint8_t image[4] = {(uint8_t)id, (uint8_t)(id / 2), 3, 4}, label = (uint8_t)(id % 3);
    int64_t length = id % 4;
    apl_value values[3] = {{image, NULL}, {&label, NULL}, {"name", &length}};
    MUST(apl_writer_append(w, values, NULL) == APL_OK);
}

static void make(const char *db)
{
    static const char *const classes[3] = {"a", "b", "c"};
    const int64_t image[2] = {2, 2}, name = -1;
    apl_writer *w;
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    options.block_records = 8;
    options.threads = 1;
    MUST(apl_writer_open(db, &options, &w, NULL) == APL_OK);
    MUST(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 2, image, NULL) == APL_OK);
    MUST(apl_writer_add_field(w, "label", APL_U8, APL_TARGET, 0, NULL, NULL) == APL_OK);
    MUST(apl_writer_add_field(w, "name", APL_UTF8, APL_NAME, 1, &name, NULL) == APL_OK);
    MUST(apl_writer_set_classes(w, "label", classes, 3, NULL) == APL_OK);
    for (unsigned id = 0; id < SMALL_TRAIN + SMALL_TEST; id++) {
        if (id == 0)
            MUST(apl_writer_begin_member(w, "first", "train", 0, NULL) == APL_OK);
        if (id == SMALL_TRAIN)
            MUST(apl_writer_begin_member(w, "second", "test", 1, NULL) == APL_OK);
        append(w, id);
    }
    MUST(apl_writer_commit(w, NULL) == APL_OK);
    apl_writer_close(w);
}

apl_store *small_store(void)
{
    static apl_store *store;
    static char db[128];
    if (!store) {
        snprintf(db, sizeof db, "%s/small", fuzz_folder());
        make(db);
        MUST(apl_store_open(db, NULL, &store, NULL) == APL_OK);
    }
    return store;
}

apl_reader_options small_options(uint8_t pick)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.threads = APL_NO_THREADS;
    o.batch_size = 6;
    o.bins = 4;
    o.seed = 5;
    o.ranks.world = 1;
    o.order = pick & 1 ? APL_FREE : APL_STRICT;
    o.sequential = pick >> 1 & 1;
    o.reuse = 1 + (pick >> 2 & 1);
    o.ranks.lanes = 1 + (pick >> 3 & 1);
    o.window = pick & 16 ? 16 : 0;
    o.drop_last = pick >> 5 & 1;
    o.split = pick & 64 ? "test" : "train";
    return o;
}
