/* Tables with several columns of images, and with masks: their fields, what becomes of masks, and everything that can be wrong with
 * them. */
#include "list_fixture.h"

#include <unistd.h>

/* Masks are grey, and their images colours of which red is the mask's number. */
static void put_pnm(const char *name, char kind, unsigned width, unsigned height, unsigned seed)
{
    struct buffer file = {0};
    char head[40];
    buffer_put(&file, head, (size_t)snprintf(head, sizeof head, "P%c %u %u 255\n", kind, width, height));
    for (unsigned i = 0; i < width * height; i++) {
        const uint8_t number = (uint8_t)((i % width / 4 + i / width / 3 * 5 + seed) % 21);
        buffer_put(&file, (const uint8_t[]){number, 100, 200}, kind == '6' ? 3 : 1);
    }
    ix_put_buffer(name, &file);
}

static void put_pair(unsigned k, unsigned width, unsigned height)
{
    char name[40];
    snprintf(name, sizeof name, "in/%u.ppm", k);
    put_pnm(name, '6', width, height, k);
    snprintf(name, sizeof name, "in/%u.pgm", k);
    put_pnm(name, '5', width, height, k);
}

static void put_wide(const char *name, unsigned width, unsigned height, unsigned value)
{
    struct buffer file = {0};
    char head[40];
    buffer_put(&file, head, (size_t)snprintf(head, sizeof head, "P5 %u %u 65535\n", width, height));
    for (unsigned i = 0; i < width * height; i++)
        buffer_put(&file, (const uint8_t[]){(uint8_t)(value >> 8), (uint8_t)value}, 2);
    ix_put_buffer(name, &file);
}

/* Upright by EXIF once it is turned to the right. */
static void put_turned(const char *name, unsigned width, unsigned height)
{
    static const char exif[] = "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0";
    struct jpeg_bytes bytes = jpeg_draw(&(struct jpeg_case){.width = width,
                                                            .height = height,
                                                            .colour = JCS_YCbCr,
                                                            .across = 2,
                                                            .down = 2,
                                                            .quality = 90,
                                                            .app1 = exif,
                                                            .app1_size = sizeof exif});
    ix_put(name, bytes.data, bytes.size);
    free(bytes.data);
}

static const char *const one_mask[] = {"mask"}, *const mask_kind[] = {"mask=mask"};

static void set_up(void)
{
    list_set_up();
    put_pair(0, 24, 16);
    put_pair(1, 17, 33);
    put_pair(2, 24, 16);
    ix_options.mask_columns = one_mask;
    ix_options.mask_column_count = 1;
}

TestSuite(list_images, .init = set_up, .fini = fx_tear_down, .timeout = 60);

static void refused(apl_status status, const char *words, const char *table)
{
    put_text("in/t.csv", table);
    IX_REFUSED(status, words, "in/t.csv");
}

static void expect_field(const apl_store *s, unsigned at, const char *name, apl_dtype dtype, apl_role role)
{
    const apl_field *f = apl_store_field(s, at);
    cr_assert_str_eq(f->name, name);
    cr_assert(f->dtype == dtype && f->role == role, "%s", name);
}

/* The mask of a row, whose file is that of number `k`. */
static void expect_numbers(const apl_store *s, const apl_batch *all, size_t row, unsigned k)
{
    const apl_column *mask = ix_column(s, all, "mask");
    const uint32_t *shape = ix_column(s, all, "mask_shape")->data;
    const uint8_t *is =
        (const uint8_t *)mask->data +
        (mask->offsets ? (size_t)mask->offsets[row] : row * (mask->bytes / apl_batch_rows(all)));
    unsigned height = shape[3 * row + 1], width = shape[3 * row + 2];
    cr_assert_eq(shape[3 * row], 1);
    for (unsigned i = 0; i < height * width; i++)
        cr_assert_eq(is[i], (i % width / 4 + i / width / 3 * 5 + k) % 21, "row %zu, pixel %u", row, i);
}

/* ------------------------------------------------------------------------------------------------- fields */

Test(list_images, and_masks_are_fields_like_their_columns)
{
    put_text("in/t.csv", "mask,label,photo,second\n0.pgm,cat,a.jpg,0.ppm\n1.pgm,dog,b.jpg,1.ppm\n");
    ix_options.image_column = "photo";
    ix_options.more_image_columns = (const char *const[]){"second"};
    ix_options.more_image_column_count = 1;
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const struct {
        const char *name;
        apl_dtype dtype;
        apl_role role;
    } fields[] = {{"image", APL_U8, APL_INPUT},        {"mask", APL_U8, APL_TARGET},
                  {"label", APL_U8, APL_TARGET},       {"second", APL_U8, APL_INPUT},
                  {"path", APL_UTF8, APL_NAME},        {"image_shape", APL_U32, APL_NAME},
                  {"mask_path", APL_UTF8, APL_NAME},   {"mask_shape", APL_U32, APL_NAME},
                  {"second_path", APL_UTF8, APL_NAME}, {"second_shape", APL_U32, APL_NAME}};
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
        expect_field(s, i, fields[i].name, fields[i].dtype, fields[i].role);
    cr_assert_str_eq(field_of(s, "image")->media, "image/jpeg");
    cr_assert(!field_of(s, "second")->media && field_of(s, "second")->shape[0] == -1);
    cr_assert(field_of(s, "mask")->ndim == 3 && field_of(s, "mask")->shape[1] == -1);
    cr_assert_str_eq(text_at(ix_column(s, all, "path"), 1), "b.jpg");
    cr_assert_str_eq(text_at(ix_column(s, all, "second_path"), 1), "1.ppm");
    cr_assert_str_eq(text_at(ix_column(s, all, "mask_path"), 1), "1.pgm");
    expect_numbers(s, all, 0, 0);
    expect_numbers(s, all, 1, 1);
    cr_assert_str_eq(ix_said, "");
    apl_batch_release(all);
    apl_store_close(s);
}

/* Columns of a name that would be made keep it. */
Test(list_images, leave_the_names_of_columns_alone)
{
    put_text("in/t.jsonl",
             "{\"photo\": \"a.jpg\", \"image\": \"0.ppm\", \"mask\": \"0.pgm\", \"mask_shape\": "
             "\"wide\", \"image_path\": 7}\n");
    ix_options.image_column = "photo";
    ix_options.more_image_columns = (const char *const[]){"image"};
    ix_options.more_image_column_count = 1;
    apl_store *s = IX_STORE("in/t.jsonl");
    cr_assert_str_eq(field_of(s, "photo_image")->media, "image/jpeg");
    cr_assert_eq(field_of(s, "image")->ndim, 3);
    cr_assert_eq(field_of(s, "image_path")->dtype, APL_I64);
    cr_assert(field_of(s, "mask_shape")->dtype == APL_UTF8 && field_of(s, "mask_shape")->role == APL_NAME);
    cr_assert_eq(field_of(s, "path")->dtype, APL_UTF8);
    apl_store_close(s);
}

Test(list_images, are_found_beside_masks_that_are_named)
{
    put_text("in/t.tsv", "mask\tfile\tn\n0.pgm\t0.ppm\t1\n2.pgm\t2.ppm\t2\n");
    apl_store *s = IX_STORE("in/t.tsv");
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(field_of(s, "mask")->shape[2], 24);
    cr_assert_eq(field_of(s, "image")->shape[2], 24);
    cr_assert(
        strstr(ix_said, "1 field of single numbers is plain, by default, and stays when images move: n ("),
        "%s", ix_said);
    cr_assert_eq(strchr(ix_said, '\n')[1], 0, "and nothing else: %s", ix_said);
    expect_numbers(s, all, 1, 2);
    apl_batch_release(all);
    apl_store_close(s);
}

/* Nobody says which image they belong to: they are of any size. */
Test(list_images, may_be_masks_alone)
{
    put_text("in/t.csv", "mask,n\n0.pgm,1\n1.pgm,2\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    expect_field(s, 0, "mask", APL_U8, APL_TARGET);
    expect_field(s, 2, "mask_path", APL_UTF8, APL_NAME);
    expect_numbers(s, all, 1, 1);
    apl_batch_release(all);
    apl_store_close(s);
}

/* A column called label that is one of masks is no label. */
Test(list_images, may_have_masks_called_label)
{
    put_text("in/t.csv", "image,label\n0.ppm,0.pgm\n");
    ix_options.mask_columns = (const char *const[]){"label"};
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert(field_of(s, "label")->ndim == 3 && field_of(s, "label")->class_count == 0);
    apl_store_close(s);
    put_text("in/t.csv", "label\n0.pgm\n");
    s = IX_STORE("in/t.csv");
    cr_assert_eq(field_of(s, "label")->ndim, 3);
    apl_store_close(s);
    ix_options.label_column = "label";
    cr_assert_eq(unlink(fx_path("db/data.mdb")), 0);
    rmdir(ix_db);
    refused(APL_E_INVALID, "column label cannot be both mask and label", "image,label\n0.ppm,0.pgm\n");
}

Test(list_images, of_sixteen_bits_among_eight_make_all_so)
{
    put_wide("in/wide.pgm", 24, 16, 40000);
    put_text("in/t.csv", "image,mask\n0.ppm,0.pgm\n2.ppm,wide.pgm\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const apl_field *f = field_of(s, "mask");
    const uint16_t *mask = ix_column(s, all, "mask")->data;
    cr_assert(f->dtype == APL_U16 && f->shape[0] == 1 && f->shape[1] == 16 && f->shape[2] == 24);
    for (unsigned i = 0; i < 24 * 16; i++)
        cr_assert(mask[i] == (i % 24 / 4 + i / 24 / 3 * 5) % 21 && mask[24 * 16 + i] == 40000, "%u", i);
    apl_batch_release(all);
    apl_store_close(s);
}

/* -------------------------------------------------------------------------------------------- bad columns */

Test(list_images, must_be_columns_once)
{
    static const char table[] = "image,mask,other\n0.ppm,0.pgm,2.ppm\n";
    ix_options.mask_columns = (const char *const[]){"none"};
    refused(APL_E_INVALID, "has no column none, for --mask; there are image, mask, other", table);
    ix_options.mask_columns = (const char *const[]){"mask", "mask"};
    ix_options.mask_column_count = 2;
    refused(APL_E_INVALID, "column mask is given twice, as --mask", table);
    ix_options.mask_column_count = 1;
    ix_options.image_column = "mask";
    refused(APL_E_INVALID, "column mask cannot be both image and mask", table);
    ix_options.image_column = "image";
    ix_options.more_image_columns = (const char *const[]){"image", "none"};
    ix_options.more_image_column_count = 1;
    refused(APL_E_INVALID, "column image is given twice, as --image", table);
    ix_options.more_image_columns++;
    refused(APL_E_INVALID, "has no column none, for --image", table);
    ix_options.more_image_column_count = 0;
    ix_options.column_types = (const char *const[]){"mask=utf8"};
    ix_options.column_type_count = 1;
    refused(APL_E_INVALID, "column mask is given as --mask, and has no --type", table);
    ix_options.mask_columns = NULL;
    refused(APL_E_INVALID, "mask_columns is NULL, but mask_column_count is 1", table);
}

Test(list_images, are_at_most_sixteen)
{
    static const char *const names[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8",
                                        "c9", "ca", "cb", "cc", "cd", "ce", "cf", "cg"};
    struct buffer table = {0};
    for (unsigned row = 0; row < 2; row++)
        for (unsigned i = 0; i < 17; i++) {
            const char *cell = row ? "0.pgm" : names[i];
            buffer_put(&table, cell, strlen(cell));
            buffer_put(&table, i == 16 ? "\n" : ",", 1);
        }
    ix_put_buffer("in/t.csv", &table);
    ix_options.image_column = "c0";
    ix_options.mask_columns = names + 1;
    ix_options.mask_column_count = 16;
    IX_REFUSED(APL_E_UNSUPPORTED, "more than 16 columns of images and masks", "in/t.csv");
    ix_options.mask_column_count = 15;
    ix_options.column_types = (const char *const[]){"cg=utf8"};
    ix_options.column_type_count = 1;
    apl_store *s = IX_STORE("in/t.csv");
    cr_assert_eq(apl_store_info(s)->fields, 16 * 3 + 1);
    apl_store_close(s);
}

/* ------------------------------------------------------------------------------------------------ bad cells */

Test(list_images, that_are_no_masks_are_refused)
{
    put_jpeg("in/grey.jpg", 24, 16);
    refused(APL_E_SOURCE, "t.csv: row 3: 2.ppm: is in colour, and a mask",
            "image,mask\n0.ppm,0.pgm\n2.ppm,2.ppm\n");
    refused(APL_E_SOURCE, "t.csv: row 2: grey.jpg: is a JPEG, which changes the numbers",
            "image,mask\n0.ppm,grey.jpg\n");
    refused(
        APL_E_SOURCE,
        "t.csv: row 2: 1.pgm: a mask of 17 x 33 pixels, and its image 0.ppm has 24 x 16: a mask is as large",
        "image,mask\n0.ppm,1.pgm\n");
    refused(APL_E_SOURCE, "t.csv: row 2: 0.pgm: a mask of 24 x 16 pixels, and its image b.jpg has 17 x 33",
            "image,mask\nb.jpg,0.pgm\n");
    refused(APL_E_SOURCE, "t.csv: row 2, column mask: the path is empty", "image,mask\n0.ppm,\n");
    refused(APL_E_NOTFOUND, "t.csv: row 2: none.pgm: cannot be opened: No such file",
            "image,mask\n0.ppm,none.pgm\n");
    refused(APL_E_SOURCE, "t.csv: row 2: ../0.pgm: leads out of the folder", "image,mask\n0.ppm,../0.pgm\n");
    put_text("in/text.pgm", "P5 some text that begins like one");
    refused(APL_E_CORRUPT, "t.csv: row 2: text.pgm: PGM: a damaged header", "image,mask\n0.ppm,text.pgm\n");
}

Test(list_images, that_are_bad_are_left_out_with_their_rows)
{
    ix_options.skip_bad = 3;
    put_text("in/t.csv",
             "image,mask,n\n0.ppm,2.ppm,1\n1.ppm,1.pgm,2\n2.ppm,1.pgm,3\n2.ppm,,4\n2.ppm,2.pgm,5\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const int64_t n[] = {2, 5};
    cr_assert_eq(apl_batch_rows(all), 2);
    cr_assert_arr_eq(ix_column(s, all, "n")->data, n, sizeof n);
    expect_numbers(s, all, 0, 1);
    expect_numbers(s, all, 1, 2);
    cr_assert(strstr(ix_said, "skipped t.csv: row 2: 2.ppm: is in colour"), "%s", ix_said);
    cr_assert(strstr(ix_said, "skipped t.csv: row 4: 1.pgm: a mask of"), "%s", ix_said);
    cr_assert(strstr(ix_said, "skipped t.csv: row 5, column mask: the path is empty"), "%s", ix_said);
    apl_batch_release(all);
    apl_store_close(s);
}

Test(list_images, are_reached_as_images_are)
{
    cr_assert_eq(symlink("0.pgm", fx_path("in/link.pgm")), 0);
    put_pnm("beside.pgm", '5', 24, 16, 0);
    refused(APL_E_SOURCE, "row 2: link.pgm: there is a symbolic link on the way",
            "image,mask\n0.ppm,link.pgm\n");
    ix_options.follow_links = 1;
    put_text("in/t.csv", "image,mask\n0.ppm,link.pgm\n");
    apl_store_close(IX_STORE("in/t.csv"));
    ix_options.outside = 1;
    put_text("in/t.csv", "image,mask\n0.ppm,../beside.pgm\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    expect_numbers(s, all, 0, 0);
    apl_batch_release(all);
    apl_store_close(s);
}

/* ------------------------------------------------------------------------------------- turned and resized */

Test(list_images, are_turned_with_their_masks)
{
    put_turned("in/turned.jpg", 24, 16);
    ix_options.orient = 1;
    put_text("in/t.csv", "image,mask\nturned.jpg,0.pgm\na.jpg,0.pgm\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const apl_column *mask = ix_column(s, all, "mask");
    const uint32_t *shape = ix_column(s, all, "mask_shape")->data,
                   *of = ix_column(s, all, "image_shape")->data;
    cr_assert(shape[1] == 24 && shape[2] == 16 && of[1] == 24 && of[2] == 16);
    for (unsigned y = 0; y < 24; y++)
        for (unsigned x = 0; x < 16; x++) /* what was at the bottom comes to the left */
            cr_assert_eq(((const uint8_t *)mask->data)[y * 16 + x], (y / 4 + (15 - x) / 3 * 5) % 21);
    expect_numbers(s, all, 1, 0);
    cr_assert(strstr(ix_said, "masks turned like their images: 1"), "%s", ix_said);
    apl_batch_release(all);
    apl_store_close(s);
    ix_options.orient = 0;
    put_text("in/t.csv", "image,mask\nturned.jpg,0.pgm\n");
    s = IX_STORE("in/t.csv");
    all = fx_get_all(s);
    expect_numbers(s, all, 0, 0);
    apl_batch_release(all);
    apl_store_close(s);
}

/* A mask that is upright already is told by its sides. */
Test(list_images, of_upright_masks_are_told)
{
    put_turned("in/turned.jpg", 24, 16);
    put_pnm("in/upright.pgm", '5', 16, 24, 0);
    ix_options.orient = 1;
    refused(APL_E_SOURCE, "upright.pgm: a mask of 16 x 24 pixels, and its image turned.jpg has 24 x 16",
            "image,mask\nturned.jpg,upright.pgm\n");
}

Test(list_images, are_resized_with_their_masks)
{
    ix_options.resize_width = 12;
    ix_options.resize_height = 8;
    put_text("in/t.csv", "image,mask\n0.ppm,0.pgm\nb.jpg,1.pgm\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_batch *all = fx_get_all(s);
    const uint8_t *mask = ix_column(s, all, "mask")->data;
    cr_assert(field_of(s, "mask")->shape[1] == 8 && field_of(s, "mask")->shape[2] == 12);
    for (unsigned i = 0; i < 96; i++)
        cr_assert_eq(mask[i], (2 * (i % 12) / 4 + 2 * (i / 12) / 3 * 5) % 21, "%u", i);
    cr_assert(strstr(ix_said, "masks resized, by nearest neighbour: 2"), "%s", ix_said);
    apl_batch_release(all);
    apl_store_close(s);
    ix_options.resize_width = ix_options.resize_height = 0;
    ix_options.max_side = 20;
    s = IX_STORE("in/t.csv");
    all = fx_get_all(s);
    const uint32_t *shape = ix_column(s, all, "mask_shape")->data,
                   *of = ix_column(s, all, "image_shape")->data;
    cr_assert(shape[1] == 13 && shape[2] == 20 && shape[4] == 20 && shape[5] == 10);
    cr_assert_arr_eq(shape + 1, of + 1, 2 * sizeof *shape);
    cr_assert_arr_eq(shape + 4, of + 4, 2 * sizeof *shape);
    apl_batch_release(all);
    apl_store_close(s);
}

/* ---------------------------------------------------------------------------------------------- as read */

/* Red is the mask's number, wherever the crop lies and whichever way it is flipped. */
Test(list_images, and_masks_are_cropped_and_flipped_alike)
{
    put_text("in/t.csv", "image,mask\n0.ppm,0.pgm\n1.ppm,1.pgm\n2.ppm,2.pgm\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    apl_batch *batch;
    unsigned flipped = 0;
    t.field = "image";
    t.crop_height = t.crop_width = 12;
    t.flip = APL_FLIP_RANDOM;
    t.vertical_flip_p = 0.5;
    o.kinds = mask_kind;
    o.kind_count = 1;
    o.batch_size = 3;
    o.transforms = &t;
    o.transform_count = 1;
    o.fields = (const char *const[]){"image", "mask"};
    o.field_count = 2;
    OK(apl_reader_open(s, &o, &reader, &fx_err));
    for (unsigned epoch = 0; epoch < 20; epoch++) {
        OK(apl_reader_next(reader, &batch, &fx_err));
        const uint8_t *image = apl_batch_column(batch, 0)->data, *mask = apl_batch_column(batch, 1)->data;
        for (size_t row = 0; row < 3; row++) {
            cr_assert_arr_eq(image + row * 3 * 144, mask + row * 144, 144);
            flipped += mask[row * 144] > mask[row * 144 + 11];
        }
        apl_batch_release(batch);
        OK(apl_reader_next_epoch(reader, &fx_err));
    }
    cr_assert(flipped > 5 && flipped < 55, "%u", flipped);
    apl_reader_close(reader);
    apl_store_close(s);
}

/* Of sixteen bits, and of any size. */
Test(list_images, of_wide_masks_are_read)
{
    put_wide("in/a.pgm", 24, 16, 40000);
    put_wide("in/b.pgm", 17, 33, 300);
    put_text("in/t.csv", "image,mask\na.jpg,a.pgm\nb.jpg,b.pgm\n");
    apl_store *s = IX_STORE("in/t.csv");
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    apl_batch *batch;
    t.field = "image";
    t.crop_height = t.crop_width = 12;
    o.kinds = mask_kind;
    o.kind_count = 1;
    o.batch_size = 2;
    o.sequential = 1;
    o.transforms = &t;
    o.transform_count = 1;
    OK(apl_reader_open(s, &o, &reader, &fx_err));
    OK(apl_reader_next(reader, &batch, &fx_err));
    const uint16_t *mask = apl_batch_column(batch, (unsigned)apl_store_find_field(s, "mask"))->data;
    for (unsigned i = 0; i < 144; i++)
        cr_assert(mask[i] == 40000 && mask[144 + i] == 300, "%u", i);
    apl_batch_release(batch);
    apl_reader_close(reader);
    apl_store_close(s);
}
