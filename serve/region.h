/*
 * Memory that a server writes and a client reads: a memfd of fixed size, of which pages are taken as they are written. Once it is sealed,
 * nobody can shrink it, or map or write it but the process that made it; so a client cannot change what it is lent, nor can
 * the memory vanish under it.
 */
#ifndef REGION_H
#define REGION_H

#include "status.h"

#include <stdbool.h>
#include <stdint.h>

struct region;

/* `bytes` of it; freed by region_drop() once all that was allocated has been given back. */
apl_status region_new(uint64_t bytes, struct region **region, apl_error *err);
void region_drop(struct region *region);

int region_fd(const struct region *region);
uint64_t region_bytes(const struct region *region);

/* Where something allocated of it lies; false: it is not within, all of it. */
bool region_offset(const struct region *region, const void *memory, uint64_t bytes, uint64_t *offset);

/* As apl_allocator has it, where `user` is a region; from any thread. */
void *region_allocate(void *region, size_t bytes);
void region_deallocate(void *region, void *memory, size_t bytes);

/* Maps what is behind a descriptor that was received, which must be sealed, and `bytes` long; writable: so that pages which are
 * written are this process's own. The descriptor stays the caller's. */
apl_status region_map(int fd, uint64_t bytes, bool writable, const uint8_t **base, apl_error *err);

/* Gives up pages that this process has written: what the server writes there is seen again. */
void region_forget(const uint8_t *memory, uint64_t bytes);

/* Makes pages this process's own, with their bytes at their place: what the server writes there is not seen from then on. They are
 * writable, or not, as they were mapped. False: there is no memory for them. */
bool region_own(const uint8_t *memory, uint64_t bytes, bool writable);

#endif
