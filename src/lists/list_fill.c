/* list_fill.c - creates the filter of a list from the hashes of its keys.
 *
 * Size. A plan gives the expected false-positive rate, an average over all lists. The rate of a
 * single list may be higher or lower: if there are few blocks, some are much fuller than others,
 * and the rate of 1,000 keys at 0.1% is typically off by 5%, sometimes by 15%. But the caller
 * requested the rate for this list. So the rate is computed from the bits of the filled filter. If
 * it is too high, the filter is made a little larger and filled again, several times if necessary.
 * This is done for small filters, where it costs little; large ones are within 1%. It is not done
 * - if the caller fixed the capacity: filters that are to be merged must have the same shape,
 *   whatever their keys;
 * - for growing filters, whose levels are planned for less than the requested rate;
 * - for filters of fingerprints, whose rate does not depend on chance.
 * Filters of counters are treated like filters of bits, because keys share counters, too.
 */
#include "base/struct_size.h"
#include "filter/kind.h"

#include <bloomery/build.h>
#include <bloomery/filter.h>
#include <bloomery/host/lists.h>

#include <string.h>

enum { FILL_MAX_SIZES = 16 };

/* How often a full table is replaced by a slightly larger one. A table planned for few keys may
 * have no room for the last of them (cuckoo_plan.c gives the probability). It is enlarged unless
 * the caller fixed the capacity. */
enum { FILL_MAX_FULL = 8 };

static const uint64_t fill_large = UINT64_C(4) << 20; /* bytes */
static const double fill_tolerance = 1.02;

/* ---- kinds ----------------------------------------------------------------------------------- */

static bool fill_kind_can(bly_kind kind, uint32_t capabilities) {
    return (bly_kind_capabilities(kind) & capabilities) == capabilities;
}

static bool fill_kind_grows(bly_kind kind) {
    const bly_needs needs = {.flags = BLY_NEED_GROW};
    return !bly_advise_why_not(kind, &needs);
}

/* Whether keys share bits or counters, so that the rate depends on chance. */
static bool fill_kind_shares_cells(bly_kind kind) {
    const bool counters =
        fill_kind_can(kind, BLY_CAN_REMOVE | BLY_CAN_COUNT) && !fill_kind_can(kind, BLY_HAS_SLOTS);
    return blyi_kind_is_bits(kind) || counters;
}

/* ---- one filter ------------------------------------------------------------------------------ */

static size_t fill_common_divisor(size_t a, size_t b) {
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bly_status bly_list_add_scattered(bly_filter *f, const bly_hash *hashes, size_t n, uint64_t *added,
                                  bly_hash *failed) {
    /* The i-th hash to add is hashes[i * leap mod n]. As leap and n have no common divisor, every
     * hash is added once. */
    size_t leap = (size_t)((double)n * 0.6180339887498949) | 1, at = 0;
    bly_hash some[1024];
    bly_status status = BLY_OK;
    while (fill_common_divisor(n, leap) > 1)
        leap += 2;
    for (size_t done = 0; status == BLY_OK && done < n;) {
        size_t batch = 0;
        for (; batch < 1024 && done < n; batch++, done++) {
            some[batch] = hashes[at];
            at = at >= n - leap % n ? at - (n - leap % n) : at + leap % n;
        }
        bly_batch_result tally = {0};
        status = bly_filter_add_hashes(f, some, batch, NULL, &tally);
        if (added)
            *added += tally.changed;
        if (status != BLY_OK && failed && tally.done < batch)
            *failed = some[tally.done];
    }
    return status;
}

/* For kinds that are built from all keys at once. The marks are among these keys. */
static bly_status fill_built(const bly_list_contents *c, const bly_spec *spec, bly_filter **out) {
    bly_builder *b;
    char room[BLY_LIST_MARK];
    bly_status status = bly_builder_create(spec, NULL, &b);
    if (status == BLY_OK)
        status = bly_builder_add_hashes(b, c->hashes, c->count);
    for (uint64_t i = 0; status == BLY_OK && i < bly_list_mark_count(c->type, &c->levels); i++) {
        const bly_bytes mark = bly_list_mark_at(c->type, &c->levels, i, room);
        status = bly_builder_add(b, &mark, 1);
    }
    if (status == BLY_OK)
        status = bly_builder_finish(b, out);
    bly_builder_destroy(b);
    return status;
}

static bly_status fill_created(const bly_list_contents *c, const bly_spec *spec, bly_filter **out) {
    bly_status status = bly_filter_create(spec, out);
    /* With BLY_TEXTBOOK the filter uses the raw form of a custom hasher. The hashes were not made
     * with that. */
    if (status == BLY_OK && spec->hasher.id != BLY_HASH_NONE &&
        bly_filter_hasher(*out)->id != spec->hasher.id)
        return BLY_EHASHER;
    if (status == BLY_OK)
        status = blyi_kind_is_bits(spec->geometry.kind)
                     ? bly_filter_add_hashes(*out, c->hashes, c->count, NULL, NULL)
                     : bly_list_add_scattered(*out, c->hashes, c->count, NULL, NULL);
    return status == BLY_OK ? bly_list_add_marks(*out, c->type, &c->levels) : status;
}

static bly_status fill_once(const bly_list_contents *c, const bly_spec *spec, bly_filter **out) {
    *out = NULL;
    bly_status status = fill_kind_can(spec->geometry.kind, BLY_CAN_BUILD)
                            ? fill_built(c, spec, out)
                            : fill_created(c, spec, out);
    if (status == BLY_OK)
        status = bly_filter_set_key_rule(*out, c->rule);
    if (status != BLY_OK) {
        bly_filter_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* ---- a filter within the requested rate ------------------------------------------------------ */

/* Plans the next larger shape, for about 3% more keys. Returns false if it would be too large. */
static bool fill_enlarge(bly_spec *spec, const bly_filter *f) {
    const bly_geometry g = bly_filter_geometry(f);
    if (!blyi_kind_is_bits(g.kind)) {
        spec->geometry = g;
        spec->geometry.size += g.size / 32 + 1;
        return bly_plan_check(&spec->geometry) == BLY_OK;
    }
    const uint64_t keys = bly_plan_capacity(&g, spec->fpr, spec->hasher.bits);
    return bly_plan(g.kind, keys + keys / 32 + 1, spec->fpr, g.options, spec->hasher.bits,
                    &spec->geometry) == BLY_OK;
}

static bool fill_exceeds_rate(const bly_filter *f) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    return s.bytes < fill_large && s.current_fpr > fill_tolerance * s.requested_fpr;
}

static bly_status fill_well(const bly_list_contents *c, bly_spec spec, bool fixed,
                            bly_filter **out) {
    bly_status status = fill_once(c, &spec, out);
    if (fixed || !fill_kind_shares_cells(spec.geometry.kind))
        return status;
    for (unsigned i = 1; status == BLY_OK && i < FILL_MAX_SIZES && fill_exceeds_rate(*out); i++) {
        if (!fill_enlarge(&spec, *out))
            break;
        bly_filter_destroy(*out);
        status = fill_once(c, &spec, out);
    }
    return status;
}

bly_status bly_list_fill(const bly_list_contents *contents, const bly_spec *spec,
                         bly_filter **out) {
    bly_list_contents c;
    bly_spec s;
    *out = NULL;
    if (!blyi_read_struct(&c, sizeof c, sizeof c, contents) ||
        !blyi_read_struct(&s, sizeof s, sizeof s, spec))
        return BLY_EINVAL;
    s.fpr /= bly_list_max_lookups(c.type, &c.levels);
    if (!s.geometry.kind)
        s.geometry.kind = bly_plan_kind(s.fpr);
    if (fill_kind_can(s.geometry.kind, BLY_HAS_LEVELS) && s.scalable.first_share == 0)
        s.scalable.first_share = 0.8; /* no further level is expected */
    const bool fixed = s.capacity && !fill_kind_can(s.geometry.kind, BLY_CAN_BUILD);
    if (fixed && c.distinct > s.capacity && !fill_kind_grows(s.geometry.kind))
        return BLY_EFULL;
    const uint64_t marks = bly_list_mark_count(c.type, &c.levels);
    uint64_t keys = fixed ? s.capacity : c.distinct;
    if (keys > UINT64_MAX - marks)
        return BLY_ETOOBIG;
    keys += marks;
    s.capacity = keys ? keys : 1;
    bly_status status = fill_well(&c, s, fixed, out);
    for (unsigned i = 0; status == BLY_EFULL && !fixed && !c.copies && i < FILL_MAX_FULL; i++) {
        keys += keys / 64 + 8;
        s.capacity = keys;
        status = fill_well(&c, s, fixed, out);
    }
    return status;
}
