/* state_filter.c - a state that is a filter: loading or creating it, and the expected number of new
 * keys that it mistook for known ones.
 *
 * If x of n keys were reported as new at the false-positive rate r, then x r / (1 - r) new keys are
 * expected to have been mistaken for known ones. That number is at most n - x, summed over the
 * whole run (in one batch, chance may make it larger). Up to the capacity, r follows from a
 * formula. Beyond it the filter's own count is too low, because mistaken keys are not counted. Then
 * r is computed from the bits, by a pass over all of them, rarely enough that it costs less than
 * adding keys.
 */
#include "dedup/state_filter.h"

#include "dedup/dedup_plan.h"
#include "filters/filter_file.h"
#include "filters/kind_words.h"
#include "filters/line_window.h"
#include "filters/state_file.h"
#include "io/fingerprint_file.h"
#include "io/output.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <stdio.h>

/* ---- a file ---------------------------------------------------------------------------------- */

static const char *unfit_reason(uint32_t can) {
    return can & BLY_CARDINALITY_ONLY ? "which stores no lines (bloomery distinct counts with it)"
           : can & BLY_CAN_COUNT      ? "which would store every repeat again"
           : can & BLY_CAN_REMOVE     ? "which only bloomery add and remove can change"
                                      : "to which nothing can be added";
}

static bool kind_fits(const filter_state *s) {
    const bly_kind kind = bly_filter_geometry(s->filter).kind;
    const uint32_t can = bly_kind_capabilities(kind);
    const uint32_t unfit = BLY_CAN_REMOVE | BLY_CARDINALITY_ONLY | BLY_CAN_COUNT;
    if (can & BLY_CAN_ADD && !(can & unfit))
        return true;
    return message_fail(
        "%s: cannot be used as a state file, because it is %s %s filter, %s; name another file",
        s->base.name, kinds_article(kind), bly_kind_name(kind), unfit_reason(can));
}

bool filter_state_load(filter_state *s) {
    const char *path = s->base.name;
    if (!path)
        return true;
    if (!output_may_replace(path, true) || !lock_take(&s->lock, path, false))
        return false;
    if (!state_file_begun(path))
        return true;
    if (pages_recognise(path))
        return message_fail("%s: contains fingerprints; use it with --exact or --confirm", path);
    s->filter = open_load(path, NULL, BLY_OPEN_WITHOUT_KEY);
    s->loaded = s->filter != NULL;
    if (!s->loaded)
        return false;
    if (!bly_filter_hasher(s->filter))
        return message_fail("%s: needs a secret key or a custom hash function, which dedup does "
                            "not support; name another file",
                            path);
    return kind_fits(s);
}

bool filter_state_fits_seed(const filter_state *s) {
    const uint64_t seed = s->base.request.seed;
    if (!seed || seed == bly_filter_hasher(s->filter)->seed)
        return true;
    return message_fail("%s: was created with another seed; leave out --seed, or name another file",
                        s->base.name);
}

bool filter_state_refuse_rate(const filter_state *s, double rate) {
    return message_fail("%s: was created for a false-positive rate of %s, not %s; leave out -p, or "
                        "name another file",
                        s->base.name, NUMBER_PERCENT(rate), NUMBER_PERCENT(s->base.request.rate));
}

bool filter_state_refuse_keys(const filter_state *s, uint64_t keys) {
    return message_fail(
        "%s: was created for %llu keys, not %llu; leave out -n, or name another file", s->base.name,
        (unsigned long long)keys, (unsigned long long)s->base.request.keys);
}

static bool fits_window(const filter_state *s) {
    bly_window_info w = {.struct_size = sizeof w};
    line_window window;
    char text[NUMBER_TEXT];
    if (bly_window_get_info(s->filter, &w) != BLY_OK)
        return true;
    if (line_window_of(s->filter, &window))
        return message_fail(
            "%s: was created with --window %s; give the same option, or name another file",
            s->base.name, line_window_text(&window, text));
    return message_fail(
        "%s: is a window filter that was not created by bloomery dedup; name another file",
        s->base.name);
}

/* Checks that the loaded filter agrees with the options. */
static bool fits_request(const filter_state *s) {
    const state_request *r = &s->base.request;
    const bly_filter_info info = filter_info(s->filter);
    if (r->rate != 0 && !r->memory && r->rate != info.requested_fpr)
        return filter_state_refuse_rate(s, info.requested_fpr);
    if (r->keys && info.kind == BLY_SCALABLE)
        return message_fail("%s: grows as needed; leave out -n, or name another file",
                            s->base.name);
    if (r->keys && r->keys != info.capacity)
        return filter_state_refuse_keys(s, info.capacity);
    if (r->memory && info.kind == BLY_SCALABLE)
        return message_fail("%s: grows as needed, so --memory cannot limit it; leave out --memory, "
                            "or name another file",
                            s->base.name);
    if (r->memory && info.bytes + r->overhead > r->memory)
        return message_fail(
            "%s: needs more memory than --memory allows; give a larger one, or name another file",
            s->base.name);
    return true;
}

bool filter_state_save(dedup_state *base) {
    return message_ok(base->name, bly_filter_save(((filter_state *)base)->filter, base->name));
}

bool filter_state_get_rule(dedup_state *base, bly_key_rule *rule, uint64_t *keys) {
    const filter_state *s = (filter_state *)base;
    bly_list_levels levels;
    *keys = bly_filter_count(s->filter);
    *rule = bly_filter_key_rule(s->filter);
    if (*rule != BLY_KEYS_UNRECORDED)
        return true;
    /* If a list does not record its rule, it may have marks that tell its type. */
    const bly_list_type type = bly_list_recognise(s->filter, &levels);
    if (bly_list_is_typed(type))
        *rule = bly_list_key_rule(type);
    return true;
}

bool filter_state_set_rule(dedup_state *base, bly_key_rule rule) {
    return message_ok(base->name, bly_filter_set_key_rule(((filter_state *)base)->filter, rule));
}

void filter_state_close(dedup_state *base) {
    filter_state *s = (filter_state *)base;
    bly_filter_destroy(s->filter);
    lock_release(&s->lock);
}

/* ---- a new filter ---------------------------------------------------------------------------- */

bool filter_state_create(filter_state *s, bly_spec spec) {
    const state_request *r = &s->base.request;
    spec.seed = r->seed;
    if (!spec.seed && !state_random_seed(&spec.seed))
        return false;
    const bly_status status = bly_filter_create(&spec, &s->filter);
    if (status == BLY_ERATE && kinds_grow(spec.geometry.kind) && spec.fpr >= state_min_rate)
        (void)message_error(
            "the false-positive rate -p %g is too low for a filter that grows; give the number of "
            "different lines with -n (then -p can be as low as %.2g), or use --exact",
            spec.fpr, state_min_rate);
    else if (status != BLY_OK)
        (void)message_error("cannot create the filter: %s", bly_strerror(status));
    else if (r->memory)
        dedup_plan_note(r, s->filter);
    return status == BLY_OK;
}

static bool open_filter(dedup_state *base) {
    filter_state *s = (filter_state *)base;
    bly_spec spec;
    if (!filter_state_load(s))
        return false;
    if (s->loaded)
        return fits_window(s) && filter_state_fits_seed(s) && fits_request(s);
    return dedup_plan(&base->request, &spec) && filter_state_create(s, spec);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static bool report(const filter_state *s, bly_status status) {
    if (status == BLY_EFULL)
        return message_fail("the filter cannot grow further at this low false-positive rate; give "
                            "the number of different lines with -n, or use --exact");
    if (status == BLY_EGROWTH)
        return message_fail("%s: is full, and its file requests growth by more than 64 times its "
                            "size and more than 64 MiB, which is not allowed; name another file",
                            s->base.name);
    if (status == BLY_ENOMEM)
        return message_fail("out of memory; use --memory SIZE to limit the filter");
    return status == BLY_OK ||
           message_fail("cannot add lines to the filter: %s", bly_strerror(status));
}

bool filter_state_add(filter_state *s, const bly_bytes *keys, size_t n, uint8_t *fresh,
                      size_t *unique) {
    bly_batch_result result = {0};
    const bool good = report(s, bly_filter_add_many(s->filter, keys, n, fresh, &result));
    *unique = result.changed;
    return good;
}

void filter_state_expect(filter_state *s, size_t n, size_t unique) {
    const double others = (double)(n - unique);
    s->base.unique += unique;
    s->worst = fmax(s->worst, s->rate);
    s->repeats += others;
    s->expected += s->rate < 1 ? (double)unique * s->rate / (1 - s->rate) : others;
}

/* The false-positive rate: by formula from the number of keys in each level, or from the bits if
 * the filter is overfull. The rate is that after `more` further keys in the last level. */
static double rate_of(const bly_filter *f, uint64_t more) {
    double miss = 1;
    if (bly_filter_count(f) > bly_filter_capacity(f))
        return filter_info(f).current_fpr;
    for (size_t i = 0; i < bly_filter_level_count(f); i++) {
        const bly_filter *level = bly_filter_level(f, i);
        const bly_geometry g = bly_filter_geometry(level);
        const bool last = i + 1 == bly_filter_level_count(f);
        miss *= 1 - bly_plan_fpr(&g, bly_filter_count(level) + (last ? more : 0),
                                 bly_filter_hasher(f)->bits);
    }
    return 1 - miss;
}

/* Whether the rate must be computed again: it was never computed, or since then the number of keys
 * has grown by a 64th, or an overfull filter was given as many keys as an eighth of its capacity.
 * For an overfull filter, this needs a pass over its bits, so it is not repeated before a key was
 * added for each 64 bytes. */
static bool rate_is_old(const filter_state *s) {
    const uint64_t keys = bly_filter_count(s->filter), capacity = bly_filter_capacity(s->filter);
    const bool grown = keys > s->rate_keys + s->rate_keys / 64;
    if (keys <= capacity || s->rate_keys == 0)
        return grown;
    const bly_geometry g = bly_filter_geometry(s->filter);
    const uint64_t since = s->added - s->rate_added;
    return (grown || since > capacity / 8 + INPUT_BATCH) && since > bly_plan_bytes(&g) / 64;
}

static bool add(dedup_state *base, const bly_bytes *keys, size_t n, uint8_t *fresh) {
    filter_state *s = (filter_state *)base;
    size_t unique;
    if (!filter_state_add(s, keys, n, fresh, &unique))
        return false;
    s->added += n;
    if (rate_is_old(s)) {
        s->rate_keys = bly_filter_count(s->filter);
        s->rate = rate_of(s->filter, s->rate_keys / 128); /* halfway to the next update */
        s->rate_added = s->added;
    }
    filter_state_expect(s, n, unique);
    return true;
}

static bool add_mark(dedup_state *base, bly_bytes mark, bool *known) {
    uint8_t fresh = 0;
    size_t unique;
    const bool good = filter_state_add((filter_state *)base, &mark, 1, &fresh, &unique);
    *known = !fresh;
    return good;
}

/* ---- at the end ------------------------------------------------------------------------------ */

void filter_state_get_facts(const filter_state *s, state_facts *out) {
    const bly_filter_info info = filter_info(s->filter);
    out->method = out->description = bly_kind_name(info.kind);
    out->bytes = info.bytes;
    out->approximate = true;
    out->dropped = s->rate > state_unknown_rate ? NAN : fmin(s->expected, s->repeats);
    out->alternative = "--exact or --confirm FILE";
    out->rate = info.current_fpr;
    out->requested = info.requested_fpr;
}

static void get_facts(dedup_state *base, state_facts *out) {
    const filter_state *s = (filter_state *)base;
    filter_state_get_facts(s, out);
    out->rate = rate_of(s->filter, 0);
}

enum { ADVICE_TEXT = 96 };

/* Writes what to do about an overfull filter. A larger --memory helps only if the filter uses most
 * of it. */
static char *advice(const dedup_state *s, uint64_t bytes, char out[ADVICE_TEXT]) {
    const state_request *r = &s->request;
    if (r->memory)
        (void)snprintf(out, ADVICE_TEXT, "give a larger %s, or use --confirm FILE",
                       r->overhead + 2 * bytes <= r->memory ? "-n" : "--memory");
    else if (r->file)
        (void)snprintf(out, ADVICE_TEXT, "name another file, and leave out -n");
    else
        (void)snprintf(out, ADVICE_TEXT, "use -n %llu, or leave out -n and let it grow",
                       (unsigned long long)s->records);
    return out;
}

/* Warns if the filter is overfull, which only a filter of fixed size can be. */
static bool judge(const dedup_state *base, const state_facts *facts) {
    const state_request *r = &base->request;
    char dropped[NUMBER_TEXT], what_to_do[ADVICE_TEXT];
    if (kinds_grow(bly_filter_geometry(((const filter_state *)base)->filter).kind) ||
        !state_is_overfull(facts))
        return true;
    message_warn("the filter contains more keys than it was planned for: %s new lines were "
                 "dropped, and the false-positive rate is now %s (%s: %s); %s",
                 state_dropped_text(facts->dropped, dropped), NUMBER_PERCENT(facts->rate),
                 r->memory && r->rate == 0 ? "planned" : "requested",
                 NUMBER_PERCENT(facts->requested), advice(base, facts->bytes, what_to_do));
    return facts->rate <= state_useless_rate;
}

const state_ops state_filter_ops = {
    .size = sizeof(filter_state),
    .records_rule = true,
    .open = open_filter,
    .close = filter_state_close,
    .get_rule = filter_state_get_rule,
    .set_rule = filter_state_set_rule,
    .add_mark = add_mark,
    .add = add,
    .save = filter_state_save,
    .get_facts = get_facts,
    .judge = judge,
};
