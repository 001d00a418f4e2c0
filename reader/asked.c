/* What a caller asks of a reader: see asked.h. */
#include "asked.h"

#include "mix.h"
#include "sized.h"

#include <stdlib.h>

static apl_status take_mix(struct asked *a, apl_error *err)
{
    static const apl_source defaults = APL_SOURCE_INIT;
    const apl_source *theirs = a->options.mix;
    a->options.mix = a->mix = calloc(a->options.mix_count, sizeof *a->mix);
    if (!a->mix)
        return fail_nomem(err);
    for (size_t i = 0; i < a->options.mix_count; i++) {
        a->mix[i] = defaults;
        TRY(options_take_from(&a->mix[i], sizeof *a->mix, theirs, i, "apl_source", err));
    }
    return APL_OK;
}

apl_status asked_take(struct asked *a, const apl_reader_options *options, apl_error *err)
{
    *a = (struct asked){APL_READER_OPTIONS_INIT, APL_SAMPLING_INIT, NULL};
    TRY(options_take(&a->options, sizeof a->options, options, "apl_reader_options", err));
    TRY(options_take(&a->sampling, sizeof a->sampling, a->options.sampling, "apl_sampling", err));
    if (a->options.sampling)
        a->options.sampling = &a->sampling;
    TRY(mix_check(&a->options, err));
    return a->options.mix_count ? take_mix(a, err) : APL_OK;
}

void asked_free(struct asked *a)
{
    free(a->mix);
    a->mix = NULL;
}
