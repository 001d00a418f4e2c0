/* Requests of all processes of this user on this machine: see node_slots.h. */
#include "node_slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int slots_file = SLOTS_UNKNOWN;
static bool slots_sought;
static bool own_slots[NODE_SERVERS][NODE_SLOTS]; /* a process's locks do not keep itself out */

/* The directory may have been left behind in the environment by another user. */
static int open_slots(void)
{
    char path[4096];
    struct stat st;
    const char *directory = getenv("XDG_RUNTIME_DIR");
    if (!directory || *directory != '/' ||
        (size_t)snprintf(path, sizeof path, "%s/apldata-requests", directory) >= sizeof path)
        return SLOTS_UNKNOWN;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())) {
        close(fd);
        return SLOTS_UNKNOWN;
    }
    return fd;
}

/* False: another process has it. Where files cannot be locked, each succeeds. */
static bool lock_slot(unsigned server, unsigned slot, short kind)
{
    struct flock lock = {.l_type = kind,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)server * NODE_SLOTS + (off_t)slot,
                         .l_len = 1};
    return fcntl(slots_file, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN);
}

int node_slot_take(unsigned server, unsigned most)
{
    if (!slots_sought)
        slots_file = open_slots();
    slots_sought = true;
    most = most < NODE_SLOTS ? most : NODE_SLOTS;
    unsigned first = (unsigned)getpid() * 31u; /* processes begin to look at different places */
    for (unsigned i = 0; i < most && slots_file >= 0; i++) {
        unsigned slot = (first + i) % most;
        if (!own_slots[server][slot] && lock_slot(server, slot, F_WRLCK)) {
            own_slots[server][slot] = true;
            return (int)slot;
        }
    }
    return slots_file >= 0 ? SLOTS_TAKEN : SLOTS_UNKNOWN;
}

void node_slot_give(unsigned server, int slot)
{
    if (slot < 0)
        return;
    (void)lock_slot(server, (unsigned)slot, F_UNLCK);
    own_slots[server][slot] = false;
}

void node_slots_forked(void)
{
    memset(own_slots, 0, sizeof own_slots);
}
