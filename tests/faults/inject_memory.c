/* The injector's share of the heap: allocations that fail, and those that are never freed. */
#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITHOUT_MEMORY /* a sanitizer looks after the heap */

void faults_note_leaks(struct control *control)
{
    (void)control;
}

void faults_find_modules(void)
{
}

#else

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

#define SLOTS   (1u << 20)
#define MODULES 8

/* Blocks that the program's code, or a library's that works for it alone, has asked for. */
static struct slot {
    void *block, *from;
} slots[SLOTS];
static void *const removed = (void *)&slots;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static struct module {
    uintptr_t first, last;
    char name[32];
} modules[MODULES];
static unsigned module_count;

static int add_module(struct dl_phdr_info *info, size_t size, void *user)
{
    static const char *const watched[] = {"apldata", "aplingest",  "liblmdb",
                                          "libzstd", "libarchive", "_core.abi3"};
    (void)size;
    (void)user;
    const char *name = strrchr(info->dlpi_name, '/');
    name = name ? name + 1 : info->dlpi_name;
    int wanted = *name == 0 && !faults_waits; /* the program */
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        wanted |= strstr(name, watched[i]) != NULL;
    if (!wanted || module_count == MODULES)
        return 0;
    struct module *m = &modules[module_count++];
    m->first = info->dlpi_addr;
    strncpy(m->name, *name ? name : "program", sizeof m->name - 1);
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            m->last = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 0;
}

void faults_find_modules(void)
{
    module_count = 0;
    dl_iterate_phdr(add_module, NULL);
}

static const struct module *module_of(const void *from)
{
    for (unsigned i = 0; i < module_count; i++)
        if ((uintptr_t)from >= modules[i].first && (uintptr_t)from < modules[i].last)
            return &modules[i];
    return NULL;
}

static size_t place(const void *block)
{
    return (size_t)((uintptr_t)block * 0x9e3779b97f4a7c15u >> 44) % SLOTS;
}

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static void *note(void *block, void *from)
{
    if (!block || !module_of(from))
        return block;
    lock();
    size_t i = place(block);
    for (unsigned tries = 0; tries < SLOTS && slots[i].block && slots[i].block != removed; tries++)
        i = (i + 1) % SLOTS;
    slots[i] = (struct slot){block, from};
    unlock();
    return block;
}

static void forget(void *block)
{
    if (!block)
        return;
    lock();
    size_t i = place(block);
    for (unsigned tries = 0; tries < SLOTS && slots[i].block; tries++, i = (i + 1) % SLOTS)
        if (slots[i].block == block) {
            slots[i].block = removed;
            break;
        }
    unlock();
}

void faults_note_leaks(struct control *control)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].block && slots[i].block != removed) {
            const struct module *m = module_of(slots[i].from);
            snprintf(control->leak, sizeof control->leak, "%s+0x%lx", m->name,
                     (unsigned long)((uintptr_t)slots[i].from - m->first));
            control->blocks++;
        }
}

/* libarchive ends the process, or reads through NULL, where memory fails it: its calls are spared. */
static int refused(const void *from)
{
    const struct module *m = module_of(from);
    if (m ? strstr(m->name, "libarchive") != NULL : faults_waits)
        return 0;
    int error = faults_strike(CALL_MEMORY);
    if (error)
        errno = ENOMEM;
    return error;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size)
{
    return refused(CALLER) ? NULL : note(__libc_malloc(size), CALLER);
}

void *calloc(size_t count, size_t size)
{
    return refused(CALLER) ? NULL : note(__libc_calloc(count, size), CALLER);
}

void *realloc(void *block, size_t size)
{
    if (refused(CALLER))
        return NULL;
    forget(block); /* before another thread may be given the same place */
    void *grown = __libc_realloc(block, size);
    return note(grown || size == 0 ? grown : block, CALLER) && grown ? grown : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refused(CALLER) ? NULL : note(__libc_memalign(alignment, size), CALLER);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (refused(CALLER))
        return ENOMEM;
    *block = note(__libc_memalign(alignment, size), CALLER);
    return *block ? 0 : ENOMEM;
}

static char *copy(const char *text, size_t length, void *from)
{
    char *made = refused(from) ? NULL : note(__libc_malloc(length + 1), from);
    if (made) {
        memcpy(made, text, length);
        made[length] = 0;
    }
    return made;
}

char *strdup(const char *text)
{
    return copy(text, strlen(text), CALLER);
}

char *strndup(const char *text, size_t size)
{
    return copy(text, strnlen(text, size), CALLER);
}

void free(void *block)
{
    forget(block);
    __libc_free(block);
}

#endif
