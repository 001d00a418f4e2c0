/* apldata top in a terminal. */
#include "args.h"
#include "cmd_top.h"
#include "interrupt.h"
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 1000

/* Enter: the other screen, no cursor, lines that are cut and not wrapped. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"
#define HOME  "\033[H"
#define CLEAR "\033[K"
#define REST  "\033[J"

struct screen {
    const char *directory;
    char name[32]; /* of the reader that was chosen; or none */
    bool plain;    /* of a terminal that knows no escape sequences */
    bool keys;     /* they come at once, and are not shown */
    struct termios before;
};

static volatile sig_atomic_t stopping;

static void on_window(int number)
{
    (void)number; /* it interrupts the wait */
}

static void on_stop(int number)
{
    (void)number;
    stopping = 1;
}

static bool put_all(const char *text)
{
    for (size_t n = strlen(text); n > 0;) {
        ssize_t put = write(STDOUT_FILENO, text, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        text += put;
        n -= (size_t)put;
    }
    return true;
}

/* Keys as they are pressed: where the sandbox or the terminal does not allow it, Ctrl-C remains. */
static void begin_keys(struct screen *s)
{
    struct termios raw;
    s->keys = !s->plain && isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &s->before) == 0;
    if (!s->keys)
        return;
    raw = s->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    s->keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void enter(struct screen *s)
{
    begin_keys(s);
    if (!s->plain)
        put_all(ENTER);
}

static void leave(struct screen *s)
{
    if (!s->plain)
        put_all(LEAVE);
    if (s->keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
}

/* Ctrl-Z: as the terminal was, and later again as it is. */
static void stop(struct screen *s)
{
    leave(s);
    stopping = 0;
    raise(SIGSTOP);
    enter(s);
}

/* --------------------------------------------------------------------------------------------------- drawing */

/* Each line is cleared behind its end: nothing flickers. */
static bool put_frame(const struct screen *s, const char *frame)
{
    size_t lines = 1;
    for (const char *c = frame; *c; c++)
        lines += *c == '\n';
    char *text = malloc(strlen(frame) + 8 * lines + 32), *to = text;
    if (!text)
        return false;
    to += sprintf(to, "%s", s->plain ? "" : HOME);
    for (const char *c = frame; *c; c++) {
        if (*c == '\n' && !s->plain)
            to += sprintf(to, CLEAR "\r");
        *to++ = *c;
    }
    sprintf(to, "%s", s->plain ? "\n\n" : CLEAR REST);
    bool put = put_all(text);
    free(text);
    return put;
}

/* 0: it goes on. */
static int show(struct screen *s, struct top *top)
{
    struct terminal t;
    terminal_find(&t);
    struct top_view view = {.directory = s->directory,
                            .name = s->name[0] ? s->name : NULL,
                            .columns = t.columns - 1,
                            .rows = s->plain ? 0 : t.rows,
                            .colour = !s->plain && !getenv("NO_COLOR"),
                            .keys = s->keys};
    char *frame = top_draw(top, &view);
    if (!frame)
        return failed("out of memory");
    bool put = put_frame(s, frame);
    free(frame);
    return put ? 0 : EXIT_FAILURE; /* the terminal is gone */
}

/* ---------------------------------------------------------------------------------------------------- keys */

static void choose(struct screen *s, const struct top *top, int step)
{
    const struct top_reader *now = top_chosen(top, s->name[0] ? s->name : NULL);
    if (!now)
        return;
    size_t at = (size_t)(now - top->readers);
    at = step < 0 ? (at > 0 ? at - 1 : 0) : at + 1 < top->count ? at + 1 : at;
    snprintf(s->name, sizeof s->name, "%s", top->readers[at].name);
}

/* True: it is to end. */
static bool take_keys(struct screen *s, const struct top *top)
{
    char keys[64];
    ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
    if (n == 0)
        s->keys = false;
    for (ssize_t i = 0; i < n; i++) {
        if (keys[i] == 'q' || keys[i] == 'Q')
            return true;
        bool arrow = keys[i] == '\033' && i + 2 < n && (keys[i + 1] == '[' || keys[i + 1] == 'O');
        char key = arrow ? keys[i += 2] : keys[i];
        if (key == 'j' || (arrow && key == 'B'))
            choose(s, top, 1);
        else if (key == 'k' || (arrow && key == 'A'))
            choose(s, top, -1);
        else if (key == 'a')
            s->name[0] = 0;
    }
    return false;
}

static int until_next(const struct timespec *began)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long ms = (now.tv_sec - began->tv_sec) * 1000LL + (now.tv_nsec - began->tv_nsec) / 1000000;
    return ms < TICK_MS ? (int)(TICK_MS - ms) : 0;
}

/* Until a second has passed since the figures were read. True: it is to end. */
static bool wait_for_keys(struct screen *s, struct top *top, const struct timespec *began, int *status)
{
    int ms;
    while (!interrupted() && !*status && (ms = until_next(began)) > 0) {
        struct pollfd in = {.fd = s->keys ? STDIN_FILENO : -1, .events = POLLIN};
        int ready = poll(&in, 1, ms);
        if (stopping)
            stop(s);
        if (ready > 0 && take_keys(s, top))
            return true;
        if (ready != 0) /* a key, or the window has another size */
            *status = show(s, top);
    }
    return interrupted() || *status;
}

static int run_screen(struct screen *s)
{
    int status = 0;
    for (bool over = false; !over && !status;) {
        struct timespec began;
        struct top top;
        clock_gettime(CLOCK_MONOTONIC, &began);
        status = top_read(&top, s->directory);
        if (!status)
            status = show(s, &top);
        over = !status && wait_for_keys(s, &top, &began, &status);
        top_free(&top);
    }
    return status;
}

int top_live(const char *directory, const char *name)
{
    const char *term = getenv("TERM");
    struct sigaction window = {.sa_handler = on_window}, stops = {.sa_handler = on_stop};
    struct screen s = {.directory = directory, .plain = !term || !*term || strcmp(term, "dumb") == 0};
    struct top top;
    int status = top_read(&top, directory); /* what is wrong is said before the screen changes */
    top_free(&top);
    if (status)
        return status;
    snprintf(s.name, sizeof s.name, "%s", name ? name : "");
    interrupt_catch();
    sigaction(SIGWINCH, &window, NULL);
    sigaction(SIGTSTP, &stops, NULL);
    enter(&s);
    status = run_screen(&s);
    leave(&s);
    if (status && top_read(&top, directory) != 0) /* said again, where it can be seen */
        top_free(&top);
    return interrupted() && interrupted() != SIGINT ? EXIT_FAILURE : status;
}
