/* A locale with decimal commas, made for the test, as programs have that call setlocale(LC_ALL, ""). */
#ifndef LOCALE_CASE_H
#define LOCALE_CASE_H

#include <criterion/criterion.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* From here on this process writes 1,5; false: it cannot be made here. */
static inline bool locale_has_commas(void)
{
    char folder[] = "/tmp/apl-locale-XXXXXX", command[256];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    bool made = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
                setlocale(LC_ALL, "de_DE.UTF-8") && localeconv()->decimal_point[0] == ',';
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
    if (!made)
        cr_log_warn("skipped: localedef cannot make de_DE.UTF-8");
    return made;
}

#endif
