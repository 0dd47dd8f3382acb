#include "filters/server_facts.h"

#include <bloomery/redis/filter.h>
#include <math.h>

bool live_facts_look(const remote *r, bly_redis_filter_info *out) {
    BLY_INIT(*out);
    const bly_status status = bly_redis_filter_get_info(r->filter, out);
    if (status != BLY_OK)
        (void)remote_failed(r, status);
    return status == BLY_OK;
}

typedef struct asking {
    const remote *remote;
} asking;

static bly_status ask_rate(void *ctx, double *rate) {
    const asking *a = ctx;
    bly_redis_filter_info facts = {.struct_size = sizeof facts};
    const bly_status status = bly_redis_filter_get_info(a->remote->filter, &facts);
    if (status != BLY_OK)
        (void)remote_failed(a->remote, status);
    *rate = facts.expected_fpr;
    return status;
}

static bly_status ask(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    const asking *a = ctx;
    const bly_status status =
        bly_redis_filter_contains_many(a->remote->filter, keys, n, BLY_UNKNOWN, found, NULL);
    if (status != BLY_OK)
        (void)remote_failed(a->remote, status);
    return status;
}

static bly_list_source list_of(asking *a) {
    return (bly_list_source){ask, ask_rate, a,
                             bly_redis_filter_bitmap(a->remote->filter)->key_rule};
}

bool live_facts_type(const remote *r, bly_list_type *type, bly_list_levels *levels) {
    asking a = {r};
    const bly_list_source list = list_of(&a);
    return bly_list_recognise_source(&list, type, levels) == BLY_OK;
}

bool live_facts_rule(const remote *r, rule_marks *out) {
    asking a = {r};
    const bly_list_source list = list_of(&a);
    return rule_marks_read(&list, true, out) == BLY_OK;
}

bool live_facts_examine(const remote *r, bly_list_info *out) {
    asking a = {r};
    const bly_list_source list = list_of(&a);
    return bly_list_examine_source(&list, out) == BLY_OK;
}

/* The keys that set so many of all bits, k each. */
static double estimate(double bits, double set, double hashes) {
    return set < bits ? -bits / hashes * log1p(-set / bits) : (double)INFINITY;
}

bly_filter_info live_facts_stats(const bly_bitmap *b, const bly_redis_filter_info *facts) {
    const uint64_t bits = bly_plan_bits(&b->geometry);
    bly_filter_info s = {.struct_size = sizeof s,
                         .kind = b->geometry.kind,
                         .hashes = b->geometry.hashes,
                         .size = b->geometry.size,
                         .bits = bits,
                         .bytes = facts->bytes,
                         .capacity = b->capacity,
                         .count = facts->count,
                         .requested_fpr = b->fpr,
                         .expected_fpr = facts->expected_fpr,
                         .current_fpr = facts->expected_fpr,
                         .estimated_keys = (double)facts->count,
                         .fill = bly_plan_fill(&b->geometry, (double)facts->count)};
    if (b->form != BLY_BITMAP_GOZERO)
        return s;
    s.set_bits = facts->set_bits;
    s.fill = (double)facts->set_bits / (double)bits;
    s.estimated_keys = estimate((double)bits, (double)facts->set_bits, BLY_BITMAP_HASHES);
    return s;
}
