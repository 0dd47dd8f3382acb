/* plan_json.c - a plan as one JSON object, for programs. */
#include "filters/kind_words.h"
#include "plan/plan_answer.h"
#include "text/json.h"

#include <bloomery/redis/bitmap.h>
#include <math.h>

static void advice_json(json *j, const plan_answer *p, const bly_advice *a) {
    json_integer(j, "keys", a->needs.keys);
    json_integer(j, "bytes", a->bytes);
    json_real(j, "bits_per_key", a->bits_per_key);
    json_integer(j, "cache_lines", a->cache_lines);
    json_integer(j, "hashes", a->geometry.hashes);
    json_integer(j, "size", a->geometry.size);
    json_integer(j, "hash_bits", a->needs.hash_bits);
    json_real(j, "rate", a->fpr);
    json_real(j, "requested_rate", a->needs.fpr);
    const bool full = plan_max_keys(a) < 2 * a->needs.keys;
    const bool never = full || plan_is_counted_window(p, a);
    json_real(j, "rate_at_twice_the_keys", never ? NAN : plan_rate_at(a, 2 * a->needs.keys));
    if (full)
        json_integer(j, "max_keys", plan_max_keys(a));
    if (kinds_grow(a->kind))
        json_integer(j, "first_keys", a->needs.first_keys);
    if (a->kind == BLY_COUNTING) {
        json_integer(j, "counter_bits", a->geometry.detail);
        json_real(j, "counter_overflow",
                  bly_plan_counter_overflow(&a->geometry, (double)a->needs.keys));
    }
}

/* The stated needs; null for the value that was to be computed. */
static void needs_json(json *j, const plan_answer *p) {
    const bly_needs *needs = &p->needs;
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {BLY_NEED_REMOVE, "deletes"},      {BLY_NEED_GROW, "grows"},
        {BLY_NEED_STATIC, "static"},       {BLY_NEED_WINDOW, "window"},
        {BLY_NEED_COUNTS, "counts"},       {BLY_NEED_SHARE, "shared"},
        {BLY_NEED_SECRET, "hostile-keys"}, {BLY_NEED_SPACE, "smallest"},
    };
    json_open(j, "requested", '{');
    json_integer_or_null(j, "keys", needs->keys, needs->keys);
    json_real(j, "rate", needs->fpr > 0 ? needs->fpr : NAN);
    json_integer_or_null(j, "memory", needs->bytes, needs->bytes);
    if (p->seconds)
        json_integer(j, "window_seconds", p->seconds);
    json_open(j, "needs", '[');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (needs->flags & names[i].flag)
            json_text(j, NULL, names[i].name);
    json_close(j, ']');
    json_close(j, '}');
}

void plan_json(const plan_answer *p) {
    json j = json_begin(stdout);
    needs_json(&j, p);
    json_text(&j, "kind", bly_kind_name(p->choice.kind));
    json_text(&j, "reason", p->choice.reason);
    json_bool(&j, "keyed", p->choice.keyed);
    advice_json(&j, p, &p->choice);
    if (p->on_server) {
        json_open(&j, "redis", '{');
        json_integer(&j, "shards", p->bitmap.shards);
        json_integer(&j, "shard_bytes", bly_bitmap_shard_bytes(&p->bitmap, 0));
        json_integer(&j, "bytes", bly_bitmap_bytes(&p->bitmap));
        json_close(&j, '}');
    }
    json_open(&j, "kinds", '[');
    for (size_t i = 0; i < p->count; i++) {
        const plan_line *line = &p->lines[i];
        json_open(&j, NULL, '{');
        json_text(&j, "kind", bly_kind_name(line->kind));
        json_bool(&j, "fits", line->status == BLY_OK);
        json_bool(&j, "shown", line->shown);
        json_bool(&j, "chosen", line->kind == p->choice.kind);
        json_text(&j, "reason",
                  line->status == BLY_OK ? line->advice.reason : plan_why_not(p, line));
        if (line->status == BLY_OK)
            advice_json(&j, p, &line->advice);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
}
