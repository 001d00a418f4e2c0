/* Fields and the sizes of their values. */
#ifndef SCHEMA_H
#define SCHEMA_H

#include "codec.h"
#include "colours.h"
#include "status.h"

#include <stdbool.h>

/* The fields of a store, in order. Owns all strings and arrays that its fields point to. */
struct schema {
    unsigned count;
    apl_field fields[APL_MAX_FIELDS];
    struct codec_choice choices[APL_MAX_FIELDS]; /* how new blocks code them */
    bool indexed[APL_MAX_FIELDS];                /* kept fields whose values may be indexed */
    uint64_t progressive[APL_MAX_FIELDS]; /* values that are indexed, and were progressive JPEG files */
};

void schema_free(struct schema *schema);

/* Appends a field after checking it; copies the name. */
apl_status schema_add(struct schema *schema, const char *name, size_t name_length, apl_dtype dtype,
                      apl_role role, unsigned ndim, const int64_t *shape, apl_error *err);

/* Gives a field `count` class names, copied; `names[i]` has `lengths[i]` bytes (lengths NULL:
 * NUL-terminated). */
apl_status schema_set_classes(struct schema *schema, unsigned field, const char *const *names,
                              const size_t *lengths, uint64_t count, apl_error *err);

/* Makes a field kept: its values are files of that media type, of `length` bytes; copied. */
apl_status schema_set_media(struct schema *schema, unsigned field, const char *media, size_t length,
                            apl_error *err);

/* Says what a field is (copied), or, with APL_KIND_NONE, that nobody has. APL_E_INVALID: the kind is none, or its type and shape do not
 * have it; the message begins with the field. */
apl_status schema_set_kind(struct schema *schema, unsigned field, const apl_kind *kind, apl_error *err);

/* Are the fields there that kinds name, and are they what these take them for? Once all fields are there. APL_E_INVALID, the same. */
apl_status schema_check_kinds(const struct schema *schema, apl_error *err);

/* The codec of a kept field's columns: CODEC_KEPT or CODEC_INDEXED. */
unsigned schema_kept_codec(const struct schema *schema, unsigned field);

/* Are there kept fields, or fields with kinds? */
bool schema_keeps(const struct schema *schema);
bool schema_has_kinds(const struct schema *schema);

/* The same for a store that is being written, whose classes must have names of their own; stores that were written before
 * this was checked stay readable. */
apl_status schema_set_new_classes(struct schema *schema, unsigned field, const char *const *names,
                                  uint64_t count, apl_error *err);

/* The number of the field called `name`, or -1. */
int schema_find(const struct schema *schema, const char *name);

/* Is it a name: 1 ... APL_MAX_NAME bytes of UTF-8 without control characters? */
bool name_ok(const char *name, size_t length);

/* Dimensions that vary from record to record. */
unsigned field_varying(const apl_field *field);

/* Are its values lists of texts, each of as many bytes as the last dimension has, and as the longest has, the others filled up with NULs?
 * How many such fields there are. */
bool field_lists_texts(const apl_field *field);
unsigned schema_text_lists(const struct schema *schema);

/* Channels of which mean and standard deviation are kept: the first of three dimensions of a u8 field, 1 for other
 * shapes of u8, 0 for other types, for kept fields and for fields that are no inputs. */
unsigned field_channels(const apl_field *field);

/* Are sums taken over the colours of its images, by enum colours_kind: JPEG files that may be indexed, or pixels in any number of
 * channels? */
bool schema_has_colours(const struct schema *schema, unsigned f);
enum colours_kind schema_colours(const struct schema *schema, unsigned f);

/* Dtype and shape in one word, such as "u8[3,32,32]", written to and returned as `text`; a dimension that varies is
 * "*". The bytes of a text are left out: "utf8", and "utf8[*]" for lists. */
#define FIELD_TYPE_TEXT 128
const char *field_type_text(const apl_field *field, char text[FIELD_TYPE_TEXT]);

/* Bytes of a value of the shape given by `dims`, which stand in for the -1s in order; false if that is more
 * than APL_MAX_VALUE. */
bool field_value_bytes(const apl_field *field, const uint32_t *dims, size_t *bytes);

#endif
