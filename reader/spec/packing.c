/* Planning rows of tokens: see packing.h. */
#include "packing.h"

#include "delivery.h"
#include "lengths.h"

#include <stdlib.h>

#define BINS (1u << 16) /* of lengths; the last is of all that are longer */

/* At most so many deliveries have a token among any n in a row, or are empty: the shortest are counted first. */
static uint64_t most_deliveries(const struct packing *pack, uint64_t records, unsigned reuse, uint64_t n,
                                uint32_t *bins)
{
    uint64_t most = 2; /* that begin before, and end after */
    memset(bins, 0, BINS * sizeof *bins);
    for (uint64_t i = 0; i < records; i++)
        bins[pack->lengths[i] < BINS ? pack->lengths[i] : BINS - 1]++;
    most += (uint64_t)bins[0] * reuse;
    for (uint64_t length = 1, left = n; length < BINS && left >= length; length++) {
        uint64_t all = (uint64_t)bins[length] * reuse, fit = left / length, take = all < fit ? all : fit;
        most += take;
        left -= take * length;
    }
    return most;
}

apl_status packing_open(struct spec *spec, const bool *packed, apl_error *err)
{
    struct packing *pack = &spec->options.pack;
    pack->lengths = malloc(spec->subset.records * sizeof *pack->lengths);
    if (!pack->lengths)
        return fail_nomem(err);
    TRY(lengths_read(spec, pack->field, pack->lengths, err));
    for (unsigned f = 0; f < spec->schema->count; f++)
        if (packed[f] && f != pack->field)
            TRY(lengths_check_alike(spec, pack->field, pack->lengths, f, err));
    lengths_forget_unknown(pack->lengths, spec->subset.records);
    return APL_OK;
}

apl_status packing_count(struct spec *spec, apl_error *err)
{
    struct reader_options *o = &spec->options;
    struct packing *pack = &o->pack;
    const struct sampler *sampler = o->plan.sampler;
    unsigned copies = sampler ? sampler_limit(sampler) : o->plan.reuse;
    uint64_t own = o->batch_size * pack->row;
    uint32_t *bins = malloc(BINS * sizeof *bins);
    if (!bins)
        return fail_nomem(err);
    for (uint64_t i = 0; !sampler && i < spec->subset.records; i++)
        pack->tokens += (uint64_t)pack->lengths[i] * copies;
    pack->most = most_deliveries(pack, spec->subset.records, copies, own, bins);
    pack->most_of_all = most_deliveries(pack, spec->subset.records, copies, o->world * own, bins);
    free(bins);
    if (pack->tokens == 0)
        return fail(err, APL_E_INVALID, "field %s: all values are empty: there is nothing to pack",
                    spec->schema->fields[pack->field].name);
    return APL_OK;
}

void packing_free(struct packing *pack)
{
    free(pack->lengths);
}

uint64_t packing_bytes(const struct spec *spec)
{
    const struct packing *pack = &spec->options.pack;
    return pack->row ? spec->subset.records * sizeof *pack->lengths + pack->most_of_all * sizeof(uint32_t)
                     : 0;
}

uint32_t packing_tokens(const struct spec *spec, uint32_t delivery)
{
    uint32_t nth, copy, index = delivery_block(spec, delivery, &nth, &copy);
    return spec->options.pack.lengths[spec->subset.block[index].before + nth];
}
