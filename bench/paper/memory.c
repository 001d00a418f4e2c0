/* From /proc: see memory.h. */
#include "memory.h"

#include <stdio.h>

/* The figure behind `name`, in bytes; 0 if it is missing. */
static double figure(const char *path, const char *name)
{
    char line[256], format[64];
    unsigned long long kib = 0;
    FILE *file = fopen(path, "r");
    snprintf(format, sizeof format, "%s: %%llu kB", name);
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, format, &kib) == 1)
            break;
    if (file)
        fclose(file);
    return (double)kib * 1024;
}

struct memory memory_now(void)
{
    const char *rollup = "/proc/self/smaps_rollup";
    return (struct memory){figure("/proc/self/status", "VmHWM"), figure(rollup, "Pss"),
                           figure(rollup, "Anonymous")};
}
