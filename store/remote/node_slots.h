/*
 * Requests of all processes of this user on this machine: each locks a slot, a byte of the file apldata-requests in $XDG_RUNTIME_DIR, as long
 * as it is in flight. The lock ends with the process, whatever ends that. Callers hold a lock of their own.
 */
#ifndef NODE_SLOTS_H
#define NODE_SLOTS_H

#define NODE_SLOTS   1024u /* of each server */
#define NODE_SERVERS 64u

/* A slot below `most`; or one of these. */
enum {
    SLOTS_UNKNOWN = -1,
    SLOTS_TAKEN = -2
}; /* unknown: there is no such file, and each process is on its own */
int node_slot_take(unsigned server, unsigned most);

/* Also of what is no slot. */
void node_slot_give(unsigned server, int slot);

/* In a child after fork(), which has no slots. */
void node_slots_forked(void);

#endif
