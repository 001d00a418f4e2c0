/*
 * Which readers are open, so that a call can tell whether its reader still is before it touches it: a reader is closed while
 * other threads are inside its calls, or about to be. Each has a handle in a table whose memory is never given back; the handle
 * counts who holds the reader, and the last who releases it frees it. Without locks: a child of fork() can use the table
 * whatever the parent's threads were doing.
 */
#ifndef HANDLES_H
#define HANDLES_H

#include "apl.h"

#include <stdbool.h>

struct handle;

/* Lists a reader, held once by whoever opened it; destroy(reader) will free it. NULL: out of memory. */
struct handle *handles_add(apl_reader *reader, void (*destroy)(apl_reader *reader));

/* Holds the reader, and tells its handle, if it is listed; else NULL, and `reader` is not looked at: it may be memory that was
 * freed. (If another reader lies there by now, it is that one. A caller whom this could befall has broken the rules.) */
struct handle *handles_hold(const apl_reader *reader);

/* Holds it once more: for who holds it already. */
void handles_hold_again(struct handle *handle);

/* Releases it. */
void handles_drop(struct handle *handle);

/* Takes it off the list, for whoever holds it: handles_hold() no longer finds it. False: another thread has done so. */
bool handles_withdraw(struct handle *handle);

#endif
