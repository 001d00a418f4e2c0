/* What the list of a set is made of, for the files that write and read it. */
#ifndef SET_ENTRY_H
#define SET_ENTRY_H

#define SET_MAGIC 0x534c5041u /* "APLS" */
#define SET_HEAD  24u

#endif
