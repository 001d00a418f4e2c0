/* Writing the audit's page: see cmd_audit_page.h. */
#include "cmd_audit_page.h"

#include "args.h"
#include "outfile.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* Text for HTML. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        const char *name = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
        if (name)
            fputs(name, out);
        else
            fputc(*text, out);
    }
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* --------------------------------------------------------------------------------------------- results */

static void put_cells(FILE *out, const json_t *finding)
{
    static const struct {
        const char *key, *tag;
    } cells[] = {{"test", "<td>"},
                 {"result", "<td class=\"result\">"},
                 {"p_text", "<td class=\"number\">"},
                 {"detail", "<td>"}};
    fputs("<tr>", out);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        fputs(cells[i].tag, out);
        put_text(out, text_of(finding, cells[i].key));
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

static void put_table(FILE *out, const char *of, const char *name, const json_t *findings)
{
    size_t i;
    json_t *finding;
    if (!findings)
        return;
    fprintf(out, "<h2>%s", of);
    put_text(out, name);
    fputs("</h2>\n<table><thead><tr><th>test</th><th class=\"result\">result</th><th "
          "class=\"number\">p</th><th>seen</th></tr></thead><tbody>\n",
          out);
    json_array_foreach(findings, i, finding) put_cells(out, finding);
    fputs("</tbody></table>\n", out);
}

static void put_tables(FILE *out, const json_t *document, const char *list, const char *of, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(document, list), i, item)
        put_table(out, of, text_of(item, name), json_object_get(item, "findings"));
}

static void put_results(FILE *out, const json_t *document)
{
    put_table(out, "The order", "", json_object_get(document, "findings"));
    put_tables(out, document, "splits", "The split ", "name");
    put_tables(out, document, "controls", "The control ", "control");
}

/* ------------------------------------------------------------------------------------------------ page */

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

static void put_title(FILE *out, const json_t *document)
{
    fputs("Audit of ", out);
    put_text(out, text_of(document, "db"));
}

static void put_heading(FILE *out, const json_t *document)
{
    put_text(out, text_of(document, "heading"));
}

static void put_kind(FILE *out, const json_t *document)
{
    put_text(out, text_of(document, "kind"));
}

static void put_verdict(FILE *out, const json_t *document)
{
    put_text(out, text_of(document, "verdict"));
}

static const struct {
    const char *line;
    void (*put)(FILE *out, const json_t *document);
} places[] = {{"@title@\n", put_title},     {"@heading@\n", put_heading}, {"@kind@\n", put_kind},
              {"@verdict@\n", put_verdict}, {"@results@\n", put_results}, {"@data@\n", put_data}};

static void put_line(FILE *out, const char *line, const json_t *document)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(line, places[i].line) == 0) {
            places[i].put(out, document);
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

int page_write(const char *path, json_t *document)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out && audit_page_lines[i]; i++)
        put_line(out, audit_page_lines[i], document);
    bool bad = !out || ferror(out);
    if (out)
        bad |= fclose(out) != 0;
    json_decref(document);
    int status = bad || !document ? failed("out of memory") : report_complete(0);
    if (!status)
        status = write_text(path, text, size);
    free(text);
    return status;
}
