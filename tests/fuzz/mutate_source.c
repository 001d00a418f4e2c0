/* Mutates the tar inside a gzip: bytes, or fields of headers, whose checksums are made right; and packs it again. */
#include "fuzz.h"
#include "repair.h"

#include <zlib.h>

#define MAX_TAR (64u << 10)

/* The plain bytes of a gzip of one member; 0: it is not one, or too long. */
static size_t unpack(const uint8_t *data, size_t size, uint8_t *tar)
{
    z_stream z = {
        .next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)size, .next_out = tar, .avail_out = MAX_TAR};
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return 0;
    int result = inflate(&z, Z_FINISH);
    size_t plain = z.total_out;
    inflateEnd(&z);
    return result == Z_STREAM_END ? plain : 0;
}

/* Returns the packed size; 0: it does not fit. */
static size_t pack(const uint8_t *tar, size_t size, uint8_t *data, size_t room)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)tar,
                  .avail_in = (uInt)size,
                  .next_out = data,
                  .avail_out = (uInt)room};
    if (deflateInit2(&z, 4, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    int result = deflate(&z, Z_FINISH);
    size_t packed = z.total_out;
    deflateEnd(&z);
    return result == Z_STREAM_END ? packed : 0;
}

static void seal(uint8_t *head)
{
    unsigned sum = 0;
    char text[8];
    memset(head + 148, ' ', 8);
    for (unsigned i = 0; i < 512; i++)
        sum += head[i];
    snprintf(text, sizeof text, "%06o", sum);
    memcpy(head + 148, text, 7);
}

static bool is_head(const uint8_t *block)
{
    return memcmp(block + 257, "ustar", 5) == 0;
}

static void change_size(uint8_t *head, unsigned *seed)
{
    static const unsigned sizes[] = {0, 1, 511, 512, 513, 3072, 3073, 3074, 6146, 100000};
    char text[13];
    if (draw(seed, 4) == 0)
        head[124 + draw(seed, 12)] = (uint8_t)draw(seed, 256); /* base 256 among them */
    else {
        snprintf(text, sizeof text, "%011o", sizes[draw(seed, sizeof sizes / sizeof *sizes)]);
        memcpy(head + 124, text, 12);
    }
}

static void change_head(uint8_t *head, unsigned *seed)
{
    static const char types[] = "01234567xgLKSNVMAD", *const names[] = {"data_batch_1.bin",
                                                                        "data_batch_2",
                                                                        "test_batch.bin",
                                                                        "batches.meta.txt",
                                                                        "train",
                                                                        "train.bin",
                                                                        "meta",
                                                                        "./a/../data_batch_3.bin",
                                                                        "/data_batch_1.bin",
                                                                        "batches.meta",
                                                                        "coarse_label_names.txt"};
    switch (draw(seed, 5)) {
    case 0:
        head[156] = (uint8_t)types[draw(seed, sizeof types)];
        break;
    case 1:
        change_size(head, seed);
        break;
    case 2:
        memset(head, 0, 100);
        strcpy((char *)head, names[draw(seed, sizeof names / sizeof *names)]);
        break;
    default:
        LLVMFuzzerMutate(head, 512, 512);
    }
}

/* Mutates a header of the tar and makes the checksums of all of them right. */
static void change_heads(uint8_t *tar, size_t size, unsigned *seed)
{
    size_t blocks = size / 512, start = draw(seed, (unsigned)blocks);
    for (size_t i = 0; i < blocks; i++) {
        uint8_t *block = tar + (start + i) % blocks * 512;
        if (!is_head(block))
            continue;
        change_head(block, seed);
        break;
    }
    for (size_t i = 0; i < blocks; i++)
        if (is_head(tar + i * 512))
            seal(tar + i * 512);
}

/* Moves, doubles or drops blocks of the tar. */
static size_t change_blocks(uint8_t *tar, size_t size, unsigned *seed)
{
    size_t blocks = size / 512, from = draw(seed, (unsigned)blocks) * 512,
           to = draw(seed, (unsigned)blocks) * 512;
    switch (draw(seed, 3)) {
    case 0:
        memmove(tar + to, tar + from, 512);
        return size;
    case 1:
        memmove(tar + from, tar + from + 512, size - from - 512);
        return size - 512;
    default:
        if (size + 512 > MAX_TAR)
            return size;
        memmove(tar + from + 512, tar + from, size - from);
        return size + 512;
    }
}

static size_t change_tar(uint8_t *tar, size_t size, unsigned *seed)
{
    if (size < 1024 || draw(seed, 8) == 0)
        return LLVMFuzzerMutate(tar, size, MAX_TAR);
    if (draw(seed, 3))
        change_heads(tar, size, seed);
    else
        size = change_blocks(tar, size, seed);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static uint8_t tar[MAX_TAR];
    size_t plain = unpack(data, size, tar);
    if (plain == 0 && size > 600 && is_head(data) && size <= MAX_TAR) {
        change_heads(data, size, &seed);
        return size;
    }
    if (plain == 0 || draw(&seed, 8) == 0)
        return LLVMFuzzerMutate(data, size, room);
    size_t packed = pack(tar, change_tar(tar, plain, &seed), data, room);
    return packed ? packed : size;
}
