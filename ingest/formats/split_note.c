/* See split_note.h. */
#include "split_note.h"

#include <stdio.h>

void split_note_take(struct split_note *n, const char *shown, bool told)
{
    if (told)
        n->told++;
    else if (n->silent++ == 0)
        n->first = shown;
}

void split_note_tell(const struct split_note *n, const struct format_host *host)
{
    char text[160], more[40] = "";
    if (n->told == 0 || n->silent == 0)
        return;
    if (n->silent > 1)
        snprintf(more, sizeof more, " (and %zu more)", n->silent - 1);
    snprintf(text, sizeof text, "in the split 'train', as its name tells no split, and those of others do%s",
             more);
    host->notice(host->user, n->first, text);
}
