/* What tests of decoders share: the files of an archive, each beside what it decodes to. */
#ifndef DECODE_CASE_H
#define DECODE_CASE_H

#include "decode.h"
#include "store_fixture.h"

#include <dirent.h>

static struct image_decoder *decoder;
static apl_error err;

/* Kinds that this build was made without are not tested. */
static inline bool is_absent(apl_status status)
{
    return status == APL_E_UNSUPPORTED && strstr(err.message, "which this build does not read");
}

static inline char *unpack(const char *archive)
{
    static char folder[128];
    char command[512];
    snprintf(folder, sizeof folder, "%s/images", fx_place);
    snprintf(command, sizeof command, "mkdir '%s' && tar -C '%s' -xJf tests/ingest/images/%s", folder, folder,
             archive);
    cr_assert_eq(system(command), 0);
    cr_assert((decoder = image_decoder_new()));
    return folder;
}

struct file {
    char name[64];
    uint8_t *bytes, *raw;
    size_t size, raw_size;
};

static inline void each_file(const char *archive, void (*call)(const struct file *f))
{
    char *folder = unpack(archive), path[512];
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    cr_assert_gt(count, 40);
    for (int i = 0; i < count; i++) {
        struct file f = {.size = 0};
        snprintf(f.name, sizeof f.name, "%.63s", names[i]->d_name);
        free(names[i]);
        if (f.name[0] == '.' || strstr(f.name, ".raw"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, f.name);
        f.bytes = fx_read(path, &f.size);
        snprintf(path, sizeof path, "%s/%s.raw", folder, f.name);
        f.raw = fx_read(path, &f.raw_size);
        call(&f);
        free(f.bytes);
        free(f.raw);
    }
    free(names);
    image_decoder_free(decoder);
}

static inline long difference(const uint8_t *a, const uint8_t *b, size_t i, unsigned bits)
{
    uint16_t x, y;
    if (bits == 8)
        return labs((long)a[i] - b[i]);
    memcpy(&x, a + 2 * i, 2);
    memcpy(&y, b + 2 * i, 2);
    return labs((long)x - y);
}

#endif
