/* See split_note.h. */
#include "split_note.h"

#include <stdio.h>

static void add_noted(struct split_noted *is, const char *shown, const char *split, const char *other)
{
    if (is->count++ > 0)
        return;
    is->split = split;
    is->other = other;
    snprintf(is->shown, sizeof is->shown, "%s", shown);
}

void split_note_take(struct split_note *n, const char *shown, const struct path_split *is)
{
    n->split = n->files == 0 || (n->split && strcmp(n->split, is->split) == 0) ? is->split : NULL;
    n->files++;
    n->told += is->told;
    if (!is->told)
        add_noted(&n->silent, shown, is->split, NULL);
    if (!is->told && is->like && strcmp(is->like, is->split) != 0)
        add_noted(&n->like, shown, is->split, is->like);
    if (is->other)
        add_noted(&n->several, shown, is->split, is->other);
    if (is->by_folder)
        add_noted(&n->folders, shown, is->split, NULL);
}

static void tell_of(const struct format_host *host, const struct split_noted *is, const char *why)
{
    char text[240], more[40] = "";
    if (is->count > 1)
        snprintf(more, sizeof more, " (and %zu more)", is->count - 1);
    snprintf(text, sizeof text, "in the split '%s', %s%s", is->split, why, more);
    host->notice(host->user, is->shown, text);
}

void split_note_tell(const struct split_note *n, const struct format_host *host)
{
    char why[160];
    snprintf(why, sizeof why, "as %s, and those of others do", n->by ? n->by : "its name tells no split");
    if (n->told > 0 && n->silent.count > 0)
        tell_of(host, &n->silent, why);
    if (n->several.count > 0) {
        snprintf(why, sizeof why, "though its name tells '%s' too", n->several.other);
        tell_of(host, &n->several, why);
    }
    if (n->told == 0 && n->like.count > 0 && (n->given || n->like.count < n->files)) {
        snprintf(why, sizeof why, "as a folder tells the split '%s' only if that is all of its name",
                 n->like.other);
        tell_of(host, &n->like, why);
    }
    if (n->folders.count == n->files && n->split && strcmp(n->split, "train") != 0)
        tell_of(host, &n->folders, "as its folder is called so");
}
