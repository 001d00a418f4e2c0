/* Has the process forked since something was made? Cheaper than getpid(), which is a call of the kernel. */
#ifndef FORKS_H
#define FORKS_H

/* How many fork()s lie between this process and the first that asked. Thread-safe; vfork() and the like do not count. */
unsigned forks_so_far(void);

#endif
