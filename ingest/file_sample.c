/* Windows of a file: see file_sample.h. */
#include "file_sample.h"

#include "part.h"

#define WINDOW_BYTES 8192u

unsigned sample_windows(size_t files)
{
    size_t windows = files ? SAMPLE_MOST / files : SAMPLE_MOST;
    return windows > SAMPLE_LEAST ? (unsigned)windows : SAMPLE_LEAST;
}

apl_status sample_add(int fd, const char *name, uint64_t size, unsigned windows, struct sha256 *sha,
                      apl_error *err)
{
    uint8_t window[WINDOW_BYTES];
    bool all = size <= (uint64_t)windows * WINDOW_BYTES;
    uint64_t step = all ? WINDOW_BYTES : (size - WINDOW_BYTES) / (windows - 1);
    for (unsigned i = 0; i < windows && i * step < size; i++) {
        uint64_t at = !all && i == windows - 1 ? size - WINDOW_BYTES : i * step;
        size_t n = size - at < WINDOW_BYTES ? (size_t)(size - at) : WINDOW_BYTES;
        TRY(part_read_at(fd, name, at, window, n, err));
        sha256_add(sha, window, n);
    }
    return APL_OK;
}
