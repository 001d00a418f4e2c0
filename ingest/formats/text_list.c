/* From a list of strings to rows of bytes: see text_list.h. */
#include "text_list.h"

/* The bytes of the longest; -1: some element is no text, or has a NUL in it. */
static int64_t longest_of(const json_t *list)
{
    size_t longest = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *text = json_array_get(list, i);
        size_t length = json_string_length(text);
        if (!json_is_string(text) || memchr(json_string_value(text), 0, length))
            return -1;
        longest = length > longest ? length : longest;
    }
    return (int64_t)longest;
}

static apl_status put_texts(const json_t *list, struct buffer *out, int64_t shape[2], apl_error *err)
{
    size_t count = json_array_size(list), longest = (size_t)shape[1];
    if (longest > 0 && count > APL_MAX_VALUE / longest)
        return fail(err, APL_E_SOURCE, "has texts that take more than the %u bytes of a value",
                    APL_MAX_VALUE);
    if (!buffer_reserve(out, count * longest))
        return fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const json_t *text = json_array_get(list, i);
        size_t length = json_string_length(text);
        memcpy(out->data + out->size, json_string_value(text), length);
        memset(out->data + out->size + length, 0, longest - length);
        out->size += longest;
    }
    return APL_OK;
}

apl_status text_list_put(const struct cell *cell, struct buffer *out, int64_t shape[2], apl_error *err)
{
    json_t *list = cell->length > 0 ? json_loadb(cell->text, cell->length, 0, NULL) : json_array();
    int64_t longest = json_is_array(list) ? longest_of(list) : -1;
    shape[0] = (int64_t)json_array_size(list);
    shape[1] = longest;
    apl_status status =
        longest < 0 ? fail(err, APL_E_SOURCE, "is not a list of texts") : put_texts(list, out, shape, err);
    json_decref(list);
    return status;
}
