/* list_marks.c - how a list records its type and levels: in its header, and as keys.
 *
 * The header of a list records the type, as its key rule. The type is also stored in the filter
 * itself, as TYPE_MARKS keys
 *
 *     NUL "bloomery" NUL "type" NUL "domain" NUL i        i = 'a', 'b', ...
 *
 * for storage that keeps only the bits and not our header. Each level that occurs in the list (a
 * prefix length or a number of labels) is stored as LEVEL_MARKS keys
 *
 *     NUL "bloomery" NUL "level" NUL "v4/24" NUL i        also "v6/48", "labels/2"
 *
 * In the same way ("lookups/3") a builder records the number of lookups per line that it assumed
 * when the rate was requested. Keys that are added later may have new levels, and then a line needs
 * more lookups than that.
 *
 * An overfull filter seems to contain any key, and so also marks that were never added. For levels
 * this is harmless: a level that is found by chance costs a needless lookup per line, and a level
 * that was added is always found. But the number of marks and the recorded number of lookups are
 * reported only while levels found by chance are unlikely. A wrong type would do harm. So type
 * marks are used only if the header records no type, and only while the probability that all marks
 * of some type are found by chance is below 10^-9. In a filter without marks and with the
 * false-positive rate p, all marks of one type are found with the probability p^16, so types are
 * recognised up to a rate of a quarter. Type `line` has no marks, so that a filter made by any
 * program is a list of lines.
 */
#include "base/struct_size.h"

#include <bloomery/host/lists.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TYPE_MARKS = 16, LEVEL_MARKS = 4 };

/* Writes the i-th of the marks that record `what`. */
static bly_bytes mark_spell(const char *group, const char *what, unsigned i,
                            char out[BLY_LIST_MARK]) {
    int size = snprintf(out, BLY_LIST_MARK, "%cbloomery%c%s%c%s%c%c", 0, 0, group, 0, what, 0,
                        (int)('a' + i));
    return (bly_bytes){out, (size_t)size};
}

/* Returns the name of a level in its marks. "Levels" from BLY_LIST_LEVELS on are recorded numbers
 * of lookups. */
static const char *mark_level_name(bly_list_type type, unsigned level, char out[32]) {
    if (level >= BLY_LIST_LEVELS)
        (void)snprintf(out, 32, "lookups/%u", level - BLY_LIST_LEVELS);
    else if (type == BLY_LIST_DOMAIN)
        (void)snprintf(out, 32, "labels/%u", level);
    else if (level < BLY_LIST_V6)
        (void)snprintf(out, 32, "v4/%u", level);
    else
        (void)snprintf(out, 32, "v6/%u", level - BLY_LIST_V6);
    return out;
}

/* Whether the kind only counts keys: it cannot answer lookups, and so has no marks. */
static bool mark_cannot_store(const bly_filter *f) {
    return (bly_kind_capabilities(bly_filter_geometry(f).kind) & BLY_CARDINALITY_ONLY) != 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

uint64_t bly_list_mark_count(bly_list_type type, const bly_list_levels *levels) {
    uint64_t count = bly_list_is_typed(type) ? TYPE_MARKS : 0;
    for (unsigned level = 0; bly_list_has_levels(type) && level < BLY_LIST_MARKABLE; level++)
        count += bly_list_levels_contain(levels, level) ? LEVEL_MARKS : 0;
    return count;
}

bly_bytes bly_list_mark_at(bly_list_type type, const bly_list_levels *levels, uint64_t i,
                           char room[BLY_LIST_MARK]) {
    char name[32];
    unsigned level = 0;
    if (i < TYPE_MARKS)
        return mark_spell("type", bly_list_type_name(type), (unsigned)i, room);
    i -= TYPE_MARKS;
    for (; !bly_list_levels_contain(levels, level) || i >= LEVEL_MARKS; level++)
        i -= bly_list_levels_contain(levels, level) ? LEVEL_MARKS : 0;
    return mark_spell("level", mark_level_name(type, level, name), (unsigned)i, room);
}

double bly_list_record_lookups(bly_list_type type, double fpr, bly_list_levels *levels) {
    const unsigned lookups = bly_list_max_lookups(type, levels);
    if (!bly_list_has_levels(type))
        return fpr;
    bly_list_levels_add(levels, BLY_LIST_LEVELS + lookups);
    return fpr < BLY_LIST_MAX_RATE * lookups ? fpr : BLY_LIST_MAX_RATE * lookups;
}

/* Adds the marks from number i on. */
static bly_status mark_add_from(bly_filter *f, bly_list_type type, const bly_list_levels *levels,
                                uint64_t i) {
    char room[BLY_LIST_MARK];
    bly_status status = BLY_OK;
    if (mark_cannot_store(f))
        return status;
    for (uint64_t count = bly_list_mark_count(type, levels); i < count && status == BLY_OK; i++) {
        bly_bytes mark = bly_list_mark_at(type, levels, i, room);
        status = bly_filter_add(f, mark.data, mark.size, NULL);
    }
    return status;
}

bly_status bly_list_add_marks(bly_filter *f, bly_list_type type, const bly_list_levels *levels) {
    return mark_add_from(f, type, levels, 0);
}

bly_status bly_list_add_new_marks(bly_filter *f, bly_list_type type, const bly_list_levels *known,
                                  const bly_list_levels *levels) {
    bly_list_levels fresh = *levels;
    for (size_t i = 0; i < sizeof fresh.bits / sizeof *fresh.bits; i++)
        fresh.bits[i] &= ~known->bits[i];
    return mark_add_from(f, type, &fresh, TYPE_MARKS);
}

bly_status bly_list_remove_marks(bly_filter *f, bly_list_type type, const bly_list_levels *levels) {
    char room[BLY_LIST_MARK];
    bly_status status = BLY_OK;
    for (uint64_t i = 0; i < bly_list_mark_count(type, levels) && status == BLY_OK; i++) {
        bly_bytes mark = bly_list_mark_at(type, levels, i, room);
        status = bly_filter_remove(f, mark.data, mark.size, NULL);
    }
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Lookups that are made together: a filter on a server answers them in one round trip. */
enum { MARK_BATCH = 256 };
typedef struct mark_batch {
    char room[MARK_BATCH][BLY_LIST_MARK];
    bly_bytes keys[MARK_BATCH];
    uint8_t found[MARK_BATCH];
    size_t count;
} mark_batch;

static void mark_batch_add(mark_batch *q, const char *group, const char *what, unsigned marks) {
    for (unsigned i = 0; i < marks; i++, q->count++)
        q->keys[q->count] = mark_spell(group, what, i, q->room[q->count]);
}

/* Whether all marks of group i were found. Each group has `marks` marks. */
static bool mark_batch_has(const mark_batch *q, size_t i, unsigned marks) {
    return !memchr(q->found + i * marks, 0, marks);
}

/* Adds to *out those levels in [first, end) whose marks are all found. */
static bly_status mark_levels_between(const bly_list_source *s, bly_list_type type, unsigned first,
                                      unsigned end, bly_list_levels *out) {
    enum { LEVELS = MARK_BATCH / LEVEL_MARKS };
    mark_batch q;
    char name[32];
    for (; bly_list_has_levels(type) && first < end; first += LEVELS) {
        const unsigned some = end - first < LEVELS ? end - first : LEVELS;
        q.count = 0;
        for (unsigned i = 0; i < some; i++)
            mark_batch_add(&q, "level", mark_level_name(type, first + i, name), LEVEL_MARKS);
        const bly_status status = s->contains(s->ctx, q.keys, q.count, q.found);
        if (status != BLY_OK)
            return status;
        for (unsigned i = 0; i < some; i++)
            if (mark_batch_has(&q, i, LEVEL_MARKS))
                bly_list_levels_add(out, first + i);
    }
    return BLY_OK;
}

static bly_status mark_levels(const bly_list_source *s, bly_list_type type, bly_list_levels *out) {
    *out = (bly_list_levels){{0}};
    return mark_levels_between(s, type, 0, BLY_LIST_LEVELS, out);
}

/* Whether type marks that are found can be trusted at this false-positive rate. */
static bool mark_types_are_certain(double rate) {
    static const double max = 1e-9;
    return (BLY_LIST_LINE - BLY_LIST_IP) * pow(rate, TYPE_MARKS) < max;
}

/* Finds the type by its marks, for a list whose header records none. */
static bly_status mark_type(const bly_list_source *s, bly_list_type *type) {
    mark_batch q = {.count = 0};
    unsigned count = 0;
    double rate = 0;
    *type = BLY_LIST_LINE;
    for (int t = BLY_LIST_IP; t < BLY_LIST_LINE; t++)
        mark_batch_add(&q, "type", bly_list_type_name((bly_list_type)t), TYPE_MARKS);
    bly_status status = s->contains(s->ctx, q.keys, q.count, q.found);
    if (status != BLY_OK)
        return status;
    for (int t = BLY_LIST_IP; t < BLY_LIST_LINE; t++)
        if (mark_batch_has(&q, (size_t)(t - BLY_LIST_IP), TYPE_MARKS)) {
            *type = (bly_list_type)t;
            count++;
        }
    if (count > 0)
        status = s->rate(s->ctx, &rate);
    if (count > 1 || !mark_types_are_certain(rate))
        *type = BLY_LIST_NONE;
    return status;
}

bly_status bly_list_recognise_source(const bly_list_source *s, bly_list_type *type,
                                     bly_list_levels *levels) {
    bly_status status = BLY_OK;
    *levels = (bly_list_levels){{0}};
    if (s->rule != BLY_KEYS_UNRECORDED)
        *type = bly_list_type_of_rule(s->rule);
    else
        status = mark_type(s, type);
    return status == BLY_OK ? mark_levels(s, *type, levels) : status;
}

static bool mark_no_levels(const bly_list_levels *levels) {
    uint64_t all = 0;
    for (size_t i = 0; i < BLY_LIST_LEVELS / 64; i++)
        all |= levels->bits[i];
    return all == 0;
}

bly_status bly_list_recognise_levels(const bly_list_source *s, bly_list_type type,
                                     bly_list_levels *out) {
    const bly_status status = mark_levels(s, type, out);
    if (status == BLY_OK && mark_no_levels(out))
        *out = bly_list_levels_all();
    return status;
}

bly_list_levels bly_list_levels_recorded(bly_list_type type, const bly_list_levels *marked) {
    return bly_list_has_levels(type) && mark_no_levels(marked) ? bly_list_levels_all() : *marked;
}

/* ---- information about a list ---------------------------------------------------------------- */

/* Whether more than one list in a hundred would seem to have a level by chance. */
static bool mark_has_chance_levels(double rate) {
    return BLY_LIST_LEVELS * pow(rate, LEVEL_MARKS) > 0.01;
}

/* Returns the recorded number of lookups, or 0 if none is recorded or if there are several, as in
 * merged lists. */
static unsigned mark_recorded_lookups(const bly_list_levels *levels) {
    unsigned found = 0, count = 0;
    for (unsigned n = 1; n < BLY_LIST_LEVELS; n++)
        if (bly_list_levels_contain(levels, BLY_LIST_LEVELS + n)) {
            found = n;
            count++;
        }
    return count == 1 ? found : 0;
}

/* Levels are never removed from a list, so the recorded number of lookups is at most the number
 * that a line needs now, and only numbers up to that are looked up. */
static bly_status mark_examine(const bly_list_source *s, bly_list_info *out) {
    double rate = 0;
    *out = (bly_list_info){.type = BLY_LIST_NONE};
    bly_status status = bly_list_recognise_source(s, &out->type, &out->levels);
    if (status != BLY_OK)
        return status;
    out->marks = bly_list_mark_count(out->type, &out->levels);
    if (out->type == BLY_LIST_NONE)
        return BLY_OK;
    out->lookups = out->requested_lookups = bly_list_max_lookups(out->type, &out->levels);
    if (!bly_list_has_levels(out->type))
        return BLY_OK;
    status = s->rate(s->ctx, &rate);
    if (status != BLY_OK)
        return status;
    out->chance_levels = mark_has_chance_levels(rate);
    if (out->chance_levels) {
        out->marks = TYPE_MARKS;
        out->requested_lookups = 0;
        return BLY_OK;
    }
    status = mark_levels_between(s, out->type, BLY_LIST_LEVELS + 1,
                                 BLY_LIST_LEVELS + 1 + out->lookups, &out->levels);
    out->marks = bly_list_mark_count(out->type, &out->levels);
    const unsigned recorded = mark_recorded_lookups(&out->levels);
    out->requested_lookups = recorded ? recorded : out->lookups;
    return status;
}

bly_status bly_list_examine_source(const bly_list_source *s, bly_list_info *out) {
    bly_list_info info;
    if (!blyi_can_write_struct(out, sizeof info))
        return BLY_EINVAL;
    const bly_status status = mark_examine(s, &info);
    if (status == BLY_OK)
        blyi_write_struct(out, &info, sizeof info);
    return status;
}

/* ---- filters in memory ----------------------------------------------------------------------- */

static bly_status mark_filter_contains(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    (void)bly_filter_contains_many(ctx, keys, n, found);
    return BLY_OK;
}

static bly_status mark_filter_rate(void *ctx, double *rate) {
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter_get_info(ctx, &stats);
    *rate = stats.current_fpr;
    return BLY_OK;
}

bly_list_source bly_list_source_of(const bly_filter *f) {
    return (bly_list_source){mark_filter_contains, mark_filter_rate, (void *)(uintptr_t)f,
                             bly_filter_key_rule(f)};
}

bly_list_type bly_list_recognise(const bly_filter *f, bly_list_levels *levels) {
    const bly_list_source source = bly_list_source_of(f);
    bly_list_type type = BLY_LIST_LINE;
    *levels = (bly_list_levels){{0}};
    if (mark_cannot_store(f))
        return source.rule == BLY_KEYS_UNRECORDED ? type : bly_list_type_of_rule(source.rule);
    const bly_status status = bly_list_recognise_source(&source, &type, levels);
    return status == BLY_OK ? type : BLY_LIST_NONE; /* a filter in memory always answers */
}

bly_status bly_list_examine(const bly_filter *f, bly_list_info *out) {
    if (!blyi_can_write_struct(out, sizeof *out))
        return BLY_EINVAL;
    const bly_list_source source = bly_list_source_of(f);
    bly_list_info info = {.type = bly_list_type_of_rule(source.rule)};
    bly_filter_info stats = {.struct_size = sizeof stats};
    /* A filter that was opened without its key answers "maybe" for every mark, so its marks tell
     * nothing. */
    if (bly_filter_hasher(f) && !mark_cannot_store(f)) {
        (void)mark_examine(&source, &info);
        bly_filter_get_info(f, &stats);
        info.per_lookup = stats.requested_fpr;
        info.per_line = info.requested_lookups * info.per_lookup;
    }
    blyi_write_struct(out, &info, sizeof info);
    return BLY_OK;
}

uint64_t bly_list_marks_in(const bly_filter *f) {
    bly_list_info info = {.struct_size = sizeof info};
    bly_list_examine(f, &info);
    return info.marks;
}
