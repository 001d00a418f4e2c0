/* Which variant of the kernels is run. */
#include "cpu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

Test(cpu, names)
{
    static const char *const names[CPU_VARIANTS] = {"scalar", "avx2", "avx512", "neon"};
    for (int v = 0; v < CPU_VARIANTS; v++)
        cr_assert_str_eq(cpu_variant_name((enum cpu_variant)v), names[v]);
}

Test(cpu, what_can_be_run)
{
    cr_assert(cpu_can(CPU_SCALAR), "everywhere");
    cr_assert(!cpu_can(CPU_VARIANTS) && !cpu_can((enum cpu_variant)99));
    cr_assert(!(cpu_can(CPU_NEON) && cpu_can(CPU_AVX2)));
    cr_assert(!cpu_can(CPU_AVX512) || cpu_can(CPU_AVX2), "AVX-512 comes with AVX2");
    cr_assert(cpu_can(cpu_variant()));
}

/* Every test is a process of its own, so that each can choose once. */
static enum cpu_variant with(const char *forced)
{
    if (forced)
        cr_assert_eq(setenv("APL_CPU", forced, 1), 0);
    else
        cr_assert_eq(unsetenv("APL_CPU"), 0);
    return cpu_variant();
}

static enum cpu_variant best(void)
{
    enum cpu_variant best = CPU_SCALAR;
    for (int v = 0; v < CPU_VARIANTS; v++)
        if (cpu_can((enum cpu_variant)v))
            best = (enum cpu_variant)v;
    return best;
}

Test(cpu, the_best_by_itself)
{
    cr_assert_eq(with(NULL), best());
    cr_assert_eq(with("scalar"), best(), "it is found once");
}

Test(cpu, forced_scalar)
{
    cr_assert_eq(with("scalar"), CPU_SCALAR);
    cr_assert_eq(with(NULL), CPU_SCALAR, "it is found once");
}

Test(cpu, forced_avx2)
{
    cr_assert_eq(with("avx2"), cpu_can(CPU_AVX2) ? CPU_AVX2 : best());
}

Test(cpu, forced_neon)
{
    cr_assert_eq(with("neon"), cpu_can(CPU_NEON) ? CPU_NEON : best());
}

Test(cpu, forced_to_what_is_no_variant)
{
    cr_assert_eq(with("AVX2 "), best());
}

Test(cpu, forced_to_nothing)
{
    cr_assert_eq(with(""), best());
}

static unsigned runs[CPU_VARIANTS];
static enum cpu_variant slow;

static void run(enum cpu_variant variant, void *user)
{
    (void)user;
    runs[variant]++;
    nanosleep(&(struct timespec){0, variant == slow ? 5000000 : 1000}, NULL);
}

Test(cpu, the_fastest_is_measured)
{
    with(NULL);
    slow = CPU_AVX512;
    enum cpu_variant fastest = cpu_fastest(run, NULL);
    if (!cpu_can(CPU_AVX512)) { /* there is no choice */
        cr_assert_eq(fastest, cpu_variant());
        cr_assert_eq(runs[fastest], 0u);
        return;
    }
    cr_assert_eq(fastest, CPU_AVX2);
    cr_assert(runs[CPU_AVX2] > 0 && runs[CPU_AVX2] == runs[CPU_AVX512] && runs[CPU_SCALAR] == 0);
    slow = CPU_AVX2;
    cr_assert_eq(cpu_fastest(run, NULL), CPU_AVX512);
}

Test(cpu, what_is_forced_is_not_measured)
{
    with("avx2");
    slow = CPU_AVX2;
    cr_assert_eq(cpu_fastest(run, NULL), cpu_variant());
    for (int v = 0; v < CPU_VARIANTS; v++)
        cr_assert_eq(runs[v], 0u);
}
