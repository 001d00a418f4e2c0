/* Going to a place of an epoch without what is before it: counts of bins say where it is, and only its own bin is shuffled. See bins.h. */
#include "bins_parts.h"
#include "entering.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ whole */

/* Goes to the bin that has the lane's delivery `position`, counted within the lane. False: out of memory. */
static bool jump_whole(struct bins *b, unsigned l, uint64_t position)
{
    struct lane *lane = &b->lanes[l];
    uint32_t *counts = calloc(b->shape.bins, sizeof *counts), turn = 0;
    uint64_t passed = 0;
    if (!counts)
        return false;
    bins_count_lane(b, lane, counts);
    while (turn < b->shape.bins && passed + counts[turn] <= position)
        passed += counts[turn++];
    free(counts);
    lane->left -= passed;
    pthread_mutex_lock(&b->lock);
    lane->turns = lane->first = turn;
    pthread_mutex_unlock(&b->lock);
    return lane->left == 0 || bins_skip(b, l, (uint32_t)(position - passed));
}

/* ------------------------------------------------------------------------------------------------- ring */

/* What a lane comes to, by counts alone. */
struct replay {
    struct lane *lane;
    uint64_t *counts; /* of the bins that have a place */
    uint64_t turn, passed, ended;
};
#define NOT_ENDED UINT64_MAX

static uint64_t *count_at(const struct bins *b, const struct replay *p, uint64_t turn)
{
    return &p->counts[turn % b->slots];
}

/* Which bins a block's deliveries go to does not depend on which of them goes where. */
static void count_places(struct bins *b, const struct replay *p, uint32_t block)
{
    uint32_t n = bins_of_block(b, block);
    places_sorted(places_key(b->spread, 0, block), n, b->shape.bins, p->turn == 0, b->delays);
    for (uint32_t k = 0; k < n; k++)
        ++*count_at(b, p, p->turn + b->delays[k]);
}

/* As bins_enter() does it at the end. */
static void count_again(struct bins *b, const struct replay *p, uint32_t block)
{
    uint32_t n = bins_of_block(b, block), left = 0;
    uint64_t since = b->turn_of[block];
    places_sorted(places_key(b->spread, 0, block), n, b->shape.bins, since == 0, b->delays);
    for (uint32_t k = 0; k < n; k++)
        left += since + b->delays[k] > p->turn;
    places_sorted(places_key(b->end, 0, block), left, b->shape.bins, false, b->delays);
    for (uint32_t k = 0; k < left; k++)
        ++*count_at(b, p, p->turn + b->delays[k]);
}

static void count_end(struct bins *b, unsigned l, struct replay *p)
{
    p->ended = p->turn;
    for (unsigned t = 1; t <= b->shape.bins; t++)
        *count_at(b, p, p->turn + t) = 0;
    for (uint32_t i = l; i < b->subset->blocks; i += b->shape.lanes)
        if (b->turn_of[b->order[i]] + b->shape.bins > p->turn)
            count_again(b, p, b->order[i]);
}

/* Blocks enter at the turn of the replay. */
static void count_entering(struct bins *b, unsigned l, struct replay *p)
{
    struct lane *lane = p->lane;
    for (; lane->next < b->subset->blocks; lane->next += b->shape.lanes) {
        uint32_t block = b->order[lane->next], n = bins_of_block(b, block);
        if (!entering_fits(b->shape.window, lane->standing, n))
            return;
        b->turn_of[block] = p->turn;
        b->entered[b->entered_count++] = block;
        lane->standing += n;
        count_places(b, p, block);
    }
    count_end(b, l, p);
}

/* Goes on to the bin that has the lane's delivery `position`, or to the end. */
static void replay(struct bins *b, unsigned l, struct replay *p, uint64_t position)
{
    for (uint64_t all = p->lane->left;; p->turn++) {
        if (p->ended == NOT_ENDED)
            count_entering(b, l, p);
        uint64_t *count = count_at(b, p, p->turn);
        if (p->passed + *count > position || p->passed == all)
            return;
        p->passed += *count;
        p->lane->standing -= *count;
        *count = 0;
    }
}

static bool put_one(struct bin *bin, uint32_t delivery)
{
    bool ok = bin_reserve(bin, 1);
    if (ok)
        bin->deliveries[bin->count++] = delivery;
    return ok;
}

/* Of n deliveries that went to bins after `turn`, b->delays says which, puts those whose bins are still to come; the others are past. */
static bool put_rest(struct bins *b, const struct replay *p, uint64_t turn, uint32_t *deliveries, uint32_t n)
{
    uint32_t left = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t delivery = deliveries[k], delay = b->delays[k];
        if (turn + delay < p->turn && !put_one(&b->past, delivery))
            return false;
        b->delays[left] = delay;
        deliveries[left] = delivery;
        left += turn + delay >= p->turn;
    }
    return bins_put_block(b, p->lane, turn, deliveries, left);
}

/* Puts what is left of a block that has entered. */
static bool put_again(struct bins *b, const struct replay *p, uint32_t block)
{
    uint32_t n = bins_place_block(b, block), *deliveries = b->delays + n, left = 0;
    uint64_t since = b->turn_of[block];
    bins_list(b, block, deliveries);
    if (p->ended > p->turn)
        return put_rest(b, p, since, deliveries, n);
    for (uint32_t k = 0; k < n; k++) { /* what had a bin before the end, and what was spread again */
        uint32_t delivery = deliveries[k];
        bool late = since + b->delays[k] > p->ended;
        if (!late && (since + b->delays[k] < p->turn ? !put_one(&b->past, delivery)
                                                     : !put_one(bins_at(b, p->lane, p->turn), delivery)))
            return false;
        deliveries[left] = delivery;
        left += late;
    }
    places_block(places_key(b->end, 0, block), left, b->shape.bins, false, b->delays);
    return put_rest(b, p, p->ended, deliveries, left);
}

/* Puts what is left of all blocks of the lane that have entered. Those of which nothing is left are gone, and what of them is past needs
 * not be known. */
static bool put_all(struct bins *b, unsigned l, const struct replay *p)
{
    uint64_t end = p->ended < p->turn ? p->ended + b->shape.bins : 0;
    for (uint32_t i = l; i < p->lane->next && i < b->subset->blocks; i += b->shape.lanes) {
        uint32_t block = b->order[i], before = b->past.count, n = bins_of_block(b, block);
        uint64_t last = b->turn_of[block] + b->shape.bins;
        bool may_stand = last >= p->turn || (last > p->ended && end >= p->turn);
        if (may_stand && !put_again(b, p, block))
            return false;
        b->gone[block] = !may_stand || b->past.count - before == n;
        if (b->gone[block])
            b->past.count = before;
    }
    return true;
}

static bool jump_ring(struct bins *b, unsigned l, uint64_t position)
{
    struct lane *lane = &b->lanes[l];
    struct replay p = {.lane = lane, .ended = NOT_ENDED};
    if (!(p.counts = calloc(b->slots, sizeof *p.counts)))
        return false;
    replay(b, l, &p, position);
    free(p.counts);
    lane->ending = p.ended != NOT_ENDED;
    lane->left -= p.passed;
    if (!put_all(b, l, &p))
        return false;
    pthread_mutex_lock(&b->lock);
    lane->turns = p.turn;
    pthread_mutex_unlock(&b->lock);
    uint32_t rest = (uint32_t)(position - p.passed);
    if (lane->left == 0)
        return true;
    bool ok = bins_skip(b, l, rest);
    for (uint32_t i = 0; ok && i < rest; i++)
        ok = put_one(&b->past, bins_at(b, lane, p.turn)->deliveries[i]);
    return ok;
}

/* --------------------------------------------------------------------------------------------- sequence */

static bool jump_in_order(struct bins *b, uint64_t position)
{
    const struct subset *s = b->subset;
    uint64_t reuse = b->options.reuse, before = 0;
    while (b->entered_count < s->blocks && (before = s->block[b->entered_count].before * reuse) < position) {
        b->gone[b->entered_count] = before + s->block[b->entered_count].count * reuse <= position;
        b->entered[b->entered_count] = b->entered_count;
        b->entered_count++;
    }
    if (b->entered_count == 0 || b->gone[b->entered_count - 1])
        return true;
    uint32_t block = b->entered_count - 1, first = block * s->stride * (uint32_t)reuse;
    for (uint64_t i = s->block[block].before * reuse; i < position; i++)
        if (!put_one(&b->past, first++))
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------------- jumping */

/* How much each lane has of the first `position` deliveries: lanes take turns as long as they have any left. Returns which is next. */
static unsigned divide_among_lanes(const struct bins *b, uint64_t position, uint64_t *of)
{
    unsigned lanes = b->shape.lanes, next = 0;
    while (position > 0) {
        uint64_t alive = 0, least = UINT64_MAX;
        for (unsigned l = 0; l < lanes; l++) {
            uint64_t left = b->lanes[l].left - of[l];
            alive += left > 0;
            least = left > 0 && left < least ? left : least;
        }
        uint64_t rounds = position / alive < least ? position / alive : least;
        for (unsigned l = 0; l < lanes && position > 0; l++) {
            uint64_t some = b->lanes[l].left == of[l] ? 0
                            : rounds                  ? rounds
                                                      : 1; /* the last round is not whole */
            of[l] += some;
            position -= some;
            next = some && !rounds ? l + 1 : 0;
        }
    }
    return next % lanes;
}

static bool jump_lanes(struct bins *b, uint64_t position)
{
    uint64_t *of = calloc(b->shape.lanes, sizeof *of);
    bool ok = of != NULL;
    b->lane = of ? divide_among_lanes(b, position, of) : 0;
    for (unsigned l = 0; ok && l < b->shape.lanes; l++)
        if (of[l])
            ok = b->shape.whole ? jump_whole(b, l, of[l]) : jump_ring(b, l, of[l]);
    free(of);
    return ok;
}

bool bins_jump(struct bins *b, uint64_t position, bool evicts, bool *failed)
{
    *failed = false;
    if (b->options.arriving || (evicts && b->shape.whole && !b->options.sequential))
        return false;
    if (position == 0)
        return true;
    *failed = !(b->options.sequential ? jump_in_order(b, position) : jump_lanes(b, position));
    b->position = position;
    return true;
}

bool bins_is_gone(const struct bins *b, uint32_t block)
{
    return b->gone && b->gone[block];
}

uint32_t *bins_past(struct bins *b, size_t *n)
{
    uint32_t *past = b->past.deliveries;
    *n = b->past.count;
    b->past = (struct bin){0};
    return past;
}
