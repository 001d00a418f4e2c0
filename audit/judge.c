/* What is rejected: see audit_judge(). */
#include "audit.h"

unsigned audit_judge(struct finding **findings, unsigned count, double level)
{
    unsigned rejected = 0;
    for (unsigned i = 0; i < count; i++)
        findings[i]->rejected = false;
    for (; rejected < count; rejected++) {
        struct finding *least = NULL;
        for (unsigned i = 0; i < count; i++)
            if (!findings[i]->rejected && (!least || findings[i]->p < least->p))
                least = findings[i];
        if (!least || least->p > level / (count - rejected))
            break;
        least->rejected = true;
    }
    return rejected;
}
