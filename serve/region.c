/* Memory that a server writes and a client reads: see region.h. */
#define _GNU_SOURCE /* syscall, seals */
#include "region.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC       1u
#define MFD_ALLOW_SEALING 2u
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define ALIGN ((uint64_t)4096)
#define MUST  (F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE)
#define MOST  ((uint64_t)1 << 46)

/* Something allocated, or free to be allocated again: what is free stays as large as it was. */
struct extent {
    uint64_t offset, bytes;
    bool used;
};

struct region {
    int fd;
    uint8_t *base;
    uint64_t bytes;
    pthread_mutex_t lock; /* of what follows */
    uint64_t end;         /* nothing beyond has been allocated yet */
    struct extent *extents;
    size_t count, room;
    size_t holders; /* whoever made it, and each extent that is used */
};

/* --------------------------------------------------------------------------------------------- making it */

static apl_status make_region(struct region *g, apl_error *err)
{
    /* not memfd_create(), which is younger than the C library that wheels promise to run with */
    g->fd = (int)syscall(SYS_memfd_create, "apl-batches", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (g->fd < 0)
        return fail_errno(err, errno, "memory for batches: memfd_create");
    if (ftruncate(g->fd, (off_t)g->bytes) != 0)
        return fail(err, APL_E_IO, "memory for batches: %llu bytes: %s", (unsigned long long)g->bytes,
                    strerror(errno));
    void *base = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, g->fd, 0);
    if (base == MAP_FAILED)
        return fail(err, APL_E_NOMEM, "memory for batches: %llu bytes: %s", (unsigned long long)g->bytes,
                    strerror(errno));
    g->base = base;
    madvise(base, g->bytes, MADV_HUGEPAGE); /* a hint */
    if (fcntl(g->fd, F_ADD_SEALS, MUST | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return fail(err, APL_E_UNSUPPORTED,
                    "memory for batches cannot be sealed, which takes Linux 5.1 or later: %s",
                    strerror(errno));
    return APL_OK;
}

static void free_region(struct region *g)
{
    if (g->base)
        munmap(g->base, g->bytes);
    if (g->fd >= 0)
        close(g->fd);
    pthread_mutex_destroy(&g->lock);
    free(g->extents);
    free(g);
}

apl_status region_new(uint64_t bytes, struct region **region, apl_error *err)
{
    struct region *g = calloc(1, sizeof *g);
    if (!g)
        return fail_nomem(err);
    g->fd = -1;
    g->holders = 1;
    g->bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    pthread_mutex_init(&g->lock, NULL);
    apl_status status = bytes <= MOST ? make_region(g, err) : fail_nomem(err);
    if (status == APL_OK)
        *region = g;
    else
        free_region(g);
    return status;
}

/* With the lock held, which is given back. */
static void release_region(struct region *g)
{
    bool last = --g->holders == 0;
    pthread_mutex_unlock(&g->lock);
    if (last)
        free_region(g);
}

void region_drop(struct region *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    release_region(g);
}

int region_fd(const struct region *g)
{
    return g->fd;
}

uint64_t region_bytes(const struct region *g)
{
    return g->bytes;
}

bool region_offset(const struct region *g, const void *memory, uint64_t bytes, uint64_t *offset)
{
    uintptr_t base = (uintptr_t)g->base, at = (uintptr_t)memory;
    *offset = at - base;
    return at >= base && *offset <= g->bytes && bytes <= g->bytes - *offset;
}

/* -------------------------------------------------------------------------------------------- allocating */

/* The smallest that is free and large enough, unless it is more than twice as large. */
static struct extent *find_free(struct region *g, uint64_t bytes)
{
    struct extent *best = NULL;
    for (size_t i = 0; i < g->count; i++) {
        struct extent *e = &g->extents[i];
        if (!e->used && e->bytes >= bytes && e->bytes / 2 <= bytes && (!best || e->bytes < best->bytes))
            best = e;
    }
    return best;
}

static struct extent *add_extent(struct region *g, uint64_t bytes)
{
    if (bytes > g->bytes - g->end)
        return NULL;
    if (g->count == g->room) {
        size_t room = 2 * g->room + 64;
        struct extent *more = realloc(g->extents, room * sizeof *more);
        if (!more)
            return NULL;
        g->extents = more;
        g->room = room;
    }
    struct extent *e = &g->extents[g->count++];
    *e = (struct extent){.offset = g->end, .bytes = bytes};
    g->end += bytes;
    return e;
}

void *region_allocate(void *region, size_t bytes)
{
    struct region *g = region;
    void *memory = NULL;
    if (bytes > g->bytes)
        return NULL;
    uint64_t whole = ((uint64_t)bytes + ALIGN) / ALIGN * ALIGN; /* never nothing */
    pthread_mutex_lock(&g->lock);
    struct extent *e = find_free(g, whole);
    if (!e)
        e = add_extent(g, whole);
    if (e) {
        e->used = true;
        g->holders++;
        memory = g->base + e->offset;
    }
    pthread_mutex_unlock(&g->lock);
    return memory;
}

void region_deallocate(void *region, void *memory, size_t bytes)
{
    struct region *g = region;
    (void)bytes;
    if (!memory)
        return;
    uint64_t offset = (uint64_t)((uint8_t *)memory - g->base);
    pthread_mutex_lock(&g->lock);
    size_t i = 0;
    while (i < g->count && g->extents[i].offset != offset)
        i++;
    if (i == g->count || !g->extents[i].used) {
        pthread_mutex_unlock(&g->lock);
        return;
    }
    g->extents[i].used = false;
    release_region(g);
}

/* ----------------------------------------------------------------------------------------------- mapping */

apl_status region_map(int fd, uint64_t bytes, bool writable, const uint8_t **base, apl_error *err)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & MUST) != MUST)
        return fail(err, APL_E_INVALID, "the server's memory is not sealed");
    if (fstat(fd, &st) != 0 || st.st_size < 0 || (uint64_t)st.st_size != bytes || bytes == 0)
        return fail(err, APL_E_INVALID, "the server's memory is not of the size that it says");
    int allowed = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *map = mmap(NULL, bytes, allowed, (writable ? MAP_PRIVATE : MAP_SHARED) | MAP_NORESERVE, fd, 0);
    if (map == MAP_FAILED)
        return fail(err, APL_E_NOMEM, "the server's memory of %llu bytes cannot be mapped: %s",
                    (unsigned long long)bytes, strerror(errno));
    *base = map;
    return APL_OK;
}

void region_forget(const uint8_t *memory, uint64_t bytes)
{
    if (bytes) /* what is allocated begins and ends with a page */
        madvise((void *)(uintptr_t)memory, (size_t)bytes, MADV_DONTNEED);
}

/* In a private mapping, a page is copied when it is written to; atomically, as another thread may write there. */
static void own_written(uint8_t *memory, size_t bytes, size_t page)
{
    for (size_t i = 0; i < bytes; i += page)
        (void)__atomic_fetch_or(memory + i, 0, __ATOMIC_RELAXED);
}

/* Copies take the place of the pages at once: another thread may be reading them. */
static bool replace_pages(void *memory, size_t bytes)
{
    void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, memory, bytes);
    if (mprotect(copy, bytes, PROT_READ) == 0 &&
        mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, memory) != MAP_FAILED)
        return true;
    munmap(copy, bytes);
    return false;
}

bool region_own(const uint8_t *memory, uint64_t bytes, bool writable)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)memory % page;
    size_t whole = ((size_t)bytes + before + page - 1) / page * page;
    uint8_t *begin = (uint8_t *)(uintptr_t)memory - before;
    if (bytes == 0)
        return true;
    if (!writable)
        return replace_pages(begin, whole);
    own_written(begin, whole, page);
    return true;
}
