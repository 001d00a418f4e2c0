/* Is a division by hash one that chance can make? Where it is not, its seed has divided these records before. */
#include "split.h"

#include <math.h>

#define SURE 32 /* what has a probability of at most e^-32 is not left to chance */

/* The ranges of hashes, and those that a unit's hash has been in, on the side of the part and on both. */
struct tally {
    double ranges[2], drawn[2];
};

enum { OF_PART, OF_BOTH };

static void count_range(struct tally *t, bool in_part, bool drawn)
{
    t->ranges[OF_BOTH]++;
    t->ranges[OF_PART] += in_part;
    t->drawn[OF_BOTH] += drawn;
    t->drawn[OF_PART] += in_part && drawn;
}

/* Ranges that are not all on one side of the file's division do not count. */
static struct tally count_ranges(const struct split_file *file, const struct bitset *drawn)
{
    struct tally t = {{0}, {0}};
    for (uint64_t r = 0; r < SPLIT_RANGES; r++) {
        uint32_t first = split_part_drawn(file, r * (UINT64_MAX / SPLIT_RANGES + 1)),
                 last =
                     split_part_drawn(file, r * (UINT64_MAX / SPLIT_RANGES + 1) + UINT64_MAX / SPLIT_RANGES);
        bool in_part = first == file->number && last == file->number;
        if (in_part || file->number < first || file->number > last)
            count_range(&t, in_part, bitset_test(drawn, r));
    }
    return t;
}

/* Of a coin that falls so with probability p, from one that does with probability x (Kullback and Leibler). */
static double divergence(double x, double p)
{
    double in = x > 0 ? x * log(x / p) : 0, out = x < 1 ? (1 - x) * log((1 - x) / (1 - p)) : 0;
    return in + out;
}

/* Distinct units have independent and uniform hashes. So if n ranges have been drawn, any n of them are equally likely, and those of the
 * part are hypergeometric: the share x has a probability of at most e^(-n divergence(x, p)), as Hoeffding (1963) proves of drawing
 * without replacement. That holds whatever n is, however many records are equal, and exactly, as no range counts that is on both sides. */
bool split_is_chance(const struct split_file *file, const struct bitset *drawn, double *share)
{
    struct tally t = count_ranges(file, drawn);
    double p = t.ranges[OF_PART] / t.ranges[OF_BOTH], n = t.drawn[OF_BOTH];
    *share = n > 0 ? t.drawn[OF_PART] / n : p;
    return p <= 0 || p >= 1 || n * divergence(*share, p) <= SURE;
}

/* A side without records is of no use, whatever makes it so. Of groups there may be few. */
static apl_status check_not_empty(const apl_store *store, const struct split_file *file, double due,
                                  apl_error *err)
{
    uint64_t all = file->records[SPLIT_PART] + file->records[SPLIT_REST];
    double expected[2] = {due * (double)all, (1 - due) * (double)all};
    for (unsigned side = 0; side < 2 && file->by != SPLIT_BY_GROUP; side++)
        if (file->records[side] == 0 && expected[side] >= SURE)
            return fail(err, APL_E_INVALID,
                        "%s: split %s would have %s of %llu records: seed %llu has divided these before, as "
                        "those of a split that was extracted, or their inputs are equal: choose another seed",
                        store->name, file->name, side == SPLIT_PART ? "none" : "all", (unsigned long long)all,
                        (unsigned long long)file->seed);
    return APL_OK;
}

static apl_status check_division(const apl_store *store, const struct split_file *file,
                                 const struct bitset *drawn, apl_error *err)
{
    static const char *const units[] = {"inputs", "places", "ids", "groups"};
    double due = split_in_parts(file) ? 1.0 / file->parts : ldexp((double)file->ratio, -64), share;
    TRY(check_not_empty(store, file, due, err));
    if (split_is_chance(file, drawn, &share))
        return APL_OK;
    return fail(
        err, APL_E_INVALID,
        "%s: split %s would have %.3g %% of the %s of %llu records, not %.3g %%: seed %llu has divided these "
        "before, as those of a split that was extracted: choose another seed",
        store->name, file->name, 100 * share, units[file->by],
        (unsigned long long)(file->records[SPLIT_PART] + file->records[SPLIT_REST]), 100 * due,
        (unsigned long long)file->seed);
}

apl_status split_check_chance(const apl_store *store, const struct split_set *set, const struct bitset *drawn,
                              apl_error *err)
{
    for (size_t i = 0; i < set->count && !split_by_class(&set->files[0]); i++)
        TRY(check_division(store, &set->files[i], drawn, err));
    return APL_OK;
}
