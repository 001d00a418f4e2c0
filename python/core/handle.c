/* Closing what others may be using: see handle.h. */
#include "handle.h"

#include <stddef.h>

void handle_init(struct handle *h, void *it, void (*close)(void *it))
{
    pthread_mutex_init(&h->lock, NULL);
    h->it = it;
    h->users = 0;
    h->closing = false;
    h->close = close;
}

void *handle_use(struct handle *h)
{
    pthread_mutex_lock(&h->lock);
    void *it = h->closing ? NULL : h->it;
    h->users += it != NULL;
    pthread_mutex_unlock(&h->lock);
    return it;
}

/* What is to be closed now, by the caller; with the lock held, which is gone afterwards. */
static void unlock_and_close(struct handle *h)
{
    void *last = h->closing && h->users == 0 ? h->it : NULL;
    if (last)
        h->it = NULL;
    pthread_mutex_unlock(&h->lock);
    if (last)
        h->close(last);
}

void handle_done(struct handle *h)
{
    pthread_mutex_lock(&h->lock);
    h->users--;
    unlock_and_close(h);
}

void handle_close(struct handle *h)
{
    pthread_mutex_lock(&h->lock);
    h->closing = true;
    unlock_and_close(h);
}
