/* See split_note.h. */
#include "split_note.h"

#include "file_name.h"

#include <stdio.h>

void split_note_take(struct split_note *n, const char *shown, const char *split, const char *other)
{
    if (!split) {
        if (n->silent++ == 0)
            n->first_silent = shown;
        return;
    }
    n->told++;
    if (!other || n->several++ > 0)
        return;
    n->first_several = shown;
    n->split = split;
    n->other = other;
}

void split_note_take_name(struct split_note *n, const char *shown, const char *name)
{
    uint32_t rank;
    split_note_take(n, shown, file_name_split(name, &rank), file_name_other_split(name));
}

static void tell_of(const struct format_host *host, const char *shown, const char *what, size_t count)
{
    char text[200], more[40] = "";
    if (count > 1)
        snprintf(more, sizeof more, " (and %zu more)", count - 1);
    snprintf(text, sizeof text, "%s%s", what, more);
    host->notice(host->user, shown, text);
}

void split_note_tell(const struct split_note *n, const struct format_host *host)
{
    char what[160];
    if (n->told > 0 && n->silent > 0)
        tell_of(host, n->first_silent,
                "in the split 'train', as its name tells no split, and those of others do", n->silent);
    if (n->several == 0)
        return;
    snprintf(what, sizeof what, "in the split '%s', though its name tells '%s' too", n->split, n->other);
    tell_of(host, n->first_several, what, n->several);
}
