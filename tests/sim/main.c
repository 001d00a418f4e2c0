/*
 * Runs seeds of the simulation, each a reader's life under threads, calls and faults that are drawn from it.
 *
 *     simulate [SEEDS [FIRST]]     seeds FIRST ... FIRST+SEEDS-1, until one fails
 *     simulate --trace SEED        one, and all that happens in it
 *
 * The seeds are run in a child, so that whatever becomes of it can be told.
 */
#define _GNU_SOURCE
#include "run.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_PLACES 4096
#define PATIENCE    60 /* seconds a seed */
#define SAMPLE      400u

struct place {
    unsigned long long address;
    char text[200];
};
static struct place places[MOST_PLACES];
static unsigned place_count;

/* ------------------------------------------------------------------------------------------------------ the child */

static uint64_t run(uint64_t seed, bool trace)
{
    int64_t memory = sim_memory(), mapped = sim_mapped();
    alarm(PATIENCE);
    uint64_t digest = sim_run(seed, trace, run_seed, &seed);
    run_tally.steps += sim_steps();
    if (sim_memory() != memory || sim_mapped() != mapped)
        sim_fail("%lld allocations and %lld pages were not given back", (long long)(sim_memory() - memory),
                 (long long)(sim_mapped() - mapped));
    return digest;
}

/* Every eighth runs twice, and must do the same. */
static void run_all(uint64_t first, uint64_t seeds, bool trace, volatile uint64_t *at)
{
    uint64_t digest = 0;
    if (trace)
        setvbuf(stdout, NULL, _IOLBF, 0); /* all of it, should it crash */
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        *at = seed;
        uint64_t once = run(seed, trace);
        if (!trace && seed % 8 == 0 && run(seed, false) != once)
            sim_fail("another run of the seed was another");
        digest = digest * 31 + once;
    }
    const struct tally_of_runs *t = &run_tally;
    printf("count: %llu seeds of the simulation\ncount: %llu simulated steps\n", (unsigned long long)seeds,
           (unsigned long long)t->steps);
    printf("%llu batches; readers: %llu resumed, %llu closed under callers; callers: %llu timed out, %llu "
           "cancelled, "
           "%llu told that all is lent, %llu that blocks are corrupt, %llu of other failures; %llu scenarios "
           "simplified; "
           "digest %016llx\n",
           (unsigned long long)t->batches, (unsigned long long)t->resumed, (unsigned long long)t->closed,
           (unsigned long long)t->timeouts, (unsigned long long)t->cancelled, (unsigned long long)t->lent,
           (unsigned long long)t->corrupt, (unsigned long long)t->failed, (unsigned long long)t->simplified,
           (unsigned long long)digest);
    fflush(stdout);
}

/* ----------------------------------------------------------------------------------------------------- the parent */

static struct place *find_place(unsigned long long address)
{
    unsigned i = 0;
    while (i < place_count && places[i].address != address)
        i++;
    if (i < place_count || place_count == MOST_PLACES)
        return i < place_count ? &places[i] : NULL;
    snprintf(places[i].text, sizeof places[i].text, "+0x%llx", address);
    places[i].address = address;
    place_count++;
    return &places[i];
}

/* Has the places looked up, as far as there is a program that can. */
static void name_places(void)
{
    char self[512], path[] = "/tmp/apl-places-XXXXXX", command[700];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int fd = mkstemp(path);
    FILE *list = fd >= 0 ? fdopen(fd, "w") : NULL, *names;
    if (!list || n < 0 || place_count == 0)
        return;
    self[n] = 0;
    for (unsigned i = 0; i < place_count; i++)
        fprintf(list, "%llx\n", places[i].address);
    fclose(list);
    snprintf(command, sizeof command, "addr2line -sfpe '%s' <%s 2>/dev/null", self, path);
    names = popen(command, "r");
    for (unsigned i = 0; names && i < place_count; i++) {
        char line[200];
        if (fgets(line, sizeof line, names) && !strchr(line, '?'))
            snprintf(places[i].text, sizeof places[i].text, "%.*s", (int)strcspn(line, "\n("), line);
    }
    if (names)
        pclose(names);
    unlink(path);
}

/* The child's words, with places for addresses. */
static void tell(char *text, bool print)
{
    for (char *at; (at = strchr(text, '@')); text = strchr(at + 1, '@') + 1) {
        if (!strchr(at + 1, '@'))
            break;
        struct place *place = find_place(strtoull(at + 1, NULL, 16));
        if (print)
            printf("%.*s%s", (int)(at - text), text, place ? place->text : "?");
    }
    if (print)
        printf("%s", text);
}

static char *read_all(int fd)
{
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    for (ssize_t n; text && (n = read(fd, text + size, room - size - 1)) > 0;) {
        size += (size_t)n;
        if (room - size < 2)
            text = realloc(text, room *= 2);
    }
    if (!text)
        abort();
    text[size] = 0;
    return text;
}

static int report(int fd, pid_t child, const volatile uint64_t *at, const char *self)
{
    int status;
    char *text = read_all(fd);
    tell(text, false);
    name_places();
    tell(text, true);
    free(text);
    waitpid(child, &status, 0);
    uint64_t seed = *at;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFSIGNALED(status))
        printf("seed %llu: %s\n", (unsigned long long)seed,
               WTERMSIG(status) == SIGALRM ? "it hangs, and comes to no point" : strsignal(WTERMSIG(status)));
    printf("again, with all that happens: %s --trace %llu\n", self, (unsigned long long)seed);
    return 1;
}

int main(int argc, char **argv)
{
    bool trace = argc > 2 && strcmp(argv[1], "--trace") == 0;
    uint64_t seeds = trace ? 1 : argc > 1 ? strtoull(argv[1], NULL, 10) : getenv("APL_LONG") ? 10000 : SAMPLE;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    volatile uint64_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ends[2];
    if (at == MAP_FAILED || pipe(ends) != 0)
        return 2;
    mallopt(M_PERTURB, 0x5a); /* what is used too early or too late shows */
    stores_write();
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return 2;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        run_all(first, seeds, trace, at);
        _exit(0);
    }
    close(ends[1]);
    int failed = report(ends[0], child, at, argv[0]);
    stores_remove();
    return failed;
}
