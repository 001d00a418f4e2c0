/* Shards of WebDataset, written file by file. */
#ifndef WEBDATASET_CASE_H
#define WEBDATASET_CASE_H

#include "archives.h"
#include "ingest_fixture.h"
#include "jpegs.h"

static struct buffer shard;

static inline void add_bytes(const char *name, const void *data, size_t size)
{
    struct buffer b = {0};
    buffer_put(&b, data, size);
    tar_file(&shard, name, &b);
    buffer_free(&b);
}

static inline void add(const char *name, const char *text)
{
    add_bytes(name, text, strlen(text));
}

static inline void add_jpeg(const char *name, unsigned width)
{
    const struct jpeg_case k = {
        .width = width, .height = 9, .colour = JCS_YCbCr, .across = 2, .down = 1, .quality = 90};
    struct jpeg_bytes b = jpeg_draw(&k);
    add_bytes(name, b.data, b.size);
    free(b.data);
}

static inline void put_shard(const char *name)
{
    tar_finish(&shard);
    ix_put_buffer(name, &shard);
}

/* An array i16[2,3], in the order of Fortran. */
static const char npy[] = "\x93NUMPY\1\0\x3e\0{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }   \n"
                          "\0\1\0\4\0\2\0\5\0\3\0\6";

#endif
