/* Running a program under the injector, and what it left. */
#ifndef CHILD_H
#define CHILD_H

#include "faults.h"

#include <stdbool.h>
#include <stddef.h>

#define TEXT_BYTES 2048

/* A place to run programs in: a folder with the injector's page, what the program said, and its store `db`. */
struct place {
    char folder[256];
    struct control *control;
};

struct outcome {
    int signal, status;        /* of a signal, or else the exit status */
    char message[TEXT_BYTES];  /* standard error, cut */
    unsigned lines;            /* in it */
    uint64_t said, said_bytes; /* a hash of standard output, and its length */
};

struct file {
    unsigned char *bytes; /* NULL: none */
    size_t size;
};

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Makes the folder if need be. */
void place_make(struct place *place, const char *parent, unsigned number);

/* Runs a program (with `injector` preloaded, if not NULL; its trace in `trace`, if not NULL) in the place; it is
 * killed by SIGALRM after `seconds`, or by SIGKILL after `microseconds`, if not 0. */
struct outcome place_run(const struct place *place, const char *injector, const char *trace,
                         const char *const *argv, unsigned seconds, unsigned microseconds);

/* A file of the place, or of any path when `place` is NULL. The bytes are the caller's. */
struct file file_read(const struct place *place, const char *name);
bool file_equal(const struct file *a, const struct file *b);
bool file_is(const struct place *place, const char *name, const struct file *expected);

/* Empties the place's db; then it holds `store` as data.mdb, or with no bytes there is no db. */
void place_set(const struct place *place, const struct file *store);

/* Makes a file in the place's db. */
void place_put(const struct place *place, const char *name, const struct file *bytes);

/* Removes a folder of files; if it is not there, that is fine. */
void place_remove(const struct place *place, const char *folder);

/* What the place's db holds but data.mdb and `also` (may be NULL): its name in `found`, or false. */
bool place_litter(const struct place *place, const char *also, char found[256]);
bool place_has(const struct place *place, const char *name);

/* A generator of random numbers. */
uint64_t draw(uint64_t *state);

#endif
