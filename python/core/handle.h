/* Something of the library that one thread may close while others use it: it is closed when the last is done. */
#ifndef HANDLE_H
#define HANDLE_H

#include <pthread.h>
#include <stdbool.h>

struct handle {
    pthread_mutex_t lock;
    void *it; /* NULL: never opened, or closed */
    unsigned users;
    bool closing;
    void (*close)(void *it);
};

void handle_init(struct handle *h, void *it, void (*close)(void *it));

/* What the handle holds, for use until handle_done(); NULL if it is closed. */
void *handle_use(struct handle *h);

/* May close, and so wait: call it without the GIL. */
void handle_done(struct handle *h);

/* From now on nobody may use it; closes it now, or has the last user do it. Without the GIL. */
void handle_close(struct handle *h);

#endif
