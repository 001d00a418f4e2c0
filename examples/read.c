/* Prints the class and mean brightness of some records of a CIFAR-10 store: read DB */
#include <apl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const uint64_t ids[] = {7, 0, 41, 7}; /* any order, repeats allowed */
    const size_t n = sizeof ids / sizeof *ids;
    apl_store *store = NULL;
    apl_batch *batch = NULL;
    apl_error err;
    if (apl_store_open(argc == 2 ? argv[1] : "db", NULL, &store, &err) != APL_OK ||
        apl_store_get_batch(store, ids, n, NULL, &batch, &err) != APL_OK) {
        fprintf(stderr, "%s\n", err.message);
        apl_store_close(store);
        return 1;
    }
    int image = apl_store_find_field(store, "image"), label = apl_store_find_field(store, "label");
    const apl_column *images = apl_batch_column(batch, (unsigned)image); /* u8[n][3][32][32] */
    const apl_column *labels = apl_batch_column(batch, (unsigned)label); /* u8[n] */
    for (size_t i = 0; images && labels && i < n; i++) {
        const size_t size = images->bytes / n;
        const uint8_t *pixels = (const uint8_t *)images->data + i * size;
        const uint8_t number = ((const uint8_t *)labels->data)[i];
        unsigned long sum = 0;
        for (size_t k = 0; k < size; k++)
            sum += pixels[k];
        printf("%llu: %s, %.1f\n", (unsigned long long)ids[i],
               apl_store_field(store, (unsigned)label)->classes[number], (double)sum / (double)size);
    }
    apl_batch_release(batch);
    apl_store_close(store);
    return 0;
}
