/*
 * The forms of the bins side by side, behind one interface: what tests/stress/bins_forms.c checks and bench_bins.c measures.
 *
 * Free order: records are put as blocks are loaded, and drawn in batches.
 *   64 bins   reader/order/bins.c itself, each bin and the counts under locks, with as many bins as strict order has
 *   1 bin     the same with one bin, as the reader has it: no search for the bin of a draw
 *   one lock  one array under one lock, without bins
 *   tickets   without locks
 *
 * Strict order: batches are taken from the plan, at its positions.
 *   lock      the reader's: reader/order/plan.c itself, one thread at a time
 *   tickets   the same plan, drawn ahead into tickets by any one thread, while the others take what has been drawn
 */
#ifndef FORMS_H
#define FORMS_H

#include "plan.h"

#define FORM_BATCH 4096u /* the most that is drawn at once */

struct free_form {
    const char *name;
    void *(*open)(void);
    void (*close)(void *form);
    void (*begin)(void *form, uint64_t seed, uint64_t epoch);
    bool (*put)(void *form, const uint32_t *deliveries, const uint64_t *ids, uint32_t n);
    void *(*scratch_new)(void *form); /* for one thread that draws */
    void (*scratch_free)(void *scratch);
    size_t (*draw)(void *form, void *scratch, uint32_t *deliveries, size_t n);
    uint64_t (*standing)(void *form);
};

/* The position of the batch is put into *position. The plan's epoch is over when 0 is returned. */
struct strict_form {
    const char *name;
    void *(*open)(const struct plan_options *options, const struct subset *subset);
    void (*close)(void *form);
    void (*begin)(void *form, uint64_t epoch);
    size_t (*draw)(void *form, uint32_t *deliveries, size_t n, uint64_t *position);
};

#define FREE_FORMS     4u
#define STRICT_FORMS   2u
#define READERS_FREE   1u /* which of them is the reader's */
#define READERS_STRICT 0u
extern const struct free_form free_forms[FREE_FORMS];
extern const struct strict_form strict_forms[STRICT_FORMS];

#endif
