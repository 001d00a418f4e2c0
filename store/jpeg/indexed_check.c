/* A transcoder that reads headers only: see indexed_check.h. */
#include "indexed_check.h"

#include "transcode.h"

struct indexed_checker {
    struct transcoder transcoder;
};

struct indexed_checker *indexed_checker_new(void)
{
    struct indexed_checker *checker = calloc(1, sizeof *checker);
    if (checker && transcoder_init(&checker->transcoder, NULL) == APL_OK)
        return checker;
    free(checker);
    return NULL;
}

void indexed_checker_free(struct indexed_checker *checker)
{
    if (!checker)
        return;
    transcoder_free(&checker->transcoder);
    free(checker);
}

apl_status indexed_check(struct indexed_checker *checker, const struct indexed *x, apl_error *err)
{
    return transcode_check(&checker->transcoder, x, err);
}
