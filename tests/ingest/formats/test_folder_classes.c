/* Classes of folders as apldata-classes.json of an export names and numbers them. */
#include "ingest_fixture.h"
#include "jpegs.h"

static void set_up(void)
{
    static const char *const folders[] = {"a", "b", "c"};
    const struct jpeg_case k = {
        .width = 8, .height = 8, .colour = JCS_GRAYSCALE, .across = 1, .down = 1, .quality = 90};
    struct jpeg_bytes b = jpeg_draw(&k);
    char name[32];
    ix_set_up();
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "in/train/%s", folders[i]);
        fx_shell("mkdir -p '%s'%s", fx_path(name), "");
        snprintf(name, sizeof name, "in/train/%s/1.jpg", folders[i]);
        ix_put(name, b.data, b.size);
    }
    free(b.data);
}

TestSuite(folder_classes, .init = set_up, .fini = fx_tear_down, .timeout = 120);

static void put_list(const char *text)
{
    ix_put("in/apldata-classes.json", text, strlen(text));
}

#define LIST(dtype, named, folders)                                                          \
    "{\"format\":\"apldata-folder\",\"version\":1,\"dtype\":\"" dtype "\",\"named\":" #named \
    ",\"folders\":[" folders "]}"
#define CLASS(folder, number) "{\"folder\":\"" folder "\",\"number\":" #number "}"
#define REFUSED(words)        IX_REFUSED(APL_E_SOURCE, words, "in")

/* Those of the three folders, in their order. */
static void labels_are(apl_store *s, apl_dtype dtype, uint64_t classes, const int64_t *wanted)
{
    int i = apl_store_find_field(s, "label");
    const apl_field *f = apl_store_field(s, (unsigned)i);
    apl_batch *all = NULL;
    const uint64_t ids[] = {0, 1, 2};
    OK(apl_store_get_batch(s, ids, 3, NULL, &all, &fx_err));
    const uint8_t *data = apl_batch_column(all, (unsigned)i)->data;
    size_t size = apl_dtype_size(dtype);
    cr_assert_eq(f->dtype, dtype);
    cr_assert_eq(f->class_count, classes);
    for (size_t r = 0; r < 3; r++)
        cr_assert(memcmp(data + r * size, &wanted[r], size) == 0, "record %zu", r);
    apl_batch_release(all);
    apl_store_close(s);
}

Test(folder_classes, numbers_without_names)
{
    put_list(LIST("u8", false, CLASS("a", 3) "," CLASS("c", 255) "," CLASS("b", 7)));
    labels_are(IX_STORE("in"), APL_U8, 0, (const int64_t[]){3, 7, 255});
    cr_assert_str_empty(ix_said);
    put_list(LIST("i8", false, CLASS("a", -128) "," CLASS("b", 127) "," CLASS("c", 0)));
    labels_are(IX_STORE("in"), APL_I8, 0, (const int64_t[]){-128, 127, 0});
    put_list(LIST("i64", false, CLASS("a", -9223372036854775807) "," CLASS("b", 1) "," CLASS("c", 0)));
    labels_are(IX_STORE("in"), APL_I64, 0, (const int64_t[]){-INT64_MAX, 1, 0});
    put_list(LIST("u64", false, CLASS("a", 9223372036854775807) "," CLASS("b", 1) "," CLASS("c", 0)));
    labels_are(IX_STORE("in"), APL_U64, 0, (const int64_t[]){INT64_MAX, 1, 0});
}

Test(folder_classes, names_in_another_order)
{
    put_list(LIST("u16", true, CLASS("c", 0) "," CLASS("none", 1) "," CLASS("b", 2) "," CLASS("a", 3)));
    labels_are(IX_STORE("in"), APL_U16, 4, (const int64_t[]){3, 2, 0});
}

Test(folder_classes, lists_that_do_not_fit)
{
    put_list("[");
    REFUSED("in: apldata-classes.json: is not JSON: line 1, column 1");
    put_list("{\"dtype\":\"u8\"}");
    REFUSED("is not the list of classes of an export");
    put_list("{\"format\":\"other\",\"dtype\":\"u8\",\"folders\":[]}");
    REFUSED("is not the list of classes of an export");
    put_list("{\"format\":\"apldata-folder\",\"dtype\":\"u8\",\"version\":1}");
    REFUSED("is not the list of classes of an export");
    put_list("{\"format\":\"apldata-folder\",\"dtype\":\"u8\",\"folders\":[],\"version\":2}");
    IX_REFUSED(APL_E_UNSUPPORTED, "is not of version 1", "in");
    put_list("{\"format\":\"apldata-folder\",\"folders\":[]}");
    REFUSED("has no dtype that classes can have");
    put_list(LIST("f32", false, CLASS("a", 1)));
    REFUSED("has no dtype that classes can have");
    put_list(LIST("u8", false, CLASS("a", 1) "," CLASS("b", 2)));
    REFUSED("in: the class c is not in apldata-classes.json: without that file, classes are numbered in");
    ix_options.map = (const char *const[]){"a A", "b B", "c C"};
    ix_options.map_count = 3;
    IX_REFUSED(APL_E_INVALID, "in: has apldata-classes.json, which names the classes", "in");
}

Test(folder_classes, classes_that_cannot_be)
{
    static const char *const bad[] = {
        LIST("u8", false, CLASS("a", 256)),  LIST("u8", false, CLASS("a", -1)),
        LIST("i8", false, CLASS("a", -129)), LIST("i8", false, CLASS("a", 128)),
        LIST("u8", true, CLASS("a", 1)),     LIST("u8", false, "{\"folder\":\"a\"}"),
        LIST("u8", false, "{\"number\":1}"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_list(bad[i]);
        REFUSED("class 0 has no folder, or no number that it can have");
    }
}

Test(folder_classes, lists_in_other_places)
{
    put_list(LIST("u8", false, CLASS("a", 9) "," CLASS("b", 8) "," CLASS("c", 7)));
    fx_shell("tar --sort=name -cf '%s.tar' -C '%s' .", fx_path("in"), fx_path("in"));
    labels_are(IX_STORE("in.tar"), APL_U8, 0, (const int64_t[]){9, 8, 7});
    fx_shell("rm -r '%s'%s", ix_db, "");
    fx_shell("cp '%s/apldata-classes.json' '%s/train'", fx_path("in"), fx_path("in"));
    REFUSED("apldata-classes.json: is there twice");
    fx_shell("rm '%s/train/apldata-classes.json' && truncate -s 257M '%s/apldata-classes.json'",
             fx_path("in"), fx_path("in"));
    REFUSED("apldata-classes.json: has more than 256 MiB");
}
