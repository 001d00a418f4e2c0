/* How many cores the control group of this process lets it use: what containers are given. */
#ifndef QUOTA_H
#define QUOTA_H

#include <stddef.h>

/* Of the groups that the process is in, the smallest quota of CPU time, in cores, rounded up; 0: none. Read once: quotas are
 * set when a container starts. Whatever cannot be read is no quota. */
unsigned quota_cores(void);

/* Cores that a quota gives in each period, as the files of version 1 have them, "150000\n" and "100000\n", rounded up. 0: none
 * ("-1" of version 1, "max" of version 2), or no numbers. */
unsigned quota_of(const char *quota, const char *period);

/* The same of a cpu.max of version 2, "150000 100000\n". */
unsigned quota_of_max(const char *text);

/* From the text of /proc/self/cgroup, the group of `controller` ("cpu" of version 1; "" of version 2), such as "/docker/5f": to
 * `group`, of `size` bytes. "/" if it is missing, too long, or outside of what this process sees. */
void quota_group(const char *text, const char *controller, char *group, size_t size);

#endif
