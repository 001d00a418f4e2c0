/* Sixteen vectors transposed, lane by lane; for whoever has defined vec, vec_zip_low and vec_zip_high (filter_kernel.h). */
#ifndef FILTER_TRANSPOSE_H
#define FILTER_TRANSPOSE_H

/* One of the four rounds that transpose 16 vectors by 16 columns. */
static inline void zip_pair(vec *to, const vec *from, int i)
{
    to[2 * i] = vec_zip_low(from[i], from[i + 8]);
    to[2 * i + 1] = vec_zip_high(from[i], from[i + 8]);
}

static inline void zip(vec *to, const vec *from)
{
    /* written out: vectors that a loop indexes would be kept in memory */
    zip_pair(to, from, 0);
    zip_pair(to, from, 1);
    zip_pair(to, from, 2);
    zip_pair(to, from, 3);
    zip_pair(to, from, 4);
    zip_pair(to, from, 5);
    zip_pair(to, from, 6);
    zip_pair(to, from, 7);
}

static inline void transpose(vec v[16])
{
    vec t[16];
    zip(t, v);
    zip(v, t);
    zip(t, v);
    zip(v, t);
}

#define SIXTEEN(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)

#endif
