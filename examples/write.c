/* Makes a store of 1,000 points on a plane, labelled by their side of a line: write DB */
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

static float coordinate(void)
{
    return (float)rand() / (float)RAND_MAX;
}

int main(int argc, char **argv)
{
    const int64_t pair[] = {2};
    const char *const sides[] = {"below", "above"};
    apl_writer *writer;
    must(apl_writer_open(argc == 2 ? argv[1] : "points.db", NULL, &writer, &err));
    must(apl_writer_add_field(writer, "point", APL_F32, APL_INPUT, 1, pair, &err));
    must(apl_writer_add_field(writer, "side", APL_U8, APL_TARGET, 0, NULL, &err));
    must(apl_writer_set_classes(writer, "side", sides, 2, &err));
    must(apl_writer_begin_member(writer, "points", "train", 0, &err));
    for (int i = 0; i < 1000; i++) {
        const float point[2] = {coordinate(), coordinate()};
        const uint8_t side = point[1] > point[0];
        const apl_value values[] = {{point, NULL}, {&side, NULL}}; /* in the order of the fields */
        must(apl_writer_append(writer, values, &err));
    }
    must(apl_writer_commit(writer, &err)); /* only now does the store exist */
    apl_writer_close(writer);
    return 0;
}
