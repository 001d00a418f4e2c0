/* Stopping cleanly on SIGINT, SIGTERM and SIGHUP: finish nothing, leave nothing behind, die of the signal. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/* From now on the signals only set a flag and interrupt system calls. Ignored signals stay ignored. */
void interrupt_catch(void);

/* From now on a write beyond the limit on the size of files (RLIMIT_FSIZE) fails with EFBIG, as on a full disk;
 * otherwise SIGXFSZ ends the process, and temporary files stay. A library cannot decide this; a program can. */
void interrupt_ignore_limits(void);

/* The signal that came, or 0. */
int interrupted(void);

/* Dies of the signal that came, so that whoever waits for this process sees it; returns if none came. */
void interrupt_die(void);

#endif
