/* What a writer is told of values that are not in its store. */
#include "writer.h"

apl_status apl_writer_keep_moments(apl_writer *w, const char *field, const double *mean, const double *std,
                                   unsigned channels, apl_error *err)
{
    struct training_figures figures[TRAINING_CHANNELS];
    TRY(writer_ready(w, err));
    int f = schema_find(&w->schema, field);
    if (f < 0 || !mean || !std)
        return fail(err, APL_E_NOTFOUND, "%s: no such field, or no figures", w->path);
    if (channels == 0 || channels > TRAINING_CHANNELS ||
        channels != training_channels(&w->schema, (unsigned)f))
        return fail(err, APL_E_INVALID, "%s: field %s: figures of %u channels, and it has %u", w->path, field,
                    channels, training_channels(&w->schema, (unsigned)f));
    for (unsigned c = 0; c < channels; c++)
        figures[c] = (struct training_figures){mean[c], std[c]};
    return training_keep(&w->schema, (unsigned)f, figures, w->training, err);
}
