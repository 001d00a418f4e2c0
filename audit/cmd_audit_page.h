/*
 * The audit's page: one HTML file that needs no network and no other file. C gathers the data, as one JSON document;
 * page/draw.js draws it, in the page and the style of tools/lib/page. Without scripts it is a table of results.
 */
#ifndef CMD_AUDIT_PAGE_H
#define CMD_AUDIT_PAGE_H

#include "audit.h"
#include "json.h"

#include <stdbool.h>

/* tools/lib/page/page.html with style and script put in, made at build; NULL ends it. A line such as "@title@" is a place to
 * fill. */
extern const char *const audit_page_lines[];

/* Adds the charts' data and the results to an object with "findings"; `judged`: rejections count against what was
 * audited. */
void page_add_report(json_t *object, const struct audit_report *report, const struct audit_sample *sample,
                     bool judged);

/* The same for a list of findings alone: the word and the p-value that stand in the table. */
void page_add_results(json_t *list, const struct finding *findings, unsigned count, bool judged);

/* Writes the page of a document with "db", "heading", "kind" (of which the verdict's colour comes: "good", "wrong" or
 * "differs"), "verdict" and lists of findings, and drops it; a file of that path is replaced as a whole. 0, or what
 * failed() returned. */
int audit_save_page(const char *path, json_t *document);

#endif
