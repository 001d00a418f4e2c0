/* An ingest at work: what it gives its format, and reports to its caller. */
#ifndef HOST_H
#define HOST_H

#include "apl_ingest.h"
#include "detect.h"
#include "expand.h"
#include "said_kinds.h"
#include "share.h"
#include "standard.h"

struct ingest {
    apl_ingest_options options;
    apl_writer_options writing;
    struct said_kinds kinds; /* that the options say */
    char tool[512];          /* what the store keeps as what made it */
    const char *db;          /* of a part: its shard */
    struct share share;      /* of a part: what is its own */
    const char *set;         /* of a part: the directory of the set, */
    char set_shown[256];     /* safe to print; */
    char *shard;             /* the shard's path; */
    char run[17], data[17];  /* of which run it is, and of which bytes of the source; */
    struct buffer listed;    /* digests of the sources whose names were listed; */
    bool made_set;           /* this ingest has made the directory; */
    bool present;            /* the shard was there already */
    struct expanded given;   /* owns the paths of */
    struct sources sources;
    struct expanded folders; /* directories that were named */
    bool looked_for;         /* in directories, or by patterns */
    struct standard standard;
    char shown[256];       /* the first, safe to print */
    struct source *source; /* of formats that read members: the one being read */
    struct files *files;   /* of formats that read files */
    struct sha256 *sha;    /* of several sources: over those that have been read */
    uint64_t source_bytes; /* of the sources before the one being read */
    uint64_t source_size;  /* of several: of all */
    apl_writer *writer;
    struct format_host host;
    const struct format *format;
    void *state;             /* the format's */
    bool reading;            /* members are: their names have been listed, if they are to be */
    bool not_the_source;     /* what has failed is the writer, or the caller has cancelled */
    uint64_t unreported;     /* rows since the last report, */
    uint64_t reported_bytes; /* and bytes of the source up to that */
    uint64_t skipped;
    bool found; /* a file that the format wants, when names were listed */
    apl_ingest_progress progress;
};

/* Are the names in sources listed before they are read? */
static inline bool lists_names(const struct ingest *in, const struct format *format)
{
    return format->list && (!format->lists_for_parts || in->host.part);
}

/* Fills in->host, from the options. */
void host_begin(struct ingest *in);

/* Closes the source being read; the name that the format's host has is no longer that of its own. */
void drop_source(struct ingest *in);

/* How far reading has come goes into in->progress. */
void count_source(struct ingest *in);

/* Tell the caller. Non-zero: it has cancelled. `user`: the struct ingest. */
int report_read(struct ingest *in);
int report_reading(void *user);
int report_checking(void *user, const apl_progress *p);

#endif
