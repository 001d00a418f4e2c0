#include "name_set.h"

#define MOST ((size_t)1 << 20)

struct name_set {
    char **slots; /* a hash table; NULL: free */
    size_t room, count;
    const char **sorted;
};

struct name_set *name_set_new(void)
{
    struct name_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->room = 64;
    set->slots = calloc(set->room, sizeof *set->slots);
    if (set->slots)
        return set;
    free(set);
    return NULL;
}

void name_set_free(struct name_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->room; i++)
        free(set->slots[i]);
    free(set->slots);
    free(set->sorted);
    free(set);
}

/* FNV-1a; who makes names meet only makes his own ingest slow, up to a million of them. */
static size_t slot_of(char *const *slots, size_t room, const char *name, size_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)name[i]) * 1099511628211u;
    size_t at = (size_t)(hash ^ hash >> 32) & (room - 1);
    while (slots[at] && (strncmp(slots[at], name, length) != 0 || slots[at][length]))
        at = (at + 1) & (room - 1);
    return at;
}

static apl_status grow(struct name_set *set, apl_error *err)
{
    size_t room = 2 * set->room;
    char **slots = calloc(room, sizeof *slots);
    if (!slots)
        return fail_nomem(err);
    for (size_t i = 0; i < set->room; i++)
        if (set->slots[i])
            slots[slot_of(slots, room, set->slots[i], strlen(set->slots[i]))] = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->room = room;
    return APL_OK;
}

apl_status name_set_add(struct name_set *set, const char *name, size_t length, apl_error *err)
{
    size_t at = slot_of(set->slots, set->room, name, length);
    if (set->slots[at])
        return APL_OK;
    if (set->count == MOST)
        return fail(err, APL_E_UNSUPPORTED, "more than %zu names", MOST);
    set->slots[at] = strndup(name, length);
    if (!set->slots[at])
        return fail_nomem(err);
    set->count++;
    return 2 * set->count > set->room ? grow(set, err) : APL_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

apl_status name_set_sort(struct name_set *set, apl_error *err)
{
    size_t n = 0;
    free(set->sorted);
    set->sorted = malloc((set->count + 1) * sizeof *set->sorted);
    if (!set->sorted)
        return fail_nomem(err);
    for (size_t i = 0; i < set->room; i++)
        if (set->slots[i])
            set->sorted[n++] = set->slots[i];
    qsort(set->sorted, n, sizeof *set->sorted, by_bytes);
    return APL_OK;
}

const char *const *name_set_names(const struct name_set *set, size_t *count)
{
    *count = set->count;
    return set->sorted;
}

int64_t name_set_find(const struct name_set *set, const char *name)
{
    const char **found = bsearch(&name, set->sorted, set->count, sizeof *set->sorted, by_bytes);
    return found ? found - set->sorted : -1;
}
