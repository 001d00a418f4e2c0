/* Dropping privileges that a command does not need, before it opens files from untrusted sources. */
#ifndef SANDBOX_H
#define SANDBOX_H

/* What a command needs. */
#define SANDBOX_URLS   1u /* to read URLs */
#define SANDBOX_SERVE  2u /* UNIX sockets, and memory to lend at them */
#define SANDBOX_LISTEN 4u /* connections are taken, never made */
#define SANDBOX_KEYS   8u /* to change how the terminal reads keys */

/*
 * From now on this process and its threads cannot start programs, use sockets (but as far as it `needs` them), gain
 * privileges, make memory executable or touch other processes: such calls fail as if the kernel did not have them. Where
 * the kernel offers no sandbox, for example under an emulator, or with APL_SANDBOX=off in the environment (for
 * debuggers), nothing changes.
 */
void sandbox_enter(unsigned needs);

/* Limits the memory that hostile input can make parsers allocate: 2 GiB of private memory, and some per thread (0: one
 * per core). Allocations beyond that fail: "out of memory". A lower limit that is set already stays. */
void sandbox_limit_memory(unsigned threads);

#endif
