/* What tells the parts of one set from those of another: see parts.h. */
#include "file_sample.h"
#include "found_file.h"
#include "hash.h"
#include "parts.h"
#include "source.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_text(struct sha256 *sha, const char *name, const char *value)
{
    sha256_add(sha, name, strlen(name) + 1);
    sha256_add(sha, value ? "=" : "-", 1);
    sha256_add(sha, value ? value : "", value ? strlen(value) + 1 : 1);
}

static void add_number(struct sha256 *sha, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    add_text(sha, name, text);
}

static void add_texts(struct sha256 *sha, const char *name, const char *const *texts, size_t count)
{
    add_number(sha, name, count);
    for (size_t i = 0; i < count; i++)
        add_text(sha, "", texts[i]);
}

/* How the store is written. What images become, the tool's name says. */
static void add_writing(struct sha256 *sha, const struct ingest *in)
{
    add_text(sha, "tool", in->writing.tool);
    add_number(sha, "block", in->writing.block_records);
    add_text(sha, "codec", in->writing.codec);
    add_number(sha, "level", (uint64_t)(int64_t)in->writing.level);
    add_number(sha, "shuffle", in->writing.shuffle != 0);
    add_number(sha, "seed", in->writing.shuffle_seed);
}

/* Not how many bad files may be left out: a shard that could be made is the same with any limit. */
static void add_options(struct sha256 *sha, const apl_ingest_options *o)
{
    add_number(sha, "partial", o->partial != 0);
    add_number(sha, "unchecked", o->unchecked != 0);
    if (o->allow_warnings)
        add_number(sha, "warnings", 1);
    add_number(sha, "keep", o->keep_files != 0);
    add_number(sha, "outside", o->outside != 0);
    add_texts(sha, "classes", o->classes, o->class_count);
    add_texts(sha, "map", o->map, o->map_count);
    add_text(sha, "image", o->image_column);
    add_text(sha, "label", o->label_column);
    add_texts(sha, "types", o->column_types, o->column_type_count);
    if (o->more_image_column_count)
        add_texts(sha, "images", o->more_image_columns, o->more_image_column_count);
    if (o->mask_column_count)
        add_texts(sha, "masks", o->mask_columns, o->mask_column_count);
    if (o->kind_count)
        add_texts(sha, "kinds", o->kinds, o->kind_count);
    add_number(sha, "tokens", (uint64_t)o->tokens);
    add_number(sha, "chunk", o->chunk);
    add_number(sha, "end", o->document_end ? *o->document_end : UINT64_MAX);
}

/* Files by name and size: they may lie elsewhere on each machine. */
static void add_sources(struct sha256 *sha, const struct ingest *in)
{
    struct stat st;
    add_text(sha, "format", in->format->name);
    add_number(sha, "sources", in->sources.count);
    for (size_t i = 0; i < in->sources.count; i++) {
        const char *path = in->sources.paths[i];
        if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        add_text(sha, "source", path_last(path));
        add_number(sha, "size", (uint64_t)st.st_size);
    }
    for (size_t i = 0; i < in->host.file_count; i++) {
        add_text(sha, "file", in->host.files[i].name);
        add_number(sha, "size", in->host.files[i].size);
    }
    for (size_t i = 0; i < in->share.count; i++) {
        add_text(sha, "split", in->share.splits[i].name);
        add_number(sha, "records", in->share.splits[i].total);
    }
}

/* Archives and folders that no part lists, as the names in them are known. */
static apl_status sample_sources(struct sha256 *sha, const struct ingest *in, apl_error *err)
{
    struct stat st;
    unsigned windows = sample_windows(in->sources.count);
    for (size_t i = 0; i < in->sources.count && i < SAMPLED_FILES; i++) {
        int fd = open(in->sources.paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        apl_status status = APL_OK;
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
            status = sample_add(fd, in->host.source, (uint64_t)st.st_size, windows, sha, err);
        if (fd >= 0)
            close(fd);
        TRY(status);
    }
    return in->source ? source_sample(in->source, sha, err) : APL_OK;
}

static apl_status add_data(struct sha256 *sha, const struct ingest *in, apl_error *err)
{
    if (in->files)
        return files_tell_apart(in->files, sha, err);
    sha256_add(sha, in->listed.data, in->listed.size);
    return lists_names(in, in->format) ? APL_OK : sample_sources(sha, in, err);
}

static void end_digest(struct sha256 *sha, char text[PARTS_RUN_BYTES])
{
    uint8_t digest[32];
    sha256_end(sha, digest);
    for (unsigned i = 0; i < PARTS_RUN_BYTES / 2; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

apl_status parts_run(const struct ingest *in, char run[PARTS_RUN_BYTES], char data[PARTS_RUN_BYTES],
                     apl_error *err)
{
    struct sha256 *sha = sha256_new();
    if (!sha)
        return fail_nomem(err);
    add_writing(sha, in);
    add_options(sha, &in->options);
    add_sources(sha, in);
    end_digest(sha, run);
    apl_status status = add_data(sha, in, err);
    end_digest(sha, data);
    sha256_free(sha);
    return status;
}
