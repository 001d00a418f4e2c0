/*
 * Temporary files and folders of exports that were killed. An export locks the folder that it writes into, together with others that do;
 * the first of them, who is alone there, removes what no living one owns, on this machine or another.
 */
#ifndef LEFTOVERS_H
#define LEFTOVERS_H

/* Removes what is left in the folder, unless another export is at work there, and keeps others from doing that. A descriptor that holds
 * the lock until it is closed, or -1: the folder, or its file system, cannot be locked, and nothing is removed. */
int leftovers_clear(const char *folder);

#endif
