/*
 * Bins without locks: what bins.h offers, in one array of numbered cells, that any number of threads fill and draw from at once. No
 * thread waits for another: where one is stopped in the middle of a call, the others go on.
 *
 * A put reserves tickets at the tail and fills their cells; a draw first claims records from a count of what has been put, then takes
 * as many tickets at the head by one fetch-add. Of free order the randomness is in the put: a record changes places with one that
 * stands anywhere between head and tail, itself included, drawn uniformly. What stands is so at any time in a uniformly random
 * order, and its first is as likely to be any of it: there is no array to search, and no bin to choose in proportion.
 *
 * A draw that meets a cell whose put is still under way marks it and takes a ticket more; the put, finding the mark, does so too. A
 * claim stands for a record that lies at the head or beyond, as an exchange never leaves a cell without one: the draw finds it.
 */
#ifndef TICKETS_H
#define TICKETS_H

#include "random.h"
#include "status.h"

#include <stdbool.h>

struct tickets;

/* in_order: what is put comes out in the order in which it was put; one thread at a time may put then. */
apl_status tickets_new(bool in_order, struct tickets **tickets, apl_error *err);
void tickets_free(struct tickets *tickets);

/* Empties it and changes its key. No other call may be under way. */
void tickets_begin(struct tickets *tickets, struct random_key draws);

/* Puts n deliveries. False: out of memory; nothing was put, unless draws passed it by: what was put then is drawn. */
bool tickets_put(struct tickets *tickets, const uint32_t *deliveries, uint32_t n);

/* Draws n deliveries, or all that are left if that is fewer; none, if fewer than `least` are left. Returns how many. Where they are in
 * order, *position is how many had been drawn before these; may be NULL. */
size_t tickets_draw(struct tickets *tickets, uint32_t *deliveries, size_t least, size_t n,
                    uint64_t *position);

/* What stands now, and is not claimed. */
uint64_t tickets_standing(struct tickets *tickets);

/* Bytes that the cells take up. */
uint64_t tickets_bytes(struct tickets *tickets);

#endif
