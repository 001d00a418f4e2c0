/* The bytes of split files: see split_file.h. */
#include "entropy.h"
#include "hash.h"
#include "split_file.h"
#include "text.h"

#define MAGIC     "APLP"
#define SUM_BYTES 8
#define LEVEL     3
#define BY_UNIT   16u /* the rule's byte is its number + so many times that of what it hashes */

enum coding { CODING_RAW = 0, CODING_ZSTD = 1 };

void split_file_free(struct split_file *f)
{
    free(f->name);
    free(f->parent);
    free(f->source);
    free(f->stratify);
    free(f->group);
    bitset_free(&f->tables[SPLIT_PART]);
    bitset_free(&f->tables[SPLIT_REST]);
    *f = (struct split_file){0};
}

/* -------------------------------------------------------------------------------------------- encoding */

static apl_status put_table(struct buffer *out, const struct bitset *bits, struct entropy *entropy,
                            apl_error *err)
{
    size_t size = bitset_bytes(bits->count), bound = entropy_bound(size), coded_size = 0;
    uint8_t *raw = malloc(size + 1), *coded = malloc(bound + 1);
    apl_status status = raw && coded ? APL_OK : fail_nomem(err);
    if (status == APL_OK) {
        bitset_store(bits, raw);
        status = entropy_encode(entropy, LEVEL, raw, size, coded, bound, &coded_size, err);
    }
    if (status == APL_OK) {
        bool pays = coded_size < size;
        buffer_le(out, pays ? CODING_ZSTD : CODING_RAW, 1);
        buffer_le(out, pays ? coded_size : size, 8);
        buffer_put(out, pays ? coded : raw, pays ? coded_size : size);
    }
    free(raw);
    free(coded);
    return status;
}

static unsigned minor_of(const struct split_file *f)
{
    return f->by != SPLIT_BY_CONTENT ? SPLIT_MINOR_BY : split_in_parts(f) ? SPLIT_MINOR_PARTS : 0;
}

static void put_head(struct buffer *out, const struct split_file *f)
{
    buffer_put(out, MAGIC, 4);
    buffer_le(out, SPLIT_MAJOR, 2);
    buffer_le(out, minor_of(f), 2);
    buffer_le(out, 0, 8); /* the size, when it is known */
    buffer_put(out, f->content, sizeof f->content);
    buffer_le(out, f->rule + BY_UNIT * f->by, 4);
    buffer_le(out, f->generation, 4);
    buffer_le(out, f->ratio, 8);
    buffer_le(out, f->seed, 8);
    buffer_le(out, f->first, 8);
    buffer_le(out, f->tables[SPLIT_PART].count, 8);
    buffer_le(out, f->records[SPLIT_PART], 8);
    buffer_le(out, f->records[SPLIT_REST], 8);
    text_put(out, f->name);
    text_put(out, f->parent);
    text_put(out, f->source);
    text_put(out, f->stratify);
    if (f->by == SPLIT_BY_GROUP)
        text_put(out, f->group);
}

static void put_tail(struct buffer *out, const struct split_file *f)
{
    if (!split_in_parts(f))
        return;
    buffer_le(out, f->number, 4);
    buffer_le(out, f->parts, 4);
    buffer_le(out, f->concentration, 8);
}

apl_status split_file_encode(const struct split_file *f, struct buffer *out, apl_error *err)
{
    struct entropy *entropy = entropy_new();
    apl_status status = entropy ? APL_OK : fail_nomem(err);
    put_head(out, f);
    for (unsigned side = 0; side < 2 && status == APL_OK; side++)
        status = put_table(out, &f->tables[side], entropy, err);
    entropy_free(entropy);
    put_tail(out, f);
    if (status == APL_OK && out->failed)
        status = fail_nomem(err);
    if (status != APL_OK)
        return status;
    store_le(out->data + 8, out->size + SUM_BYTES, 8);
    buffer_le(out, hash_xxh3_64(out->data, out->size), SUM_BYTES);
    return out->failed ? fail_nomem(err) : APL_OK;
}

/* -------------------------------------------------------------------------------------------- decoding */

static apl_status bad_split(apl_error *err, const char *what)
{
    return fail(err, APL_E_CORRUPT, "%s", what);
}

/* The store that the file is of, and the split of its source that the tables are of. */
static apl_status check_store(const struct split_file *f, uint64_t count, const struct manifest *m,
                              apl_error *err)
{
    if (memcmp(f->content, m->info.content_digest, sizeof f->content) != 0)
        return fail(err, APL_E_MISMATCH, "it was made for a store with other contents");
    for (uint32_t s = 0; s < m->split_count; s++)
        if (strcmp(m->splits[s].name, f->source) == 0 && m->splits[s].first == f->first &&
            m->splits[s].count == count)
            return APL_OK;
    return fail(err, APL_E_MISMATCH, "it was made for a store with other splits of the source");
}

static apl_status get_table(struct cursor *c, uint64_t count, struct bitset *bits, apl_error *err)
{
    uint8_t coding = cursor_u8(c);
    uint64_t bytes = cursor_u64(c);
    const uint8_t *data = bytes <= cursor_left(c) ? cursor_take(c, (size_t)bytes) : NULL;
    size_t size = bitset_bytes(count);
    if (!data || coding > CODING_ZSTD || (coding == CODING_RAW && bytes != size))
        return bad_split(err, "a bitset has the wrong length");
    TRY(bitset_init(bits, count, err));
    struct entropy *entropy = entropy_new();
    uint8_t *raw = malloc(size + 1);
    apl_status status = entropy && raw ? APL_OK : fail_nomem(err);
    if (status == APL_OK && coding == CODING_ZSTD)
        status = entropy_decode(entropy, data, (size_t)bytes, raw, size, err);
    if (status == APL_OK && !bitset_load(bits, coding == CODING_ZSTD ? raw : data))
        status = bad_split(err, "bits are set beyond the last record");
    entropy_free(entropy);
    free(raw);
    return status;
}

static apl_status get_tables(struct cursor *c, uint64_t count, struct split_file *f, apl_error *err)
{
    for (unsigned side = 0; side < 2; side++) {
        TRY(get_table(c, count, &f->tables[side], err));
        if (bitset_count(&f->tables[side]) != f->records[side])
            return bad_split(err, "its bitsets do not have as many records as its header says");
    }
    if (bitset_count_both(&f->tables[SPLIT_PART], &f->tables[SPLIT_REST]))
        return bad_split(err, "a record is marked in both tables");
    return APL_OK;
}

/* Which part of how many the file is of. */
static apl_status get_tail(struct cursor *c, struct split_file *f, apl_error *err)
{
    if (!split_in_parts(f))
        return APL_OK;
    f->number = cursor_u32(c);
    f->parts = cursor_u32(c);
    f->concentration = cursor_u64(c);
    if (f->parts < 2 || f->parts > SPLIT_MAX_PARTS || f->number >= f->parts)
        return bad_split(err, "the number of its part, or of parts, is impossible");
    bool dirichlet = f->rule == SPLIT_PARTS_DIRICHLET;
    if (dirichlet != (f->concentration != 0) || f->concentration > SPLIT_MAX_CONCENTRATION)
        return bad_split(err, "rule and concentration contradict each other");
    return APL_OK;
}

/* The field of the groups, whose name is empty without groups. */
static apl_status get_group(struct cursor *c, struct split_file *f, apl_error *err)
{
    if (f->by == SPLIT_BY_GROUP)
        return text_get_name(c, false, &f->group, err);
    f->group = strdup("");
    return f->group ? APL_OK : fail_nomem(err);
}

const uint8_t *split_file_content(const uint8_t head[SPLIT_HEAD_BYTES])
{
    return memcmp(head, MAGIC, 4) == 0 && load_le(head + 4, 2) == SPLIT_MAJOR ? head + 16 : NULL;
}

static apl_status get_file(struct cursor *c, const struct manifest *m, struct split_file *f, apl_error *err)
{
    const uint8_t *content = cursor_take(c, sizeof f->content);
    if (content)
        memcpy(f->content, content, sizeof f->content);
    unsigned rule = cursor_u8(c);
    f->rule = (enum split_rule)(rule % BY_UNIT);
    f->by = (enum split_by)(rule / BY_UNIT);
    cursor_take(c, 3);
    f->generation = cursor_u32(c);
    f->ratio = cursor_u64(c);
    f->seed = cursor_u64(c);
    f->first = cursor_u64(c);
    uint64_t count = cursor_u64(c);
    f->records[SPLIT_PART] = cursor_u64(c);
    f->records[SPLIT_REST] = cursor_u64(c);
    TRY(text_get_name(c, false, &f->name, err));
    TRY(text_get_name(c, false, &f->parent, err));
    TRY(text_get_name(c, false, &f->source, err));
    TRY(text_get_name(c, true, &f->stratify, err));
    if (f->rule < SPLIT_HASH || f->rule > SPLIT_PARTS_DIRICHLET || f->by > SPLIT_BY_GROUP)
        return fail(err, APL_E_VERSION, "it follows a rule that this library does not know");
    if (split_by_class(f) != (*f->stratify != 0))
        return bad_split(err, "rule and field contradict each other");
    TRY(get_group(c, f, err));
    TRY(check_store(f, count, m, err));
    TRY(get_tables(c, count, f, err));
    return get_tail(c, f, err);
}

apl_status split_file_decode(const uint8_t *bytes, size_t size, const struct manifest *m,
                             struct split_file *f, apl_error *err)
{
    *f = (struct split_file){0};
    if (size < 16 + SUM_BYTES || memcmp(bytes, MAGIC, 4) != 0)
        return bad_split(err, "it is not a split file");
    if (load_le(bytes + 4, 2) != SPLIT_MAJOR)
        return fail(err, APL_E_VERSION, "a split file of version %llu; this library knows version %u",
                    (unsigned long long)load_le(bytes + 4, 2), SPLIT_MAJOR);
    if (load_le(bytes + 8, 8) != size)
        return bad_split(err, "it has the wrong length");
    if (load_le(bytes + size - SUM_BYTES, SUM_BYTES) != hash_xxh3_64(bytes, size - SUM_BYTES))
        return bad_split(err, "its checksum is wrong");
    struct cursor c = cursor_over(bytes + 16, size - 16 - SUM_BYTES);
    apl_status status = get_file(&c, m, f, err);
    if (status != APL_OK)
        split_file_free(f);
    return status;
}
