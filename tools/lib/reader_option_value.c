/* What a reader's options take: see reader_option.h. */
#include "args.h"
#include "reader_option.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_number(void *to, size_t bytes, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (bytes == sizeof value)
        memcpy(to, &value, sizeof value);
    else
        memcpy(to, &narrow, sizeof narrow);
}

/* A decimal number above zero. */
static bool parse_real(const char *text, double *value)
{
    char *end;
    if (!*text || strspn(text, "0123456789.") != strlen(text))
        return false;
    double v = strtod(text, &end);
    if (*end || !(v > 0) || v > 1e15)
        return false;
    *value = v;
    return true;
}

/* "0.5:1.5"; one number is both. */
static bool parse_range(const char *text, double bounds[2])
{
    char *end;
    if (strspn(text, "0123456789.:-") != strlen(text))
        return false;
    bounds[0] = bounds[1] = strtod(text, &end);
    bool ok = end > text;
    if (ok && *end == ':') {
        const char *more = end + 1;
        bounds[1] = strtod(more, &end);
        ok = end > more;
    }
    return ok && !*end;
}

static bool parse_crop(const char *text, const struct reader_option *o, unsigned *out)
{
    char height[16];
    const char *by = strchr(text, 'x');
    uint64_t h, w;
    if (!by || (size_t)(by - text) >= sizeof height)
        return false;
    memcpy(height, text, (size_t)(by - text));
    height[by - text] = 0;
    if (!parse_number(height, o->min, o->max, &h) || !parse_number(by + 1, o->min, o->max, &w))
        return false;
    out[0] = (unsigned)h; /* crop_height, */
    out[1] = (unsigned)w; /* and crop_width beside it */
    return true;
}
_Static_assert(offsetof(apl_transform, crop_width) == offsetof(apl_transform, crop_height) + sizeof(unsigned),
               "the crop's width comes after its height");

/* What is wrong with a kind is said once it is misused. */
static bool parse_kind(const char *text, apl_error *err)
{
    char field[APL_MAX_NAME + 1];
    apl_kind kind;
    return apl_kind_parse(text, field, &kind, err) == APL_OK;
}

static bool parse_word(const char *text, const struct word *words, uint64_t *value)
{
    for (; words->name; words++) {
        if (strcmp(words->name, text) == 0) {
            *value = words->value;
            return true;
        }
    }
    return false;
}

bool reader_option_set(const struct reader_option *o, const char *text, struct reader_choice *choice)
{
    void *to = (char *)choice + o->offset;
    uint64_t value = 1;
    bool ok = true;
    switch (o->kind) {
    case READER_THREADS:
        value = APL_NO_THREADS;
        ok = strcmp(text, "none") == 0 || parse_number(text, o->min, o->max, &value);
        break;
    case READER_NUMBER:
        ok = parse_number(text, o->min, o->max, &value);
        break;
    case READER_SIZE:
        ok = parse_size(text, o->min, o->max, &value);
        break;
    case READER_WORD:
        ok = parse_word(text, o->words, &value);
        break;
    case READER_REAL:
        return parse_real(text, to);
    case READER_CROP:
        return parse_crop(text, o, to);
    case READER_RANGE:
        return parse_range(text, to);
    case READER_RANKS:
        return rank_args_take(to, text);
    case READER_TEXT:
        memcpy(to, &text, sizeof text);
        return *text != 0;
    case READER_KINDS:
        return parse_kind(text, NULL);
    case READER_FIELDS:   /* put together from all items */
    case READER_REPEATED: /* see reader_args_items() */
        return *text != 0;
    case READER_FLAG:
        break;
    }
    if (ok)
        put_number(to, o->bytes, value);
    return ok;
}

/* ------------------------------------------------------------------------------------ what is wrong */

static const char *words_text(const struct word *words)
{
    char text[128] = "";
    for (size_t used = 0; words->name; words++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 !used           ? ""
                                 : words[1].name ? ", "
                                                 : " or ",
                                 words->name);
    return shown(text);
}

int reader_option_misuse(const struct reader_option *o, const char *item)
{
    const char *name = o->name;
    unsigned long long min = o->min, max = o->max;
    struct rank_args ranks;
    apl_error err;
    switch (o->kind) {
    case READER_KINDS:
        return parse_kind(item, &err) ? 0 : misuse("--%s %s", name, err.message);
    case READER_WORD:
        return misuse("--%s is %s, not '%s'", name, words_text(o->words), shown(item));
    case READER_THREADS:
        return misuse("--%s is 'none' or a number from %llu to %llu, not '%s'", name, min, max, shown(item));
    case READER_SIZE:
        return misuse("--%s is a number of bytes, perhaps with K, M, G or T behind it, not '%s'", name,
                      shown(item));
    case READER_REAL:
        return misuse("--%s is a number above 0, not '%s'", name, shown(item));
    case READER_CROP:
        return misuse("--%s is HEIGHTxWIDTH, such as 32x32, not '%s'", name, shown(item));
    case READER_RANKS:
        rank_args_take(&ranks, item);
        return misuse("--%s%s", name, ranks.wrong);
    case READER_RANGE:
        return misuse("--%s is MIN:MAX, such as 0.5:1.5, not '%s'", name, shown(item));
    case READER_TEXT:
    case READER_FIELDS:
        return misuse("--%s needs a name", name);
    case READER_REPEATED:
        return misuse("--%s is empty", name);
    default:
        break;
    }
    if (max == UINT64_MAX)
        return misuse("--%s is a number from %llu, not '%s'", name, min, shown(item));
    return misuse("--%s is a number from %llu to %llu, not '%s'", name, min, max, shown(item));
}
