/* tally.c - counts for `bloomery count`.
 *
 * Keys are added one by one, since each must be told how often it has been seen so far; but the
 * memory they will touch is asked for a batch at a time, by a question whose answer nobody needs.
 */
#include "tally.h"

#include "health.h"
#include "kinds.h"
#include "message.h"
#include "numbers.h"

#include <stdio.h>
#include <string.h>

/* A sketch counts well with a few bytes for each key, a twentieth of which may then be taken for
 * others; a table of exact counts is no larger with hardly any. */
static const double usual_rate = 0.05, exact_rate = 1e-9;
/* What a pipe is taken to have; the least that a file is taken for, and the most for a sketch,
 * which takes any number: lines may be repeats. */
static const uint64_t usual_keys = 4000000, least_keys = 65536, most_keys = 16000000;

/* ---- a new one ------------------------------------------------------------------------------- */

/* The most keys for which `bytes` are enough; 0: not even for one. */
static uint64_t keys_within(bly_kind kind, double rate, unsigned hash_bits, uint64_t bytes) {
    uint64_t low = 0, high = UINT64_C(1) << 48;
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        bly_geometry g;
        if (bly_plan(kind, middle, rate, 0, hash_bits, &g) == BLY_OK && bly_plan_bytes(&g) <= bytes)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint64_t keys_expected(const tally_wish *w) {
    if (w->keys || !w->estimate)
        return w->keys ? w->keys : usual_keys;
    if (w->estimate < least_keys)
        return least_keys;
    return w->estimate > most_keys && !w->exact ? most_keys : w->estimate;
}

static bool make(tally *t, const tally_wish *w) {
    const bly_kind kind = w->exact ? BLY_HYBRID : BLY_COUNTS;
    const double rate = w->rate > 0 ? w->rate : w->exact ? exact_rate : usual_rate;
    char size[NUMBER_TEXT];
    bly_hasher hasher;
    bly_status status = BLY_OK;
    if (w->key)
        hasher = *w->key;
    else
        status = bly_hasher_default(&hasher, keys_expected(w), rate, w->seed);
    uint64_t keys = keys_expected(w);
    if (status == BLY_OK && w->memory) {
        keys = keys_within(kind, rate, hasher.bits, w->memory);
        if (keys == 0) {
            (void)message_error("--memory %s is too little for any counts",
                                number_bytes(w->memory, size));
            return false;
        }
    }
    bly_spec spec = bly_spec_for(kind, keys, rate);
    if (status == BLY_OK) {
        spec.hasher = hasher;
        status = bly_filter_create(&spec, &t->kept.filter);
    }
    if (status != BLY_OK)
        (void)message_error("no such counts can be made: %s", bly_strerror(status));
    return status == BLY_OK;
}

/* ---- one that was kept ----------------------------------------------------------------------- */

static bool refuse(const char *why, const char *path) {
    (void)message_error("%s: %s", path, why);
    return false;
}

/* What the user asks for must be what the state is. */
static bool state_fits(const tally *t, const tally_wish *w) {
    bly_stats s;
    bly_filter_stats(t->kept.filter, &s);
    const bool counts = s.kind == BLY_COUNTS, exact = s.kind == BLY_HYBRID;
    if (!counts && !exact && kinds_can(s.kind, BLY_TELLS_COPIES))
        return refuse("is a list, whose counts are changed by bloomery add and remove; --query "
                      "tells them",
                      w->state);
    if (!counts && !exact)
        return refuse("does not hold counts; begin a new state", w->state);
    if (w->exact && !exact)
        return refuse("holds counts that are estimates; leave out --exact, or begin a new state",
                      w->state);
    if (w->age && exact)
        return refuse("holds exact counts, which do not age", w->state);
    if (w->memory)
        return refuse("has its size already; leave out --memory, or begin a new state", w->state);
    if (w->rate > 0 && w->rate != s.target_fpr)
        return refuse("was made with another -p; leave it out, or begin a new state", w->state);
    if (w->keys && w->keys != s.capacity)
        return refuse("was made with another -n; leave it out, or begin a new state", w->state);
    if (w->seed && w->seed != bly_filter_hasher(t->kept.filter)->seed)
        return refuse("has another seed; leave out --seed, or begin a new state", w->state);
    return true;
}

/* A state knows which rule its keys were made by: one key more says so. */
static bool mark_rule(tally *t, const tally_wish *w) {
    char text[160] = "\0bloomery\0count";
    const size_t head = sizeof "\0bloomery\0count";
    bly_filter *f = t->kept.filter;
    if (!w->state)
        return true;
    const size_t size = head + (size_t)snprintf(text + head, sizeof text - head, "%s", w->rule);
    if (t->kept.loaded && bly_filter_count(f) > 0 && !bly_filter_contains(f, text, size))
        message_warn("%s: was not made with these options (--url, --field, --ignore-case, "
                     "--extract-urls): keys it has counted may be counted anew",
                     w->state);
    /* Aging may make it forgotten, so what is forgotten is said again. */
    bly_status status = w->age ? bly_counts_age(f) : BLY_OK;
    if (status == BLY_OK && !bly_filter_contains(f, text, size))
        status = bly_filter_add(f, text, size, NULL);
    if (status != BLY_OK)
        (void)message_status(w->state, status);
    return status == BLY_OK;
}

/* ---- one that is only asked ------------------------------------------------------------------ */

static bool open_to_ask(tally *t, const tally_wish *w) {
    char kinds[KINDS_LIST];
    keytype_levels levels;
    if (open_read(&t->file, w->state, w->key, 0) != BLY_OK)
        return false;
    t->filter = t->file.filter;
    const bly_kind kind = bly_filter_geometry(t->filter).kind;
    if (!kinds_can(kind, BLY_TELLS_COPIES)) {
        (void)message_error(
            "%s: is %s %s filter, which does not tell how often a key was added; %s "
            "do",
            w->state, kinds_article(kind), bly_kind_name(kind),
            kinds_that_can(BLY_TELLS_COPIES, kinds));
        return false;
    }
    t->reader.type = keytype_recognise(t->filter, &levels);
    if (t->reader.type == KEYTYPE_NONE)
        return refuse("has keys of several types, or too many to tell", w->state);
    return true;
}

bool tally_open(tally *t, const tally_wish *w) {
    memset(t, 0, sizeof *t);
    if (w->ask)
        return open_to_ask(t, w);
    if (!kept_open(&t->kept, w->state, w->key))
        return false;
    if (!(t->kept.loaded ? state_fits(t, w) : make(t, w)))
        return false;
    t->filter = t->kept.filter;
    return mark_rule(t, w);
}

void tally_close(tally *t) {
    kept_close(&t->kept);
    open_close(&t->file);
    keytype_reader_free(&t->reader);
}

/* ---- counting -------------------------------------------------------------------------------- */

static void fail(const tally *t, bly_status status) {
    char keys[NUMBER_TEXT];
    if (status == BLY_EFULL)
        (void)message_error("more different keys came than the %s that there is room for; %s",
                            number_grouped(bly_filter_capacity(t->filter), keys),
                            t->kept.path ? "begin a new state, with a larger -n"
                                         : "give a larger -n");
    else
        (void)message_error("%s", bly_strerror(status));
}

bool tally_wants_one(const tally *t) {
    return t->reader.type != KEYTYPE_NONE && t->reader.type != KEYTYPE_LINE;
}

/* A key that is not of the list's type was never added. */
static size_t ask_typed(tally *t, bly_bytes text, uint64_t *times) {
    keytype_key key;
    const keytype_result result = keytype_read(&t->reader, text, &key);
    *times =
        result == KEYTYPE_KEY ? bly_filter_copies(t->filter, key.bytes.data, key.bytes.size) : 0;
    if (result == KEYTYPE_NOMEM)
        fail(t, BLY_ENOMEM);
    return result != KEYTYPE_NOMEM;
}

/* Lists are made of lines without the carriage return of a DOS file; states of count keep it. */
static uint64_t ask_without_return(const tally *t, bly_bytes key) {
    const char *text = key.data;
    if (key.size == 0 || text[key.size - 1] != '\r')
        return 0;
    return bly_filter_copies(t->filter, text, key.size - 1);
}

size_t tally_take(tally *t, const bly_bytes *keys, size_t n, uint64_t *times) {
    if (tally_wants_one(t))
        return ask_typed(t, keys[0], times);
    bly_hash_keys(bly_filter_hasher(t->filter), keys, n, t->hashes);
    (void)bly_filter_contains_hashes(t->filter, t->hashes, n, t->found);
    for (size_t i = 0; i < n; i++) {
        bool fresh = false;
        bly_status status = BLY_OK;
        if (t->kept.filter)
            status = bly_filter_add_hash(t->kept.filter, t->hashes[i], &fresh);
        if (status != BLY_OK) {
            fail(t, status);
            return i;
        }
        times[i] = bly_filter_copies_hash(t->filter, t->hashes[i]);
        if (times[i] == 0)
            times[i] = ask_without_return(t, keys[i]);
        t->fresh += fresh;
    }
    return n;
}

uint64_t tally_bytes(const tally *t) {
    const bly_geometry g = bly_filter_geometry(t->filter);
    return bly_plan_bytes(&g);
}

void tally_judge(const tally *t) {
    char room[NUMBER_TEXT], rate[NUMBER_TEXT];
    bly_stats s;
    /* The bits need not be asked where too few keys came to fill them. */
    if (!t->kept.filter || (!t->kept.loaded && t->fresh <= bly_filter_capacity(t->filter)))
        return;
    bly_filter_stats(t->filter, &s);
    if (health_of(&s) == HEALTH_GOOD)
        return;
    message_warn("more different keys came than the %s that the counts were made for: %s of new "
                 "keys are taken for others, and counts are too high; %s",
                 number_grouped(s.capacity, room), number_percent(s.current_fpr, rate),
                 t->kept.path ? "begin a new state, with a larger -n" : "give a larger -n");
}
