/* The same without bins, to tell what locks cost from what bins cost: one array and one lock, under which puts append and each draw
 * takes any of what stands, uniformly. */
#ifndef ONE_LOCK_H
#define ONE_LOCK_H

#include "random.h"
#include "status.h"

#include <stdbool.h>

struct one_lock;

apl_status one_lock_new(struct one_lock **array, apl_error *err);
void one_lock_free(struct one_lock *array);

/* As in bins.h. */
void one_lock_begin(struct one_lock *array, struct random_key draws);
bool one_lock_put(struct one_lock *array, const uint32_t *deliveries, uint32_t n);
size_t one_lock_draw(struct one_lock *array, uint32_t *deliveries, size_t n);
uint64_t one_lock_standing(struct one_lock *array);

#endif
