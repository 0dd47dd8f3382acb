/* build_make.c - builds the filter from the hashes.
 *
 * bly_list_fill creates the filter, and documents how its size is chosen.
 *
 * If a line of --must-not-match is a false positive, the list is built again with the next seed.
 * For n such lines and the false-positive rate p, one seed in about e^(np) gives no false positive.
 * A keyed list has no seed, and its key must not change, so it is built again for half the rate,
 * which halves the expected number of false positives.
 */
#include "build/build_run.h"

#include "filters/kind_words.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>

enum {
    MAX_TRIES = 32,
    MAX_TRIES_KEYED = 8,
    MAX_FIRST_MATCHES = 12 /* If the first seed gives more false positives, no other seed is tried:
                              the probability that a seed has none is below e^-12. */
};

/* ---- one filter ------------------------------------------------------------------------------ */

static void report_failure(const build_run *r, bly_status status) {
    const double rate = r->spec.fpr / bly_list_max_lookups(r->contents.type, &r->contents.levels);
    const bly_kind kind = r->spec.geometry.kind ? r->spec.geometry.kind : bly_plan_kind(rate);
    if (status == BLY_EWEAKHASH)
        (void)message_error("%s has too few bits for this number of keys and false-positive rate; "
                            "choose another --hash",
                            bly_hash_name((bly_hash_id)r->spec.hasher.id));
    else if (status == BLY_ERATE)
        (void)message_error("%s %s list cannot have a false-positive rate as low as %g; choose a "
                            "higher -p, or another --kind",
                            kinds_article(kind), bly_kind_name(kind), rate);
    else if (status == BLY_EFULL)
        (void)message_error(
            "%s: not all keys%s fit into %s %s list (distinct keys: %s); give a larger -n%s",
            r->to.name, r->keys.copies ? " and copies" : "", kinds_article(kind),
            bly_kind_name(kind), NUMBER_GROUPED(r->keys.distinct),
            r->keys.copies && kinds_limit_copies(kind)
                ? ", or --kind hybrid if a key has many copies"
                : "");
    else
        (void)message_status(r->to.name, status);
}

/* On failure, reports the error and returns NULL. */
static bly_filter *make_filter(const build_run *r) {
    bly_list_contents contents = r->contents;
    contents.hashes = r->keys.hashes;
    contents.count = r->keys.count;
    contents.distinct = r->keys.distinct;
    contents.copies = r->keys.copies;
    bly_filter *f;
    const bly_status status = bly_list_fill(&contents, &r->spec, &f);
    if (status != BLY_OK)
        report_failure(r, status);
    return f;
}

/* ---- without false positives ----------------------------------------------------------------- */

/* The number of lines of --must-not-match that `bloomery check` would match with this filter. */
static uint64_t chance_matches(const build_run *r) {
    bly_list_levels levels;
    (void)bly_list_recognise(r->filter, &levels);
    return build_allow_count_matches(&r->allow, &levels, r->filter);
}

static bool give_up(const build_run *r, uint64_t matches) {
    double better = pow(10, floor(-log10((double)r->allow.count)));
    if (better >= r->spec.fpr)
        better = r->spec.fpr / 10;
    return message_fail("%s: %s of its %s lines %s after %u tr%s; use -p %g to make that unlikely",
                        r->allow.path, NUMBER_GROUPED(matches), NUMBER_GROUPED(r->allow.count),
                        matches == 1 ? "is a false positive" : "are false positives", r->tries,
                        r->tries == 1 ? "y" : "ies", better);
}

/* Changes the seed, or the rate of a keyed list, so that the next filter has other false positives.
 */
static bool vary(build_run *r) {
    if (r->keyed) {
        r->spec.fpr /= 2;
        return true;
    }
    bly_status status =
        bly_hasher_init(&r->spec.hasher, (bly_hash_id)r->spec.hasher.id, r->spec.hasher.seed + 1);
    if (status != BLY_OK)
        return message_fail("%s", bly_strerror(status));
    gathered_keys_rehash(&r->keys, &r->spec.hasher);
    return true;
}

bool build_make(build_run *r) {
    const unsigned most = r->keyed ? MAX_TRIES_KEYED : MAX_TRIES;
    for (r->tries = 1;; r->tries++) {
        r->filter = make_filter(r);
        if (!r->filter)
            return false;
        uint64_t matches = r->options->must_not_match ? chance_matches(r) : 0;
        if (matches == 0)
            return true;
        bly_filter_destroy(r->filter);
        r->filter = NULL;
        bool hopeless = r->tries == 1 && !r->keyed && matches > MAX_FIRST_MATCHES;
        if (r->tries == most || hopeless)
            return give_up(r, matches);
        if (!vary(r))
            return false;
    }
}
