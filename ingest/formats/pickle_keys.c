/* The keys of a pickle, and what has been read under them. */
#include "pickle_lex.h"

#include <inttypes.h>

const struct pickle_key_rule pickle_keys[PICKLE_KEYS] = {
    [KEY_DATA] = {"data", VALUE_ARRAY, 0},
    [KEY_LABELS] = {"labels", VALUE_LABELS, 10},
    [KEY_FINE_LABELS] = {"fine_labels", VALUE_LABELS, 100},
    [KEY_COARSE_LABELS] = {"coarse_labels", VALUE_LABELS, 20},
    [KEY_FILENAMES] = {"filenames", VALUE_TEXTS, 0},
    [KEY_BATCH_LABEL] = {"batch_label", VALUE_TEXT, 0},
    [KEY_NUM_CASES] = {"num_cases_per_batch", VALUE_INT, 0},
    [KEY_NUM_VIS] = {"num_vis", VALUE_INT, 0},
    [KEY_LABEL_NAMES] = {"label_names", VALUE_TEXTS, 0},
    [KEY_FINE_LABEL_NAMES] = {"fine_label_names", VALUE_TEXTS, 0},
    [KEY_COARSE_LABEL_NAMES] = {"coarse_label_names", VALUE_TEXTS, 0},
};

bool pickle_has(const struct pickle *p, enum pickle_key key)
{
    return p->seen >> key & 1;
}

size_t pickle_count(const struct pickle *p, enum pickle_key key)
{
    return p->list[key].size / (pickle_keys[key].kind == VALUE_LABELS ? 1 : sizeof(struct text));
}

uint8_t pickle_label(const struct pickle *p, enum pickle_key key, size_t i)
{
    return p->list[key].data[i];
}

const char *pickle_text(const struct pickle *p, enum pickle_key key, size_t i, size_t *size)
{
    struct text text;
    memcpy(&text, p->list[key].data + i * sizeof text, sizeof text);
    *size = text.size;
    return text.size ? (const char *)p->texts.data + text.at : "";
}

apl_status check_counts(struct pickle *p)
{
    for (int k = 0; k < PICKLE_KEYS; k++) {
        if (!((PER_ROW & p->seen) >> k & 1))
            continue;
        size_t count = pickle_count(p, (enum pickle_key)k);
        if (count != p->rows)
            return fail(p->err, APL_E_SOURCE, "%s has %s, but data has %s", pickle_keys[k].name,
                        number_of(count, "entry", "entries"), number_of(p->rows, "row", "rows"));
    }
    return APL_OK;
}
