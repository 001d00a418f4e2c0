/* What a tar archive begins with. */
#ifndef TAR_FIRST_H
#define TAR_FIRST_H

/* The text of the first member of an archive in an open folder, to be freed, if it is called `member`; else NULL. */
char *tar_first_at(int folder, const char *archive, const char *member);

#endif
