/* The formulas as the literature prints them. They ignore that the number of set bits varies, so
 * their rates are slightly too low; bly_plan corrects for that. They are here because they are well
 * known, and for reading and checking other libraries' filters. */
#include "filter/rate.h"

#include <bloomery/formulas.h>
#include <float.h>
#include <math.h>

static bool rate_is_sane(double p) {
    return p > 0 && p < 1;
}

uint32_t bly_textbook_hashes(double fpr) {
    if (!rate_is_sane(fpr))
        return 0;
    return (uint32_t)fmax(1, ceil(-log2(fpr)));
}

bly_status bly_textbook_bits(uint64_t keys, double fpr, double fill, uint64_t *out) {
    if (keys == 0)
        return BLY_ECOUNT;
    if (!rate_is_sane(fpr))
        return BLY_ERATE;
    if (!rate_is_sane(fill))
        return BLY_EINVAL;
    double m = ceil((double)keys / (log(fill) * log(1 - fill) / fabs(log(fpr))));
    if (!(m <= (double)BLYI_MAX_BITS))
        return BLY_ETOOBIG;
    *out = (uint64_t)m;
    return BLY_OK;
}

uint64_t bly_textbook_slice(uint64_t bits, uint32_t hashes) {
    return hashes ? bits / hashes + (bits % hashes != 0) : 0;
}

uint32_t bly_textbook_best_hashes(uint64_t bits, uint64_t keys) {
    if (keys == 0)
        return 0;
    double k = ceil((double)bits / (double)keys * log(2));
    return (uint32_t)fmin(fmax(k, 1), UINT32_MAX);
}

double bly_textbook_fpr(uint64_t bits, uint32_t hashes, uint64_t keys) {
    if (bits == 0)
        return 1;
    return pow(-expm1(-(double)hashes * (double)keys / (double)bits), hashes);
}

static bly_status solve_bits(bly_textbook *t) {
    double m = -(double)t->hashes * (double)t->keys / log1p(-pow(t->fpr, 1.0 / t->hashes));
    if (!(m < (double)BLYI_MAX_BITS))
        return BLY_ETOOBIG;
    t->bits = (uint64_t)fmax(1, ceil(m));
    /* Rounding may make m one too small or too large. The contract is that bly_textbook_fpr of the
     * result is within the rate. */
    while (t->bits > 1 && bly_textbook_fpr(t->bits - 1, t->hashes, t->keys) <= t->fpr)
        t->bits--;
    while (bly_textbook_fpr(t->bits, t->hashes, t->keys) > t->fpr)
        t->bits++;
    return BLY_OK;
}

static bly_status solve_keys(bly_textbook *t) {
    double n = -(double)t->bits / t->hashes * log1p(-pow(t->fpr, 1.0 / t->hashes));
    if (!(n >= 1))
        return BLY_EIMPOSSIBLE;
    t->keys = n < 0x1p63 ? (uint64_t)n : (uint64_t)1 << 63;
    if (t->keys < (uint64_t)1 << 52) { /* see solve_bits; of more keys, one does not matter */
        while (t->keys > 1 && bly_textbook_fpr(t->bits, t->hashes, t->keys) > t->fpr)
            t->keys--;
        while (bly_textbook_fpr(t->bits, t->hashes, t->keys + 1) <= t->fpr)
            t->keys++;
    }
    return BLY_OK;
}

/* The rate falls as k grows to (m/n) ln 2, and rises after that. So the result is the first k that
 * reaches the requested rate, and no k above the best one can be the first. */
static bly_status solve_hashes(bly_textbook *t) {
    uint32_t best = bly_textbook_best_hashes(t->bits, t->keys);
    for (uint32_t k = 1; k <= best && k <= 4096; k++) {
        if (bly_textbook_fpr(t->bits, k, t->keys) <= t->fpr) {
            t->hashes = k;
            return BLY_OK;
        }
    }
    return BLY_EIMPOSSIBLE;
}

bly_status bly_textbook_solve(bly_textbook *t) {
    int missing = (t->keys == 0) + (t->bits == 0) + (t->hashes == 0) + (t->fpr == 0);
    if (missing != 1)
        return BLY_EINVAL;
    if (t->fpr == 0) {
        t->fpr = fmax(bly_textbook_fpr(t->bits, t->hashes, t->keys), DBL_MIN);
        return BLY_OK;
    }
    if (!rate_is_sane(t->fpr))
        return BLY_ERATE;
    if (t->bits == 0)
        return solve_bits(t);
    return t->keys == 0 ? solve_keys(t) : solve_hashes(t);
}
