/* tally.c - the counts of `bloomery count`.
 *
 * Counts are exact (exact_counts.h), unless --sketch is given or the state is a sketch. The exact
 * counts of a state are one hybrid filter, which cannot grow.
 *
 * A sketch has an estimate for any key, which may be too high. So keys are also tracked in a table
 * of fixed size, as in the Space-Saving algorithm (Metwally, Agrawal and El Abbadi 2005): a key
 * that is not in the table replaces the one with the lowest count of eight, and the sketch
 * estimates how often the new key occurred before. From then on it is counted exactly. Its count is
 * the sum of both numbers. Only the first is an estimate, so the count is too high by at most that
 * number. If the sketch has not seen the key before, its count is exact.
 *
 * Keys are added one by one, because each needs its count so far. A batched lookup before that,
 * whose answers are not used, fetches the memory that they will touch.
 */
#include "count/tally.h"

#include "cli.h"
#include "filters/health.h"
#include "filters/kind_words.h"
#include "filters/rule_marks.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdlib.h>
#include <string.h>

/* The default rates at which new keys are mistaken for others. At 5%, a sketch needs only a few
 * bytes per key. A table of exact counts is hardly larger at 1e-9 than at a higher rate. */
static const double usual_rate = 0.05, exact_rate = 1e-9;
/* The number of keys to plan for without -n. From a pipe: first_keys for exact counts, usual_keys
 * for a sketch. From a file: the estimated number of lines, but at least min_keys, and for a sketch
 * at most max_keys, because lines may be repeats and a sketch accepts any number of keys. */
static const uint64_t first_keys = 1000000, usual_keys = 4000000, min_keys = 65536,
                      max_keys = 16000000;
/* The table of tracked keys takes at most max_tracked bytes, and at most 1 / tracked_share of
 * --memory. */
static const uint64_t max_tracked = 3 << 20, tracked_share = 4;

/* ---- keys followed beside a sketch ----------------------------------------------------------- */

enum { BUCKET = 8 };

/* Creates a table of as many keys as fit into `bytes`, but at least eight. Returns false if memory
 * runs out. */
static bool tracked_open(tracked *t, uint64_t bytes) {
    const uint64_t buckets = bytes / (BUCKET * sizeof *t->keys);
    t->buckets = buckets ? buckets : 1;
    t->keys = t->buckets <= SIZE_MAX / BUCKET ? calloc((size_t)t->buckets * BUCKET, sizeof *t->keys)
                                              : NULL;
    return t->keys != NULL;
}

static void tracked_close(tracked *t) {
    free(t->keys);
    *t = (tracked){0};
}

static uint64_t tracked_bytes(const tracked *t) {
    return t->keys ? t->buckets * BUCKET * sizeof *t->keys : 0;
}

static bool is_there(const tracked_key *k, uint64_t fingerprint) {
    return k->since && k->fingerprint == fingerprint;
}

/* The entry of the key in its bucket, or the one that it should replace. */
static tracked_key *place_of(const tracked *t, uint64_t fingerprint) {
    tracked_key *bucket = t->keys + fingerprint % t->buckets * BUCKET, *lowest = bucket;
    for (tracked_key *k = bucket; k < bucket + BUCKET; k++) {
        if (is_there(k, fingerprint))
            return k;
        if (k->before + k->since < lowest->before + lowest->since)
            lowest = k;
    }
    return lowest;
}

/* Counts one more occurrence of the key; `sketch` does not include it yet. */
static tracked_key tracked_count(tracked *t, const bly_filter *sketch, bly_hash h) {
    const uint64_t fingerprint = h.lo;
    tracked_key *k = place_of(t, fingerprint);
    if (!is_there(k, fingerprint))
        *k = (tracked_key){.fingerprint = fingerprint, .before = bly_filter_copies_hash(sketch, h)};
    k->since++;
    return *k;
}

/* The entry of a key; `since` is 0 if it is not tracked. */
static tracked_key tracked_find(const tracked *t, bly_hash h) {
    const uint64_t fingerprint = h.lo;
    const tracked_key *k = place_of(t, fingerprint);
    return is_there(k, fingerprint) ? *k : (tracked_key){.fingerprint = fingerprint};
}

/* ---- creating the counts --------------------------------------------------------------------- */

static uint64_t keys_expected(const tally_request *r) {
    if (r->keys)
        return r->keys;
    /* A state cannot grow, and later runs bring more keys. */
    if (!r->sketch && r->state)
        return r->estimate > first_keys / 4 ? 4 * r->estimate : first_keys;
    if (!r->estimate)
        return r->sketch ? usual_keys : first_keys;
    if (r->estimate < min_keys)
        return min_keys;
    return r->sketch && r->estimate > max_keys ? max_keys : r->estimate;
}

static bool fail_to_make(const tally_request *r, bly_status status) {
    if (status == BLY_EFULL && r->memory)
        return message_fail("--memory %s is too small to store any counts; give a larger one",
                            NUMBER_BYTES(r->memory));
    if (status == BLY_ENOMEM || status == BLY_ETOOBIG || status == BLY_EWEAKHASH)
        return message_fail("cannot count %s different keys: %s; give a smaller -n",
                            NUMBER_GROUPED(keys_expected(r)),
                            status == BLY_ENOMEM ? "out of memory"
                                                 : "the table would be too large");
    return message_fail("cannot create the table of counts: %s", bly_strerror(status));
}

/* Creates one filter: a sketch, or the exact counts of a state. */
static bly_status make_filter(tally *t, const tally_request *r, const bly_hasher *hasher,
                              double rate) {
    const bly_kind kind = r->sketch ? BLY_COUNTS : BLY_HYBRID;
    const uint64_t aside = !r->sketch ? 0
                           : r->memory && r->memory / tracked_share < max_tracked
                               ? r->memory / tracked_share
                               : max_tracked;
    uint64_t keys = keys_expected(r);
    t->limited = r->memory > 0;
    if (r->memory)
        keys = exact_counts_within(kind, rate, hasher->bits, r->memory - aside);
    if (keys == 0)
        return BLY_EFULL;
    bly_spec spec = bly_spec_for(kind, keys, rate);
    spec.hasher = *hasher;
    return bly_filter_create(&spec, &t->kept.filter);
}

static bool make(tally *t, const tally_request *r) {
    const double rate = r->rate > 0 ? r->rate : r->sketch ? usual_rate : exact_rate;
    const uint64_t memory = r->memory ? r->memory : TALLY_MEMORY;
    const bool grows = !r->sketch && !r->state;
    bly_hasher hasher;
    bly_status status = BLY_OK;
    if (r->key)
        hasher = *r->key;
    else /* the hash function must suit as many keys as fit into the memory, at five bytes each */
        status =
            bly_hasher_default(&hasher, grows ? memory / 5 + 1 : keys_expected(r), rate, r->seed);
    if (status == BLY_OK && grows)
        status = exact_counts_open(&t->exact, &hasher, rate, keys_expected(r), memory);
    else if (status == BLY_OK)
        status = make_filter(t, r, &hasher, rate);
    return status == BLY_OK || fail_to_make(r, status);
}

/* ---- an existing state ----------------------------------------------------------------------- */

/* Why the state does not fit the options; NULL if it does. */
static const char *contradiction(const tally *t, const tally_request *r) {
    const bly_filter_info s = filter_info(t->kept.filter);
    const bool counts = s.kind == BLY_COUNTS, exact = s.kind == BLY_HYBRID;
    if (!counts && !exact && kinds_can(s.kind, BLY_CAN_COUNT))
        return "is a list, not a --state file of bloomery count; print its counts with --query, or "
               "change it with bloomery add and bloomery remove";
    if (!counts && !exact)
        return "contains no counts; name another file";
    if (r->exact && !exact)
        return "contains estimated counts; leave out --exact, or name another file";
    if (r->sketch && !counts)
        return "contains exact counts; leave out --sketch, or name another file";
    if (r->age && exact)
        return "contains exact counts, and --age halves only the counts of a sketch; leave out "
               "--age";
    if (r->memory)
        return "already has a fixed size; leave out --memory, or name another file";
    if (r->rate > 0 && r->rate != s.requested_fpr)
        return "was created with a different -p; leave out -p, or name another file";
    if (r->keys && r->keys != s.capacity)
        return "was created with a different -n; leave out -n, or name another file";
    if (r->seed && r->seed != bly_filter_hasher(t->kept.filter)->seed)
        return "has a different seed; leave out --seed, or name another file";
    return NULL;
}

/* Marks the state with the key rule of this run: in its header, and by an additional key with the
 * rule in words, because the header has no code for some rules. */
static bool mark_rule(tally *t, const tally_request *r) {
    char words[KEY_OPTIONS_WORDS], text[RULE_MARK];
    bly_filter *f = t->kept.filter;
    if (!r->state)
        return true;
    const bly_key_rule rule = key_options_code(r->rule);
    const state_rule fit = state_file_settle_rule(&t->kept, rule, bly_filter_count(f) == 0);
    t->keeps_return = fit == STATE_RULE_OLD;
    if (fit == STATE_RULE_REFUSED)
        return false;
    const size_t size = rule_mark_text("count", key_options_words(r->rule, words), text);
    const bool has_code = !t->keeps_return && rule != BLY_KEYS_OTHER;
    if (!has_code && t->kept.loaded && bly_filter_count(f) > 0 &&
        !bly_filter_contains(f, text, size))
        message_warn("%s: was created with different options (--url, --field, --ignore-case, "
                     "--extract-urls); keys that it contains may be counted as new",
                     r->state);
    /* Halving may remove that key, so it is added again. */
    bly_status status = r->age ? bly_counts_age(f) : BLY_OK;
    if (status == BLY_OK && !bly_filter_contains(f, text, size))
        status = bly_filter_add(f, text, size, NULL);
    return status == BLY_OK || message_status(r->state, status) == CLI_OK;
}

/* ---- a file that is only queried ------------------------------------------------------------- */

static bool open_query(tally *t, const tally_request *r) {
    char kinds[KINDS_LIST];
    bly_list_levels levels;
    if (open_read(&t->file, r->state, r->key, 0) != BLY_OK)
        return false;
    t->filter = t->file.filter;
    const bly_kind kind = bly_filter_geometry(t->filter).kind;
    if (!kinds_can(kind, BLY_CAN_COUNT))
        return message_fail(
            "%s: %s filters do not count how often a key was added; these kinds do: %s", r->state,
            bly_kind_name(kind), kinds_that_can(BLY_CAN_COUNT, kinds));
    t->type = bly_list_recognise(t->filter, &levels);
    t->keeps_return = bly_filter_key_rule(t->filter) == BLY_KEYS_UNRECORDED;
    if (t->type == BLY_LIST_NONE)
        return message_fail("%s: cannot be queried: it has keys of several types, or too many "
                            "keys to recognise their type; query a list whose keys have one type",
                            r->state);
    const bly_status status = bly_list_reader_create(&t->reader);
    return status == BLY_OK || message_status(r->state, status) == CLI_OK;
}

/* Creates the table of tracked keys for a sketch. */
static bool open_tracked(tally *t, const tally_request *r) {
    if (!tally_is_sketch(t))
        return true;
    const uint64_t share = r->memory / tracked_share;
    return tracked_open(&t->tracked, share && share < max_tracked ? share : max_tracked) ||
           message_fail("out of memory");
}

bool tally_open(tally *t, const tally_request *r) {
    memset(t, 0, sizeof *t);
    if (r->query)
        return open_query(t, r);
    if (!state_file_open(&t->kept, r->state, r->key))
        return false;
    if (!t->kept.loaded && r->age && !r->sketch)
        return message_fail("%s: --age halves the counts of a sketch, not exact counts; add "
                            "--sketch, or leave out --age",
                            r->state);
    const char *why = t->kept.loaded ? contradiction(t, r) : NULL;
    if (why)
        return message_fail("%s: %s", r->state, why);
    if (!t->kept.loaded && !make(t, r))
        return false;
    t->filter = t->kept.filter ? t->kept.filter : t->exact.level[0].filter;
    return open_tracked(t, r) && mark_rule(t, r);
}

void tally_close(tally *t) {
    exact_counts_close(&t->exact);
    tracked_close(&t->tracked);
    state_file_close(&t->kept);
    open_close(&t->file);
    bly_list_reader_destroy(t->reader);
}

/* ---- counting -------------------------------------------------------------------------------- */

bool tally_is_sketch(const tally *t) {
    return bly_filter_geometry(t->filter).kind == BLY_COUNTS;
}

static void fail(const tally *t, bly_status status) {
    if (status == BLY_EFULL && t->exact.levels)
        (void)message_error("exact counts of %s different keys have used up %s; give a larger "
                            "--memory, or use --sketch for estimates in fixed memory",
                            NUMBER_GROUPED(exact_counts_keys(&t->exact)),
                            NUMBER_BYTES(t->exact.max_bytes));
    else if (status == BLY_EFULL)
        (void)message_error("%s: full: it was created for %s different keys; name another file, "
                            "and give a larger %s or --sketch",
                            t->kept.path, NUMBER_GROUPED(bly_filter_capacity(t->filter)),
                            t->limited ? "--memory" : "-n");
    else
        (void)message_error("%s", bly_strerror(status));
}

/* Whether the list makes keys from lines by a rule, instead of using the lines as they are. */
static bool is_typed(const tally *t) {
    return bly_list_is_typed(t->type) || t->type == BLY_LIST_RECORD_URL ||
           t->type == BLY_LIST_RECORD_CRAWL;
}

/* Makes the result of a query. A count from a sketch may be too high by its whole value. */
static tally_count query_count(const tally *t, uint64_t count) {
    return (tally_count){count, tally_is_sketch(t) ? count : 0};
}

/* Looks up a line in a typed list. A line that is not of the type was never added. */
static bool look_up_typed(tally *t, bly_bytes text, tally_count *out) {
    bly_list_key key;
    const uint32_t flags =
        BLY_LIST_KEEP_RETURN | (bly_list_is_typed(t->type) ? 0U : BLY_LIST_BLANK_KEYS);
    const bly_status status = bly_list_read(t->reader, t->type, flags, text.data, text.size, &key);
    const bool there = status == BLY_OK && !key.blank;
    *out = query_count(t, there ? bly_filter_copies(t->filter, key.bytes.data, key.bytes.size) : 0);
    if (status == BLY_ENOMEM)
        fail(t, BLY_ENOMEM);
    return status != BLY_ENOMEM;
}

/* The count of a line without its carriage return, in a file that does not record its key rule.
 * Lists were always built from such lines, states of count from lines with the carriage return. */
static uint64_t look_up_without_return(const tally *t, bly_bytes key) {
    const bly_bytes text = bly_list_without_return(key);
    if (!t->keeps_return || t->kept.filter || text.size == key.size)
        return 0;
    return bly_filter_copies(t->filter, text.data, text.size);
}

static size_t look_up(const tally *t, const bly_bytes *keys, size_t n, tally_count *counts) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t count = bly_filter_copies_hash(t->filter, t->hashes[i]);
        counts[i] = query_count(t, count ? count : look_up_without_return(t, keys[i]));
    }
    return n;
}

static size_t take_exact(tally *t, size_t n, tally_count *counts) {
    bly_status status;
    const size_t done = exact_counts_take(&t->exact, t->hashes, n, t->times, &t->fresh, &status);
    for (size_t i = 0; i < done; i++)
        counts[i] = (tally_count){t->times[i], 0};
    if (status != BLY_OK)
        fail(t, status);
    return done;
}

/* Adds the keys to the filter of a state, or to a sketch. */
static size_t add_to_state(tally *t, size_t n, tally_count *counts) {
    (void)bly_filter_contains_hashes(t->filter, t->hashes, n, t->found);
    for (size_t i = 0; i < n; i++) {
        bool fresh = false;
        if (t->tracked.keys) {
            const tracked_key k = tracked_count(&t->tracked, t->filter, t->hashes[i]);
            counts[i] = (tally_count){k.before + k.since, k.before};
        }
        bly_status status = bly_filter_add_hash(t->kept.filter, t->hashes[i], &fresh);
        if (status != BLY_OK) {
            fail(t, status);
            return i;
        }
        if (!t->tracked.keys)
            counts[i] = (tally_count){bly_filter_copies_hash(t->filter, t->hashes[i]), 0};
        t->fresh += fresh;
    }
    return n;
}

static size_t look_up_all_typed(tally *t, const bly_bytes *keys, size_t n, tally_count *counts) {
    size_t done = 0;
    while (done < n && look_up_typed(t, keys[done], &counts[done]))
        done++;
    return done;
}

size_t tally_take(tally *t, const bly_bytes *keys, size_t n, tally_count *counts) {
    if (is_typed(t))
        return look_up_all_typed(t, keys, n, counts);
    bly_hash_keys(t->exact.levels ? &t->exact.hasher : bly_filter_hasher(t->filter), keys, n,
                  t->hashes);
    return t->exact.levels  ? take_exact(t, n, counts)
           : t->kept.filter ? add_to_state(t, n, counts)
                            : look_up(t, keys, n, counts);
}

/* If a key is no longer tracked, only one occurrence is certain. */
uint64_t tally_error(const tally *t, bly_bytes key, uint64_t count) {
    if (!t->tracked.keys)
        return query_count(t, count).error;
    const bly_hash h = bly_hash_key(bly_filter_hasher(t->filter), key.data, key.size);
    const tracked_key k = tracked_find(&t->tracked, h);
    return k.since ? k.before : count - 1;
}

uint64_t tally_bytes(const tally *t) {
    const bly_geometry g = bly_filter_geometry(t->filter);
    return t->exact.levels ? exact_counts_bytes(&t->exact)
                           : bly_plan_bytes(&g) + tracked_bytes(&t->tracked);
}

void tally_judge(const tally *t) {
    /* No need to examine the bits if too few keys were added to fill them. */
    if (!t->kept.filter || (!t->kept.loaded && t->fresh <= bly_filter_capacity(t->filter)))
        return;
    const bly_filter_info s = filter_info(t->filter);
    if (health_of(&s) == HEALTH_GOOD)
        return;
    message_warn("more different keys than the %s planned for: %s of new keys are mistaken for "
                 "others, so counts are too high; %s%s",
                 NUMBER_GROUPED(s.capacity), NUMBER_PERCENT(s.current_fpr),
                 t->kept.path ? "name another file, and give a larger " : "give a larger ",
                 t->limited ? "--memory" : "-n");
}
