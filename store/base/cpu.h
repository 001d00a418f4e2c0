/* Which variant of the kernels this machine runs. */
#ifndef CPU_H
#define CPU_H

enum cpu_variant {
    CPU_SCALAR, /* plain C: the reference that every other variant is bit-equal to */
    CPU_AVX2,   /* x86-64-v3: AVX2, BMI2 */
    CPU_AVX512, /* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
    CPU_NEON,   /* arm64 */
    CPU_VARIANTS
};

/* The best variant this machine can run, or the one that the environment variable APL_CPU names ("scalar",
 * "avx2", "avx512", "neon") if the machine can run it. Found once, at the first call; thread-safe. */
enum cpu_variant cpu_variant(void);

/* Of the variants in vectors that this machine can run, the fastest at what `run` does; a wider one if it is clearly faster. `run` does some
 * microseconds' worth of it by a variant, and is called a few times for each. Where APL_CPU names a variant, or there is no choice, it
 * is not called, and the answer is cpu_variant(). The caller keeps the answer: another call may give another, so the variants must give
 * the same bytes. Thread-safe; takes no lock. */
typedef void cpu_run_fn(enum cpu_variant variant, void *user);
enum cpu_variant cpu_fastest(cpu_run_fn *run, void *user);

/* Can this machine run the variant (and was it built in)? */
int cpu_can(enum cpu_variant variant);

const char *cpu_variant_name(enum cpu_variant variant);

#endif
