#include "args.h"

#include "report.h"
#include "wrapped.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

struct message {
    char text[16384]; /* a few paths at their longest */
};

const char *program_name = "";
const char *command_name;

/* Formats a message and makes it safe to print, whatever it is made of. */
static const char *message_text(struct message *m, const char *format, va_list args)
{
    char text[sizeof m->text];
    vsnprintf(text, sizeof text, format, args);
    return apl_printable(m->text, sizeof m->text, text, strlen(text));
}

static void complain(const char *format, va_list args)
{
    struct message m;
    fprintf(stderr, "%s: %s", program_name, message_text(&m, format, args));
}

int misuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    fprintf(stderr, "\nTry '%s%s%s --help' for more information.\n", program_name, command_name ? " " : "",
            command_name ? command_name : "");
    return EXIT_MISUSE;
}

int failed(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    fputc('\n', stderr);
    return EXIT_FAILURE;
}

int failed_unless_forced(const apl_error *err)
{
    return failed("%s%s", err->message, err->status == APL_E_EXISTS ? "; --force replaces it" : "");
}

void note(const char *format, ...)
{
    char line[sizeof(struct message) + 64];
    struct message m;
    va_list args;
    va_start(args, format);
    snprintf(line, sizeof line, "%s: note: %s", program_name, message_text(&m, format, args));
    va_end(args);
    print_note(line);
}

int failed_errno(int sys_errno, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    fprintf(stderr, ": %s\n", strerror(sys_errno));
    return EXIT_FAILURE;
}

int misused_option(char **argv, int opt)
{
    const char *word = argv[optind - 1];
    bool is_long = strncmp(word, "--", 2) == 0 && word[2];
    char name[64];
    if (is_long)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    else
        snprintf(name, sizeof name, "-%c", optopt);
    if (opt == ':')
        return misuse("option '%s' needs a value", shown(name));
    if (is_long && optopt)
        return misuse("option '%s' takes no value", shown(name));
    return misuse("no such option: '%s'", shown(name));
}

int take_operands(int count, char **operands, const char *const *names)
{
    int wanted = 0;
    for (; names[wanted]; wanted++) {
        if (wanted >= count)
            return misuse("which %s?", names[wanted]);
        if (!*operands[wanted])
            return misuse("%s is empty", names[wanted]);
    }
    return count > wanted ? misuse("one operand too many: '%s'", shown(operands[wanted])) : 0;
}

int take_ids(int count, char **operands, const char **db, uint64_t **ids, size_t *n)
{
    int status = take_operands(count < 2 ? count : 2, operands, (const char *const[]){"DB", "ID", NULL});
    if (status)
        return status;
    *db = operands[0];
    *n = (size_t)count - 1;
    *ids = calloc(*n, sizeof **ids);
    if (!*ids)
        return failed("out of memory");
    for (size_t i = 0; i < *n; i++)
        if (!parse_number(operands[1 + i], 0, UINT64_MAX, &(*ids)[i]))
            return misuse("an id is a number, not '%s'", shown(operands[1 + i]));
    return 0;
}

void option_help_print(unsigned column, const char *label, const char *help)
{
    int used = printf("  %s", label);
    int gap = used + 2 > (int)column ? 4 : (int)column - used;
    for (bool first = true; *help; first = false) {
        size_t length = strcspn(help, "\n");
        printf("%*s%.*s\n", first ? gap : (int)column, "", (int)length, help);
        help += length + (help[length] == '\n');
    }
}

bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    if (!isdigit((unsigned char)text[0]))
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || *end || v < min || v > max)
        return false;
    *value = v;
    return true;
}

bool parse_integer(const char *text, int64_t min, int64_t max, int64_t *value)
{
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    if (!isdigit((unsigned char)digits[0]))
        return false;
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || *end || v < min || v > max)
        return false;
    *value = v;
    return true;
}

bool parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    static const char units[] = "KMGT";
    char digits[32];
    size_t n = strspn(text, "0123456789");
    const char *unit = *text && text[n] ? strchr(units, text[n]) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (n == 0 || n >= sizeof digits || (text[n] && (!unit || text[n + 1])))
        return false;
    memcpy(digits, text, n);
    digits[n] = 0;
    if (!parse_number(digits, 0, max >> shift, value))
        return false;
    *value <<= shift;
    return *value >= min;
}

int finish_output(int status)
{
    errno = 0;
    bool bad = ferror(stdout) != 0, pending = __fpending(stdout) > 0;
    bool closed = fclose(stdout) == 0;
    if (!bad && (closed ||
                 (errno == EBADF && !pending))) /* closed from the beginning, and nothing was to be written */
        return status;
    return errno ? failed_errno(errno, "standard output") : failed("standard output: write error");
}
