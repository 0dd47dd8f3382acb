/* build_make.c - builds the filter from the hashes.
 *
 * bly_list_fill creates the filter, and documents how its size is chosen.
 *
 * False positives of --must-not-match: the list is built again under the next seed. For n such
 * lines and the rate p, one try in e^(np) has no false positive. A keyed list has no seed, and its
 * key must not change, so it is built again for half the rate, which halves the number of false
 * positives.
 */
#include "build/build_make.h"

#include "filters/kind_words.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>

enum {
    MAX_TRIES = 32,
    MAX_TRIES_KEYED = 8,
    MAX_FIRST_MATCHES = 12 /* With more false positives under the first seed, no other is tried: the
                              probability that a seed has none is below e^-12. */
};

/* ---- one filter ------------------------------------------------------------------------------ */

static void report_failure(const build_making *m, bly_kind kind, double rate, bly_status status) {
    if (status == BLY_EWEAKHASH)
        (void)message_error("%s has too few bits for so many keys at this false-positive rate; "
                            "choose another --hash",
                            bly_hash_name((bly_hash_id)m->hasher.id));
    else if (status == BLY_ERATE)
        (void)message_error("%s %s list cannot have a false-positive rate as low as %g; choose a "
                            "higher -p, or another --kind",
                            kinds_article(kind), bly_kind_name(kind), rate);
    else if (status == BLY_EFULL)
        (void)message_error(
            "%s: not all keys%s fit into %s %s list (distinct keys: %s); give a larger -n%s",
            m->path, m->keys.copies ? " and copies" : "", kinds_article(kind), bly_kind_name(kind),
            NUMBER_GROUPED(m->keys.distinct),
            m->keys.copies && kinds_limit_copies(kind) ? ", or use --kind hybrid" : "");
    else
        (void)message_status(m->path, status);
}

/* NULL: reported. */
static bly_filter *make_filter(const build_making *m) {
    const double rate = m->rate / bly_list_max_lookups(m->type, &m->levels);
    const bly_list_contents contents = {.struct_size = sizeof contents,
                                        .type = m->type,
                                        .rule = m->rule,
                                        .levels = m->levels,
                                        .hashes = m->keys.hashes,
                                        .count = m->keys.count,
                                        .distinct = m->keys.distinct,
                                        .copies = m->keys.copies};
    bly_spec spec = bly_spec_for(m->kind, m->room, m->rate);
    spec.hasher = m->hasher;
    spec.geometry.options = m->foldable ? BLY_FOLDABLE : 0;
    spec.counting.counter_bits = m->counter_bits;
    spec.overlay.changes = m->changes;
    spec.overlay.marker = m->marker;
    bly_filter *f;
    const bly_status status = bly_list_fill(&contents, &spec, &f);
    if (status != BLY_OK)
        report_failure(m, m->kind ? m->kind : bly_plan_kind(rate), rate, status);
    return f;
}

/* ---- without false positives ----------------------------------------------------------------- */

/* The number of lines that `bloomery check` would match with this filter. */
static uint64_t chance_matches(const build_making *m) {
    bly_list_levels levels;
    (void)bly_list_recognise(m->filter, &levels);
    return build_allow_count_matches(m->allow, &levels, m->filter);
}

static bool give_up(const build_making *m, uint64_t matches) {
    double better = pow(10, floor(-log10((double)m->allow->count)));
    if (better >= m->rate)
        better = m->rate / 10;
    return message_refuse(
        "%s: %s of its %s lines %s after %u tr%s; use -p %g to make that unlikely", m->allow->path,
        NUMBER_GROUPED(matches), NUMBER_GROUPED(m->allow->count),
        matches == 1 ? "is a false positive" : "are false positives", m->tries,
        m->tries == 1 ? "y" : "ies", better);
}

/* Prepares another filter of the same keys, with other false positives. */
static bool vary(build_making *m) {
    if (m->keyed) {
        m->rate /= 2;
        return true;
    }
    bly_status status = bly_hasher_init(&m->hasher, (bly_hash_id)m->hasher.id, m->hasher.seed + 1);
    if (status != BLY_OK)
        return message_refuse("%s", bly_strerror(status));
    gathered_keys_rehash(&m->keys, &m->hasher);
    return true;
}

bool build_make(build_making *m) {
    const unsigned most = m->keyed ? MAX_TRIES_KEYED : MAX_TRIES;
    for (m->tries = 1;; m->tries++) {
        m->filter = make_filter(m);
        if (!m->filter)
            return false;
        uint64_t matches = m->allow ? chance_matches(m) : 0;
        if (matches == 0)
            return true;
        bly_filter_destroy(m->filter);
        m->filter = NULL;
        bool hopeless = m->tries == 1 && !m->keyed && matches > MAX_FIRST_MATCHES;
        if (m->tries == most || hopeless)
            return give_up(m, matches);
        if (!vary(m))
            return false;
    }
}
