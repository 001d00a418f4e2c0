/* Names of parts, and what parts a directory has. */
#include "part_name.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

Test(part_name, is_read_as_it_is_made)
{
    static const unsigned numbers[][2] = {{1, 1}, {3, 16}, {9999, 9999}, {1, 10000}, {99999, 99999}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char name[PART_NAME_BYTES];
        unsigned part, parts;
        part_name_make(numbers[i][0], numbers[i][1], name);
        cr_assert(part_name_read(name, &part, &parts), "%s", name);
        cr_assert(part == numbers[i][0] && parts == numbers[i][1], "%s", name);
    }
}

Test(part_name, refuses_others)
{
    static const char *const names[] = {
        "part-0000-of-0004",   "part-0005-of-0004",  "part-1-of-4", "part-0001-of-0004x",
        "part-00001-of-00004", "xpart-0001-of-0004", "part-",       "",
        "part-0001-of-100000", "part--001-of-0004",  "part-0001",   "part- 001-of-0004",
        "part-0001-of-0004/x"};
    unsigned part, parts;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_assert(!part_name_read(names[i], &part, &parts), "%s", names[i]);
}

static void make_part(int directory, const char *name, bool store)
{
    char file[64];
    snprintf(file, sizeof file, "%s/data.mdb", name);
    cr_assert_eq(mkdirat(directory, name, 0777), 0);
    if (store)
        close(openat(directory, file, O_CREAT | O_WRONLY, 0600));
}

Test(part_name, looks_at_a_directory)
{
    char path[] = "/tmp/apl-parts-XXXXXX", command[64];
    struct parts_seen seen;
    cr_assert(mkdtemp(path));
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    parts_look(fd, &seen);
    cr_assert(seen.parts == 0 && seen.there == 0 && seen.other_parts == 0);
    make_part(fd, "part-0001-of-0003", true);
    make_part(fd, "part-0002-of-0003", false);
    make_part(fd, "other", true);
    parts_look(fd, &seen);
    cr_assert(seen.parts == 3 && seen.there == 1 && seen.missing == 2 && seen.other_parts == 0);
    make_part(fd, "part-0002-of-0002", true);
    parts_look(fd, &seen);
    cr_assert(seen.parts == 2 && seen.there == 1 && seen.missing == 1 && seen.other_parts == 3);
    make_part(fd, "part-0001-of-0002", true);
    parts_look(fd, &seen);
    cr_assert(seen.there == 2 && seen.missing == 0);
    close(fd);
    parts_look(-1, &seen);
    cr_assert_eq(seen.parts, 0);
    snprintf(command, sizeof command, "rm -rf %s", path);
    cr_assert_eq(system(command), 0);
}

Test(part_name, five_digits_from_ten_thousand_parts_on)
{
    char name[PART_NAME_BYTES];
    part_name_make(7, 9999, name);
    cr_assert_str_eq(name, "part-0007-of-9999");
    part_name_make(7, 10000, name);
    cr_assert_str_eq(name, "part-00007-of-10000");
}
