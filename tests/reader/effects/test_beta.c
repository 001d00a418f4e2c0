/* Numbers of the beta distribution: they never change. test_blend.c has their distribution. */
#include "beta.h"
#include "hash.h"

#include <criterion/criterion.h>

TestSuite(beta);

/* So many that those come too, one in some ten thousand, that a wrong bound would let through. */
#define DRAWS 70000

Test(beta, draws_never_change)
{
    static const struct {
        double alpha;
        uint64_t digest;
    } cases[] = {{0.2, 0x136bc87cb8231862},
                 {1, 0x68dc8e6fdb495a12},
                 {1.001, 0x8b3329163b57c90a},
                 {2.5, 0xd6016130ed9e06ec},
                 {50, 0xf6f9916271e9d61a}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static double drawn[DRAWS];
        for (uint32_t n = 0; n < DRAWS; n++) {
            drawn[n] = beta_draw(cases[i].alpha, 7, (const uint32_t[]){n, 1, 2});
            cr_assert(drawn[n] >= 0 && drawn[n] <= 1);
        }
        cr_expect_eq(hash_xxh3_64(drawn, sizeof drawn), cases[i].digest, "%g: %#llx", cases[i].alpha,
                     (unsigned long long)hash_xxh3_64(drawn, sizeof drawn));
    }
}
