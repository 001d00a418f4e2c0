/* Giving up what a command does not need, before it opens a file that may come from anybody. */
#ifndef SANDBOX_H
#define SANDBOX_H

/*
 * From now on this process, and threads that it starts, can neither start programs, nor reach a network, nor get other
 * privileges, nor make memory executable, nor touch other processes: such calls fail, as if the kernel had none of them.
 * Where the kernel offers no such thing, under an emulator say, or with APL_SANDBOX=off in the environment (for debuggers),
 * nothing changes.
 */
void sandbox_enter(void);

/* Bounds the memory that parsers may be made to ask for: private memory of 2 GiB, and some for each of the threads (0: one for
 * each core). Memory beyond that "could not be had". A lower bound that is set already stays. */
void sandbox_limit_memory(unsigned threads);

#endif
