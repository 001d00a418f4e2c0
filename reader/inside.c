/* Being inside a reader: see inside.h. */
#include "inside.h"

#include "forks.h"
#include "handles.h"

static _Thread_local const apl_reader *calling_back;

const apl_reader *inside_callback_begin(const apl_reader *r)
{
    const apl_reader *before = calling_back;
    calling_back = r;
    return before;
}

void inside_callback_end(const apl_reader *before)
{
    calling_back = before;
}

bool inside_callback(const apl_reader *r)
{
    return calling_back == r;
}

/* A thread inside a callback of the reader holds it already, also after a close has withdrawn it. */
static struct handle *hold_open(apl_reader *r)
{
    if (!inside_callback(r))
        return handles_hold(r);
    handles_hold_again(r->handle);
    return r->handle;
}

apl_status reader_enter(apl_reader *r, apl_error *err)
{
    if (!r)
        return fail(err, APL_E_INVALID, "the reader is NULL");
    struct handle *handle = hold_open(r);
    if (!handle)
        return fail(err, APL_E_CANCELLED, "the reader has been closed");
    if (r->forks == forks_so_far())
        return APL_OK;
    handles_drop(handle);
    return fail(err, APL_E_FORKED, "the reader belongs to the parent process: open one here");
}

void reader_leave(apl_reader *r)
{
    handles_drop(r->handle);
}
