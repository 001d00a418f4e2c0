/* Telling a server of a batch: see provider.h. */
#include "reader.h"

#include <unistd.h>

void reader_notify(apl_reader *r)
{
    static const uint64_t one = 1;
    if (r->notify < 0 || !r->asked)
        return;
    r->asked = false;
    (void)!write(r->notify, &one, sizeof one); /* that it has been told already is no error */
}
