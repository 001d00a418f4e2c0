/* Which images a check compares, and what becomes of files that a decoder cannot read. */
#include "looks.h"
#include "split_fixture.h"

TestSuite(audit_looks, .init = set_up, .fini = tear_down, .timeout = 60);

#define RECORDS 70000u /* more than a decoder gets at once */

static apl_store *kept_store(const char *media, apl_role role)
{
    static const int64_t any[1] = {-1};
    apl_writer *w;
    apl_store *store;
    OK(apl_writer_open(db, NULL, &w, &err));
    OK(apl_writer_add_field(w, "x", APL_F32, APL_INPUT, 0, NULL, &err));
    OK(apl_writer_add_field(w, "image", APL_U8, role, 1, any, &err));
    OK(apl_writer_set_media(w, "image", media, &err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &err));
    for (uint32_t i = 0; i < RECORDS; i++) {
        float x = 0;
        int64_t bytes = 4;
        apl_value values[2] = {{&x, NULL}, {&i, &bytes}};
        OK(apl_writer_append(w, values, &err));
    }
    OK(apl_writer_commit(w, &err));
    apl_writer_close(w);
    OK(apl_store_open(db, NULL, &store, &err));
    return store;
}

static uint64_t asked, asked_last;
static size_t most_asked;

static bool takes(const apl_field *field)
{
    return strcmp(field->media, "image/jpeg") == 0;
}

/* One of the first thousand is damaged every hundred records; they are told backwards. */
static apl_status read_backwards(struct looks *looks, apl_store *store, unsigned field, const uint64_t *ids,
                                 size_t count, apl_error *e)
{
    static const uint8_t pixels[4] = {0, 10, 20, 30};
    static const struct image_layout layout = {2, 2, 1, 1, 1};
    cr_assert(strcmp(apl_store_field(store, field)->name, "image") == 0);
    most_asked = count > most_asked ? count : most_asked;
    for (size_t i = count; i-- > 0;) {
        char why[40];
        snprintf(why, sizeof why, "record %u is damaged", (unsigned)ids[i]);
        if (ids[i] < 1000 && ids[i] % 100 == 4)
            looks_miss(looks, ids[i], why);
        else
            looks_take(looks, ids[i], pixels, &layout);
        asked++;
    }
    asked_last = ids[count - 1];
    *e = (apl_error){.status = APL_OK};
    return APL_OK;
}

static apl_status read_nothing(struct looks *looks, apl_store *store, unsigned field, const uint64_t *ids,
                               size_t count, apl_error *e)
{
    (void)looks, (void)store, (void)field, (void)ids, (void)count;
    *e = (apl_error){.status = APL_E_IO, .message = "it fails"};
    return APL_E_IO;
}

static const struct image_decoder backwards = {takes, read_backwards}, failing = {takes, read_nothing};

Test(audit_looks, of_kept_files)
{
    apl_store *store = kept_store("image/jpeg", APL_INPUT);
    struct looks looks;
    uint8_t *wanted = calloc(RECORDS, 1);
    cr_assert_eq(looks_field(store, NULL), -1);
    cr_assert_eq(looks_field(store, &backwards), 1);
    for (uint32_t i = 0; i < RECORDS; i++)
        wanted[i] = i >= 300 && i != 65000;
    OK(looks_find(store, 1, &backwards, wanted, &looks, &err));
    cr_assert(asked == RECORDS - 301 && asked_last == RECORDS - 1 && most_asked <= 65536);
    cr_assert(looks.unread == 7 && looks.images == asked - 7 && looks.first_unread == 304);
    cr_assert_str_eq(looks.why_unread, "record 304 is damaged");
    cr_assert(!looks.is_image[0] && !looks.is_image[304] && !looks.is_image[65000] && looks.is_image[305]);
    cr_assert(looks.hashes[305].across && looks.index);
    looks_free(&looks);
    FAILS(APL_E_IO, "it fails", looks_find(store, 1, &failing, wanted, &looks, &err));
    cr_assert_null(looks.index);
    looks_free(&looks);
    free(wanted);
    apl_store_close(store);
}

Test(audit_looks, of_no_field)
{
    apl_store *store = kept_store("image/webp", APL_INPUT);
    cr_assert_eq(looks_field(store, &backwards), -1);
    apl_store_close(store);
    tear_down();
    set_up();
    store = kept_store("image/jpeg", APL_TARGET);
    cr_assert_eq(looks_field(store, &backwards), -1);
    apl_store_close(store);
}
