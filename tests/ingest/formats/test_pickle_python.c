/* Pickles as CPython writes them, with numpy where there is one, are read as CPython would read them. */
#include "counts.h"
#include "pickle_case.h"

#include <unistd.h>

static const char *python(void)
{
    const char *name = getenv("APL_PYTHON");
    return name && *name ? name : "python3";
}

static bool have_python(void)
{
    char command[256];
    snprintf(command, sizeof command, "'%s' -c '' 2>/dev/null", python());
    return system(command) == 0;
}

/* Runs make_pickles.py into a new folder. */
static void make_pickles(char folder[64])
{
    char command[256];
    strcpy(folder, "/tmp/apl-pickles-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(command, sizeof command, "'%s' tests/ingest/formats/make_pickles.py '%s'", python(), folder);
    cr_assert_eq(system(command), 0);
}

static void remove_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

static struct buffer read_file(const char *folder, const char *name)
{
    char path[160];
    struct buffer b = {0};
    uint8_t block[65536];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        buffer_put(&b, block, n);
    fclose(f);
    return b;
}

static void check_names(const struct got *g, unsigned rows)
{
    char want[32];
    for (unsigned i = 0; i < rows; i++) {
        size_t size;
        const char *name = pickle_text(g->p, KEY_FILENAMES, i, &size);
        snprintf(want, sizeof want, "row_%u.png", i);
        cr_assert(size == strlen(want) && memcmp(name, want, size) == 0);
    }
}

/* One line of list.txt. */
static void check_line(struct got *g, const char *folder, char *line)
{
    char file[32], words[128] = "";
    unsigned rows, names;
    cr_assert_geq(sscanf(line, "%31s %u %u %127[^\n]", file, &rows, &names, words), 3);
    struct buffer b = read_file(folder, file);
    read_into(g, b.data, b.size, rows % 2 ? 1000 : 0, &batch_rules);
    buffer_free(&b);
    if (rows == 0) {
        cr_assert_eq(g->status, APL_E_SOURCE, "%s was accepted, not: %s", file, words);
        cr_assert(strstr(g->err.message, words), "%s: %s\nnot: %s", file, g->err.message, words);
        return;
    }
    cr_assert_eq(g->status, APL_OK, "%s: %s", file, g->err.message);
    cr_assert(g->rows == rows && !g->wrong, "%s", file);
    for (unsigned i = 0; i < rows; i++)
        cr_assert_eq(pickle_label(g->p, KEY_LABELS, i), i % 10);
    cr_assert_eq(pickle_has(g->p, KEY_FILENAMES), names);
    if (names)
        check_names(g, rows);
}

Test(pickle_python, pickles_of_cpython)
{
    char folder[64], path[96], line[256];
    if (!have_python()) {
        puts("skipped (no python3)");
        return;
    }
    make_pickles(folder);
    snprintf(path, sizeof path, "%s/list.txt", folder);
    FILE *list = fopen(path, "r");
    cr_assert_not_null(list);
    struct got g = got_new();
    unsigned lines = 0;
    for (; fgets(line, sizeof line, list); lines++)
        check_line(&g, folder, line);
    cr_assert_gt(lines, 500);
    counted("%u pickles of CPython", lines);
    fclose(list);
    pickle_free(g.p);
    remove_folder(folder);
}
