/* build_make.c - from hashes to a filter.
 *
 * The size. A plan gives the rate to be expected over all lists. The bits of one list may fall
 * better or worse: among few blocks some are crowded, and the rate of a thousand keys at 0.1% is
 * off by 5% one way or the other, at times by 15%. What was asked is a rate for this list, so the
 * bits are looked at, and where they give more than was asked, the filter is made a little larger
 * and filled again. That may be several times; it is done for filters that are small, where it
 * costs nothing, since the large ones come out within 1%. Not where the room was asked for by
 * number: filters that are to be merged must come out alike, whatever their keys. Nor for growing
 * filters, whose levels are planned for less than the rate asked, nor for those that hold
 * fingerprints, whose rate is no matter of chance. It is done for counters, though, which keys
 * share as they share bits.
 *
 * Chance matches. A line that must not match can seem to be in the list by chance. Then the list is
 * built again under the next seed: for n such lines and the rate p one try in e^(np) comes out
 * clean. A keyed list has no seed, and its key is not ours to change, so it is built again for half
 * the rate, which halves the number of such lines.
 */
#include "build_make.h"

#include "kinds.h"
#include "message.h"
#include "numbers.h"

#include <math.h>

enum { MOST_SEEDS = 32, MOST_HALVINGS = 8, MOST_SIZES = 16 };
/* With more lines than this matching by chance under the first seed, the others are not worth a
 * try: e^-12 each. */
enum { HOPELESS = 12 };

static const uint64_t large = UINT64_C(4) << 20; /* bytes */
static const double tolerance = 1.02;

/* ---- one filter ------------------------------------------------------------------------------ */

bly_status build_add_scattered(bly_filter *f, const build_keys *keys, uint64_t *fresh,
                               bly_hash *failed) {
    /* As in a shuffled deck: the i-th is at i * leap mod n, for a leap without a divisor in common
     * with n. */
    size_t n = keys->count, leap = (size_t)((double)n * 0.6180339887498949) | 1, at = 0;
    bly_hash some[1024];
    bly_status status = BLY_OK;
    while (number_common_divisor(n, leap) > 1)
        leap += 2;
    for (size_t done = 0; status == BLY_OK && done < n;) {
        size_t batch = 0;
        for (; batch < 1024 && done < n; batch++, done++) {
            some[batch] = keys->hashes[at];
            at = at >= n - leap % n ? at - (n - leap % n) : at + leap % n;
        }
        bly_batch_result tally = {0};
        status = bly_filter_add_hashes(f, some, batch, NULL, &tally);
        if (fresh)
            *fresh += tally.changed;
        if (status != BLY_OK && failed && tally.done < batch)
            *failed = some[tally.done];
    }
    return status;
}

/* For a kind that is made from all its keys, marks included. */
static bly_status solve(const build_making *m, const bly_spec *spec, bly_filter **out) {
    bly_builder *b;
    char room[BLY_LIST_MARK];
    bly_status status = bly_builder_create(spec, NULL, &b);
    *out = NULL;
    if (status == BLY_OK)
        status = bly_builder_add_hashes(b, m->keys.hashes, m->keys.count);
    for (uint64_t i = 0; status == BLY_OK && i < bly_list_mark_count(m->type, &m->levels); i++) {
        const bly_bytes mark = bly_list_mark_at(m->type, &m->levels, i, room);
        status = bly_builder_add(b, &mark, 1);
    }
    if (status == BLY_OK)
        status = bly_builder_finish(b, out);
    if (status == BLY_OK)
        status = bly_filter_set_key_rule(*out, m->rule);
    bly_builder_destroy(b);
    return status;
}

static bly_status fill(const build_making *m, const bly_spec *spec, bly_filter **out) {
    bly_filter *f = NULL;
    if (kinds_can(spec->geometry.kind, BLY_CAN_BUILD))
        return solve(m, spec, out);
    bly_status status = bly_filter_create(spec, &f);
    if (status == BLY_OK)
        status = kinds_are_bits(spec->geometry.kind)
                     ? bly_filter_add_hashes(f, m->keys.hashes, m->keys.count, NULL, NULL)
                     : build_add_scattered(f, &m->keys, NULL, NULL);
    if (status == BLY_OK)
        status = bly_list_add_marks(f, m->type, &m->levels);
    if (status == BLY_OK)
        status = bly_filter_set_key_rule(f, m->rule);
    if (status != BLY_OK) {
        bly_filter_destroy(f);
        f = NULL;
    }
    *out = f;
    return status;
}

/* A plan for 3% more keys than this shape holds. false: there is none. */
static bool enlarge(bly_spec *spec, const bly_filter *f) {
    const bly_geometry g = bly_filter_geometry(f);
    if (!kinds_are_bits(g.kind)) {
        spec->geometry = g;
        spec->geometry.size += g.size / 32 + 1;
        return bly_plan_check(&spec->geometry) == BLY_OK;
    }
    const uint64_t keys = bly_plan_capacity(&g, spec->fpr, spec->hasher.bits);
    return bly_plan(g.kind, keys + keys / 32 + 1, spec->fpr, g.options, spec->hasher.bits,
                    &spec->geometry) == BLY_OK;
}

static bool lies_badly(const bly_filter *f) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(f, &s);
    return s.bytes < large && s.current_fpr > tolerance * s.requested_fpr;
}

static bly_status fill_well(const build_making *m, bly_spec *spec, bly_filter **f) {
    bly_status status = fill(m, spec, f);
    if (m->room || !kinds_share_cells(spec->geometry.kind))
        return status;
    for (unsigned i = 1; status == BLY_OK && i < MOST_SIZES && lies_badly(*f); i++) {
        if (!enlarge(spec, *f))
            break;
        bly_filter_destroy(*f);
        status = fill(m, spec, f);
    }
    return status;
}

static void say_why_not(const build_making *m, bly_kind kind, double rate, bly_status status) {
    char keys[NUMBER_TEXT];
    if (status == BLY_EWEAKHASH)
        (void)message_error("%s has too few bits for so many keys at that rate; choose another by "
                            "--hash",
                            bly_hash_name((bly_hash_id)m->hasher.id));
    else if (status == BLY_ERATE)
        (void)message_error(
            "%s %s list cannot err as seldom as %g of the time; choose a higher -p, "
            "or another --kind",
            kinds_article(kind), bly_kind_name(kind), rate);
    else if (status == BLY_EFULL)
        (void)message_error(
            "%s: not all of the %s keys%s found a place in %s %s list; make it "
            "larger with -n%s",
            m->path, number_grouped(m->keys.distinct, keys),
            m->keys.copies ? ", with their copies," : "", kinds_article(kind), bly_kind_name(kind),
            m->keys.copies && kinds_limit_copies(kind) ? ", or take a hybrid one" : "");
    else
        (void)message_status(m->path, status);
}

static bly_spec spec_for(const build_making *m, uint64_t keys, double rate) {
    bly_spec spec = bly_spec_for(m->kind ? m->kind : bly_plan_kind(rate), keys ? keys : 1, rate);
    spec.hasher = m->hasher;
    spec.geometry.options = m->foldable ? BLY_FOLDABLE : 0;
    if (kinds_have_levels(spec.geometry.kind))
        spec.scalable.first_share = 0.8; /* the number of keys is known */
    spec.counting.counter_bits = m->counter_bits;
    spec.overlay.changes = m->changes;
    spec.overlay.marker = m->marker;
    return spec;
}

/* Few keys may crowd so that a table planned for them has no place for the last (cuckoo_plan.c says
 * how often). Where its size is ours to choose, it becomes a little larger. */
enum { MOST_FULL = 8 };

/* NULL: reported. */
static bly_filter *make_filter(const build_making *m) {
    const double rate = m->rate / bly_list_max_lookups(m->type, &m->levels);
    const bool fixed = m->room || m->keys.copies;
    uint64_t keys =
        (m->room ? m->room : m->keys.distinct) + bly_list_mark_count(m->type, &m->levels);
    bly_spec spec = spec_for(m, keys, rate);
    bly_filter *f;
    bly_status status = fill_well(m, &spec, &f);
    for (unsigned i = 0; status == BLY_EFULL && !fixed && i < MOST_FULL; i++) {
        keys += keys / 64 + 8;
        spec = spec_for(m, keys, rate);
        status = fill_well(m, &spec, &f);
    }
    if (status != BLY_OK)
        say_why_not(m, spec.geometry.kind, rate, status);
    return f;
}

/* ---- without chance matches ------------------------------------------------------------------ */

/* As `check` would, which knows only what the filter says of itself. */
static uint64_t chance_matches(const build_making *m) {
    bly_list_levels levels;
    (void)bly_list_recognise(m->filter, &levels);
    return build_allow_ask(m->allow, &levels, m->filter);
}

static bool give_up(const build_making *m, uint64_t matches) {
    char some[NUMBER_TEXT], all[NUMBER_TEXT];
    double better = pow(10, floor(-log10((double)m->allow->count)));
    if (better >= m->rate)
        better = m->rate / 10;
    (void)message_error("%s: %s of its %s lines match%s by chance after %u tr%s; -p %g would make "
                        "that unlikely",
                        m->allow->path, number_grouped(matches, some),
                        number_grouped(m->allow->count, all), matches == 1 ? "es" : "", m->tries,
                        m->tries == 1 ? "y" : "ies", better);
    return false;
}

/* Another filter of the same keys, with other errors. */
static bool vary(build_making *m) {
    if (m->keyed) {
        m->rate /= 2;
        return true;
    }
    bly_status status = bly_hasher_init(&m->hasher, (bly_hash_id)m->hasher.id, m->hasher.seed + 1);
    if (status != BLY_OK) {
        (void)message_error("%s", bly_strerror(status));
        return false;
    }
    build_keys_rehash(&m->keys, &m->hasher);
    return true;
}

bool build_make(build_making *m) {
    const unsigned most = m->keyed ? MOST_HALVINGS : MOST_SEEDS;
    for (m->tries = 1;; m->tries++) {
        m->filter = make_filter(m);
        if (!m->filter)
            return false;
        uint64_t matches = m->allow ? chance_matches(m) : 0;
        if (matches == 0)
            return true;
        bly_filter_destroy(m->filter);
        m->filter = NULL;
        bool hopeless = m->tries == 1 && !m->keyed && matches > HOPELESS;
        if (m->tries == most || hopeless)
            return give_up(m, matches);
        if (!vary(m))
            return false;
    }
}
