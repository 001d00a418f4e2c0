/* A locale with decimal commas, made for the test, as programs have that call setlocale(LC_ALL, ""). */
#ifndef LOCALE_CASE_H
#define LOCALE_CASE_H

#include <criterion/criterion.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* From here on this process writes 1,5; false: it cannot be made here. It takes a second, and so is made once, where tests/run.sh makes it too. */
static inline bool locale_has_commas(void)
{
    const char *build = getenv("BUILD");
    char folder[200], command[512];
    snprintf(folder, sizeof folder, "%s/locale", build ? build : "build");
    snprintf(command, sizeof command,
             "d=%s; [ -d $d/de_DE.UTF-8 ] || { mkdir -p $d && new=$(mktemp -d $d/XXXXXX) && "
             "localedef -i de_DE -f UTF-8 $new/de_DE.UTF-8 && mv -T $new/de_DE.UTF-8 $d/de_DE.UTF-8; "
             "rm -rf $new; [ -d $d/de_DE.UTF-8 ]; } >/dev/null 2>&1",
             folder);
    bool made = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
                setlocale(LC_ALL, "de_DE.UTF-8") && localeconv()->decimal_point[0] == ',';
    if (!made)
        cr_log_warn("skipped: localedef cannot make de_DE.UTF-8");
    return made;
}

#endif
