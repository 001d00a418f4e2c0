/* Numbers of the beta distribution: they never change. test_blend.c has their distribution. */
#include "beta.h"
#include "hash.h"

#include <criterion/criterion.h>

TestSuite(beta);

#define DRAWS 4000

Test(beta, draws_never_change)
{
    static const struct {
        double alpha;
        uint64_t digest;
    } cases[] = {{0.2, 0x48573a68aeea1207},
                 {1, 0x88fe4e5ee31c3ac0},
                 {1.001, 0x29c1c0f775b661b2},
                 {2.5, 0x9ec42795d92efd60},
                 {50, 0xf81efd7bb9ab7960}};
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
