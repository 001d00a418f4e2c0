/* What a store keeps of the training split of the store that its records come from: see training_figures of manifest.h. */
#include "manifest_entry.h"

#include <stdlib.h>
#include <string.h>

unsigned training_channels(const struct schema *schema, unsigned f)
{
    return schema_has_colours(schema, f) ? COLOURS : field_channels(&schema->fields[f]);
}

apl_status training_keep(const struct schema *schema, unsigned f, const struct training_figures *figures,
                         struct training_figures **kept, apl_error *err)
{
    const char *name = schema->fields[f].name;
    unsigned channels = training_channels(schema, f);
    if (channels == 0 || kept[f])
        return fail(err, APL_E_INVALID, "field %s: %s", name,
                    channels ? "its moments are kept already" : "it has no channels whose moments are kept");
    for (unsigned c = 0; c < channels; c++)
        if (!(figures[c].mean >= 0 && figures[c].mean <= 255 && figures[c].std >= 0 && figures[c].std <= 255))
            return fail(err, APL_E_INVALID,
                        "field %s: the mean and standard deviation of channel %u are not within 0 ... 255",
                        name, c);
    kept[f] = malloc(channels * sizeof *figures);
    if (!kept[f])
        return fail_nomem(err);
    memcpy(kept[f], figures, channels * sizeof *figures);
    return APL_OK;
}

/* TRAINING: field (4), channels (4), then of each channel: mean (f64), standard deviation (f64) */
void put_training(struct buffer *b, const struct manifest *m, unsigned f)
{
    unsigned channels = training_channels(&m->schema, f);
    size_t at = entry_begin(b, TAG_TRAINING, 0);
    buffer_le(b, f, 4);
    buffer_le(b, channels, 4);
    for (unsigned c = 0; c < channels; c++) {
        uint64_t mean, std;
        memcpy(&mean, &m->training[f][c].mean, sizeof mean);
        memcpy(&std, &m->training[f][c].std, sizeof std);
        buffer_le(b, mean, 8);
        buffer_le(b, std, 8);
    }
    entry_end(b, at);
}

apl_status get_training(struct cursor *c, struct manifest *m, apl_error *err)
{
    struct training_figures figures[TRAINING_CHANNELS];
    uint32_t f = cursor_u32(c), channels = cursor_u32(c);
    apl_error inner;
    if (f >= m->schema.count || channels == 0 || channels > TRAINING_CHANNELS ||
        channels != training_channels(&m->schema, f))
        return bad_manifest(err, "the moments of a training split");
    for (unsigned i = 0; i < channels; i++) {
        const uint64_t mean = cursor_u64(c), std = cursor_u64(c);
        memcpy(&figures[i].mean, &mean, sizeof mean);
        memcpy(&figures[i].std, &std, sizeof std);
    }
    apl_status status = training_keep(&m->schema, f, figures, m->training, &inner);
    return status == APL_OK || status == APL_E_NOMEM ? status : bad_manifest(err, inner.message);
}
