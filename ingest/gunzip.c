/* What surrounds the inflating of gzip members: their sequence, padding, and what to say of damage. */
#include "gunzip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct gunzip {
    const struct gunzip_kind *kind;
    void *state;
    uint64_t taken; /* compressed bytes used */
    uint64_t start; /* of them before the current member */
    enum { MEMBER, BETWEEN, PADDING } place;
};

const struct gunzip_kind *gunzip_pick(void)
{
    const char *wanted = getenv("APL_GUNZIP");
    bool any = !wanted || !*wanted;
#ifdef HAVE_ISAL
    if (any || strcmp(wanted, gunzip_isal.name) == 0)
        return &gunzip_isal;
#endif
    return any || strcmp(wanted, gunzip_zlib.name) == 0 ? &gunzip_zlib : NULL;
}

struct gunzip *gunzip_open(const struct gunzip_kind *kind)
{
    struct gunzip *gunzip = calloc(1, sizeof *gunzip);
    if (!gunzip)
        return NULL;
    gunzip->kind = kind;
    gunzip->state = kind->open();
    if (!gunzip->state) {
        free(gunzip);
        return NULL;
    }
    return gunzip;
}

void gunzip_close(struct gunzip *gunzip)
{
    if (!gunzip)
        return;
    gunzip->kind->close(gunzip->state);
    free(gunzip);
}

static apl_status damaged(const struct gunzip *gunzip, enum gunzip_step step, const char *name,
                          apl_error *err)
{
    const char *what = step == GUNZIP_BAD_HEADER  ? "this is not a valid gzip header"
                       : step == GUNZIP_BAD_CHECK ? "gzip checksum or length does not match the data"
                                                  : "gzip data is damaged";
    if (step == GUNZIP_NO_MEMORY)
        return fail_nomem(err);
    return fail(err, APL_E_SOURCE, "%s: byte %" PRIu64 ": %s", name, gunzip->taken, what);
}

/* The first bytes of a member are checked here: the inflaters differ in what they accept, and ISA-L wants ten
 * of them before it looks. */
static bool plausible(const struct gunzip *gunzip, const struct gunzip_io *io)
{
    static const uint8_t magic[3] = {0x1f, 0x8b, 8};
    uint64_t at = gunzip->taken - gunzip->start;
    for (size_t i = 0; i < io->in_left && at < 4; i++, at++)
        if (at < 3 ? io->in[i] != magic[at] : (io->in[i] & 0xe0) != 0) /* the fourth: no flags unknown */
            return false;
    return true;
}

static apl_status run_member(struct gunzip *gunzip, struct gunzip_io *io, const char *name, apl_error *err)
{
    if (!plausible(gunzip, io))
        return damaged(gunzip, GUNZIP_BAD_HEADER, name, err);
    struct gunzip_io before = *io;
    enum gunzip_step step = gunzip->kind->step(gunzip->state, io);
    gunzip->taken += before.in_left - io->in_left;
    bool idle = io->in_left == before.in_left && io->out_left == before.out_left;
    if (step == GUNZIP_GOES_ON && idle && io->in_left > 0 && io->out_left > 0)
        step = GUNZIP_BAD_DATA; /* an inflater that neither takes nor gives would be asked for ever */
    if (step == GUNZIP_MEMBER_END)
        gunzip->place = BETWEEN;
    else if (step != GUNZIP_GOES_ON)
        return damaged(gunzip, step, name, err);
    return APL_OK;
}

/* After a member: another one, or NUL bytes to the end. */
static void look_behind(struct gunzip *gunzip, const struct gunzip_io *io)
{
    if (io->in[0] == 0) {
        gunzip->place = PADDING;
    } else if (io->in[0] == 0x1f) {
        gunzip->kind->restart(gunzip->state);
        gunzip->start = gunzip->taken;
        gunzip->place = MEMBER;
    }
}

static apl_status run_padding(struct gunzip *gunzip, struct gunzip_io *io, const char *name, apl_error *err)
{
    while (io->in_left > 0 && *io->in == 0) {
        io->in++;
        io->in_left--;
        gunzip->taken++;
    }
    if (io->in_left == 0)
        return APL_OK;
    return fail(err, APL_E_SOURCE, "%s: byte %" PRIu64 ": garbage after the end of the gzip stream", name,
                gunzip->taken);
}

apl_status gunzip_run(struct gunzip *gunzip, struct gunzip_io *io, const char *name, apl_error *err)
{
    for (;;) {
        if (gunzip->place == BETWEEN && io->in_left > 0)
            look_behind(gunzip, io);
        if (gunzip->place != MEMBER)
            return run_padding(gunzip, io, name, err);
        TRY(run_member(gunzip, io, name, err));
        if (io->out_left == 0 || (io->in_left == 0 && gunzip->place == MEMBER))
            return APL_OK;
    }
}

apl_status gunzip_finish(const struct gunzip *gunzip, const char *name, apl_error *err)
{
    if (gunzip->place != MEMBER)
        return APL_OK;
    return fail(err, APL_E_INCOMPLETE,
                "%s: ends early at byte %" PRIu64 ": the gzip stream is truncated (an interrupted download?)",
                name, gunzip->taken);
}
