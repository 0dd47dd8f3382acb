#include "dedup/seen.h"

#include "dedup/seen_plan.h"
#include "dedup/seen_window.h"
#include "filters/filter_file.h"
#include "filters/kind_words.h"
#include "filters/state_file.h"
#include "filters/state_rule.h"
#include "io/fingerprint_file.h"
#include "io/line_words.h"
#include "io/output.h"
#include "text/message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t seen_count(const seen *s) {
    if (s->exact)
        return exact_count(s->exact);
    return s->confirm ? confirm_count(s->confirm) : bly_filter_count(s->filter);
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool fits_seed(const seen *s, const seen_wish *wish) {
    if (!wish->seed || wish->seed == bly_filter_hasher(s->filter)->seed)
        return true;
    (void)message_error("%s: has another seed; leave out --seed, or begin a new state", s->state);
    return false;
}

/* What the user asks for must be what the state is. */
static bool fits_state(const seen *s, const seen_wish *wish) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter_get_info(s->filter, &stats);
    if (wish->rate != 0 && !wish->memory && wish->rate != stats.requested_fpr)
        (void)message_error("%s: was made for a rate of %g, not %g; leave out -p, or begin a new "
                            "state",
                            s->state, stats.requested_fpr, wish->rate);
    else if (wish->keys && wish->keys != stats.capacity)
        (void)message_error("%s: was made for %llu keys, not %llu; leave out -n, or begin a new "
                            "state",
                            s->state, (unsigned long long)stats.capacity,
                            (unsigned long long)wish->keys);
    else if (wish->memory && stats.kind == BLY_SCALABLE)
        (void)message_error("%s: grows as it must; leave out --memory, or begin a new state",
                            s->state);
    else if (wish->memory && stats.bytes + wish->overhead > wish->memory)
        (void)message_error("%s: needs more memory than --memory allows", s->state);
    else
        return true;
    return false;
}

static bool load_state(seen *s, const seen_wish *wish) {
    bly_status status = bly_filter_load(s->state, NULL, &s->filter);
    if (status == BLY_ECORRUPT && pages_recognise(s->state)) {
        (void)message_error("%s: holds fingerprints; use it with --exact, or with --confirm",
                            s->state);
        return false;
    }
    if (status == BLY_EUNSUPPORTED)
        (void)open_refuse_unsupported(s->state);
    else if (status != BLY_OK)
        (void)message_status(s->state, status);
    if (status != BLY_OK)
        return false;
    const bly_kind kind = bly_filter_geometry(s->filter).kind;
    const uint32_t can = bly_kind_capabilities(kind);
    const uint32_t unfit = BLY_CAN_REMOVE | BLY_CARDINALITY_ONLY | BLY_CAN_COUNT;
    if (!(can & BLY_CAN_ADD) || can & unfit) {
        (void)message_error("%s: is %s %s filter: %s; begin a new state", s->state,
                            kinds_article(kind), bly_kind_name(kind),
                            can & BLY_CARDINALITY_ONLY
                                ? "it does not tell which lines it was given "
                                  "(bloomery distinct goes on counting)"
                            : can & BLY_CAN_COUNT  ? "it would hold every repeat once more"
                            : can & BLY_CAN_REMOVE ? "it is changed by bloomery add and remove"
                                                   : "nothing can be added to it");
        return false;
    }
    return seen_window_fits(s, wish) && fits_seed(s, wish) &&
           (seen_wish_windowed(wish) || fits_state(s, wish));
}

bool seen_random_seed(uint64_t *out) {
    uint8_t key[16];
    bly_status status = bly_random_key(key);
    if (status != BLY_OK)
        (void)message_status("random numbers", status);
    memcpy(out, key, sizeof *out);
    return status == BLY_OK;
}

static bool make_filter(seen *s, const seen_wish *wish) {
    bly_spec spec = seen_window_spec(wish);
    if (!seen_wish_windowed(wish) && !seen_plan(wish, &spec))
        return false;
    spec.seed = wish->seed;
    if (!spec.seed && !seen_random_seed(&spec.seed))
        return false;
    bly_status status = bly_filter_create(&spec, &s->filter);
    if (status == BLY_ERATE && kinds_grow(spec.geometry.kind) && spec.fpr >= seen_best_rate)
        (void)message_error("-p %g is too low for a filter that grows, whose levels share the "
                            "rate; say how many different lines there are by -n (then -p can be "
                            "as low as %.2g), or lose none with --exact",
                            spec.fpr, seen_best_rate);
    else if (status != BLY_OK)
        (void)message_error("no such filter can be made: %s", bly_strerror(status));
    else if (wish->memory)
        seen_plan_note(wish, s->filter);
    return status == BLY_OK;
}

static bool open_filter(seen *s, const seen_wish *wish) {
    if (s->state && !lock_take(&s->lock, s->state, false))
        return false;
    const bool there = s->state && state_file_begun(s->state);
    if (!(there ? load_state(s, wish) : make_filter(s, wish)))
        return false;
    s->hasher = *bly_filter_hasher(s->filter);
    return seen_window_begin(s, wish);
}

static bool open_exact(seen *s, const seen_wish *wish) {
    uint64_t seed = 0, limit = 0;
    if (wish->memory)
        limit = wish->memory > wish->overhead ? wish->memory - wish->overhead : 1;
    if (s->state) {
        if (!exact_load(s->state, wish->keys, limit, &s->exact, &seed))
            return false;
    } else if (!(s->exact = exact_create(wish->keys, limit))) {
        (void)message_error(limit ? "--memory is too little for so many fingerprints"
                                  : "out of memory");
        return false;
    } else if (!seen_random_seed(&seed))
        return false;
    return bly_hasher_init(&s->hasher, BLY_HASH_XXH3, seed) == BLY_OK;
}

size_t seen_mark_text(const char *rule, char out[SEEN_MARK]) {
    return rule_mark_text("dedup", rule, out);
}

/* What the state records; of a list that records nothing, the type that its marks tell. */
static bly_key_rule rule_there(const seen *s) {
    bly_list_levels levels;
    if (!s->filter)
        return s->exact ? exact_key_rule(s->exact) : confirm_key_rule(s->confirm);
    const bly_key_rule rule = bly_filter_key_rule(s->filter);
    if (rule != BLY_KEYS_UNRECORDED)
        return rule;
    const bly_list_type type = bly_list_recognise(s->filter, &levels);
    return bly_list_is_typed(type) ? bly_list_key_rule(type) : rule;
}

static bool record_rule(seen *s, bly_key_rule rule) {
    if (s->confirm)
        return confirm_set_key_rule(s->confirm, rule);
    if (s->exact)
        exact_set_key_rule(s->exact, rule);
    else if (bly_filter_set_key_rule(s->filter, rule) != BLY_OK)
        return false;
    return true;
}

static void warn_of_rule(const seen *s, const seen_wish *wish, const char *file) {
    if (s->keeps_return && wish->key_rule == BLY_KEYS_RECORD)
        message_warn("%s: does not record how its keys were made; they are taken for whole lines",
                     file);
    else
        message_warn("%s: was not made with these options (--url, --field, --ignore-case, "
                     "--extract-urls): lines it knows may be printed again",
                     file);
}

/* The state must be of the rule of this run; a new one becomes so. */
static bool mark_rule(seen *s, const seen_wish *wish) {
    char text[SEEN_MARK];
    const char *file = wish->state ? wish->state : wish->confirm;
    const uint64_t before = seen_count(s);
    bool known = false;
    uint8_t fresh = 0;
    if (!file)
        return true;
    const key_state fit = key_state_of(file, rule_there(s), wish->key_rule, before == 0);
    s->keeps_return = fit == KEY_STATE_OLD;
    if (fit == KEY_STATE_REFUSED || (fit == KEY_STATE_FITS && !record_rule(s, wish->key_rule)))
        return false;
    const size_t size = seen_mark_text(wish->rule, text);
    s->mark = s->hashes[0] = bly_hash_key(&s->hasher, text, size);
    if (!(s->window ? seen_window_mark(s, s->mark, &known) : seen_hashes(s, 1, &fresh)))
        return false;
    const bool told = fit == KEY_STATE_FITS && wish->key_rule != BLY_KEYS_OTHER;
    if ((s->window ? !known : fresh) && before > 0 && !told)
        warn_of_rule(s, wish, file);
    s->lost = s->expected = s->repeats = 0;
    return true;
}

bool seen_open(seen *s, const seen_wish *wish) {
    static const double confirm_rate = 0.01; /* an error costs a page read, not a line */
    bool good;
    memset(s, 0, sizeof *s);
    s->state = wish->state;
    if (s->state && !output_may_replace(s->state, true))
        return false;
    if (wish->confirm && !output_may_replace(wish->confirm, true))
        return false;
    if (wish->confirm) {
        uint64_t estimate =
            wish->estimate < seen_most_estimate ? wish->estimate : seen_most_estimate;
        s->confirm = confirm_open(wish->confirm, wish->keys ? wish->keys : estimate,
                                  wish->rate != 0 ? wish->rate : confirm_rate);
        good = s->confirm != NULL;
        if (good)
            s->hasher = *confirm_hasher(s->confirm);
    } else {
        good = wish->exact ? open_exact(s, wish) : open_filter(s, wish);
    }
    good = good && mark_rule(s, wish);
    if (!good)
        seen_close(s);
    return good;
}

void seen_close(seen *s) {
    bly_filter_destroy(s->filter);
    exact_destroy(s->exact);
    confirm_close(s->confirm);
    lock_release(&s->lock);
    s->filter = NULL;
    s->exact = NULL;
    s->confirm = NULL;
}

/* ---- the rate -------------------------------------------------------------------------------- */

/* By formula, from the keys in each level, without a pass over the bits. Past the capacity that no
 * longer works, for keys that were taken for seen ones are in no count; then the bits must tell.
 * `more` keys are taken to be in already. */
static double rate_of(const bly_filter *f, uint64_t more) {
    double miss = 1;
    bly_filter_info stats = {.struct_size = sizeof stats};
    if (bly_filter_count(f) > bly_filter_capacity(f)) {
        bly_filter_get_info(f, &stats);
        return stats.current_fpr;
    }
    for (size_t i = 0; i < bly_filter_level_count(f); i++) {
        const bly_filter *level = bly_filter_level(f, i);
        bly_geometry g = bly_filter_geometry(level);
        uint64_t keys = bly_filter_count(level) + (i + 1 == bly_filter_level_count(f) ? more : 0);
        miss *= 1 - bly_plan_fpr(&g, keys, bly_filter_hasher(f)->bits);
    }
    return 1 - miss;
}

/* Whether enough has happened that the rate must have changed: the filter has grown by a 64th, or,
 * when it is overfull, an eighth of its capacity has been asked for. */
static bool rate_is_old(const seen *s) {
    uint64_t keys = bly_filter_count(s->filter), capacity = bly_filter_capacity(s->filter);
    bool grown = keys > s->rate_keys + s->rate_keys / 64;
    if (keys <= capacity)
        return grown;
    /* Then it takes a pass over all bits, which must not cost more than the asking did. */
    bly_geometry g = bly_filter_geometry(s->filter);
    uint64_t asked = s->asked - s->rate_asked;
    return (grown || asked > capacity / 8 + INPUT_BATCH) && asked > bly_plan_bytes(&g) / 64;
}

/* Of n keys asked for x came out new. A share r / (1-r) as many were new and did not, at the rate r
 * that held when they came; at most all the others, over the whole run (in one batch chance may
 * make them fewer). */
static void expect_losses(seen *s, size_t n, size_t fresh) {
    if (s->window)
        s->rate = seen_window_rate(s, n / 2); /* of the middle of the batch */
    s->asked += n;
    if (!s->window && rate_is_old(s)) {
        s->rate_keys = bly_filter_count(s->filter);
        s->rate = rate_of(s->filter, s->rate_keys / 128); /* of the middle of the next step */
        s->rate_asked = s->asked;
    }
    s->worst = fmax(s->worst, s->rate);
    double others = (double)(n - fresh);
    s->repeats += others;
    s->expected += s->rate < 1 ? (double)fresh * s->rate / (1 - s->rate) : others;
    s->lost = fmin(s->expected, s->repeats);
}

double seen_rate_now(const seen *s) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    if (!s->filter || !s->window)
        return s->filter ? rate_of(s->filter, 0) : 0;
    bly_filter_get_info(s->filter, &stats);
    return stats.current_fpr;
}

double seen_rate_promised(const seen *s) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    if (!s->filter || s->window)
        return s->filter ? seen_window_promise(s) : 0;
    bly_filter_get_info(s->filter, &stats);
    return stats.requested_fpr;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool report(const seen *s, bly_status status) {
    if (status == BLY_OK)
        return true;
    if (status == BLY_EFULL && s->exact)
        (void)message_error("more keys than --memory has room for; --confirm FILE keeps them on "
                            "disk");
    else if (status == BLY_EFULL && s->filter)
        (void)message_error("the filter cannot grow any more at so low a rate; say how many "
                            "different lines there are by -n, or lose none with --exact");
    else if (status == BLY_EGROWTH)
        (void)message_error("%s: is full, and would grow by more than 64 times its size and 64 "
                            "MiB, as its file says; begin a new state",
                            s->state);
    else if (status == BLY_ENOMEM)
        (void)message_error("out of memory; --memory SIZE sets a limit");
    else
        (void)message_status(s->confirm ? "the file of --confirm" : "dedup", status);
    return false;
}

static bool add_fingerprints(seen *s, size_t n, uint8_t *fresh) {
    for (size_t i = 0; i < n; i++)
        s->fingerprints[i] = s->hashes[i].lo;
    return report(s, s->confirm ? confirm_add(s->confirm, s->fingerprints, n, fresh)
                                : exact_add(s->exact, s->fingerprints, n, fresh));
}

bool seen_hashes(seen *s, size_t n, uint8_t *fresh) {
    bly_batch_result tally;
    if (!s->filter)
        return add_fingerprints(s, n, fresh);
    if (!report(s, bly_filter_add_hashes(s->filter, s->hashes, n, fresh, &tally)))
        return false;
    expect_losses(s, n, tally.changed);
    return true;
}

bool seen_keys(seen *s, const bly_bytes *keys, size_t n, uint8_t *fresh) {
    bly_batch_result tally;
    if (!s->filter) {
        bly_hash_keys(&s->hasher, keys, n, s->hashes);
        return add_fingerprints(s, n, fresh);
    }
    if (!report(s, bly_filter_add_many(s->filter, keys, n, fresh, &tally)))
        return false;
    expect_losses(s, n, tally.changed);
    return true;
}

/* ---- keeping --------------------------------------------------------------------------------- */

bool seen_is_due(const seen *s) {
    return s->confirm && confirm_is_due(s->confirm);
}

bool seen_save(seen *s) {
    if (s->confirm)
        return confirm_settle(s->confirm);
    if (!s->state)
        return true;
    if (s->exact)
        return exact_save(s->exact, s->state, s->hasher.seed);
    bool known;
    if (s->window && !seen_window_mark(s, s->mark, &known))
        return false;
    bly_status status = bly_filter_save(s->filter, s->state);
    if (status != BLY_OK)
        (void)message_status(s->state, status);
    return status == BLY_OK;
}

uint64_t seen_bytes(const seen *s) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    if (s->exact)
        return exact_bytes(s->exact);
    if (s->confirm)
        return confirm_bytes(s->confirm);
    bly_filter_get_info(s->filter, &stats);
    return stats.bytes;
}
