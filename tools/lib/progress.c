#include "progress.h"

#include "report.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_SECONDS (1.0 / 6)
#define BAR_WIDEST     32
#define BAR_NARROWEST  10

void progress_begin(struct progress *progress, bool wanted)
{
    const char *term = getenv("TERM");
    bool able = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    *progress = (struct progress){.on = wanted && able};
}

static void put(const char *text, size_t length)
{
    ssize_t written = write(STDERR_FILENO, text, length);
    (void)written; /* failing to draw the bar is no reason to stop */
}

/* From the left: what, percent, bar, records, rate, time left. */
enum { WHAT, PERCENT, BAR, RECORDS, RATE, LEFT, PARTS };

static void fill_parts(char parts[PARTS][64], const struct progress_state *state, double elapsed)
{
    snprintf(parts[WHAT], 64, "%-8s", state->what);
    snprintf(parts[RECORDS], 64, "%s", counted(state->records, state->unit ? state->unit : "record"));
    if (state->raw_bytes && elapsed > 0)
        snprintf(parts[RATE], 64, "%s", rate_text(state->raw_bytes, elapsed));
    if (state->fraction < 0)
        return;
    snprintf(parts[PERCENT], 64, "%3d%%", (int)(100 * state->fraction));
    if (state->fraction > 0) {
        unsigned long left = (unsigned long)(elapsed * (1 - state->fraction) / state->fraction + 0.5);
        if (left < 360000)
            snprintf(parts[LEFT], 64, "%lu:%02lu left", left / 60, left % 60);
    }
}

/* Columns of all parts, each but the first after two blanks. */
static int parts_width(char parts[PARTS][64])
{
    int width = 0;
    for (int i = 0; i < PARTS; i++)
        if (parts[i][0])
            width += (width ? 2 : 0) + (int)strlen(parts[i]);
    return width;
}

static void fill_bar(char *bar, int width, double fraction)
{
    int inner = width - 2;
    int done = (int)(fraction * inner);
    bar[0] = '[';
    for (int i = 0; i < inner; i++)
        bar[1 + i] = (char)(i < done ? '=' : i == done ? '>' : ' ');
    bar[1 + inner] = ']';
    bar[2 + inner] = 0;
}

void progress_line(char *out, size_t size, int width, const struct progress_state *given, double elapsed)
{
    static const int dispensable[] = {RATE, WHAT, LEFT, RECORDS, PERCENT};
    struct progress_state state = *given;
    state.fraction = state.fraction > 1 ? 1 : state.fraction;
    char parts[PARTS][64] = {{0}};
    fill_parts(parts, &state, elapsed);
    for (size_t i = 0; i < sizeof dispensable / sizeof *dispensable && parts_width(parts) > width; i++)
        parts[dispensable[i]][0] = 0;
    int room = width - parts_width(parts) - 2;
    if (state.fraction >= 0 && room >= BAR_NARROWEST)
        fill_bar(parts[BAR], room < BAR_WIDEST ? room : BAR_WIDEST, state.fraction);
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < PARTS; i++)
        if (parts[i][0] && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "  " : "", parts[i]);
}

void progress_show(struct progress *progress, const struct progress_state *state)
{
    if (!progress->on)
        return;
    double now = now_seconds();
    if (!progress->what || strcmp(progress->what, state->what) != 0) {
        progress->what = state->what;
        progress->began = now;
        /* Short work gets no bar, to avoid flicker. */
        if (!progress->drawn)
            progress->next = now + REDRAW_SECONDS;
    }
    /* In the background the line belongs to another job. */
    if (now < progress->next || tcgetpgrp(STDERR_FILENO) != getpgid(0))
        return;
    char text[512] = "\r";
    /* The last column stays free: some terminals wrap when it is filled. */
    progress_line(text + 1, sizeof text - 8, (int)terminal_columns(STDERR_FILENO) - 1, state,
                  now - progress->began);
    strcat(text, "\033[K");
    put(text, strlen(text));
    progress->drawn = true;
    progress->next = now + REDRAW_SECONDS;
}

void progress_clear(struct progress *progress)
{
    if (progress->drawn)
        put("\r\033[K", 4);
    progress->drawn = false;
}
