/*
 * What a server costs its ranks, beside one reader that takes all batches:
 *
 *     bench_serve DB [ROUNDS]
 *
 * Both have the same options and threads, and callers look at each page that they get. The two take turns, and the best of each
 * counts. CPU is that of all processes, of epochs that find everything decoded; the rate is that of a first epoch, from
 * opening the store on. Memory is what all processes have mapped and touched, shared pages once; the file's own pages count too.
 */
#include "measure.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS 4
#define BATCH 256
#define WARM  20 /* epochs */

struct figures {
    double cpu;     /* of the warm epochs */
    double seconds; /* of the first epoch */
    double memory;  /* MiB of all processes after the last, what they share counted once */
};

static const char *db;
static char place[64];

static double cpu_of(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* MiB that a process has in memory; of pages that it shares, its part. */
static double memory_of(pid_t pid)
{
    char path[64], line[256];
    unsigned long kib = 0;
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "Pss: %lu", &kib) != 1)
        continue;
    if (file)
        fclose(file);
    return (double)kib / 1024;
}

static apl_reader_options options_of(void)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.batch_size = BATCH;
    o.threads = 2;
    o.ranks.world = 1;
    return o;
}

static void take_epoch(apl_reader *reader)
{
    apl_batch *batch;
    apl_error err;
    apl_status status;
    volatile uint8_t seen = 0;
    while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
        for (unsigned f = 0; f < APL_MAX_FIELDS; f++) {
            const apl_column *c = apl_batch_column(batch, f);
            for (size_t at = 0; c && at < c->bytes; at += 4096)
                seen = (uint8_t)(seen + ((const uint8_t *)c->data)[at]);
        }
        apl_batch_release(batch);
    }
    if (status != APL_END)
        must(status, &err);
}

/* ------------------------------------------------------------------------------------------- one reader */

static void run_plain(struct figures *f)
{
    apl_store *store;
    apl_reader *reader;
    apl_error err;
    apl_reader_options o = options_of();
    double begin = now();
    must(apl_store_open(db, NULL, &store, &err), &err);
    must(apl_reader_open(store, &o, &reader, &err), &err);
    take_epoch(reader);
    f->seconds = now() - begin;
    double cpu = cpu_of(RUSAGE_SELF);
    for (unsigned epoch = 0; epoch < WARM; epoch++) {
        must(apl_reader_next_epoch(reader, &err), &err);
        take_epoch(reader);
    }
    f->cpu = cpu_of(RUSAGE_SELF) - cpu;
    f->memory = memory_of(getpid());
    apl_reader_close(reader);
    apl_store_close(store);
}

/* -------------------------------------------------------------------------------------- server and clients */

static void wait_for(int fd)
{
    char byte;
    if (read(fd, &byte, 1) != 1)
        exit(1);
}

/* In a process of its own: tells its CPU after the first epoch and at the end, each time when it is asked. */
static void run_client(unsigned rank, int in, int out)
{
    apl_reader *reader;
    apl_error err;
    apl_connect_options o = APL_CONNECT_OPTIONS_INIT;
    o.wait_ms = 20000;
    must(apl_reader_connect(place, rank, &o, &reader, &err), &err);
    take_epoch(reader);
    for (unsigned part = 0; part < 2; part++) {
        double cpu = cpu_of(RUSAGE_SELF);
        if (write(out, &cpu, sizeof cpu) != sizeof cpu)
            exit(1);
        wait_for(in);
        for (unsigned epoch = 0; part == 0 && epoch < WARM; epoch++) {
            must(apl_reader_next_epoch(reader, &err), &err);
            take_epoch(reader);
        }
    }
    apl_reader_close(reader);
    exit(0);
}

static double gather(int fd, unsigned n)
{
    double sum = 0, one;
    while (n-- > 0) {
        if (read(fd, &one, sizeof one) != sizeof one)
            exit(1);
        sum += one;
    }
    return sum;
}

static double process_cpu(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        exit(1);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static apl_server *server;

static void stop(int number)
{
    (void)number;
    apl_server_stop(server);
}

static void run_server(void)
{
    static const unsigned ranks[RANKS] = {0, 1, 2, 3};
    apl_store *store;
    apl_error err;
    apl_reader_options o = options_of();
    o.ranks.world = o.ranks.count = RANKS;
    o.ranks.list = ranks;
    o.ranks.rank = 0;
    must(apl_store_open(db, NULL, &store, &err), &err);
    must(apl_server_open(store, &o, place, NULL, &server, &err), &err);
    signal(SIGTERM, stop);
    must(apl_server_run(server, &err), &err);
    apl_server_close(server);
    apl_store_close(store);
    exit(0);
}

static void run_served(struct figures *f)
{
    int in[2], out[2];
    double begin = now();
    if (pipe(in) != 0 || pipe(out) != 0)
        exit(1);
    pid_t serving = fork();
    if (serving == 0)
        run_server();
    pid_t clients[RANKS];
    for (unsigned rank = 0; rank < RANKS; rank++)
        if ((clients[rank] = fork()) == 0)
            run_client(rank, in[0], out[1]);
    double cpu = gather(out[0], RANKS);
    f->seconds = now() - begin;
    cpu += process_cpu(serving);
    if (write(in[1], "gogo", RANKS) != RANKS)
        exit(1);
    f->cpu = gather(out[0], RANKS) + process_cpu(serving) - cpu;
    f->memory = memory_of(serving);
    for (unsigned rank = 0; rank < RANKS; rank++)
        f->memory += memory_of(clients[rank]);
    if (write(in[1], "gogo", RANKS) != RANKS)
        exit(1);
    kill(serving, SIGTERM);
    while (wait(NULL) > 0)
        continue;
    for (unsigned i = 0; i < 2; i++) {
        close(in[i]);
        close(out[i]);
    }
}

int main(int argc, char **argv)
{
    struct figures plain, served, best[2] = {{1e9, 1e9, 1e9}, {1e9, 1e9, 1e9}};
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_serve DB [ROUNDS]\n");
        return 2;
    }
    db = argv[1];
    snprintf(place, sizeof place, "/tmp/apl-bench-serve-%ld", (long)getpid());
    for (unsigned i = 0; i < rounds; i++) {
        run_plain(&plain);
        run_served(&served);
        best[0].cpu = least(best[0].cpu, plain.cpu);
        best[0].seconds = least(best[0].seconds, plain.seconds);
        best[0].memory = least(best[0].memory, plain.memory);
        best[1].memory = least(best[1].memory, served.memory);
        best[1].cpu = least(best[1].cpu, served.cpu);
        best[1].seconds = least(best[1].seconds, served.seconds);
    }
    tell("serve: CPU of 4 clients and their server, over one reader, warm", best[1].cpu / best[0].cpu, "x",
         AT_MOST, 1.15);
    tell("serve: rate of the first epoch of 4 clients, over one reader", best[0].seconds / best[1].seconds,
         "x", AT_LEAST, 0.9);
    tell("serve: memory of 4 clients and their server", best[1].memory, "MiB", NO_BAR, 0);
    tell("serve: memory of one reader", best[0].memory, "MiB", NO_BAR, 0);
    return 0;
}
