/* Numbers of the C interface under their own names, so that Python repeats none of them. */
#include "core.h"

#define CONSTANT(name)      \
    {                       \
#name, (long)(name) \
    }

static const struct {
    const char *name;
    long value;
} constants[] = {
    CONSTANT(APL_MAX_DIMS),
    CONSTANT(APL_MAX_VALUE),
    CONSTANT(APL_MAX_BLOCK),
    CONSTANT(APL_MAX_NAME),
    CONSTANT(APL_MAX_CHANNELS),
    CONSTANT(APL_U8),
    CONSTANT(APL_F16),
    CONSTANT(APL_BF16),
    CONSTANT(APL_F32),
    CONSTANT(APL_INPUT),
    CONSTANT(APL_TARGET),
    CONSTANT(APL_NAME),
    CONSTANT(APL_IO_AUTO),
    CONSTANT(APL_IO_MAP),
    CONSTANT(APL_IO_READ),
    CONSTANT(APL_BY_CONTENT),
    CONSTANT(APL_BY_KEY),
    CONSTANT(APL_BY_ID),
    CONSTANT(APL_STRICT),
    CONSTANT(APL_FREE),
    CONSTANT(APL_NO_THREADS),
    CONSTANT(APL_NCHW),
    CONSTANT(APL_NHWC),
    CONSTANT(APL_PAD_ZERO),
    CONSTANT(APL_PAD_REFLECT),
    CONSTANT(APL_FLIP_NONE),
    CONSTANT(APL_FLIP_RANDOM),
    CONSTANT(APL_FLIP_ALTERNATING),
    CONSTANT(APL_SCALE_UNIT),
    CONSTANT(APL_SCALE_NORMALISE),
    CONSTANT(APL_SCALE_NONE),
    CONSTANT(APL_SIZING_NONE),
    CONSTANT(APL_SIZING_RESIZE),
    CONSTANT(APL_SIZING_RANDOM),
    CONSTANT(APL_COLLATE_RAGGED),
    CONSTANT(APL_COLLATE_PAD),
    CONSTANT(APL_PART_LENGTHS),
    CONSTANT(APL_PART_MASK),
};

int add_constants(PyObject *module)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) < 0)
            return -1;
    return 0;
}
