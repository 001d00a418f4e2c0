/* The parts of the audit's pages: HTML that needs no network, no script and no other file. */
#ifndef CMD_AUDIT_PAGE_H
#define CMD_AUDIT_PAGE_H

#include "audit.h"

#include <stdbool.h>
#include <stdio.h>

/* Text for HTML. */
void html_text(FILE *out, const char *text);

/* Up to the verdict. `kind`, of which its colour comes: "good", "wrong" or "differs". `subject` is a store's path. */
void page_begin(FILE *out, const char *subject, const char *heading, const char *kind, const char *verdict);
void page_end(FILE *out);

/* A table of findings; `judged`: what is rejected speaks against what was audited. */
void page_findings(FILE *out, const struct finding *findings, unsigned count, bool judged);

/* Writes the page that `fill` makes of `what`; a file of that path is replaced as a whole. 0, or what failed() returned. */
int page_write(const char *path, void (*fill)(FILE *out, const void *what), const void *what);

#endif
