/* Sized structs: older and newer callers of every call that takes one. */
#include "sized.h"

#include "apl_ingest.h"
#include "store_fixture.h"

#include <criterion/criterion.h>

TestSuite(sized, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

struct known {
    size_t size;
    uint64_t a, b;
};

struct newer {
    struct known known;
    uint64_t more[2];
};

static const struct known known_defaults = {sizeof(struct known), 10, 20};

Test(sized, shorter_ones_keep_the_defaults)
{
    struct known into = known_defaults, asked = {.a = 1, .b = 2};
    for (size_t size = 8; size <= sizeof asked; size += 8) {
        into = known_defaults;
        asked.size = size;
        OK(options_take(&into, sizeof into, &asked, "apl_known", &fx_err));
        cr_assert(into.size == sizeof into && into.a == (size > 8 ? 1 : 10) &&
                  into.b == (size > 16 ? 2 : 20));
    }
    into = known_defaults;
    OK(options_take(&into, sizeof into, NULL, "apl_known", &fx_err));
    cr_assert(into.a == 10 && into.b == 20);
}

Test(sized, longer_ones_must_not_ask_for_what_is_not_known)
{
    struct known into = known_defaults;
    struct newer asked = {{sizeof asked, 1, 2}, {0}};
    OK(options_take(&into, sizeof into, &asked, "apl_known", &fx_err));
    cr_assert(into.size == sizeof into && into.a == 1 && into.b == 2);
    asked.more[1] = 1;
    FAILS(APL_E_INVALID, options_take(&into, sizeof into, &asked, "apl_known", &fx_err));
    SAYS("apl_known: of a newer version (40 bytes, where this library has 24)");
}

Test(sized, sizes_that_nobody_has_set)
{
    static const size_t sizes[] = {0, 1, 7, 9, 23, 65544, SIZE_MAX, (size_t)1 << 63};
    struct known into = known_defaults;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct known asked = {sizes[i], 1, 2};
        FAILS(APL_E_INVALID, options_take(&into, sizeof into, &asked, "apl_known", &fx_err));
        SAYS("apl_known: size is not set: start from APL_KNOWN_INIT");
        FAILS(APL_E_INVALID, options_take_from(&into, sizeof into, &asked, 0, "apl_known", &fx_err));
    }
    cr_assert(into.a == 10 && into.b == 20);
}

Test(sized, arrays_of_newer_and_older_ones)
{
    struct newer newer[3] = {{{sizeof *newer, 1, 2}, {0}}, {{sizeof *newer, 3, 4}, {0}}, {{8, 5, 6}, {0}}};
    uint64_t older[4] = {16, 7, 16, 8};
    struct known into = known_defaults;
    OK(options_take_from(&into, sizeof into, newer, 1, "apl_known", &fx_err));
    cr_assert(into.a == 3 && into.b == 4);
    FAILS(APL_E_INVALID, options_take_from(&into, sizeof into, newer, 2, "apl_known", &fx_err));
    into = known_defaults;
    OK(options_take_from(&into, sizeof into, older, 1, "apl_known", &fx_err));
    cr_assert(into.a == 8 && into.b == 20);
}

Test(sized, what_is_handed_out)
{
    uint64_t room[5] = {9, 9, 9, 9, 9};
    struct known from = known_defaults;
    options_give(room, 16, &from, sizeof from);
    cr_assert(room[0] == 24 && room[1] == 10 && room[2] == 9);
    options_give(room, sizeof room, &from, sizeof from);
    cr_assert(room[2] == 20 && room[3] == 0 && room[4] == 0);
}

/* ------------------------------------------------------------------------------------------ the public calls */

/* Options in room for more: what a newer caller has. */
struct room {
    _Alignas(16) uint8_t bytes[2048];
};

static const void *sized(struct room *room, const void *options, size_t known, size_t size, bool asks)
{
    memset(room, 0, sizeof *room);
    memcpy(room->bytes, options, known < size ? known : size);
    memcpy(room->bytes, &size, sizeof size);
    if (asks)
        room->bytes[size - 1] = 1;
    return room->bytes;
}

static struct fx_recipe one_member(void)
{
    static const struct fx_member members[] = {{"a", "train", 0, 40}};
    return (struct fx_recipe){fx_fields, COUNT(fx_fields), members, COUNT(members)};
}

static apl_store *a_store(void)
{
    static apl_store *s;
    struct fx_recipe recipe = one_member();
    if (!s) {
        fx_make(fx_path("db"), &recipe, NULL);
        s = fx_open(fx_path("db"));
    }
    return s;
}

static apl_status open_store(const void *options)
{
    apl_store *s = NULL;
    a_store();
    apl_status status = apl_store_open(fx_path("db"), options, &s, &fx_err);
    apl_store_close(s);
    return status;
}

static apl_status get(const void *options)
{
    apl_batch *b = NULL;
    apl_status status = apl_store_get_batch(a_store(), (uint64_t[]){3}, 1, options, &b, &fx_err);
    apl_batch_release(b);
    return status;
}

static apl_status verify(const void *options)
{
    return apl_store_verify(a_store(), options, &fx_err);
}

static apl_status open_writer(const void *options)
{
    static int n;
    char name[16];
    apl_writer *w = NULL;
    snprintf(name, sizeof name, "w%d", n++);
    apl_status status = apl_writer_open(fx_path(name), options, &w, &fx_err);
    apl_writer_close(w);
    return status;
}

/* A split without a name is refused, in words of its own. */
static apl_status make_split(const void *options)
{
    apl_status status = apl_split_make(a_store(), options, &fx_err);
    return status == APL_E_INVALID && strstr(fx_err.message, "needs a name") ? APL_OK : status;
}

static apl_status open_reader(const apl_reader_options *options)
{
    apl_reader *r = NULL;
    apl_status status = apl_reader_open(a_store(), options, &r, &fx_err);
    apl_reader_close(r);
    return status;
}

static apl_status read_as_asked(const void *options)
{
    return open_reader(options);
}

static apl_status sample(const void *sampling)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.sampling = sampling;
    return open_reader(&o);
}

static apl_status transform(const void *transform)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    struct room room;
    o.transforms = transform;
    o.transform_count = 1;
    TRY(open_reader(&o));
    memcpy(&room, transform, sizeof room);
    return apl_transform_complete(a_store(), NULL, (apl_transform *)(void *)room.bytes, &fx_err);
}

/* A source without a store is refused, in words of its own. */
static apl_status mix(const void *source)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.mix.sources = source;
    o.mix.count = 1;
    apl_status status = open_reader(&o);
    return status == APL_E_INVALID && strstr(fx_err.message, "mix.sources[0].store is NULL") ? APL_OK
                                                                                             : status;
}

/* The parts of a reader's options: what is reserved in them is a later version's. */
Test(sized, reserved_members_of_a_part)
{
    for (unsigned i = 0; i < 3; i++) {
        static const char *const parts[] = {"ranks", "mix", "faults"};
        apl_reader_options o = APL_READER_OPTIONS_INIT;
        o.ranks.reserved[1] = i == 0;
        o.mix.reserved[2] = i == 1;
        o.faults.reserved[4] = i == 2;
        FAILS(APL_E_INVALID, open_reader(&o));
        SAYS(parts[i]);
        SAYS(".reserved is not 0: of a newer version");
    }
}

/* There is nothing to ingest, of which is said what is said when the options have been taken. */
static apl_status ingest(const void *options)
{
    apl_status status = apl_ingest(fx_path("nothing"), fx_path("ingested"), options, NULL, &fx_err);
    return status == APL_E_INVALID ? status : APL_OK;
}

static apl_status ingest_writing(const void *writer)
{
    apl_ingest_options o = APL_INGEST_OPTIONS_INIT;
    o.writer = writer;
    return ingest(&o);
}

static const apl_store_options store_options = APL_STORE_OPTIONS_INIT;
static const apl_get_options get_options = APL_GET_OPTIONS_INIT;
static const apl_verify_options verify_options = APL_VERIFY_OPTIONS_INIT;
static const apl_writer_options writer_options = APL_WRITER_OPTIONS_INIT;
static const apl_split_options split_options = APL_SPLIT_OPTIONS_INIT;
static const apl_reader_options reader_options = APL_READER_OPTIONS_INIT;
static const apl_sampling sampling = APL_SAMPLING_INIT;
static const apl_transform picture = APL_TRANSFORM_INIT;
static const apl_source source = APL_SOURCE_INIT;
static const apl_ingest_options ingest_options = APL_INGEST_OPTIONS_INIT;

static const struct {
    const char *name;
    const void *options;
    size_t size;
    apl_status (*call)(const void *options);
} calls[] = {
    {"apl_store_options", &store_options, sizeof store_options, open_store},
    {"apl_get_options", &get_options, sizeof get_options, get},
    {"apl_verify_options", &verify_options, sizeof verify_options, verify},
    {"apl_writer_options", &writer_options, sizeof writer_options, open_writer},
    {"apl_split_options", &split_options, sizeof split_options, make_split},
    {"apl_reader_options", &reader_options, sizeof reader_options, read_as_asked},
    {"apl_sampling", &sampling, sizeof sampling, sample},
    {"apl_transform", &picture, sizeof picture, transform},
    {"apl_source", &source, sizeof source, mix},
    {"apl_ingest_options", &ingest_options, sizeof ingest_options, ingest},
    {"apl_writer_options", &writer_options, sizeof writer_options, ingest_writing},
};

Test(sized, every_struct_of_options)
{
    struct room room;
    for (size_t i = 0; i < COUNT(calls); i++) {
        size_t size = calls[i].size;
        for (size_t shorter = 8; shorter <= size; shorter += 8)
            OK(calls[i].call(sized(&room, calls[i].options, size, shorter, false)));
        OK(calls[i].call(sized(&room, calls[i].options, size, size + 64, false)));
        FAILS(APL_E_INVALID, calls[i].call(sized(&room, calls[i].options, size, size + 64, true)));
        SAYS("of a newer version");
        SAYS(calls[i].name);
        FAILS(APL_E_INVALID, calls[i].call(sized(&room, calls[i].options, size, size - 1, false)));
        SAYS("size is not set");
        SAYS(calls[i].name);
    }
}

Test(sized, receipts_and_figures)
{
    apl_reader *r = NULL;
    struct room room;
    OK(apl_reader_open(a_store(), NULL, &r, &fx_err));
    for (size_t size = 8; size <= 512; size += 8) {
        memset(&room, 77, sizeof room);
        OK(apl_reader_receipt(r, (apl_receipt *)(void *)room.bytes, size, &fx_err));
        cr_assert_eq(room.bytes[size], 77);
        cr_assert(size <= sizeof(apl_receipt) || room.bytes[size - 1] == 0);
        memset(&room, 77, sizeof room);
        cr_assert_eq(apl_reader_stats(r, (apl_stats *)(void *)room.bytes, size), APL_OK);
        cr_assert_eq(room.bytes[size], 77);
        cr_assert(size <= sizeof(apl_stats) || room.bytes[size - 1] == 0);
    }
    apl_reader_close(r);
}

/* Of a size that has not been set, nothing is believed: not even the struct that it stands beside is touched. */
Test(sized, figures_of_no_size)
{
    static const size_t sizes[] = {0, ((size_t)1 << 16) + 1, SIZE_MAX, (size_t)1 << 63};
    apl_reader *r = NULL;
    struct room room, before;
    apl_stats *stats = (apl_stats *)(void *)room.bytes;
    apl_receipt *receipt = (apl_receipt *)(void *)room.bytes;
    apl_measured measured = {stats, "train", "db", "train"};
    apl_bottleneck what;
    char text[64];
    OK(apl_reader_open(a_store(), NULL, &r, &fx_err));
    memset(&room, 0, sizeof room);
    before = room;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        cr_assert_eq(apl_reader_stats(r, stats, sizes[i]), APL_E_INVALID);
        FAILS(APL_E_INVALID, apl_reader_receipt(r, receipt, sizes[i], &fx_err));
        SAYS("apl_reader_receipt: size is ");
        FAILS(APL_E_INVALID, apl_reader_receipt_of(r, 0, receipt, sizes[i], &fx_err));
        SAYS("apl_reader_receipt_of: size is ");
        cr_assert_eq(apl_stats_json_all(stats, sizes[i], text, sizeof text), 0);
        cr_assert_eq(apl_stats_explain(stats, NULL, sizes[i], &what, text, sizeof text), 0);
        cr_assert_eq(apl_stats_metrics(&measured, 1, sizes[i], APL_METRICS_PROMETHEUS, text, sizeof text), 0);
        cr_assert(memcmp(&room, &before, sizeof room) == 0);
    }
    apl_reader_close(r);
}
