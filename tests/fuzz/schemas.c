#include "schemas.h"

#include "fuzz.h"

struct column {
    const char *name;
    apl_dtype dtype;
    apl_role role;
    unsigned ndim;
    int64_t shape[APL_MAX_DIMS];
};

static const struct column columns[SCHEMAS][4] = {
    {{"image", APL_U8, APL_INPUT, 3, {3, 4, 4}}, {"label", APL_U8, APL_TARGET, 0, {0}}},
    {{"grey", APL_U8, APL_INPUT, 2, {5, 3}}, {"name", APL_UTF8, APL_NAME, 1, {-1}}},
    {{"series", APL_F32, APL_INPUT, 1, {6}},
     {"count", APL_U64, APL_TARGET, 0, {0}},
     {"half", APL_F16, APL_INPUT, 1, {3}}},
    {{"track", APL_F32, APL_INPUT, 2, {-1, 3}}, {"cube", APL_I16, APL_INPUT, 3, {-1, 2, -1}}},
    {{"planes", APL_U8, APL_INPUT, 3, {4, 2, 2}},
     {"flag", APL_BOOL, APL_TARGET, 0, {0}},
     {"at", APL_U64, APL_POSITION, 0, {0}}},
};

const struct schema *fuzz_schema(unsigned number)
{
    static struct schema schemas[SCHEMAS];
    struct schema *schema = &schemas[number];
    for (unsigned i = 0; schema->count == i && i < 4 && columns[number][i].name; i++) {
        const struct column *c = &columns[number][i];
        MUST(schema_add(schema, c->name, strlen(c->name), c->dtype, c->role, c->ndim, c->shape, NULL) ==
             APL_OK);
    }
    return schema;
}
