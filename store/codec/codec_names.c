/* The table of codecs: their names. */
#include "codec.h"

#include <string.h>

static const char *const names[CODEC_COUNT] = {"raw", "zstd", "shuffle", "delta", "picture"};

int codec_by_name(const char *name)
{
    for (int id = 0; id < CODEC_COUNT; id++)
        if (strcmp(name, names[id]) == 0)
            return id;
    return -1;
}

const char *codec_name(unsigned id)
{
    return id < CODEC_COUNT ? names[id] : id == CODEC_VARYING ? "varying" : NULL;
}

bool codec_exists(unsigned id)
{
    return codec_name(id) != NULL;
}
