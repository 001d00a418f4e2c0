/* Pages of HTML: see page.h. */
#include "page.h"

#include "args.h"
#include "outfile.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

void page_put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        const char *name = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
        if (name)
            fputs(name, out);
        else
            fputc(*text, out);
    }
}

const char *page_text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* The document within a script element: '<' stands in strings only, where an escape means the same. */
static void put_data(FILE *out, const json_t *document)
{
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(6));
    for (const char *c = text ? text : "null"; *c; c++)
        if (*c == '<')
            fputs("\\u003c", out);
        else
            fputc(*c, out);
    fputc('\n', out);
    if (!text)
        report_starved();
    free(text);
}

static void put_line(FILE *out, const char *line, const struct page *page, const json_t *document)
{
    if (strcmp(line, "@data@\n") == 0) {
        put_data(out, document);
        return;
    }
    for (size_t i = 0; i < page->count; i++)
        if (strcmp(line, page->places[i].line) == 0) {
            page->places[i].put(out, document);
            fputc('\n', out);
            return;
        }
    fputs(line, out);
}

static int write_text(const char *path, const char *text, size_t size)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    struct outset set = {0};
    if (!folder)
        return failed("out of memory");
    const char *name = slash ? path + (slash - folder) + 1 : path;
    if (slash)
        slash[slash == folder] = 0; /* "/" stays */
    int status = outset_open(&set, slash ? folder : ".", false, true);
    int file = status ? -1 : outset_add(&set, name);
    if (file < 0 || outset_write(&set, file, text, size) || outset_commit(&set))
        status = EXIT_FAILURE;
    outset_close(&set);
    free(folder);
    return status;
}

/* NULL: out of memory. */
static char *make_text(const struct page *page, const json_t *document, size_t *size)
{
    char *text = NULL;
    FILE *out = document ? open_memstream(&text, size) : NULL;
    for (size_t i = 0; out && page->lines[i]; i++)
        put_line(out, page->lines[i], page, document);
    bool bad = !out || ferror(out);
    if (out)
        bad |= fclose(out) != 0;
    if (bad) {
        free(text);
        text = NULL;
    }
    return text;
}

size_t page_size(const struct page *page, const json_t *document)
{
    size_t size = 0;
    free(make_text(page, document, &size));
    return size;
}

int page_check_path(const struct page *page, const char *path)
{
    char head[32] = {0};
    struct stat st;
    if (strcmp(path, "-") == 0)
        return failed("-: a page goes to a file: name one, or /dev/stdout");
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    FILE *file = fopen(path, "r");
    size_t first = strlen(page->lines[0]), n = file ? fread(head, 1, sizeof head - 1, file) : 0;
    if (file)
        fclose(file);
    first = first < sizeof head ? first : sizeof head - 1;
    if (n >= first && strncasecmp(head, page->lines[0], first) == 0)
        return 0;
    return failed("%s: it is not a page, and is not replaced", shown(path));
}

int page_save(const char *path, const struct page *page, json_t *document)
{
    size_t size = 0;
    char *text = make_text(page, document, &size);
    json_decref(document);
    int status = text ? report_complete(0) : failed("out of memory");
    if (!status)
        status = page_check_path(page, path);
    if (!status)
        status = write_text(path, text, size);
    free(text);
    return status;
}
