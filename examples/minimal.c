/* Reads the training images of a store twice, each time newly shuffled, shifted and flipped: minimal DB */
#include <apl.h>
#include <stdio.h>
#include <stdlib.h>

static apl_error err;

static void must(apl_status status)
{
    if (status != APL_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    apl_store *store;
    apl_reader *reader;
    apl_batch *batch;
    apl_status status;
    apl_transform augment = APL_TRANSFORM_INIT; /* of the images, u8[3][32][32]: pad, crop, flip, normalise */
    augment.pad = 4;
    augment.crop_height = augment.crop_width = 32;
    augment.flip = APL_FLIP_RANDOM;
    augment.scale = APL_SCALE_NORMALISE;
    augment.dtype = APL_F32;
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    options.split = "train";
    options.batch_size = 512;
    options.seed = 1;
    options.transforms = &augment;
    options.transform_count = 1;
    must(apl_store_open(argc == 2 ? argv[1] : "db", NULL, &store, &err));
    must(apl_reader_open(store, &options, &reader, &err));
    for (int epoch = 0; epoch < 2; epoch++, must(apl_reader_next_epoch(reader, &err))) {
        size_t images = 0;
        double sum = 0;
        while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
            const float *pixels = apl_batch_column(batch, 0)->data; /* [rows][3][32][32]; column 1: labels */
            const size_t rows = apl_batch_rows(batch);
            for (size_t i = 0; i < rows * 3 * 32 * 32; i++)
                sum += pixels[i];
            images += rows;
            apl_batch_release(batch);
        }
        must(status == APL_END ? APL_OK : status);
        printf("epoch %d: %zu images, mean %.3f\n", epoch, images, sum / (double)images / (3 * 32 * 32));
    }
    apl_reader_close(reader);
    apl_store_close(store);
    return 0;
}
