/* Virtual time: see cluster.h. What belongs to the model and not to the reader is described in README.md. */
#include "cluster.h"

#include "ahead.h"
#include "random.h"

#include <stdlib.h>

#define QUEUED 4u                    /* steps that are planned before they are taken */
#define AHEAD  (AHEAD_BYTES / 4 * 3) /* bytes that readers ask for beyond what has entered for those */
#define SECOND 1000000000ull

/* A node's link and disk. */
struct node {
    uint64_t link_free, disk_free; /* when they have done what they were asked for */
    uint64_t outage;               /* when the link stops next */
    uint64_t rate;                 /* bytes a second that it gets */
    struct random_stream draws;
};

/* When each read is needed, and may be begun: steps, counted over all epochs. The same for all nodes. */
struct schedule {
    uint64_t steps, *rows; /* of each step, records of a node */
    uint64_t *needed;      /* of each step, reads that have to be there */
    uint64_t *allowed;     /* of each step, reads that may be asked for when it begins */
};

static uint64_t steps_of_epoch(const struct cluster *c)
{
    uint64_t rows = (uint64_t)c->ranks * c->batch;
    return (cluster_share(c) * c->block + rows - 1) / rows;
}

static void make_schedule(const struct cluster *c, struct schedule *s)
{
    uint64_t each = steps_of_epoch(c), rows = (uint64_t)c->ranks * c->batch,
             length = cluster_share(c) * c->block;
    s->steps = each * c->epochs;
    s->rows = take_memory(s->steps, sizeof *s->rows);
    s->needed = take_memory(s->steps, sizeof *s->needed);
    s->allowed = take_memory(s->steps, sizeof *s->allowed);
    for (uint64_t i = 0; i < s->steps; i++) {
        uint64_t begin = i % each * rows, end = begin + rows < length ? begin + rows : length;
        s->rows[i] = end - begin;
        s->needed[i] = i / each * cluster_share(c) + entered_by(c, end - 1);
    }
    for (uint64_t i = 0; i < s->steps; i++)
        s->allowed[i] = s->needed[i + QUEUED < s->steps ? i + QUEUED : s->steps - 1] + AHEAD / block_bytes(c);
}

static void free_schedule(struct schedule *s)
{
    free(s->rows);
    free(s->needed);
    free(s->allowed);
}

/* Uniform, so that no library's logarithm has a say. */
static uint64_t next_outage(const struct cluster *c, struct node *n, uint64_t now)
{
    if (!c->between)
        return UINT64_MAX;
    return now + c->between / 1000000 * random_below(&n->draws, 2000000);
}

static void start_node(const struct cluster *c, uint32_t number, struct node *n)
{
    uint64_t share = c->store / c->nodes;
    struct random_key key = random_epoch_key(c->seed, number, RANDOM_STORE_ORDER);
    *n = (struct node){.rate = share < c->link ? share : c->link};
    random_stream_init(&n->draws, key);
    n->outage = next_outage(c, n, 0);
}

/* When bytes that are asked for at `from` have come over the link. */
static uint64_t fetch(const struct cluster *c, struct node *n, uint64_t from, uint64_t bytes)
{
    uint64_t begin = from + c->latency > n->link_free ? from + c->latency : n->link_free;
    uint64_t left = (uint64_t)((__uint128_t)bytes * SECOND / n->rate);
    while (begin + left > n->outage) {
        left -= n->outage > begin ? n->outage - begin : 0;
        begin = begin > n->outage + c->outage ? begin : n->outage + c->outage;
        n->outage = next_outage(c, n, n->outage + c->outage);
    }
    return n->link_free = begin + left;
}

static uint64_t read_disk(const struct cluster *c, struct node *n, uint64_t from)
{
    uint64_t begin = from > n->disk_free ? from : n->disk_free;
    return n->disk_free = begin + (uint64_t)((__uint128_t)block_bytes(c) * SECOND / c->disk);
}

/* When the reads from ... to-1 of a node are there, of which each could be asked for when its step began. */
static uint64_t bring(const struct cluster *c, struct node *n, const uint8_t *here, uint64_t from,
                      uint64_t to, const uint32_t *asked_in, const uint64_t *begins)
{
    uint64_t ready = 0;
    for (uint64_t i = from; i < to; i++) {
        uint64_t asked = begins[asked_in[i]];
        uint64_t there = here[i] ? read_disk(c, n, asked) : fetch(c, n, asked, block_bytes(c));
        ready = there > ready ? there : ready;
    }
    return ready;
}

/* Of each read, number 0 for what may be asked for before the first step, else 1 + the step. */
static uint32_t *find_asked(const struct cluster *c, const struct schedule *s)
{
    uint64_t reads = cluster_share(c) * c->epochs, step = 0;
    uint32_t *asked = take_memory(reads, sizeof *asked);
    for (uint64_t i = 0; i < reads; i++) {
        while (i >= s->allowed[step])
            step++;
        asked[i] = (uint32_t)(step ? step + 1 : 0);
    }
    return asked;
}

/* All ranks take a step together, when all have what it takes. Returns the end of the last. */
static uint64_t train(const struct cluster *c, const struct schedule *s, struct node *nodes,
                      const uint8_t *here, uint64_t *begins)
{
    uint64_t reads = cluster_share(c) * c->epochs, end = begins[0];
    uint32_t *asked_in = find_asked(c, s);
    for (uint64_t step = 0, from = 0; step < s->steps; from = s->needed[step++]) {
        for (uint32_t n = 0; n < c->nodes; n++) {
            uint64_t ready = bring(c, &nodes[n], here + n * reads, from, s->needed[step], asked_in, begins);
            end = ready > end ? ready : end;
        }
        begins[step + 1] = end;
        end += s->rows[step] * SECOND / c->demand;
    }
    free(asked_in);
    return end;
}

struct timing clock_run(const struct cluster *c, enum policy policy, const uint8_t *here)
{
    struct schedule s;
    struct timing t = {0};
    uint64_t work = 0;
    make_schedule(c, &s);
    struct node *nodes = take_memory(c->nodes, sizeof *nodes);
    uint64_t *begins = take_memory(s.steps + 1, sizeof *begins);
    uint64_t staged = cluster_room(c) < cluster_blocks(c) ? cluster_room(c) : cluster_blocks(c);
    for (uint32_t n = 0; n < c->nodes; n++) {
        start_node(c, n, &nodes[n]);
        uint64_t there = policy == STAGED ? fetch(c, &nodes[n], 0, staged * block_bytes(c)) : 0;
        t.staging = there > t.staging ? there : t.staging;
    }
    begins[0] = t.staging;
    t.wall = train(c, &s, nodes, here, begins);
    for (uint64_t i = 0; i < s.steps; i++)
        work += s.rows[i] * SECOND / c->demand;
    t.stall = t.wall - work;
    free(begins);
    free(nodes);
    free_schedule(&s);
    return t;
}
