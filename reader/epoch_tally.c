/* The epoch that is being handed out: see epoch_tally.h. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

apl_status tally_open(struct epoch_tally *t, uint64_t deliveries, uint64_t length, apl_error *err)
{
    t->length = length;
    t->deliveries = deliveries;
    t->delivered = calloc((size_t)(deliveries / 8 + 1), 1);
    return t->delivered ? APL_OK : fail_nomem(err);
}

void tally_free(struct epoch_tally *t)
{
    free(t->delivered);
    free(t->resumed);
}

/* What the bits say must be what the position says. */
apl_status tally_resume(struct epoch_tally *t, const uint8_t *bits, size_t bytes, uint64_t epoch,
                        uint64_t position, apl_error *err)
{
    uint64_t set = 0;
    for (uint64_t i = 0; i < bytes * (uint64_t)8; i++)
        set += bits[i / 8] >> i % 8 & 1 ? i < t->length ? 1 : t->length + 1 : 0;
    if (set != position)
        return fail(err, APL_E_INVALID, "the state contradicts itself");
    t->resumed = malloc(bytes + 1);
    if (!t->resumed)
        return fail_nomem(err);
    memcpy(t->resumed, bits, bytes);
    memcpy(t->delivered, bits, bytes);
    t->resumed_epoch = epoch;
    return APL_OK;
}

void tally_begin(const apl_reader *r, struct epoch_tally *t, uint64_t epoch, uint64_t position)
{
    t->epoch = epoch;
    t->position = t->first = position;
    t->ended = options_end_epoch(&r->spec.options, t->length - position);
}

void tally_clear(struct epoch_tally *t)
{
    memset(t->delivered, 0, (size_t)(t->deliveries / 8 + 1));
    t->tally = (struct tally){0};
    t->shared = t->repeated = 0;
}

void tally_add(const apl_reader *r, struct epoch_tally *t, const struct job *job)
{
    const struct batch_buffer *buffer = job->buffer;
    const struct tally *more = &buffer->tally;
    t->tally.delivered += more->delivered;
    t->tally.skipped += more->skipped;
    t->shared += buffer->finished;
    t->tally.sum[0] += more->sum[0];
    t->tally.sum[1] += more->sum[1] + (t->tally.sum[0] < more->sum[0]);
    for (uint32_t k = 0; k < buffer->finished; k++) {
        uint32_t n = buffer->numbers[k];
        t->repeated += t->delivered[n / 8] >> n % 8 & 1;
        t->delivered[n / 8] |= (uint8_t)(1u << n % 8);
    }
    t->position = r->spec.options.free_order ? t->position + job->rows : job->end;
    t->ended = options_end_epoch(&r->spec.options, t->length - t->position);
}

/* Deliveries of this epoch whose bit is set, beyond those that a state brought along. */
static uint64_t marked(const struct epoch_tally *t)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < t->deliveries / 8 + 1; i++)
        n += (uint64_t)__builtin_popcount(t->delivered[i]);
    return n - (tally_is_resumed(t, t->epoch) ? t->first : 0);
}

void tally_receipt(const struct epoch_tally *t, apl_receipt *receipt)
{
    *receipt = (apl_receipt){.epoch = t->epoch,
                             .first = t->first,
                             .last = t->position,
                             .delivered = t->tally.delivered,
                             .skipped = t->tally.skipped,
                             .dropped = t->ended ? t->length - t->position : 0,
                             .missing = t->shared - t->repeated - marked(t),
                             .repeated = t->repeated,
                             .sum = {t->tally.sum[0], t->tally.sum[1]}};
}
