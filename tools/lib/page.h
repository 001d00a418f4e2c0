/*
 * Pages: one HTML file that needs no network and no other file. C gathers the data, as one JSON document; scripts draw it. What can be
 * read without scripts is put in beside it. page.sh makes lines of C of a page, with its styles and scripts put in, and a policy by
 * which a browser runs no other script and loads nothing.
 */
#ifndef PAGE_H
#define PAGE_H

#include "json.h"

#include <stdio.h>

/* A line such as "@title@\n", which is a place to fill, and what fills it. "@data@\n" is the document. */
struct page_place {
    const char *line;
    void (*put)(FILE *out, const json_t *document);
};

struct page {
    const char *const *lines; /* as page.sh makes them */
    const struct page_place *places;
    size_t count;
};

/* Text for HTML, escaped. */
void page_put_text(FILE *out, const char *text);

/* The string of that name in an object, or "". */
const char *page_text_of(const json_t *object, const char *key);

/* How many bytes the page of a document takes; 0: out of memory. */
size_t page_size(const struct page *page, const json_t *document);

/* May a page have this path? Of the files that are there, only pages are replaced, and empty ones. 0, or what failed() returned. */
int page_check_path(const struct page *page, const char *path);

/* Writes the page of a document, and drops it; another page of that path is replaced as a whole. 0, or what failed() returned. */
int page_save(const char *path, const struct page *page, json_t *document);

#endif
