/* What the terminal can show: see terminal.h. */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A terminal multiplexer passes on neither kitty's images nor sixels by default. */
static bool is_multiplexer(const char *term)
{
    return *variable("TMUX") || *variable("STY") || starts(term, "screen") || starts(term, "tmux");
}

static bool has_kitty(const char *term, const char *program)
{
    return *variable("KITTY_WINDOW_ID") || strstr(term, "kitty") || strstr(term, "ghostty") ||
           strcmp(program, "ghostty") == 0 || strcmp(program, "WezTerm") == 0 ||
           atoi(variable("KONSOLE_VERSION")) >= 220400;
}

static bool has_sixel(const char *term, const char *program)
{
    return strstr(term, "sixel") || starts(term, "foot") || starts(term, "mlterm") || starts(term, "yaft") ||
           starts(term, "contour") || strcmp(program, "mintty") == 0 || strcmp(program, "iTerm.app") == 0;
}

/* Of the terminals that are still met, those that have 16 colours at most. */
static bool has_few_colours(const char *term)
{
    size_t n = strlen(term);
    return starts(term, "vt1") || starts(term, "vt2") || starts(term, "ansi") ||
           (n > 5 && strcmp(term + n - 5, "-mono") == 0);
}

static enum terminal_images find_images(const char *term)
{
    const char *program = variable("TERM_PROGRAM");
    if (!isatty(STDOUT_FILENO) || !*term || strcmp(term, "dumb") == 0 || has_few_colours(term))
        return IMAGES_NONE;
    if (is_multiplexer(term))
        return IMAGES_BLOCKS;
    return has_kitty(term, program) ? IMAGES_KITTY : has_sixel(term, program) ? IMAGES_SIXEL : IMAGES_BLOCKS;
}

/* Of the three variables, the first that is set counts. */
static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = variable(names[i]), *code = strchr(value, '.');
        if (*value)
            return code && (strncasecmp(code, ".UTF-8", 6) == 0 || strncasecmp(code, ".UTF8", 5) == 0);
    }
    return false;
}

/* 80 x 24 if it cannot be known. */
static struct winsize window_of(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    size.ws_col = size.ws_col ? size.ws_col : 80;
    size.ws_row = size.ws_row ? size.ws_row : 24;
    return size;
}

unsigned terminal_columns(int fd)
{
    return window_of(fd).ws_col;
}

unsigned terminal_room(void)
{
    return isatty(STDOUT_FILENO) ? terminal_columns(STDOUT_FILENO) : 0;
}

void terminal_find(struct terminal *t)
{
    const char *term = variable("TERM"), *colour = variable("COLORTERM");
    const struct winsize size = window_of(STDOUT_FILENO);
    *t = (struct terminal){.images = find_images(term), .utf8 = is_utf8()};
    t->truecolor = strcmp(colour, "truecolor") == 0 || strcmp(colour, "24bit") == 0 || strstr(term, "direct");
    t->columns = size.ws_col;
    t->rows = size.ws_row;
    bool pixels = size.ws_xpixel >= t->columns && size.ws_ypixel >= t->rows;
    t->cell_width = pixels ? size.ws_xpixel / t->columns : 8;
    t->cell_height = pixels ? size.ws_ypixel / t->rows : 16;
}
