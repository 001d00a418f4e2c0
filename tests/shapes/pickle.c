/* Pickles, opcode by opcode. */
#include "pickle.h"

#include <string.h>

#define LIST_CHUNK 1000 /* items that cPickle appends at once */

static void op(struct pickle *p, const char *opcodes)
{
    fputs(opcodes, p->out);
}

static void little_endian(struct pickle *p, uint64_t n, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        putc((int)(n >> (8 * i) & 255), p->out);
}

static void memoize(struct pickle *p)
{
    unsigned n = ++p->memo;
    putc(n < 256 ? 'q' : 'r', p->out);
    little_endian(p, n, n < 256 ? 1 : 4);
}

void pickle_begin(struct pickle *p, FILE *out)
{
    *p = (struct pickle){.out = out};
    op(p, "\x80\x02}");
    memoize(p);
    op(p, "(");
}

void pickle_end(struct pickle *p)
{
    op(p, "u.");
}

static void short_text(struct pickle *p, const char *text)
{
    putc('U', p->out);
    putc((int)strlen(text), p->out);
    op(p, text);
}

void pickle_text(struct pickle *p, const char *text)
{
    short_text(p, text);
    memoize(p);
}

void pickle_int(struct pickle *p, unsigned n)
{
    putc(n < 256 ? 'K' : n < 65536 ? 'M' : 'J', p->out);
    little_endian(p, n, n < 256 ? 1 : n < 65536 ? 2 : 4);
}

void pickle_list(struct pickle *p, size_t n, void (*item)(struct pickle *p, size_t i, const void *user),
                 const void *user)
{
    op(p, "]");
    memoize(p);
    for (size_t first = 0; first < n; first += LIST_CHUNK) {
        size_t count = n - first < LIST_CHUNK ? n - first : LIST_CHUNK;
        if (count > 1)
            op(p, "(");
        for (size_t i = 0; i < count; i++)
            item(p, first + i, user);
        op(p, count > 1 ? "e" : "a");
    }
}

void pickle_array(struct pickle *p, const uint8_t *data, size_t rows, unsigned columns)
{
    op(p, "cnumpy.core.multiarray\n_reconstruct\n");
    memoize(p);
    op(p, "cnumpy\nndarray\n");
    memoize(p);
    pickle_int(p, 0);
    op(p, "\x85");
    short_text(p, "b");
    op(p, "\x87R");
    memoize(p);
    op(p, "(");
    pickle_int(p, 1);
    pickle_int(p, (unsigned)rows);
    pickle_int(p, columns);
    op(p, "\x86"
          "cnumpy\ndtype\n");
    memoize(p);
    short_text(p, "u1");
    pickle_int(p, 0);
    pickle_int(p, 1);
    op(p, "\x87R");
    memoize(p);
    op(p, "(");
    pickle_int(p, 3);
    short_text(p, "|");
    op(p, "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff");
    pickle_int(p, 0);
    op(p, "tb\x89T");
    little_endian(p, (uint64_t)rows * columns, 4);
    fwrite(data, columns, rows, p->out);
    op(p, "tb");
}
