/* A client's connection: see connection.h. */
#include "connection.h"

#include "socket.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TELL_AT \
    4u /* batches that are given back before the server is told, unless there is something else to say */

void link_drop(struct link *l)
{
    pthread_mutex_lock(&l->lock);
    bool last = --l->holders == 0;
    pthread_mutex_unlock(&l->lock);
    if (!last)
        return;
    if (l->base)
        munmap((void *)(uintptr_t)l->base, l->bytes);
    if (l->fd >= 0)
        close(l->fd);
    pthread_mutex_destroy(&l->lock);
    free(l->returned);
    free(l);
}

/* With the lock held. */
static apl_status say_tokens(struct link *l, enum wire_type type, apl_error *err)
{
    struct wire_tokens m;
    size_t n = l->count < WIRE_TOKENS ? l->count : WIRE_TOKENS;
    m.h = wire_header(type, wire_tokens_size(n));
    m.taken = l->taken;
    m.count = n;
    for (size_t i = 0; i < n; i++)
        m.token[i] = l->returned[l->count - n + i];
    TRY(socket_send(l->fd, &m.h, -1, err));
    l->count -= n;
    l->told = m.taken;
    return APL_OK;
}

apl_status link_say(struct link *l, enum wire_type type, apl_error *err)
{
    pthread_mutex_lock(&l->lock);
    apl_status status =
        type == WIRE_RELEASE && l->count == 0 && l->told == l->taken ? APL_OK : say_tokens(l, type, err);
    pthread_mutex_unlock(&l->lock);
    return status;
}

void link_take(struct link *l, uint64_t token)
{
    pthread_mutex_lock(&l->lock);
    l->taken = token;
    l->lent++;
    pthread_mutex_unlock(&l->lock);
}

void link_give_back(struct link *l, uint64_t token)
{
    if (l->closed)
        return;
    if (l->count == l->room) {
        size_t room = 2 * l->room + 16;
        uint64_t *more = realloc(l->returned, room * sizeof *more);
        if (!more)
            return;
        l->returned = more;
        l->room = room;
    }
    l->returned[l->count++] = token;
    if (l->count >= TELL_AT && say_tokens(l, WIRE_RELEASE, NULL) != APL_OK)
        return; /* the next to say something says it too */
}

void link_return(struct link *l, uint64_t token)
{
    pthread_mutex_lock(&l->lock);
    link_give_back(l, token);
    pthread_mutex_unlock(&l->lock);
}
