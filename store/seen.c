/* Remembering what was in files: see seen.h. */
#include "seen.h"

#include <stdlib.h>
#include <string.h>

struct seen {
    struct seen *next;
    _Atomic(uint64_t) hash;
    char name[];
};

/* Notes are added in front, and stay. */
static struct seen *find_seen(struct seen *first, const char *name)
{
    while (first && strcmp(first->name, name) != 0)
        first = first->next;
    return first;
}

static struct seen *make_seen(const char *name, uint64_t hash)
{
    size_t size = strlen(name) + 1;
    struct seen *s = malloc(sizeof *s + size);
    if (!s)
        return NULL;
    atomic_init(&s->hash, hash);
    memcpy(s->name, name, size);
    return s;
}

static apl_status compare_seen(struct seen *s, uint64_t hash)
{
    return atomic_load_explicit(&s->hash, memory_order_acquire) == hash ? APL_OK : APL_E_MISMATCH;
}

apl_status seen_check(struct seen_list *list, const char *name, uint64_t hash, apl_error *err)
{
    /* acquire: whoever added a note has filled it before */
    struct seen *first = atomic_load_explicit(&list->first, memory_order_acquire),
                *found = find_seen(first, name);
    if (found)
        return compare_seen(found, hash);
    struct seen *added = make_seen(name, hash);
    if (!added)
        return fail_nomem(err);
    do { /* another thread may have added one of the same name since */
        added->next = first;
        if (atomic_compare_exchange_weak_explicit(&list->first, &first, added, memory_order_acq_rel,
                                                  memory_order_acquire))
            return APL_OK;
    } while (!(found = find_seen(first, name)));
    free(added);
    return compare_seen(found, hash);
}

void seen_renew(struct seen_list *list, const char *name, uint64_t hash)
{
    struct seen *found = find_seen(atomic_load_explicit(&list->first, memory_order_acquire), name);
    if (found)
        atomic_store_explicit(&found->hash, hash, memory_order_release);
}

void seen_free(struct seen_list *list)
{
    struct seen *s = list ? atomic_load_explicit(&list->first, memory_order_acquire) : NULL;
    while (s) {
        struct seen *next = s->next;
        free(s);
        s = next;
    }
    free(list);
}
