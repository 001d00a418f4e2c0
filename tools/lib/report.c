#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 600

static char *next_buffer(void)
{
    static char ring[16][TEXT_BYTES];
    static unsigned next;
    return ring[next++ % 16];
}

const char *shown_bytes(const void *text, size_t length)
{
    return apl_printable(next_buffer(), TEXT_BYTES, text, length);
}

const char *shown(const char *text)
{
    return shown_bytes(text, strlen(text));
}

size_t db_length(const char *path)
{
    bool has_query = strncmp(path, "http://", 7) == 0 || strncmp(path, "https://", 8) == 0;
    return has_query ? strcspn(path, "?") : strlen(path);
}

const char *shown_db(const char *path)
{
    const char *host = strstr(path, "://");
    size_t length = db_length(path), scheme = host ? (size_t)(host + 3 - path) : 0;
    const char *at = host ? memchr(path + scheme, '@', strcspn(path + scheme, "/?#")) : NULL;
    if (!at)
        return shown_bytes(path, length);
    char *text = next_buffer(); /* a user or password is refused, with a message that names the URL */
    apl_printable(text, TEXT_BYTES, path, scheme);
    size_t used = strlen(text), secret = (size_t)(at + 1 - path);
    apl_printable(text + used, TEXT_BYTES - used, at + 1, length - secret);
    return text;
}

const char *count_text(uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    char *out = next_buffer(), *to = out;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

const char *counted(uint64_t n, const char *what)
{
    char *out = next_buffer();
    snprintf(out, TEXT_BYTES, "%s %s%s", count_text(n), what, n == 1 ? "" : "s");
    return out;
}

const char *size_text(uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    char *out = next_buffer();
    if (bytes < 1000) {
        snprintf(out, TEXT_BYTES, "%u B", (unsigned)bytes);
        return out;
    }
    double v = (double)bytes / 1000;
    unsigned unit = 0;
    for (; v >= 999.95 && unit < 5; unit++)
        v /= 1000;
    snprintf(out, TEXT_BYTES, "%.1f %s", v, units[unit]);
    return out;
}

const char *ratio_text(uint64_t part, uint64_t whole)
{
    return whole ? number_text("%.3f", (double)part / (double)whole) : "-";
}

const char *rate_text(uint64_t bytes, double seconds)
{
    double rate = seconds > 0 ? (double)bytes / seconds / 1e6 : 0;
    return number_text(rate < 10 ? "%.1f MB/s" : "%.0f MB/s", rate);
}

const char *duration_text(double seconds)
{
    if (seconds < 10)
        return number_text("%.2f s", seconds);
    if (seconds < 60)
        return number_text("%.1f s", seconds);
    char *out = next_buffer();
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (whole < 3600)
        snprintf(out, TEXT_BYTES, "%lu min %02lu s", whole / 60, whole % 60);
    else
        snprintf(out, TEXT_BYTES, "%lu h %02lu min", whole / 3600, whole / 60 % 60);
    return out;
}

const char *digest_text(const uint8_t digest[32])
{
    char *out = next_buffer();
    for (int i = 0; i < 32; i++)
        snprintf(out + (ptrdiff_t)2 * i, 3, "%02x", digest[i]);
    return out;
}

const char *number_text(const char *format, double v)
{
    char *out = next_buffer();
    snprintf(out, TEXT_BYTES, format, v);
    return out;
}

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
