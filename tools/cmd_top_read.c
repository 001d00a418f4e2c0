/* The readers that offer their figures in a directory. */
#include "args.h"
#include "cmd_top.h"
#include "cmd_top_file.h"
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_READERS 4096u

static void refuse(struct top *top, const char *name, const char *why)
{
    if (top->refused_count++ >= sizeof top->refused / sizeof *top->refused)
        return;
    struct top_refused *to = &top->refused[top->refused_count - 1];
    snprintf(to->name, sizeof to->name, "%s", name);
    snprintf(to->why, sizeof to->why, "%s", why);
}

static void add_file(struct top *top, int directory, const char *name, uint64_t pid)
{
    struct top_reader *r = &top->readers[top->count];
    char why[128];
    *r = (struct top_reader){.pid = pid};
    snprintf(r->name, sizeof r->name, "%.*s", (int)(strlen(name) - 5), name);
    bool read = top_file_read(directory, name, r, why);
    if (!read && *why)
        refuse(top, name, why);
    if (read && r->state == TOP_GONE)
        top->gone++;
    if (read && r->state != TOP_GONE)
        top->count++;
    else
        top_file_free(r);
}

static int by_name(const void *a, const void *b)
{
    const struct top_reader *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    size_t m = strlen(x->name), n = strlen(y->name);
    return m != n ? (m < n ? -1 : 1) : strcmp(x->name, y->name);
}

static int is_readers(const struct dirent *e)
{
    uint64_t pid;
    return top_file_is_name(e->d_name, &pid);
}

static void add_files(struct top *top, const char *directory, int fd)
{
    struct dirent **list = NULL;
    uint64_t pid;
    int n = scandir(directory, &list, is_readers, alphasort);
    for (int i = 0; i < n; i++) {
        if (top->count == MOST_READERS)
            top->unread++;
        else if (top_file_is_name(list[i]->d_name, &pid))
            add_file(top, fd, list[i]->d_name, pid);
        free(list[i]);
    }
    free(list);
}

int top_read(struct top *top, const char *directory)
{
    *top = (struct top){.readers = calloc(MOST_READERS, sizeof *top->readers)};
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!top->readers)
        return failed("out of memory");
    if (fd < 0)
        return failed_errno(errno, "%s", shown(directory));
    add_files(top, directory, fd);
    close(fd);
    qsort(top->readers, top->count, sizeof *top->readers, by_name);
    return 0;
}

void top_free(struct top *top)
{
    for (size_t i = 0; i < top->count; i++)
        top_file_free(&top->readers[i]);
    free(top->readers);
    *top = (struct top){0};
}

const struct top_reader *top_chosen(const struct top *top, const char *name)
{
    const struct top_reader *worst = NULL;
    for (size_t i = 0; i < top->count; i++) {
        const struct top_reader *r = &top->readers[i];
        if (name && strcmp(r->name, name) == 0)
            return r;
        if (r->state == TOP_RUNS && (!worst || r->stall > worst->stall))
            worst = r;
    }
    return worst ? worst : top->count ? top->readers : NULL;
}

char *top_metrics(const struct top *top, apl_metrics_format format)
{
    apl_measured *all = calloc(top->count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; all && i < top->count; i++) {
        const struct top_reader *r = &top->readers[i];
        if (r->state == TOP_RUNS)
            all[count++] = (apl_measured){&r->stats, r->name, r->store, r->split};
    }
    size_t n = all ? apl_stats_metrics(all, count, sizeof(apl_stats), format, NULL, 0) : 0;
    char *text = all ? calloc(1, n + 1) : NULL;
    if (text)
        (void)apl_stats_metrics(all, count, sizeof(apl_stats), format, text, n + 1);
    free(all);
    return text;
}
