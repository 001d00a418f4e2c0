/* The reading thread: raw bytes, hash, unpacking, and a ring of buffers to the one who asks for them. */
#include "input.h"

#include "bytes.h"
#include "gunzip.h"
#include "rawfile.h"
#include "ring.h"
#include "unfilter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define RAW_BYTES  (256u << 10) /* read at once of what must be unpacked */
#define MAGIC_NEED 20           /* bytes that tell what a file is */

struct input {
    struct input_options options;
    struct rawfile file;
    struct ring *ring;
    pthread_t thread;
    uint8_t *raw; /* what was read and not yet unpacked: raw[raw_at ... raw_end-1] */
    size_t raw_at, raw_end;
    struct gunzip *gunzip;
    struct unfilter *unfilter;
    /* Fills out[0 ... room-1]; *got < room only at the end. */
    apl_status (*fill)(struct input *in, uint8_t *out, size_t room, size_t *got, apl_error *err);
};

/* Reads more raw bytes if all are used; if none are left after that, the file has ended. */
static apl_status refill_raw(struct input *in, apl_error *err)
{
    if (in->raw_at < in->raw_end)
        return APL_OK;
    in->raw_at = 0;
    in->raw_end = 0;
    return rawfile_read(&in->file, in->raw, RAW_BYTES, &in->raw_end, err);
}

static apl_status fill_plain(struct input *in, uint8_t *out, size_t room, size_t *got, apl_error *err)
{
    size_t have = in->raw_end - in->raw_at;
    if (have > room)
        have = room;
    memcpy(out, in->raw + in->raw_at, have);
    in->raw_at += have;
    size_t n = 1;
    for (; have < room && n > 0; have += n)
        TRY(rawfile_read(&in->file, out + have, room - have, &n, err));
    *got = have;
    return APL_OK;
}

static apl_status fill_gunzip(struct input *in, uint8_t *out, size_t room, size_t *got, apl_error *err)
{
    struct gunzip_io io = {.out = out, .out_left = room};
    while (io.out_left > 0) {
        TRY(refill_raw(in, err));
        io.in = in->raw + in->raw_at;
        io.in_left = in->raw_end - in->raw_at;
        bool ended = io.in_left == 0;
        TRY(gunzip_run(in->gunzip, &io, in->options.name, err));
        in->raw_at = in->raw_end - io.in_left;
        if (ended && io.out_left > 0) {
            TRY(gunzip_finish(in->gunzip, in->options.name, err));
            break;
        }
    }
    *got = room - io.out_left;
    return APL_OK;
}

static apl_status fill_unfilter(struct input *in, uint8_t *out, size_t room, size_t *got, apl_error *err)
{
    return unfilter_fill(in->unfilter, out, room, got, err);
}

/* How the unfilter gets its raw bytes. */
static apl_status read_raw(void *user, const uint8_t **data, size_t *size, apl_error *err)
{
    struct input *in = user;
    TRY(refill_raw(in, err));
    *data = in->raw + in->raw_at;
    *size = in->raw_end - in->raw_at;
    in->raw_at = in->raw_end;
    return APL_OK;
}

/* Reads enough bytes to tell what the file is, if it has as many; pipes give them in any portions. */
static apl_status read_magic(struct input *in, apl_error *err)
{
    for (size_t n = 1; in->raw_end < MAGIC_NEED && n > 0; in->raw_end += n)
        TRY(rawfile_read(&in->file, in->raw + in->raw_end, RAW_BYTES - in->raw_end, &n, err));
    return APL_OK;
}

static apl_status start_gunzip(struct input *in, apl_error *err)
{
    const struct gunzip_kind *kind = gunzip_pick();
    if (!kind)
        return fail(err, APL_E_UNSUPPORTED, "APL_GUNZIP names no inflater of this build");
    in->gunzip = gunzip_open(kind);
    if (!in->gunzip)
        return fail_nomem(err);
    in->fill = fill_gunzip;
    return APL_OK;
}

static bool is_lmdb(const uint8_t *bytes, size_t size)
{
    return size >= MAGIC_NEED && load_le(bytes + 16, 4) == 0xBEEFC0DE;
}

static bool is_gzip(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static enum unfilter_kind packing(const uint8_t *bytes, size_t size)
{
    static const uint8_t xz[6] = {0xfd, '7', 'z', 'X', 'Z', 0}, zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
    if (size >= 6 && memcmp(bytes, xz, 6) == 0)
        return UNFILTER_XZ;
    if (size >= 4 && memcmp(bytes, zstd, 4) == 0)
        return UNFILTER_ZSTD;
    if (size >= 4 && memcmp(bytes, "BZh", 3) == 0 && bytes[3] >= '1' && bytes[3] <= '9')
        return UNFILTER_BZIP2;
    return UNFILTER_NONE;
}

bool input_is_packed(const uint8_t *bytes, size_t size)
{
    return is_gzip(bytes, size) || packing(bytes, size) != UNFILTER_NONE;
}

/* Detects what an archive is packed with from its first bytes. */
static apl_status recognise(struct input *in, apl_error *err)
{
    const char *name = in->options.name;
    TRY(read_magic(in, err));
    if (in->raw_end == 0)
        return fail(err, APL_E_SOURCE, "%s: is empty", name);
    if (is_lmdb(in->raw, in->raw_end))
        return fail(err, APL_E_SOURCE, "%s: is an LMDB file (an APL store?), not a source", name);
    if (is_gzip(in->raw, in->raw_end))
        return start_gunzip(in, err);
    enum unfilter_kind kind = packing(in->raw, in->raw_end);
    if (kind == UNFILTER_NONE)
        return APL_OK;
    in->fill = fill_unfilter;
    return unfilter_open(kind, name, read_raw, in, &in->unfilter, err);
}

static apl_status produce(struct input *in, apl_error *err)
{
    if (in->options.archive)
        TRY(recognise(in, err));
    size_t got = RING_BYTES;
    while (got == RING_BYTES) {
        uint8_t *room = ring_room(in->ring);
        if (!room)
            return fail(err, APL_E_CANCELLED, "%s: stopped", in->options.name);
        TRY(in->fill(in, room, RING_BYTES, &got, err));
        if (got > 0)
            ring_put(in->ring, got);
    }
    return APL_OK;
}

static void *run_input(void *user)
{
    struct input *in = user;
    apl_error why;
    apl_status status = produce(in, &why);
    ring_end(in->ring, status, &why);
    return NULL;
}

static bool stopped(void *user)
{
    return ring_stopped(user);
}

/* Starts the thread with all signals blocked: they are for the caller's threads. */
static apl_status start(struct input *in, apl_error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&in->thread, NULL, run_input, in);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error ? fail_errno(err, error, "%s: cannot start a thread to read it", in->options.name) : APL_OK;
}

static void input_free(struct input *in)
{
    gunzip_close(in->gunzip);
    unfilter_close(in->unfilter);
    ring_free(in->ring);
    free(in->raw);
    close(in->file.fd);
    free(in);
}

static void prepare_input(struct input *in, int fd)
{
    struct stat st;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (regular)
        posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    in->file = (struct rawfile){.fd = fd,
                                .name = in->options.name,
                                .sha = in->options.sha,
                                .head = in->options.head,
                                .head_left = in->options.head_size,
                                .waits = !regular,
                                .stopped = stopped,
                                .user = in->ring};
    in->fill = fill_plain;
}

apl_status input_open(int fd, const struct input_options *options, struct input **input, apl_error *err)
{
    struct input *in = calloc(1, sizeof *in);
    if (!in) {
        close(fd);
        return fail_nomem(err);
    }
    in->options = *options;
    in->ring = ring_new();
    in->raw = malloc(RAW_BYTES);
    prepare_input(in, fd);
    apl_status status = in->ring && in->raw ? start(in, err) : fail_nomem(err);
    if (status != APL_OK) {
        input_free(in);
        return status;
    }
    *input = in;
    return APL_OK;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    ring_stop(in->ring);
    pthread_join(in->thread, NULL);
    input_free(in);
}

apl_status input_next(struct input *in, const uint8_t **data, size_t *size, apl_error *err)
{
    apl_status status = ring_take(in->ring, in->options.poll, in->options.user, data, size, err);
    return status == APL_E_CANCELLED ? fail(err, status, "%s: cancelled", in->options.name) : status;
}

uint64_t input_bytes(const struct input *in)
{
    return atomic_load_explicit(&in->file.taken, memory_order_relaxed);
}
