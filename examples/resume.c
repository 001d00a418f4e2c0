/* Reads the training records of a store, some batches per run, and resumes where the last run stopped: resume DB FILE */
#include <apl.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 100 }; /* per run */

static apl_error err;

static void must(apl_status status)
{
    if (status != APL_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
}

static void save(apl_reader *reader, const char *path)
{
    unsigned char state[APL_STATE_BYTES];
    size_t size = sizeof state;
    must(apl_reader_state(reader, state, &size, &err));
    FILE *file = fopen(path, "wb");
    const int bad = !file || fwrite(state, 1, size, file) != size;
    if ((file && fclose(file) != 0) || bad) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *db = argc > 1 ? argv[1] : "db", *path = argc > 2 ? argv[2] : "position";
    unsigned char state[APL_STATE_BYTES];
    apl_store *store;
    apl_reader *reader;
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    options.split = "train";
    options.seed = 1;
    FILE *file = fopen(path, "rb");
    if (file) { /* an earlier run left off here: the same store, split and seed, or the reader refuses */
        options.state = state;
        options.state_size = fread(state, 1, sizeof state, file);
        fclose(file);
    }
    must(apl_store_open(db, NULL, &store, &err));
    must(apl_reader_open(store, &options, &reader, &err));
    for (int i = 0; i < BATCHES; i++) {
        apl_batch *batch;
        apl_status status;
        while ((status = apl_reader_next(reader, &batch, &err)) == APL_END)
            must(apl_reader_next_epoch(reader, &err));
        must(status);
        if (i == 0)
            printf("epoch %llu, position %llu\n", (unsigned long long)apl_batch_epoch(batch),
                   (unsigned long long)apl_batch_position(batch));
        apl_batch_release(batch); /* train with it before this */
    }
    save(reader, path);
    apl_reader_close(reader);
    apl_store_close(store);
    return 0;
}
