/*
 * A long run: epoch after epoch, stopped and resumed, over corrupt blocks, while the store is replaced. Every epoch's receipt must be
 * the one that the same seed and epoch had before; memory must stay flat, and so should speed. Runs for SOAK_SECONDS (`make soak
 * HOURS=...`), or for a few. A plain main.
 */
#include "reader_case.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#define EPOCHS      6u /* that are gone through again and again */
#define SEEDS       2u
#define MOMENTS     4096u
#define MOST_MEMORY (64u << 20)
#define KIB_HOUR    1024 /* that memory may grow by in an hour, once it has settled */

static struct case_store sound = {"db", 6000, 200, 64, 16, true, ""};

/* What the same deliveries must add up to each time: for sound and for corrupt stores. */
static struct apl_receipt known[2][SEEDS][EPOCHS];
static bool is_known[2][SEEDS][EPOCHS];

/* Memory and work done, as time goes by. */
static struct {
    double at[MOMENTS], memory[MOMENTS], records[MOMENTS];
    unsigned count;
    double records_now, next, step;
} history;

static uint64_t resumes, replacements, skipped;

static void note_moment(double now)
{
    if (now < history.next || history.count == MOMENTS)
        return;
    history.next = now + history.step;
    history.at[history.count] = now;
    history.memory[history.count] = (double)anonymous_bytes();
    history.records[history.count++] = history.records_now;
}

/* ------------------------------------------------------------------------------------------------------- damage */

/* Turns some bytes of the stored pictures round. */
static void damage(const char *path)
{
    char file[128];
    struct stat st;
    snprintf(file, sizeof file, "%s/data.mdb", path);
    CHECK(chmod(file, 0644) == 0 && stat(file, &st) == 0);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    for (off_t at = st.st_size / 3; at < st.st_size / 3 + 3; at++) {
        uint8_t byte;
        CHECK(pread(fd, &byte, 1, at) == 1);
        byte ^= 0x55;
        CHECK(pwrite(fd, &byte, 1, at) == 1);
    }
    close(fd);
}

static void replace_store(bool corrupt)
{
    case_write(&sound, case_folder);
    if (corrupt)
        damage(sound.path);
    replacements++;
}

/* ------------------------------------------------------------------------------------------------------- epochs */

static void open_reader(apl_reader **reader, unsigned seed, unsigned epoch, const uint8_t *state,
                        struct dice *d)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_store *store = case_open(&sound);
    apl_error err;
    o.split = "train";
    o.seed = seed;
    o.first_epoch = epoch;
    o.batch_size = 16 + roll(d, 200);
    o.threads = roll(d, 3) ? 1 + roll(d, 3) : APL_NO_THREADS;
    o.window = 2000;
    o.faults.skip_corrupt = sound.records;
    o.state = state;
    o.state_size = state ? APL_STATE_BYTES : 0;
    MUST(apl_reader_open(store, &o, reader, &err), &err);
    apl_store_close(store);
}

/* Adds the receipt of a part. */
static void add_receipt(apl_reader *reader, apl_receipt *sum)
{
    apl_receipt part;
    apl_error err;
    MUST(apl_reader_receipt(reader, &part, sizeof part, &err), &err);
    CHECK(part.missing == 0 && part.repeated == 0 && part.first == sum->last);
    sum->last = part.last;
    sum->delivered += part.delivered;
    sum->skipped += part.skipped;
    sum->sum[0] += part.sum[0];
    sum->sum[1] += part.sum[1] + (sum->sum[0] < part.sum[0]);
}

/* Goes through an epoch, and on the way stops some times and goes on with another reader. */
static void run_epoch(unsigned seed, unsigned epoch, struct dice *d, apl_receipt *sum)
{
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_reader *reader;
    apl_batch *batch;
    apl_error err;
    apl_status status;
    open_reader(&reader, seed, epoch, NULL, d);
    while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
        case_check(&sound, batch);
        history.records_now += (double)apl_batch_rows(batch);
        apl_batch_release(batch);
        if (roll(d, 100) != 0)
            continue;
        MUST(apl_reader_state(reader, state, &size, &err), &err);
        add_receipt(reader, sum);
        apl_reader_close(reader);
        open_reader(&reader, seed, epoch, state, d);
        resumes++;
    }
    if (status != APL_END)
        fprintf(stderr, "%s\n", err.message);
    CHECK(status == APL_END);
    add_receipt(reader, sum);
    apl_reader_close(reader);
    skipped += sum->skipped;
}

static void check_epoch(bool corrupt, unsigned seed, unsigned epoch, const apl_receipt *sum)
{
    apl_receipt *before = &known[corrupt][seed][epoch];
    CHECK(sum->last == sound.records && sum->delivered + sum->skipped == sound.records);
    CHECK((sum->skipped > 0) == corrupt);
    if (!is_known[corrupt][seed][epoch])
        *before = *sum;
    is_known[corrupt][seed][epoch] = true;
    CHECK(before->delivered == sum->delivered && before->skipped == sum->skipped);
    CHECK(before->sum[0] == sum->sum[0] && before->sum[1] == sum->sum[1]);
}

/* ----------------------------------------------------------------------------------------------------- the whole */

/* The slope of memory over time, of the second half, in KiB an hour. */
static double memory_slope(void)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (unsigned i = history.count / 2; i < history.count; i++, n++) {
        x += history.at[i];
        y += history.memory[i];
        xx += history.at[i] * history.at[i];
        xy += history.at[i] * history.memory[i];
    }
    double spread = n * xx - x * x;
    return spread > 0 ? (n * xy - x * y) / spread / 1024 * 3600 : 0;
}

/* Records a second of the last quarter over those of the second. */
static double speed_ratio(void)
{
    unsigned quarter = history.count / 4;
    if (quarter < 2)
        return 1;
    double early = (history.records[2 * quarter] - history.records[quarter]) /
                   (history.at[2 * quarter] - history.at[quarter]);
    unsigned last = history.count - 1;
    double late = (history.records[last] - history.records[last - quarter]) /
                  (history.at[last] - history.at[last - quarter]);
    return early > 0 ? late / early : 1;
}

int main(void)
{
    const char *asked = getenv("SOAK_SECONDS");
    double seconds = asked ? strtod(asked, NULL) : 3, began = seconds_now(), now;
    struct dice d = {20261121};
    uint64_t epochs = 0;
    bool corrupt = false;
    case_begin();
    case_watch((unsigned)seconds + 300);
    case_doing = "a long run";
    history.step = seconds / 1000;
    replace_store(corrupt);
    while ((now = seconds_now() - began) < seconds || epochs < 2 * EPOCHS) {
        unsigned seed = roll(&d, SEEDS), epoch = roll(&d, EPOCHS);
        apl_receipt sum = {.epoch = epoch};
        if (epochs % 40 == 6)
            replace_store(corrupt = !corrupt);
        run_epoch(seed, epoch, &d, &sum);
        check_epoch(corrupt, seed, epoch, &sum);
        note_moment(now);
        epochs++;
    }
    CHECK(threads_come_to(count_entries("/proc/self/task")));
    counted("%.0f s, %llu epochs, %.0f records, %llu resumes, %llu replacements, %llu records skipped; "
            "memory %.1f MiB",
            now, (unsigned long long)epochs, history.records_now, (unsigned long long)resumes,
            (unsigned long long)replacements, (unsigned long long)skipped,
            (double)anonymous_bytes() / 1048576);
    if (seconds >= 600) /* shorter runs have none to speak of */
        counted("slope %.0f KiB/h; speed of the end over that of the beginning %.3f", memory_slope(),
                speed_ratio());
    CHECK(SANITIZED || anonymous_bytes() < MOST_MEMORY);
    CHECK(SANITIZED || seconds < 600 || memory_slope() < KIB_HOUR);
    case_end("soak");
    return 0;
}
