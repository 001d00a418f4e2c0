/* The manifest as bytes: there and back, and bytes that are not what was written. */
#include "hash.h"
#include "kind_text.h"
#include "manifest.h"
#include "records.h"

#define HEAD 24u

static void add_split(struct manifest *m, const char *name, uint64_t count)
{
    m->splits = realloc(m->splits, (m->split_count + 1) * sizeof *m->splits);
    uint64_t first =
        m->split_count ? m->splits[m->split_count - 1].first + m->splits[m->split_count - 1].count : 0;
    m->splits[m->split_count++] = (struct split){.name = strdup(name), .first = first, .count = count};
}

static void add_member(struct manifest *m, const char *name, uint32_t split, uint32_t number, uint64_t count)
{
    m->members = realloc(m->members, (m->member_count + 1) * sizeof *m->members);
    struct member *last = m->member_count ? &m->members[m->member_count - 1] : NULL;
    m->members[m->member_count++] =
        (struct member){strdup(name), split, number, last ? last->first + last->count : 0, count};
}

static void add_segment(struct manifest *m, uint32_t number, uint64_t count)
{
    m->segments = realloc(m->segments, (m->segment_count + 1) * sizeof *m->segments);
    struct segment *last = m->segment_count ? &m->segments[m->segment_count - 1] : NULL;
    m->segments[m->segment_count++] = (struct segment){
        .number = number, .first_id = last ? last->first_id + last->count : 0, .count = count};
}

static void fill_statistics(struct manifest *m)
{
    apl_error err;
    for (uint32_t s = 0; s < m->split_count; s++)
        for (unsigned f = 0; f < m->schema.count; f++) {
            cr_assert_eq(manifest_new_summary(&m->schema, &m->splits[s], f, &err), APL_OK);
            for (unsigned c = 0; split_summary(&m->splits[s], f).moments && c < 3; c++)
                split_summary(&m->splits[s], f).moments[c] =
                    (struct moments){1000 + s, 100 * s + c, (uint64_t)c << 40};
            for (unsigned c = 0; split_summary(&m->splits[s], f).classes && c < 2; c++)
                split_summary(&m->splits[s], f).classes[c] = 10 * s + c;
        }
}

static void add_kinds(struct schema *schema)
{
    const apl_kind image = {.id = APL_KIND_IMAGE, .origin = APL_GUESSED, .form = APL_FORM_CHW},
                   boxes = {.id = APL_KIND_BOXES, .origin = APL_DECLARED, .of = "image"},
                   masks = {.id = APL_KIND_MASK,
                            .origin = APL_FROM_SOURCE,
                            .of = "image",
                            .per = "boxes",
                            .parameters = "ignore=65535"};
    apl_error err;
    cr_assert_eq(schema_set_kind(schema, 0, &image, &err), APL_OK, "%s", err.message);
    cr_assert_eq(schema_set_kind(schema, 3, &boxes, &err), APL_OK, "%s", err.message);
    cr_assert_eq(schema_set_kind(schema, 4, &masks, &err), APL_OK, "%s", err.message);
}

/* A manifest that has something of everything. */
static void make_whole(struct manifest *m)
{
    apl_error err;
    const char *const names[] = {"cat", "caf\xc3\xa9"};
    *m = (struct manifest){.tool = strdup("apldata 0.1.0"), .source_format = strdup("cifar-10-binary")};
    add_every_kind(&m->schema);
    cr_assert_eq(schema_set_classes(&m->schema, 1, names, NULL, 2, &err), APL_OK);
    add_kinds(&m->schema);
    for (unsigned f = 0; f < m->schema.count; f++) {
        m->schema.choices[f] = (struct codec_choice){(uint8_t)(f % CODEC_COUNT), (int8_t)(-128 + 40 * f)};
        m->schema.fields[f].raw_bytes = 1000 * f + 1;
        m->schema.fields[f].stored_bytes = (uint64_t)f << 33;
        memset(m->schema.fields[f].digest, (int)(0x30 + f), 32);
    }
    add_split(m, "train", 70);
    add_split(m, "nothing", 0);
    add_split(m, "test", 30);
    add_member(m, "data_batch_1.bin", 0, 3, 40);
    add_member(m, "data_batch_2.bin", 0, 4, 30);
    add_member(m, "empty.bin", 2, 8, 0);
    add_member(m, "test_batch.bin", 2, 9, 30);
    add_segment(m, 0, 70);
    add_segment(m, 2, 30);
    m->info =
        (apl_info){.records = 100, .block_records = 16, .shuffled = 1, .shuffle_seed = 0x123456789abcdefu};
    m->info.has_source_digest = 1;
    memset(m->info.source_digest, 0xab, 32);
    memset(m->info.content_digest, 0xcd, 32);
    fill_statistics(m);
    cr_assert_eq(manifest_finish(m, &err), APL_OK, "%s", err.message);
}

static void make_coded(struct buffer *coded)
{
    struct manifest m;
    apl_error err;
    make_whole(&m);
    cr_assert_eq(manifest_encode(&m, coded, &err), APL_OK);
    manifest_free(&m);
}

/* ---------------------------------------------------------------------------------------- there and back */

static void expect_schema(const struct schema *a, const struct schema *b)
{
    cr_assert_eq(a->count, b->count);
    for (unsigned f = 0; f < a->count; f++) {
        const apl_field *x = &a->fields[f], *y = &b->fields[f];
        cr_assert_str_eq(x->name, y->name);
        cr_assert(x->dtype == y->dtype && x->role == y->role && x->ndim == y->ndim);
        cr_assert(memcmp(x->shape, y->shape, sizeof x->shape) == 0 && x->value_bytes == y->value_bytes);
        cr_assert(x->raw_bytes == y->raw_bytes && x->stored_bytes == y->stored_bytes);
        cr_assert(memcmp(x->digest, y->digest, 32) == 0);
        cr_assert(a->choices[f].id == b->choices[f].id && a->choices[f].level == b->choices[f].level);
        cr_assert(strcmp(y->codec, codec_name(a->choices[f].id)) == 0 && y->level == a->choices[f].level);
        cr_assert_eq(x->class_count, y->class_count);
        for (uint64_t i = 0; i < x->class_count; i++)
            cr_assert_str_eq(x->classes[i], y->classes[i]);
        cr_assert(!x->kind == !y->kind && kind_agrees(x->kind, y->kind));
        cr_assert(!x->kind || x->kind->origin == y->kind->origin);
    }
}

static void expect_splits(const struct manifest *a, const struct manifest *b)
{
    cr_assert_eq(a->split_count, b->split_count);
    for (uint32_t s = 0; s < a->split_count; s++) {
        cr_assert_str_eq(a->splits[s].name, b->splits[s].name);
        cr_assert(a->splits[s].first == b->splits[s].first && a->splits[s].count == b->splits[s].count);
        for (unsigned f = 0; f < a->schema.count; f++) {
            const apl_field *field = &a->schema.fields[f];
            struct summary x = split_summary(&a->splits[s], f), y = split_summary(&b->splits[s], f);
            cr_assert(!x.classes == !y.classes && !x.moments == !y.moments);
            cr_assert(!x.classes || memcmp(x.classes, y.classes, 8 * field->class_count) == 0);
            cr_assert(!x.moments || memcmp(x.moments, y.moments, 24 * field_channels(field)) == 0);
        }
    }
}

static void expect_lists(const struct manifest *a, const struct manifest *b)
{
    cr_assert(a->member_count == b->member_count && a->segment_count == b->segment_count);
    for (uint32_t i = 0; i < a->member_count; i++) {
        const struct member *x = &a->members[i], *y = &b->members[i];
        cr_assert_str_eq(x->name, y->name);
        cr_assert(x->split == y->split && x->number == y->number && x->first == y->first &&
                  x->count == y->count);
    }
    for (uint32_t i = 0; i < a->segment_count; i++) {
        const struct segment *x = &a->segments[i], *y = &b->segments[i];
        cr_assert(x->number == y->number && x->first_id == y->first_id && x->count == y->count &&
                  x->first_block == y->first_block);
    }
}

static void expect_info(const apl_info *a, const apl_info *b)
{
    cr_assert(a->records == b->records && a->block_records == b->block_records && a->blocks == b->blocks);
    cr_assert(a->fields == b->fields && a->splits == b->splits && a->members == b->members);
    cr_assert(a->raw_bytes == b->raw_bytes && a->shuffled == b->shuffled &&
              a->shuffle_seed == b->shuffle_seed);
    cr_assert_str_eq(a->tool, b->tool);
    cr_assert_str_eq(a->source_format, b->source_format);
    cr_assert(a->has_source_digest == b->has_source_digest &&
              memcmp(a->source_digest, b->source_digest, 32) == 0);
    cr_assert(memcmp(a->content_digest, b->content_digest, 32) == 0);
}

Test(manifest_code, round_trip_of_everything)
{
    struct manifest m, got;
    struct buffer coded = {0}, again = {0};
    apl_error err;
    make_whole(&m);
    cr_assert_eq(m.info.blocks, 3 + 2 + 2);
    cr_assert_eq(manifest_encode(&m, &coded, &err), APL_OK);
    cr_assert_eq(manifest_decode(coded.data, coded.size, &got, &err), APL_OK, "%s", err.message);
    expect_info(&m.info, &got.info);
    cr_assert(got.info.format_major == FORMAT_MAJOR && got.info.format_minor == FORMAT_MINOR);
    expect_schema(&m.schema, &got.schema);
    expect_splits(&m, &got);
    expect_lists(&m, &got);
    cr_assert_eq(manifest_encode(&got, &again, &err), APL_OK);
    cr_assert(again.size == coded.size && memcmp(again.data, coded.data, coded.size) == 0);
    manifest_free(&m);
    manifest_free(&got);
    buffer_free(&coded);
    buffer_free(&again);
}

Test(manifest_code, round_trip_of_next_to_nothing)
{
    struct manifest m = {.info = {.block_records = 1}}, got;
    struct buffer coded = {0};
    apl_error err;
    add_field(&m.schema, "x", APL_U8, APL_INPUT, 0, NULL);
    cr_assert_eq(manifest_finish(&m, &err), APL_OK);
    cr_assert_eq(manifest_encode(&m, &coded, &err), APL_OK);
    cr_assert_eq(manifest_decode(coded.data, coded.size, &got, &err), APL_OK, "%s", err.message);
    expect_info(&m.info, &got.info);
    cr_assert(got.info.records == 0 && got.info.blocks == 0 && got.info.tool[0] == 0);
    manifest_free(&m);
    manifest_free(&got);
    buffer_free(&coded);
}

/* ------------------------------------------------------------------------------------------------- damage */

/* Decodes a copy of just that size; what comes out, if anything, is used and written again. */
static apl_status decode(const uint8_t *bytes, size_t size, apl_error *err)
{
    struct manifest m;
    struct buffer again = {0};
    uint8_t *copy = malloc(size + !size);
    memcpy(copy, bytes, size);
    apl_status status = manifest_decode(copy, size, &m, err);
    free(copy);
    if (status != APL_OK) {
        cr_assert(!m.splits && !m.members && !m.segments && !m.tool && !m.schema.count, "all is freed");
        return status;
    }
    uint64_t first;
    uint32_t count;
    for (uint64_t id = 0; id < m.info.records && id < 200; id++) {
        cr_assert(manifest_split_of(&m, id) < m.split_count);
        manifest_block_ids(&m, manifest_block_of(&m, id), &first, &count);
        cr_assert(first <= id && id - first < count);
    }
    cr_assert_eq(manifest_encode(&m, &again, NULL), APL_OK);
    buffer_free(&again);
    manifest_free(&m);
    return APL_OK;
}

/* Makes size and checksum right again, as a hostile writer would. */
static apl_status decode_repaired(uint8_t *bytes, size_t size, apl_error *err)
{
    store_le(bytes + 8, size, 8);
    store_le(bytes + 16, hash_xxh3_64(bytes + HEAD, size - HEAD), 8);
    return decode(bytes, size, err);
}

Test(manifest_code, every_truncation_and_flip_is_an_error)
{
    struct buffer b = {0};
    apl_error err;
    make_coded(&b);
    for (size_t size = 0; size < b.size; size++)
        cr_assert_eq(decode(b.data, size, &err), APL_E_CORRUPT, "%zu bytes", size);
    for (size_t bit = 0; bit < b.size * 8; bit++) {
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        bool major = bit / 8 == 4 || bit / 8 == 5, minor = bit / 8 == 6 || bit / 8 == 7;
        cr_assert_eq(decode(b.data, b.size, &err),
                     major   ? APL_E_VERSION
                     : minor ? APL_OK
                             : APL_E_CORRUPT,
                     "bit %zu of byte %zu", bit % 8, bit / 8);
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    buffer_put(&b, "", 1);
    cr_assert_eq(decode(b.data, b.size, &err), APL_E_CORRUPT);
    buffer_free(&b);
}

Test(manifest_code, every_byte_changed_under_a_right_checksum)
{
    static const uint8_t masks[] = {1, 2, 4, 8, 16, 32, 64, 128, 255, 0x7f};
    struct buffer b = {0};
    apl_error err;
    make_coded(&b);
    for (size_t i = HEAD; i < b.size; i++)
        for (size_t m = 0; m < sizeof masks; m++) {
            b.data[i] ^= masks[m];
            apl_status status = decode_repaired(b.data, b.size, &err);
            cr_assert(status == APL_OK || status == APL_E_CORRUPT || status == APL_E_VERSION, "byte %zu: %s",
                      i, err.message);
            b.data[i] ^= masks[m];
        }
    cr_assert_eq(decode_repaired(b.data, b.size, &err), APL_OK);
    for (size_t size = HEAD; size < b.size; size++)
        (void)!decode_repaired(b.data, size, &err);
    buffer_free(&b);
}

Test(manifest_code, random_changes_under_a_right_checksum)
{
    struct buffer b = {0}, copy = {0};
    apl_error err;
    uint32_t state = 20240607;
    make_coded(&b);
    for (int round = 0; round < 4000; round++) {
        copy.size = 0;
        buffer_put(&copy, b.data, b.size);
        for (uint32_t n = 1 + sample_random(&state) % 4; n > 0; n--)
            copy.data[HEAD + sample_random(&state) % (b.size - HEAD)] = (uint8_t)sample_random(&state);
        (void)!decode_repaired(copy.data, copy.size, &err);
    }
    buffer_free(&b);
    buffer_free(&copy);
}

/* ------------------------------------------------------------------------------------------- crafted entries */

enum {
    STORE = 1,
    TOOL,
    SOURCE,
    FIELD,
    CLASSES,
    SPLIT,
    MEMBER,
    SEGMENT,
    MOMENTS,
    CLASS_COUNTS,
    KEPT,
    SKIPPED,
    INDEXED,
    IMAGES = 15,
    PROGRESSIVE,
    PRODUCTS
};

static void put_entry(struct buffer *b, unsigned tag, unsigned flags, const void *payload, size_t size)
{
    buffer_le(b, tag, 2);
    buffer_le(b, flags, 2);
    buffer_le(b, size, 4);
    buffer_put(b, payload, size);
}

static apl_status decode_with(unsigned tag, unsigned flags, const void *payload, size_t size, apl_error *err)
{
    struct buffer b = {0};
    make_coded(&b);
    put_entry(&b, tag, flags, payload, size);
    apl_status status = decode_repaired(b.data, b.size, err);
    buffer_free(&b);
    return status;
}

Test(manifest_code, entries_that_are_not_known)
{
    apl_error err;
    cr_assert_eq(decode_with(99, 0, "what?", 5, &err), APL_OK);
    cr_assert_eq(decode_with(99, 0xfffe, "", 0, &err), APL_OK);
    cr_assert_eq(decode_with(0, 0, "", 0, &err), APL_OK);
    cr_assert_eq(decode_with(65535, 0, "", 0, &err), APL_OK);
    cr_assert_eq(decode_with(99, 1, "what?", 5, &err), APL_E_VERSION);
    cr_assert_not_null(strstr(err.message, "entry 99"), "%s", err.message);
}

Test(manifest_code, another_major_version)
{
    struct buffer b = {0};
    apl_error err;
    make_coded(&b);
    store_le(b.data + 4, 2, 2);
    store_le(b.data + 6, 7, 2);
    cr_assert_eq(decode(b.data, b.size, &err), APL_E_VERSION);
    cr_assert_not_null(strstr(err.message, "format version 2.7"), "%s", err.message);
    cr_assert_eq(decode(b.data, HEAD, &err), APL_E_VERSION, "whatever else that version changes");
    store_le(b.data + 4, 1, 2);
    cr_assert_eq(decode(b.data, b.size, &err), APL_OK, "a minor version is no matter");
    buffer_free(&b);
}

Test(manifest_code, entries_that_say_nonsense)
{
    static const struct {
        unsigned tag;
        size_t size;
        char payload[33];
    } cases[] = {{TOOL, 1, "\1"},
                 {TOOL, 3, "\1\0\n"},
                 {TOOL, 4, "\3\0ab"},
                 {SOURCE, 12, "\0"},
                 {FIELD, 3, "\1\0z"},
                 {CLASSES, 8, "\1\0\0\0\0\0\0\0"},
                 {CLASSES, 11, "\100\0\0\0\1\0\0\0\1\0z"},
                 {CLASSES, 11, "\1\0\0\0\377\377\377\377\1\0z"},
                 {SPLIT, 4, "\2\0no"},
                 {SPLIT, 18, "\0\0"},
                 {MOMENTS, 12, "\3\0\0\0\0\0\0\0\3\0\0\0"},
                 {MOMENTS, 12, "\0\0\0\0\100\0\0\0\3\0\0\0"},
                 {MOMENTS, 12, "\0\0\0\0\0\0\0\0\4\0\0\0"},
                 {MOMENTS, 12, "\0\0\0\0\1\0\0\0\0\0\0\0"},
                 {MOMENTS, 12, "\0\0\0\0\0\0\0\0\3\0\0\0"},
                 {CLASS_COUNTS, 8, "\3\0\0\0\1\0\0\0"},
                 {CLASS_COUNTS, 8, "\0\0\0\0\100\0\0\0"},
                 {CLASS_COUNTS, 23, "\0\0\0\0\1\0\0\0"},
                 {PRODUCTS, 32, "\3\0\0\0\0\0\0\0"},
                 {PRODUCTS, 32, "\0\0\0\0\100\0\0\0"},
                 {PRODUCTS, 32, "\0\0\0\0\0\0\0\0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        apl_error err;
        cr_assert_eq(decode_with(cases[i].tag, 0, cases[i].payload, cases[i].size, &err), APL_E_CORRUPT,
                     "case %zu", i);
        cr_assert_not_null(strstr(err.message, "the manifest is damaged: "));
    }
}

/* Fewer are listed, if they are many; never more. */
Test(manifest_code, as_many_files_are_skipped_as_are_listed)
{
    apl_error err;
    cr_assert_eq(decode_with(SKIPPED, 0, "\1\0\0\0\0\0\0\0\1\0\0\0\1\0a\1\0b", 18, &err), APL_OK);
    cr_assert_eq(decode_with(SKIPPED, 0, "\2\0\0\0\0\0\0\0\1\0\0\0\1\0a\1\0b", 18, &err), APL_OK);
    cr_assert_eq(decode_with(SKIPPED, 0, "\0\0\0\0\0\0\0\0\1\0\0\0\1\0a\1\0b", 18, &err), APL_E_CORRUPT);
}

Test(manifest_code, moments_are_of_as_many_channels_as_there_are)
{
    struct schema s = {0};
    apl_error err;
    add_every_kind(&s);
    for (uint8_t f = 0; f < s.count; f++)
        for (uint8_t channels = 1; channels <= 4; channels++) {
            const uint8_t entry[12 + 96] = {[4] = f, [8] = channels};
            cr_assert_eq(decode_with(MOMENTS, 0, entry, sizeof entry, &err),
                         channels == field_channels(&s.fields[f]) ? APL_OK : APL_E_CORRUPT, "field %u", f);
        }
    schema_free(&s);
}

/* A store of ten images: of any size, or of JPEG files of which five are indexed; with one entry more. */
static apl_status decode_images_with(bool indexed, unsigned tag, const struct buffer *entry, apl_error *err)
{
    struct manifest m = {.tool = strdup("tool"), .source_format = strdup("none")};
    struct buffer b = {0};
    if (indexed) {
        add_field(&m.schema, "image", APL_U8, APL_INPUT, SHAPE_OF(-1));
        cr_assert_eq(schema_set_media(&m.schema, 0, "image/jpeg", 10, err), APL_OK);
        m.schema.indexed[0] = true;
        m.schema.fields[0].indexed = 5;
    } else
        add_field(&m.schema, "image", APL_U8, APL_INPUT, SHAPE_OF(-1, -1, -1));
    add_split(&m, "train", 10);
    add_member(&m, "all", 0, 0, 10);
    add_segment(&m, 0, 10);
    m.info = (apl_info){.records = 10, .block_records = 16};
    cr_assert_eq(manifest_finish(&m, err), APL_OK, "%s", err->message);
    cr_assert_eq(manifest_encode(&m, &b, err), APL_OK);
    put_entry(&b, tag, 1, entry->data, entry->size);
    apl_status status = decode_repaired(b.data, b.size, err);
    buffer_free(&b);
    manifest_free(&m);
    return status;
}

/* Sums over more images than have pixels, or than there are. */
Test(manifest_code, sums_are_over_images)
{
    static const struct {
        uint32_t split, field, kind;
        uint64_t images, pixels;
        apl_status status;
    } cases[] = {{0, 0, COLOURS_RGB, 1, 1, APL_OK},          {0, 0, COLOURS_RGB, 10, 10, APL_OK},
                 {0, 0, COLOURS_RGB, 10, 9, APL_E_CORRUPT},  {0, 0, COLOURS_RGB, 0, 9, APL_E_CORRUPT},
                 {0, 0, COLOURS_RGB, 11, 99, APL_E_CORRUPT}, {0, 0, COLOURS_YCC, 10, 99, APL_E_CORRUPT},
                 {1, 0, COLOURS_RGB, 10, 99, APL_E_CORRUPT}, {0, 1, COLOURS_RGB, 10, 99, APL_E_CORRUPT}};
    static const char sums[72];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer entry = {0};
        apl_error err;
        buffer_le(&entry, cases[i].split, 4);
        buffer_le(&entry, cases[i].field, 4);
        buffer_le(&entry, cases[i].kind, 4);
        buffer_le(&entry, cases[i].images, 8);
        buffer_le(&entry, cases[i].pixels, 8);
        buffer_put(&entry, sums, sizeof sums);
        cr_assert_eq(decode_images_with(false, IMAGES, &entry, &err), cases[i].status, "case %zu", i);
        buffer_free(&entry);
    }
}

/* Of the values of a kept field, some are indexed, and of those, some are of progressive files. */
Test(manifest_code, progressive_files_are_of_those_indexed)
{
    for (uint64_t progressive = 0; progressive <= 6; progressive++) {
        struct buffer entry = {0};
        apl_error err;
        buffer_le(&entry, 0, 4);
        buffer_le(&entry, progressive, 8);
        cr_assert_eq(decode_images_with(true, PROGRESSIVE, &entry, &err),
                     progressive >= 1 && progressive <= 5 ? APL_OK : APL_E_CORRUPT, "%llu",
                     (unsigned long long)progressive);
        buffer_free(&entry);
    }
}

/* Class names that come again, in another number than there are counts for. */
Test(manifest_code, class_names_come_once)
{
    struct buffer b = {0}, names = {0}, counts = {0};
    apl_error err;
    make_coded(&b);
    buffer_le(&names, 1, 4);
    buffer_le(&names, 100, 4);
    buffer_le(&counts, 0, 4);
    buffer_le(&counts, 1, 4);
    for (int i = 0; i < 100; i++) {
        buffer_put(&names, "\1\0z", 3);
        buffer_le(&counts, 7, 8);
    }
    put_entry(&b, CLASSES, 0, names.data, names.size);
    put_entry(&b, CLASS_COUNTS, 0, counts.data, counts.size);
    cr_assert_eq(decode_repaired(b.data, b.size, &err), APL_E_CORRUPT);
    buffer_free(&b);
    buffer_free(&names);
    buffer_free(&counts);
}

/* A later version may say more in an entry: what is behind is not read. */
Test(manifest_code, entries_may_be_longer)
{
    struct buffer b = {0}, longer = {0};
    apl_error err;
    make_coded(&b);
    buffer_put(&longer, b.data, HEAD);
    for (size_t at = HEAD; at < b.size;) {
        size_t size = (size_t)load_le(b.data + at + 4, 4);
        struct buffer payload = {0};
        buffer_put(&payload, b.data + at + 8, size);
        buffer_put(&payload, "and this is more", 16);
        put_entry(&longer, (unsigned)load_le(b.data + at, 2), (unsigned)load_le(b.data + at + 2, 2),
                  payload.data, payload.size);
        buffer_free(&payload);
        at += 8 + size;
    }
    cr_assert_eq(decode_repaired(longer.data, longer.size, &err), APL_OK, "%s", err.message);
    buffer_free(&b);
    buffer_free(&longer);
}

Test(manifest_code, lists_are_bounded)
{
    struct buffer b = {0};
    apl_error err;
    uint8_t segment[20] = {0};
    make_coded(&b);
    for (uint32_t i = 0; i <= MANIFEST_MAX_LIST; i++)
        put_entry(&b, SEGMENT, 1, segment, sizeof segment);
    cr_assert_eq(decode_repaired(b.data, b.size, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "a list is too long"), "%s", err.message);
    buffer_free(&b);
}
