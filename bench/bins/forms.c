/* Forms of free order: see forms.h. */
#include "forms.h"
#include "bins.h"
#include "measure.h"
#include "one_lock.h"
#include "tickets.h"

/* -------------------------------------------------------------------------------------------- the reader's */

static void *open_bins(unsigned count)
{
    struct bins *b;
    apl_error err;
    must(bins_new(count, &b, &err), &err);
    return b;
}

static void *open_64_bins(void)
{
    return open_bins(64);
}

static void *open_1_bin(void)
{
    return open_bins(1);
}

static void close_bins(void *form)
{
    bins_free(form);
}

static void begin_bins(void *form, uint64_t seed, uint64_t epoch)
{
    bins_begin(form, random_epoch_key(seed, epoch, RANDOM_BINS), random_epoch_key(seed, epoch, RANDOM_DRAWS));
}

static bool put_bins(void *form, const uint32_t *deliveries, const uint64_t *ids, uint32_t n)
{
    return bins_put(form, deliveries, ids, n);
}

static void *bins_scratch(void *form)
{
    return must_have(bins_scratch_new(form, FORM_BATCH));
}

static void free_bins_scratch(void *scratch)
{
    bins_scratch_free(scratch);
}

static size_t draw_bins(void *form, void *scratch, uint32_t *deliveries, size_t n)
{
    return bins_draw(form, scratch, deliveries, n);
}

static uint64_t standing_bins(void *form)
{
    return bins_standing(form);
}

/* ------------------------------------------------------------------------------------------------ one lock */

static void *open_lock(void)
{
    struct one_lock *a;
    apl_error err;
    must(one_lock_new(&a, &err), &err);
    return a;
}

static void close_lock(void *form)
{
    one_lock_free(form);
}

static void begin_lock(void *form, uint64_t seed, uint64_t epoch)
{
    one_lock_begin(form, random_epoch_key(seed, epoch, RANDOM_DRAWS));
}

static bool put_lock(void *form, const uint32_t *deliveries, const uint64_t *ids, uint32_t n)
{
    (void)ids;
    return one_lock_put(form, deliveries, n);
}

static void *no_scratch(void *form)
{
    return form;
}

static void free_no_scratch(void *scratch)
{
    (void)scratch;
}

static size_t draw_lock(void *form, void *scratch, uint32_t *deliveries, size_t n)
{
    (void)scratch;
    return one_lock_draw(form, deliveries, n);
}

static uint64_t standing_lock(void *form)
{
    return one_lock_standing(form);
}

/* ----------------------------------------------------------------------------------------- without locks */

static void *open_tickets(void)
{
    struct tickets *t;
    apl_error err;
    must(tickets_new(false, &t, &err), &err);
    return t;
}

static void close_tickets(void *form)
{
    tickets_free(form);
}

static void begin_tickets(void *form, uint64_t seed, uint64_t epoch)
{
    tickets_begin(form, random_epoch_key(seed, epoch, RANDOM_DRAWS));
}

static bool put_tickets(void *form, const uint32_t *deliveries, const uint64_t *ids, uint32_t n)
{
    (void)ids;
    return tickets_put(form, deliveries, n);
}

static size_t draw_tickets(void *form, void *scratch, uint32_t *deliveries, size_t n)
{
    (void)scratch;
    return tickets_draw(form, deliveries, 0, n, NULL);
}

static uint64_t standing_tickets(void *form)
{
    return tickets_standing(form);
}

const struct free_form free_forms[FREE_FORMS] = {
    {"64 bins", open_64_bins, close_bins, begin_bins, put_bins, bins_scratch, free_bins_scratch, draw_bins,
     standing_bins},
    {"1 bin", open_1_bin, close_bins, begin_bins, put_bins, bins_scratch, free_bins_scratch, draw_bins,
     standing_bins},
    {"one lock", open_lock, close_lock, begin_lock, put_lock, no_scratch, free_no_scratch, draw_lock,
     standing_lock},
    {"tickets", open_tickets, close_tickets, begin_tickets, put_tickets, no_scratch, free_no_scratch,
     draw_tickets, standing_tickets},
};
