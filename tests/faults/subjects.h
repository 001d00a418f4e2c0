/* The programs that are run with faults, and what they may leave. */
#ifndef SUBJECTS_H
#define SUBJECTS_H

#include "child.h"

enum before { NO_STORE, OLD_STORE, NEW_STORE };

struct subject {
    const char *name;
    const char *argv[16];
    enum before before;
    bool writes;                /* afterwards there is a new store (if it fails: what was before) */
    const char *folder;         /* that it makes elsewhere, or NULL */
    bool preads;                /* reads the store instead of mapping it */
    bool waits;                 /* calls fail only when it says so */
    const char *beside;         /* the file that it makes beside the store, or NULL */
    struct file old, new, made; /* what data.mdb and `beside` may be */
    uint64_t said;              /* on standard output, without faults */
    uint32_t calls[CALLS];
};

/* Fills subjects[0 ... n-1] for the programs and archives in the folders, and runs each once without faults. Subjects
 * whose archive is not there are left out. */
unsigned subjects_prepare(struct subject *subjects, unsigned room, const char *programs, const char *archives,
                          const struct place *place, const char *injector);

/* Puts a place, and the environment, into the state before the run. */
void subject_set(const struct subject *subject, const struct place *place);

/* What is wrong with a place after a run that failed or not, in `why`; false: nothing. */
bool subject_spoiled(const struct subject *subject, const struct place *place, bool failed, char why[512]);

/* The same after a run that was cut short: the store must be the old or the new one, and the same command, run
 * again, must succeed and leave nothing behind. */
bool subject_torn(const struct subject *subject, const struct place *place, char why[512]);

#endif
