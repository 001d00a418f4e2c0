/* A table of first bytes. */
#include "seen_kind.h"

#include "image_kind.h"
#include "utf8.h"

#include <stdbool.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* No NUL, no control characters but those of text, and UTF-8 but for what is cut off at the end. */
static bool is_text(const uint8_t *head, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (head[i] < 32 && !(head[i] >= '\t' && head[i] <= '\r') && head[i] != 27)
            return false;
    for (size_t cut = 0; cut < 4 && cut < size; cut++)
        if (utf8_valid(head, size - cut))
            return true;
    return false;
}

/* Objects in an array, where a list has a line for each. */
static bool is_json_array(const uint8_t *head, size_t size)
{
    char begin[2] = {0};
    for (size_t i = 0, n = 0; i < size && n < sizeof begin; i++)
        if (head[i] != ' ' && head[i] != '\t' && head[i] != '\r' && head[i] != '\n')
            begin[n++] = (char)head[i];
    return begin[0] == '[' && begin[1] == '{';
}

static const char *text_kind(const uint8_t *head, size_t size)
{
    return is_json_array(head, size) ? "an array in JSON (jq -c '.[]' makes lines of it, for a .jsonl file)"
                                     : "text";
}

const char *seen_kind(const uint8_t *head, size_t size)
{
    static const struct {
        const char *kind, *magic;
        size_t at, length;
    } kinds[] = {
        {"a NumPy array (npy)", "\x93NUMPY", 0, 6},
        {"a zip archive", "PK\3\4", 0, 4},
        {"a Parquet file (python -m apldata ingest and convert() read it)", "PAR1", 0, 4},
        {"an Arrow file (python -m apldata ingest and convert() read it)", "ARROW1", 0, 6},
        {"an HDF5 file", "\x89HDF\r\n\x1a\n", 0, 8},
        {"a PDF", "%PDF-", 0, 5},
        {"an SQLite database", "SQLite format 3", 0, 15},
        {"a MATLAB file", "MATLAB 5.0", 0, 10},
        {"a sound or video file (RIFF)", "RIFF", 0, 4},
        {"a FLAC sound file", "fLaC", 0, 4},
        {"an Ogg file", "OggS", 0, 4},
        {"an MP4 file", "ftyp", 4, 4},
        {"a program (ELF)",
         "\x7f"
         "ELF",
         0, 4},
        {"an LMDB file", "\xde\xc0\xef\xbe", 16, 4},
        {"a pickle", "\x80\2", 0, 2},
        {"a pickle", "\x80\3", 0, 2},
        {"a pickle", "\x80\4", 0, 2},
        {"a pickle", "\x80\5", 0, 2},
        {"an index of token documents (the .idx of a pair)", "MMIDIDX\0\0", 0, 9},
    };
    static const struct {
        const char *image, *kind;
    } images[] = {{"JPEG", "a JPEG image"}, {"PNG", "a PNG image"},   {"GIF", "a GIF image"},
                  {"WebP", "a WebP image"}, {"TIFF", "a TIFF image"}, {"HTML", "a page of HTML"}};
    const char *image = image_kind(head, size);
    for (size_t i = 0; image && i < COUNT(images); i++)
        if (strcmp(image, images[i].image) == 0)
            return images[i].kind;
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (size >= kinds[i].at + kinds[i].length &&
            memcmp(head + kinds[i].at, kinds[i].magic, kinds[i].length) == 0)
            return kinds[i].kind;
    return size == 0 ? "an empty file" : is_text(head, size) ? text_kind(head, size) : NULL;
}
