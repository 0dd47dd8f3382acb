/* keytype_marks.c - what a list says of itself, said in keys.
 *
 * The type of a list is remembered by TYPE_MARKS keys
 *
 *     NUL "bloomery" NUL "type" NUL "domain" NUL i        i = 'a', 'b', ...
 *
 * and each level present (prefix length, number of labels) by LEVEL_MARKS keys
 *
 *     NUL "bloomery" NUL "level" NUL "v4/24" NUL i        also "v6/48", "labels/2"
 *
 * A filter that was not marked seems to be with the chance p^16: 10^-48 at the usual 0.1%, 10^-16
 * at 10%. An unmarked level costs one needless question per line, no more; so fewer marks do.
 * Type `line` has no marks: a filter made by any program is a list of lines.
 */
#include "keytype.h"

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
    if (type == KEYTYPE_DOMAIN)
        (void)snprintf(out, 32, "labels/%u", level);
    else if (level < KEYTYPE_V6)
        (void)snprintf(out, 32, "v4/%u", level);
    else
        (void)snprintf(out, 32, "v6/%u", level - KEYTYPE_V6);
    return out;
}

static bool has_levels(keytype type) {
    return type == KEYTYPE_IP || type == KEYTYPE_DOMAIN;
}

/* Such a filter cannot tell which keys it has, and so has no marks. */
static bool only_counts(const bly_filter *f) {
    return (bly_kind_capabilities(bly_filter_geometry(f).kind) & BLY_ONLY_COUNTS) != 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

uint64_t keytype_mark_count(keytype type, const keytype_levels *levels) {
    uint64_t count = type == KEYTYPE_LINE || type == KEYTYPE_NONE ? 0 : TYPE_MARKS;
    for (unsigned level = 0; has_levels(type) && level < KEYTYPE_LEVELS; level++)
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

/* *some: there is one. */
static bool marked_levels(keytype_ask *ask, void *ctx, keytype type, keytype_levels *out,
                          bool *some) {
    enum { LEVELS = TOGETHER / LEVEL_MARKS };
    questions q;
    char name[32];
    *out = (keytype_levels){{0}};
    *some = false;
    for (unsigned base = 0; has_levels(type) && base < KEYTYPE_LEVELS; base += LEVELS) {
        q.count = 0;
        for (unsigned i = 0; i < LEVELS; i++)
            ask_for(&q, "level", level_name(type, base + i, name), LEVEL_MARKS);
        if (!ask(ctx, q.keys, q.count, q.found))
            return false;
        for (unsigned i = 0; i < LEVELS; i++)
            if (has(&q, i, LEVEL_MARKS)) {
                keytype_levels_add(out, base + i);
                *some = true;
            }
    }
    return true;
}

bool keytype_recognise_by(keytype_ask *ask, void *ctx, keytype *type, keytype_levels *levels) {
    questions q = {.count = 0};
    unsigned count = 0;
    bool some;
    *type = KEYTYPE_LINE;
    *levels = (keytype_levels){{0}};
    for (int t = KEYTYPE_IP; t < KEYTYPE_LINE; t++)
        ask_for(&q, "type", keytype_name((keytype)t), TYPE_MARKS);
    if (!ask(ctx, q.keys, q.count, q.found))
        return false;
    for (int t = KEYTYPE_IP; t < KEYTYPE_LINE; t++)
        if (has(&q, (size_t)(t - KEYTYPE_IP), TYPE_MARKS)) {
            *type = (keytype)t;
            count++;
        }
    if (!marked_levels(ask, ctx, *type, levels, &some))
        return false;
    if (count > 1)
        *type = KEYTYPE_NONE;
    return true;
}

bool keytype_recognise_levels_by(keytype_ask *ask, void *ctx, keytype type, keytype_levels *out) {
    bool some;
    if (!marked_levels(ask, ctx, type, out, &some))
        return false;
    if (!some)
        *out = keytype_levels_all();
    return true;
}

/* ---- of a filter in memory ------------------------------------------------------------------- */

typedef struct asked {
    const bly_filter *filter;
} asked;

static bool ask_filter(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    const asked *a = ctx;
    (void)bly_filter_contains_many(a->filter, keys, n, found);
    return true;
}

keytype keytype_recognise(const bly_filter *f, keytype_levels *levels) {
    asked a = {f};
    keytype type = KEYTYPE_LINE;
    *levels = (keytype_levels){{0}};
    if (!only_counts(f))
        (void)keytype_recognise_by(ask_filter, &a, &type, levels);
    return type;
}

uint64_t keytype_marks_in(const bly_filter *f) {
    keytype_levels levels;
    if (!bly_filter_hasher(f)) /* it says "maybe" to every mark */
        return 0;
    const keytype type = keytype_recognise(f, &levels);
    return keytype_mark_count(type, &levels);
}

keytype_levels keytype_recognise_levels(const bly_filter *f, keytype type) {
    asked a = {f};
    keytype_levels levels;
    (void)keytype_recognise_levels_by(ask_filter, &a, type, &levels);
    return levels;
}
