/* Which readers are open: who holds one keeps it, and who withdraws it lets nobody in. */
#include "handles.h"

#include <criterion/criterion.h>

TestSuite(handles);

static unsigned destroyed;
static char readers[200];

static apl_reader *reader(unsigned i)
{
    return (apl_reader *)(void *)&readers[i];
}

static void destroy(apl_reader *r)
{
    cr_assert((char *)r >= readers && (char *)r < readers + sizeof readers);
    destroyed++;
}

Test(handles, a_reader_goes_with_the_last_who_holds_it)
{
    struct handle *h = handles_add(reader(0), destroy);
    cr_assert_eq(handles_hold(reader(0)), h);
    handles_hold_again(h);
    handles_drop(h);
    handles_drop(h);
    cr_assert_eq(destroyed, 0);
    handles_drop(h);
    cr_assert_eq(destroyed, 1);
    cr_assert_null(handles_hold(reader(0)));
    cr_assert_null(handles_hold(NULL));
}

/* Though others hold it still. */
Test(handles, what_is_withdrawn_is_not_found)
{
    struct handle *h = handles_add(reader(0), destroy);
    cr_assert_eq(handles_hold(reader(0)), h);
    cr_assert(handles_withdraw(h));
    cr_assert_not(handles_withdraw(h), "twice");
    cr_assert_null(handles_hold(reader(0)));
    handles_drop(h);
    cr_assert_null(handles_hold(reader(0)));
    cr_assert_eq(destroyed, 0);
    handles_drop(h);
    cr_assert_eq(destroyed, 1);
    h = handles_add(reader(0), destroy);
    cr_assert_eq(handles_hold(reader(0)), h, "the place is free again");
    handles_drop(h);
    handles_drop(h);
    cr_assert_eq(destroyed, 2);
}

Test(handles, many_are_told_apart)
{
    struct handle *h[sizeof readers];
    for (unsigned i = 0; i < sizeof readers; i++)
        h[i] = handles_add(reader(i), destroy);
    for (unsigned i = 0; i < sizeof readers; i++) {
        cr_assert_eq(handles_hold(reader(i)), h[i]);
        handles_drop(h[i]);
    }
    for (unsigned i = 0; i < sizeof readers; i++) {
        cr_assert(handles_withdraw(h[i]));
        handles_drop(h[i]);
        cr_assert_eq(destroyed, i + 1);
        cr_assert_null(handles_hold(reader(i)));
    }
}
