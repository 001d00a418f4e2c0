/* Which part of a set aplingest makes, and what it says of it. */
#include "aplingest.h"
#include "args.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Ranks are 0 ... size-1. */
struct rank {
    uint64_t rank, size; /* size 0: nobody says */
    const char *launcher;
};

/* A launcher's variables. `by_itself`: it starts all processes of the command at once, so without --part they would get into each other's
 * way. A job array or torchrun may well run commands that are not to share anything. */
struct launcher {
    const char *name, *rank, *size;
    bool by_itself;
};
static const struct launcher launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true},
    {"PMI", "PMI_RANK", "PMI_SIZE", true},
    {"torchrun", "RANK", "WORLD_SIZE", false},
    /* The step's tasks, not the job's: a batch script has SLURM_NTASKS and is a process alone. */
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true},
    {"Slurm's job array", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", false},
};
#define LAUNCHERS (sizeof launchers / sizeof *launchers)
enum { STEP = 3, ARRAY = 4 };

int part_take(void *user, const char *text)
{
    struct job *job = user;
    const char *slash = strchr(text, '/');
    char first[16] = "";
    uint64_t part, parts;
    job->ingest.part = job->ingest.parts = 0;
    job->auto_part = strcmp(text, "auto") == 0;
    job->no_parts = strcmp(text, "none") == 0;
    if (job->auto_part || job->no_parts)
        return 0;
    if (slash && (size_t)(slash - text) < sizeof first)
        memcpy(first, text, (size_t)(slash - text));
    if (!slash || !parse_number(slash + 1, 1, 99999, &parts) || !parse_number(first, 1, parts, &part))
        return misuse("a part is I/N, from 1/N to N/N, at most 99999; or auto, or none; not '%s'",
                      shown(text));
    job->ingest.part = (unsigned)part;
    job->ingest.parts = (unsigned)parts;
    return 0;
}

/* ------------------------------------------------------------------------------------------- the launcher */

static int contradicts(const char *a, const char *a_value, const char *b, const char *b_value)
{
    return failed("the environment says %s=%.32s and %s=%.32s; give --part I/N", a, shown(a_value), b,
                  shown(b_value));
}

/* Of a list such as 3,7, Slurm tells no task which place it has. */
static int check_range(uint64_t first, uint64_t step, const struct rank *rank)
{
    const char *most = getenv("SLURM_ARRAY_TASK_MAX");
    uint64_t last;
    if (!most || (parse_number(most, first, UINT32_MAX, &last) && (last - first) / step + 1 == rank->size))
        return 0;
    return failed(
        "the job array has %llu tasks, but not from %llu to %.32s without gaps, so none can know its "
        "part; give --part I/N",
        (unsigned long long)rank->size, (unsigned long long)first, shown(most));
}

/* Ids of a job array begin anywhere, and may have a step. */
static int array_rank(const char *id, struct rank *rank)
{
    const char *least = getenv("SLURM_ARRAY_TASK_MIN"), *step = getenv("SLURM_ARRAY_TASK_STEP");
    uint64_t first = 0, by = 1;
    if (least && !parse_number(least, 0, rank->rank, &first))
        return contradicts("SLURM_ARRAY_TASK_MIN", least, "SLURM_ARRAY_TASK_ID", id);
    if (step && (!parse_number(step, 1, UINT32_MAX, &by) || (rank->rank - first) % by))
        return contradicts("SLURM_ARRAY_TASK_STEP", step, "SLURM_ARRAY_TASK_ID", id);
    rank->rank = (rank->rank - first) / by;
    return check_range(first, by, rank);
}

/* What a launcher says; size stays 0 if nothing. */
static int ask_launcher(size_t which, struct rank *rank)
{
    const struct launcher *l = &launchers[which];
    const char *r = getenv(l->rank), *s = getenv(l->size);
    *rank = (struct rank){.launcher = l->name};
    if (!r || !s || !*r || !*s)
        return 0;
    int status = 0;
    if (!parse_number(s, 1, 99999, &rank->size) || !parse_number(r, 0, UINT32_MAX, &rank->rank))
        return contradicts(l->rank, r, l->size, s);
    if (which == ARRAY)
        status = array_rank(r, rank);
    if (!status && rank->rank >= rank->size)
        status = contradicts(l->rank, r, l->size, s);
    return status;
}

/* mpirun and torchrun may have their daemons started as a step of Slurm's, so what it says of that is not of us. */
static bool is_overruled(size_t which, const struct rank *found)
{
    return which == STEP && found->size > 0;
}

/* All that say something must agree, but for those that have started one process alone. */
static int find_rank(bool asked, struct rank *found)
{
    *found = (struct rank){.size = 0};
    for (size_t i = 0; i < LAUNCHERS; i++) {
        struct rank rank = {.size = 0};
        if (!asked && !launchers[i].by_itself)
            continue;
        int status = ask_launcher(i, &rank);
        if (status)
            return status;
        if (rank.size == 0 || is_overruled(i, found) || (rank.size == 1 && found->size > 0))
            continue;
        if (found->size > 1 && (rank.size != found->size || rank.rank != found->rank))
            return failed("%s says that this is part %llu of %llu, and %s that it is part %llu of %llu; "
                          "give --part I/N",
                          found->launcher, (unsigned long long)found->rank + 1,
                          (unsigned long long)found->size, rank.launcher, (unsigned long long)rank.rank + 1,
                          (unsigned long long)rank.size);
        *found = rank;
    }
    return 0;
}

int part_find(struct job *job)
{
    struct rank rank;
    int status = 0;
    if (!job->ingest.parts && !job->no_parts) {
        status = find_rank(job->auto_part, &rank);
        if (!status && job->auto_part && rank.size == 0)
            status = misuse("--part auto: no launcher says which part this is: Open MPI, PMI, torchrun, srun "
                            "or a job array of Slurm's");
        if (!status && (rank.size > 1 || job->auto_part)) {
            job->ingest.part = (unsigned)rank.rank + 1;
            job->ingest.parts = (unsigned)rank.size;
        }
    }
    if (!status && job->ingest.parts && job->split_count)
        status = misuse("--split divides all of a set: use apldata split once its parts are there");
    return status;
}

/* ---------------------------------------------------------------------------------------------- the report */

const char *made_path(const struct job *job)
{
    static char path[4200];
    int digits = job->ingest.parts > 9999 ? 5 : 4;
    if (!job->ingest.parts)
        return job->db;
    snprintf(path, sizeof path, "%s/part-%0*u-of-%0*u", job->db, digits, job->ingest.part, digits,
             job->ingest.parts);
    return path;
}

static unsigned parts_there(const struct job *job)
{
    struct job other = *job;
    unsigned there = 0;
    for (other.ingest.part = 1; other.ingest.part <= other.ingest.parts; other.ingest.part++) {
        char file[4300];
        struct stat st;
        snprintf(file, sizeof file, "%s/data.mdb", made_path(&other));
        there += stat(file, &st) == 0;
    }
    return there;
}

void part_tell(const struct job *job)
{
    apl_store *set;
    if (apl_store_open(job->db, NULL, &set, NULL) != APL_OK) {
        printf("%s: %u of %u parts are there\n", shown(job->db), parts_there(job), job->ingest.parts);
        return;
    }
    const apl_info *info = apl_store_info(set);
    printf("%s: sealed, %s in %s\n", shown(job->db), counted(info->records, "record"),
           counted(info->shards, "shard"));
    apl_store_close(set);
}

json_t *part_json(const struct job *job)
{
    apl_store *set;
    bool sealed = apl_store_open(job->db, NULL, &set, NULL) == APL_OK;
    if (sealed)
        apl_store_close(set);
    return json_pack("{s:i, s:i, s:o, s:b}", "number", (int)job->ingest.part, "of", (int)job->ingest.parts,
                     "db", json_text(made_path(job)), "sealed", sealed);
}
