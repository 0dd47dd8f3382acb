/* keytype_marks.c - what a list says of itself: by its header, and by keys.
 *
 * The type of a list is a field of its header, the rule of its keys. It is remembered by TYPE_MARKS
 * keys as well
 *
 *     NUL "bloomery" NUL "type" NUL "domain" NUL i        i = 'a', 'b', ...
 *
 * for what carries bits without a header of ours. Each level present (prefix length, number of
 * labels) is remembered by LEVEL_MARKS keys
 *
 *     NUL "bloomery" NUL "level" NUL "v4/24" NUL i        also "v6/48", "labels/2"
 *
 * and in the same way ("lookups/3") `build` records how many lookups per line the rate of the list
 * was requested for. Later keys may be of new levels, and then a line needs more lookups.
 *
 * A filter that is overfull seems to have any key, and so these. For levels that does no harm: one
 * that is not there costs a needless lookup per line, and one that is there is always found. But
 * the number of marks, and what is recorded, is told only while chance levels are unlikely. For
 * the type it would: so its marks count only where the header records nothing, and only while the
 * chance that they are there by accident, of any of the types, is below 10^-9. An unmarked filter
 * with the false-positive rate p has all marks of one with the chance p^16, so that is up to a rate
 * of a quarter.
 * Type `line` has no marks: a filter made by any program is a list of lines.
 */
#include "keytype.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TYPE_MARKS = 16, LEVEL_MARKS = 4 };

/* The i-th mark that says `what`. */
static bly_bytes spell(const char *group, const char *what, unsigned i, char out[KEYTYPE_MARK]) {
    int size = snprintf(out, KEYTYPE_MARK, "%cbloomery%c%s%c%s%c%c", 0, 0, group, 0, what, 0,
                        (int)('a' + i));
    return (bly_bytes){out, (size_t)size};
}

/* What the marks call a level. */
static const char *level_name(keytype type, unsigned level, char out[32]) {
    if (level >= KEYTYPE_LEVELS)
        (void)snprintf(out, 32, "lookups/%u", level - KEYTYPE_LEVELS);
    else if (type == KEYTYPE_DOMAIN)
        (void)snprintf(out, 32, "labels/%u", level);
    else if (level < KEYTYPE_V6)
        (void)snprintf(out, 32, "v4/%u", level);
    else
        (void)snprintf(out, 32, "v6/%u", level - KEYTYPE_V6);
    return out;
}

bool keytype_has_levels(keytype type) {
    return type == KEYTYPE_IP || type == KEYTYPE_DOMAIN;
}

/* Such a filter cannot tell which keys it has, and so has no marks. */
static bool only_counts(const bly_filter *f) {
    return (bly_kind_capabilities(bly_filter_geometry(f).kind) & BLY_CARDINALITY_ONLY) != 0;
}

/* ---- the header ------------------------------------------------------------------------------ */

static const bly_key_rule rules[] = {
    [KEYTYPE_NONE] = BLY_KEYS_UNRECORDED,
    [KEYTYPE_IP] = BLY_KEYS_IP,
    [KEYTYPE_PHONE] = BLY_KEYS_PHONE,
    [KEYTYPE_EMAIL] = BLY_KEYS_EMAIL,
    [KEYTYPE_DOMAIN] = BLY_KEYS_DOMAIN,
    [KEYTYPE_URL] = BLY_KEYS_URL,
    [KEYTYPE_LINE] = BLY_KEYS_LINE,
    [KEYTYPE_RECORD] = BLY_KEYS_RECORD,
    [KEYTYPE_RECORD_URL] = BLY_KEYS_RECORD_URL,
    [KEYTYPE_RECORD_CRAWL] = BLY_KEYS_RECORD_CRAWL,
    [KEYTYPE_OTHER] = BLY_KEYS_OTHER,
};

keytype keytype_of_rule(bly_key_rule rule) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i] == rule)
            return (keytype)i;
    return KEYTYPE_NONE;
}

bly_key_rule keytype_rule(keytype type) {
    return rules[type];
}

/* ---- writing --------------------------------------------------------------------------------- */

uint64_t keytype_mark_count(keytype type, const keytype_levels *levels) {
    uint64_t count = keytype_is_typed(type) ? TYPE_MARKS : 0;
    for (unsigned level = 0; keytype_has_levels(type) && level < KEYTYPE_MARKABLE; level++)
        count += keytype_levels_have(levels, level) ? LEVEL_MARKS : 0;
    return count;
}

bly_bytes keytype_mark_at(keytype type, const keytype_levels *levels, uint64_t i,
                          char room[KEYTYPE_MARK]) {
    char name[32];
    unsigned level = 0;
    if (i < TYPE_MARKS)
        return spell("type", keytype_name(type), (unsigned)i, room);
    i -= TYPE_MARKS;
    for (; !keytype_levels_have(levels, level) || i >= LEVEL_MARKS; level++)
        i -= keytype_levels_have(levels, level) ? LEVEL_MARKS : 0;
    return spell("level", level_name(type, level, name), (unsigned)i, room);
}

void keytype_record_lookups(keytype type, keytype_levels *levels) {
    if (keytype_has_levels(type))
        keytype_levels_add(levels, KEYTYPE_LEVELS + keytype_most_tries(type, levels));
}

/* The marks from the i-th on. */
static bly_status put(bly_filter *f, keytype type, const keytype_levels *levels, uint64_t i) {
    char room[KEYTYPE_MARK];
    bly_status status = BLY_OK;
    if (only_counts(f))
        return status;
    for (uint64_t count = keytype_mark_count(type, levels); i < count && status == BLY_OK; i++) {
        bly_bytes mark = keytype_mark_at(type, levels, i, room);
        status = bly_filter_add(f, mark.data, mark.size, NULL);
    }
    return status;
}

bly_status keytype_mark(bly_filter *f, keytype type, const keytype_levels *levels) {
    return put(f, type, levels, 0);
}

bly_status keytype_mark_more(bly_filter *f, keytype type, const keytype_levels *known,
                             const keytype_levels *levels) {
    keytype_levels fresh = *levels;
    for (size_t i = 0; i < sizeof fresh.bits / sizeof *fresh.bits; i++)
        fresh.bits[i] &= ~known->bits[i];
    return put(f, type, &fresh, TYPE_MARKS);
}

bly_status keytype_unmark(bly_filter *f, keytype type, const keytype_levels *levels) {
    char room[KEYTYPE_MARK];
    bly_status status = BLY_OK;
    for (uint64_t i = 0; i < keytype_mark_count(type, levels) && status == BLY_OK; i++) {
        bly_bytes mark = keytype_mark_at(type, levels, i, room);
        status = bly_filter_remove(f, mark.data, mark.size, NULL);
    }
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Questions that are asked together: a server far away answers them in one trip. */
enum { TOGETHER = 256 };
typedef struct questions {
    char room[TOGETHER][KEYTYPE_MARK];
    bly_bytes keys[TOGETHER];
    uint8_t found[TOGETHER];
    size_t count;
} questions;

static void ask_for(questions *q, const char *group, const char *what, unsigned marks) {
    for (unsigned i = 0; i < marks; i++, q->count++)
        q->keys[q->count] = spell(group, what, i, q->room[q->count]);
}

/* Whether all of the i-th `marks` questions were answered by yes. */
static bool has(const questions *q, size_t i, unsigned marks) {
    return !memchr(q->found + i * marks, 0, marks);
}

/* Adds those from `first` on, before `end`. */
static bool marked_between(const keytype_list *list, keytype type, unsigned first, unsigned end,
                           keytype_levels *out) {
    enum { LEVELS = TOGETHER / LEVEL_MARKS };
    questions q;
    char name[32];
    for (; keytype_has_levels(type) && first < end; first += LEVELS) {
        const unsigned some = end - first < LEVELS ? end - first : LEVELS;
        q.count = 0;
        for (unsigned i = 0; i < some; i++)
            ask_for(&q, "level", level_name(type, first + i, name), LEVEL_MARKS);
        if (!list->ask(list->ctx, q.keys, q.count, q.found))
            return false;
        for (unsigned i = 0; i < some; i++)
            if (has(&q, i, LEVEL_MARKS))
                keytype_levels_add(out, first + i);
    }
    return true;
}

static bool marked_levels(const keytype_list *list, keytype type, keytype_levels *out) {
    *out = (keytype_levels){{0}};
    return marked_between(list, type, 0, KEYTYPE_LEVELS, out);
}

/* Whether marks of a type can be trusted that seem to be there. */
static bool far_from_full(double rate) {
    static const double most = 1e-9;
    return (KEYTYPE_LINE - KEYTYPE_IP) * pow(rate, TYPE_MARKS) < most;
}

/* The type by its marks, of a list whose header records none. */
static bool marked_type(const keytype_list *list, keytype *type) {
    questions q = {.count = 0};
    unsigned count = 0;
    double rate = 0;
    *type = KEYTYPE_LINE;
    for (int t = KEYTYPE_IP; t < KEYTYPE_LINE; t++)
        ask_for(&q, "type", keytype_name((keytype)t), TYPE_MARKS);
    if (!list->ask(list->ctx, q.keys, q.count, q.found))
        return false;
    for (int t = KEYTYPE_IP; t < KEYTYPE_LINE; t++)
        if (has(&q, (size_t)(t - KEYTYPE_IP), TYPE_MARKS)) {
            *type = (keytype)t;
            count++;
        }
    if (count > 0 && !list->rate(list->ctx, &rate))
        return false;
    if (count > 1 || !far_from_full(rate))
        *type = KEYTYPE_NONE;
    return true;
}

bool keytype_recognise_by(const keytype_list *list, keytype *type, keytype_levels *levels) {
    *levels = (keytype_levels){{0}};
    if (list->rule != BLY_KEYS_UNRECORDED)
        *type = keytype_of_rule(list->rule);
    else if (!marked_type(list, type))
        return false;
    return marked_levels(list, *type, levels);
}

static bool none(const keytype_levels *levels) {
    uint64_t all = 0;
    for (size_t i = 0; i < KEYTYPE_LEVELS / 64; i++)
        all |= levels->bits[i];
    return all == 0;
}

bool keytype_recognise_levels_by(const keytype_list *list, keytype type, keytype_levels *out) {
    if (!marked_levels(list, type, out))
        return false;
    if (none(out))
        *out = keytype_levels_all();
    return true;
}

keytype_levels keytype_levels_recorded(keytype type, const keytype_levels *marked) {
    return keytype_has_levels(type) && none(marked) ? keytype_levels_all() : *marked;
}

/* ---- what is told of a list --------------------------------------------------------------------
 */

/* Whether levels may seem to be there by chance, in more than one list of a hundred. */
static bool has_chance_levels(double rate) {
    return KEYTYPE_LEVELS * pow(rate, LEVEL_MARKS) > 0.01;
}

/* The one number of lookups that is recorded. 0: none is, or, where lists were merged, several. */
static unsigned recorded_lookups(const keytype_levels *levels) {
    unsigned found = 0, count = 0;
    for (unsigned n = 1; n < KEYTYPE_LEVELS; n++)
        if (keytype_levels_have(levels, KEYTYPE_LEVELS + n)) {
            found = n;
            count++;
        }
    return count == 1 ? found : 0;
}

/* Levels are never taken out of a list, so no more lookups are recorded than a line needs now. */
bool keytype_examine_by(const keytype_list *list, keytype_facts *out) {
    double rate = 0;
    *out = (keytype_facts){.type = KEYTYPE_NONE};
    if (!keytype_recognise_by(list, &out->type, &out->levels))
        return false;
    out->marks = keytype_mark_count(out->type, &out->levels);
    if (out->type == KEYTYPE_NONE)
        return true;
    out->lookups = out->requested = keytype_most_tries(out->type, &out->levels);
    if (!keytype_has_levels(out->type))
        return true;
    if (!list->rate(list->ctx, &rate))
        return false;
    out->by_chance = has_chance_levels(rate);
    if (out->by_chance) {
        out->marks = TYPE_MARKS;
        out->requested = 0;
        return true;
    }
    if (!marked_between(list, out->type, KEYTYPE_LEVELS + 1, KEYTYPE_LEVELS + 1 + out->lookups,
                        &out->levels))
        return false;
    out->marks = keytype_mark_count(out->type, &out->levels);
    const unsigned recorded = recorded_lookups(&out->levels);
    out->requested = recorded ? recorded : out->lookups;
    return true;
}

/* ---- of a filter in memory ------------------------------------------------------------------- */

static bool ask_filter(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    const bly_filter **f = ctx;
    (void)bly_filter_contains_many(*f, keys, n, found);
    return true;
}

static bool rate_filter(void *ctx, double *rate) {
    const bly_filter **f = ctx;
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter_get_info(*f, &stats);
    *rate = stats.current_fpr;
    return true;
}

keytype_list keytype_list_of(const bly_filter **f) {
    return (keytype_list){ask_filter, rate_filter, f, bly_filter_key_rule(*f)};
}

keytype keytype_recognise(const bly_filter *f, keytype_levels *levels) {
    const keytype_list list = keytype_list_of(&f);
    keytype type = KEYTYPE_LINE;
    *levels = (keytype_levels){{0}};
    if (!only_counts(f))
        (void)keytype_recognise_by(&list, &type, levels);
    else if (list.rule != BLY_KEYS_UNRECORDED)
        type = keytype_of_rule(list.rule);
    return type;
}

keytype_facts keytype_examine(const bly_filter *f) {
    const keytype_list list = keytype_list_of(&f);
    keytype_facts facts = {.type = keytype_of_rule(list.rule)};
    /* Without its key a filter says "maybe" to every mark. */
    if (bly_filter_hasher(f) && !only_counts(f))
        (void)keytype_examine_by(&list, &facts);
    return facts;
}

uint64_t keytype_marks_in(const bly_filter *f) {
    return keytype_examine(f).marks;
}

keytype_levels keytype_recognise_levels(const bly_filter *f, keytype type) {
    const keytype_list list = keytype_list_of(&f);
    keytype_levels levels;
    (void)keytype_recognise_levels_by(&list, type, &levels);
    return levels;
}
