/* Names of the parts of a set that many processes make: part-0003-of-0016, in order by name as by number. */
#ifndef PART_NAME_H
#define PART_NAME_H

#include <stdbool.h>

#define PART_NAME_BYTES 32
#define PARTS_MAX       99999u

/* Parts are 1 ... parts; parts is at most PARTS_MAX. */
void part_name_make(unsigned part, unsigned parts, char name[PART_NAME_BYTES]);

/* Is it a name that part_name_make() gives? */
bool part_name_read(const char *name, unsigned *part, unsigned *parts);

/* The parts that lie in a directory. */
struct parts_seen {
    unsigned parts;       /* of the smallest number of parts that one is of; 0: none */
    unsigned there;       /* of these, how many are stores */
    unsigned missing;     /* the first that is not; 0: all are there */
    unsigned other_parts; /* a part of another number of parts lies there too; 0: none does */
};

/* Looks at the entries of the directory; one that cannot be listed has none. */
void parts_look(int directory, struct parts_seen *seen);

#endif
