/* Which fields are read late: see late_fields.h. */
#include "late_fields.h"

#include "mix.h"

bool late_is(const struct spec *spec, uint32_t index, unsigned field)
{
    return spec->options.windows.length == 0 && mix_keeps(mix_source_of(spec, index), field);
}

bool late_is_any(const struct spec *spec, unsigned field)
{
    for (uint32_t i = 0; i < spec->sources.count && spec->options.windows.length == 0; i++)
        if (mix_keeps(&spec->sources.source[i], field))
            return true;
    return false;
}

uint64_t late_bytes(const struct spec *spec)
{
    for (uint32_t i = 0; i < spec->sources.count; i++)
        if (spec->sources.source[i].store->pinned)
            return KEPT_LISTED_BYTES + KEPT_DIGEST_BYTES;
    return KEPT_LISTED_BYTES;
}
