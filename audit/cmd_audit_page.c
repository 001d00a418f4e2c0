/* The audit's page: see cmd_audit_page.h. */
#include "cmd_audit_page.h"

#include "page.h"

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
        page_put_text(out, page_text_of(finding, cells[i].key));
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
    page_put_text(out, name);
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
        put_table(out, of, page_text_of(item, name), json_object_get(item, "findings"));
}

static void put_results(FILE *out, const json_t *document)
{
    put_table(out, "The order", "", json_object_get(document, "findings"));
    put_tables(out, document, "splits", "The split ", "name");
    put_tables(out, document, "controls", "The control ", "control");
}

/* ------------------------------------------------------------------------------------------------ page */

static void put_title(FILE *out, const json_t *document)
{
    fputs("Audit of ", out);
    page_put_text(out, page_text_of(document, "db"));
}

static void put_heading(FILE *out, const json_t *document)
{
    page_put_text(out, page_text_of(document, "heading"));
}

static void put_kind(FILE *out, const json_t *document)
{
    fputs("verdict ", out);
    page_put_text(out, page_text_of(document, "kind"));
}

static void put_verdict(FILE *out, const json_t *document)
{
    page_put_text(out, page_text_of(document, "verdict"));
}

static const struct page_place places[] = {{"@title@\n", put_title},
                                           {"@heading@\n", put_heading},
                                           {"@kind@\n", put_kind},
                                           {"@summary@\n", put_verdict},
                                           {"@results@\n", put_results}};

int audit_save_page(const char *path, json_t *document)
{
    return page_save(path, &(struct page){audit_page_lines, places, sizeof places / sizeof *places},
                     document);
}
