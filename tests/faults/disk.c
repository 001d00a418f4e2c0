#include "disk.h"

#include <stdlib.h>
#include <string.h>

#define SECTOR 512u

/* ----------------------------------------------------------------------------------------------- names */

struct object *names_find(const struct names *names, uint64_t directory, const char *name)
{
    for (const struct name *n = names->list; n < names->list + DISK_OBJECTS; n++)
        if (n->text && n->directory == directory && strcmp(n->text, name) == 0)
            return n->object;
    return NULL;
}

/* With object NULL, the name goes away. */
static void set_name(struct names *names, uint64_t directory, const char *name, struct object *object)
{
    struct name *free_place = NULL;
    for (struct name *n = names->list; n < names->list + DISK_OBJECTS; n++) {
        if (n->text && n->directory == directory && strcmp(n->text, name) == 0)
            n->text = NULL;
        if (!n->text)
            free_place = n;
    }
    if (!free_place)
        die("the model of a disk is too small");
    if (object)
        *free_place = (struct name){directory, name, object};
}

static void change_names(struct names *names, const struct change *change)
{
    const char *name = (const char *)change->data;
    uint64_t directory = change->what.directory;
    if (change->what.kind == TRACE_RENAME) {
        set_name(names, directory, name, NULL);
        name += strlen(name) + 1;
    }
    set_name(names, directory, name, change->object);
}

/* ----------------------------------------------------------------------------------------------- files */

static void resize(struct file *f, size_t size)
{
    unsigned char *bytes = realloc(f->bytes, size + 1);
    if (!bytes)
        die("out of memory");
    if (size > f->size)
        memset(bytes + f->size, 0, size - f->size);
    *f = (struct file){bytes, size};
}

/* All of a change; with `state`, of a write such sectors as come by chance. */
static void change_file(struct file *f, const struct change *change, uint64_t *state)
{
    size_t at = (size_t)change->what.offset, end = at + change->what.size;
    if (change->what.kind == TRACE_TRUNCATE) {
        resize(f, at);
        return;
    }
    if (end > f->size)
        resize(f, end);
    for (size_t first = at; first < end;) {
        size_t next = (first / SECTOR + 1) * SECTOR < end ? (first / SECTOR + 1) * SECTOR : end;
        if (!state || draw(state) & 1)
            memcpy(f->bytes + first, change->data + (first - at), next - first);
        first = next;
    }
}

static struct file copy(const struct file *f)
{
    struct file made = {0};
    resize(&made, f->size);
    if (f->size)
        memcpy(made.bytes, f->bytes, f->size);
    return made;
}

struct file disk_draw_file(const struct object *object, uint64_t *state)
{
    struct file f = copy(&object->durable);
    size_t n = object->count, *order = malloc((n + 1) * sizeof *order);
    unsigned how = (unsigned)(draw(state) % 5); /* none, all, some, some shuffled, some shuffled and torn */
    if (!order)
        die("out of memory");
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; how >= 3 && i > 1; i--) {
        size_t k = (size_t)(draw(state) % i), swapped = order[k];
        order[k] = order[i - 1];
        order[i - 1] = swapped;
    }
    for (size_t i = 0; how > 0 && i < n; i++)
        if (how == 1 || draw(state) & 1)
            change_file(&f, &object->changes[order[i]], how == 4 ? state : NULL);
    free(order);
    return f;
}

/* ------------------------------------------------------------------------------------------------ disk */

/* The youngest of that number: numbers of files that are gone are given again. */
static struct object *find(struct disk *d, uint64_t inode)
{
    for (unsigned i = d->count; i-- > 0;)
        if (d->objects[i].inode == inode)
            return &d->objects[i];
    return NULL;
}

static struct object *add(struct disk *d, uint64_t inode)
{
    if (d->count == DISK_OBJECTS)
        die("the model of a disk is too small");
    struct object *o = &d->objects[d->count++];
    *o = (struct object){.inode = inode};
    return o;
}

void disk_add(struct disk *d, uint64_t directory, const char *name, uint64_t inode, const struct file *bytes)
{
    struct object *o = add(d, inode);
    if (bytes)
        o->durable = copy(bytes);
    set_name(&d->durable, directory, name, o);
    set_name(&d->current, directory, name, o);
}

static void push(struct object *o, const struct change *change)
{
    struct change *grown = realloc(o->changes, (o->count + 1) * sizeof *grown);
    if (!grown)
        die("out of memory");
    o->changes = grown;
    o->changes[o->count++] = *change;
}

static bool is_name(const struct change *change)
{
    return change->what.kind != TRACE_WRITE && change->what.kind != TRACE_TRUNCATE;
}

static void sync_object(struct disk *d, struct object *o)
{
    for (size_t i = 0; i < o->count; i++)
        if (is_name(&o->changes[i]) ? d->lose_directory_syncs : d->lose_file_syncs)
            return;
    for (size_t i = 0; i < o->count; i++)
        if (is_name(&o->changes[i]))
            change_names(&d->durable, &o->changes[i]);
        else
            change_file(&o->durable, &o->changes[i], NULL);
    o->count = 0;
}

/* What a change of names is for; NULL for a name that goes away. */
static struct object *named(struct disk *d, const struct trace *what, const char *name)
{
    struct object *there = names_find(&d->current, what->directory, name);
    if (what->kind == TRACE_RENAME)
        return there;
    if (what->kind == TRACE_UNLINK)
        return NULL;
    return there ? there : add(d, what->file);
}

void disk_apply(struct disk *d, const struct trace *what, const unsigned char *data)
{
    struct change change = {*what, data, NULL};
    if (what->kind == TRACE_SYNC || what->kind == TRACE_WRITE || what->kind == TRACE_TRUNCATE) {
        struct object *o = find(d, what->file);
        if (o && what->kind == TRACE_SYNC)
            sync_object(d, o);
        else if (o)
            push(o, &change);
        return;
    }
    struct object *directory = find(d, what->directory);
    if (!directory)
        return;
    change.object = named(d, what, (const char *)data);
    change_names(&d->current, &change);
    push(directory, &change);
}

void disk_draw_names(const struct disk *d, uint64_t *state, struct names *names)
{
    unsigned how = (unsigned)(draw(state) % 3); /* none, all, some */
    *names = d->durable;
    for (unsigned i = 0; how > 0 && i < d->count; i++)
        for (size_t k = 0; k < d->objects[i].count; k++)
            if (is_name(&d->objects[i].changes[k]) && (how == 1 || draw(state) & 1))
                change_names(names, &d->objects[i].changes[k]);
}

void disk_free(struct disk *d)
{
    for (unsigned i = 0; i < d->count; i++) {
        free(d->objects[i].durable.bytes);
        free(d->objects[i].changes);
    }
}
