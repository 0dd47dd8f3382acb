/* handle_server.c - filters on servers without the module: implements handle.h.
 *
 * Others may use the filter at the same time. They see each added batch of keys at once, so there
 * is nothing to commit. Every call is a round trip, so batches should be large.
 */
#include "filters/handle.h"

#include <bloomery/redis/filter.h>
#include <math.h>
#include <string.h>

static bly_redis_filter_options options_of(const filter_handle *h) {
    const handle_options *o = &h->options;
    return (bly_redis_filter_options){.struct_size = sizeof(bly_redis_filter_options),
                                      .connect_ms = o->wait_ms,
                                      .command_ms = o->wait_ms,
                                      .retry_ms = o->wait_ms,
                                      .allow_replica = o->allow_replica,
                                      .without_key = o->without_key};
}

/* For a key of another type the library returns BLY_EREFUSED, as for a busy server. Waiting does
 * not help there, so this function turns it into BLY_ECORRUPT. */
static bly_status refused_type(bly_status status, const char *why) {
    return status == BLY_EREFUSED && strstr(why, "the key is not a string") ? BLY_ECORRUPT : status;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bly_status open_filter(filter_handle *h, bool report) {
    const bly_redis_filter_options options = options_of(h);
    const bly_redis_url *url = &h->remote.at.url;
    const uint64_t gozero = h->options.gozero;
    bly_redis_reason why = {""};
    const bly_status status =
        gozero ? bly_redis_filter_gozero(url, gozero, &options, &why, &h->remote.filter)
               : bly_redis_filter_open(url, h->options.key, &options, &why, &h->remote.filter);
    return status == BLY_OK || !report
               ? refused_type(status, why.text)
               : remote_open_failed(&h->remote, h->options.key, gozero, status, &why);
}

static bly_status server_open(filter_handle *h, bool report) {
    if (!h->remote.at.name) {
        const bool parsed = remote_parse(&h->remote, h->name);
        if (h->remote.at.name)
            h->name = h->remote.at.name;
        h->remote.offers_replica = h->options.offers_replica;
        h->remote.offers_gozero = true;
        if (!parsed)
            return BLY_EINVAL;
    }
    const bly_status status = open_filter(h, report);
    if (status == BLY_OK)
        h->capabilities = h->ops->capabilities & ~(h->options.gozero ? HANDLE_DESCRIBES : 0U);
    return status;
}

static void server_close_filter(filter_handle *h) {
    bly_redis_filter_close(h->remote.filter);
    h->remote.filter = NULL;
}

/* ---- use ------------------------------------------------------------------------------------- */

static void server_failed(const filter_handle *h) {
    (void)remote_failed(&h->remote, h->status);
}

static bly_status server_contains(filter_handle *h, const bly_bytes *keys, size_t n,
                                  uint8_t *answers) {
    const bly_status status =
        bly_redis_filter_contains_many(h->remote.filter, keys, n, BLY_UNKNOWN, answers, NULL);
    return refused_type(status, bly_redis_filter_error(h->remote.filter));
}

static bly_status server_add(filter_handle *h, const bly_bytes *keys, size_t n, handle_added *out) {
    enum { BATCH = 32768 }; /* keys in one round trip */
    uint8_t answers[BATCH];
    bly_status status = BLY_OK;
    for (size_t at = 0; at < n && status == BLY_OK; at += BATCH) {
        const size_t count = n - at < BATCH ? n - at : BATCH;
        bly_redis_batch_result result = {0};
        status = bly_redis_filter_add_many(h->remote.filter, keys + at, count, BLY_UNKNOWN, answers,
                                           &result);
        out->fresh += result.yes;
        out->unsure += result.unsure;
        out->unknown += result.unknown;
    }
    return status;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static bly_status list_contains(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    return handle_contains(ctx, keys, n, found);
}

static bly_status list_rate(void *ctx, double *rate) {
    filter_handle *h = ctx;
    const bly_list_source list = remote_list(&h->remote);
    return h->status = list.rate(list.ctx, rate);
}

static bly_list_source server_list(filter_handle *h) {
    return (bly_list_source){list_contains, list_rate, h, remote_list(&h->remote).rule};
}

/* The estimated number of keys if `set` of `bits` bits are set, by `hashes` bits per key. */
static double estimate(double bits, double set, double hashes) {
    return set < bits ? -bits / hashes * log1p(-set / bits) : (double)INFINITY;
}

/* Converts the facts that are known to the form that a filter in memory has. */
static bly_filter_info info_of(const bly_bitmap *b, const bly_redis_filter_info *facts) {
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

/* Checks a go-zero filter by a lookup. It fails if the string has more bits than the user gave, or
 * is a filter of another form. */
static bly_status check_gozero(filter_handle *h) {
    uint8_t answer;
    return server_contains(h, &(bly_bytes){"", 0}, 1, &answer);
}

/* A go-zero filter does not exist before its first key is added. So without `bits`, the server is
 * not contacted. */
static bly_status server_facts(filter_handle *h, handle_facts *out, bool bits) {
    const bly_bitmap *b = bly_redis_filter_bitmap(h->remote.filter);
    bly_redis_filter_info facts = {.struct_size = sizeof facts};
    const bool gozero = b->form == BLY_BITMAP_GOZERO;
    bly_status status = gozero && bits ? check_gozero(h) : (bly_status)BLY_OK;
    if (status == BLY_OK && (bits || !gozero))
        status = bly_redis_filter_get_info(h->remote.filter, &facts);
    if (status != BLY_OK)
        return status;
    *out = (handle_facts){.geometry = b->geometry,
                          .hash = (bly_hash_id)b->hasher.id,
                          .seed = b->hasher.seed,
                          .keyed = b->hasher.id == BLY_HASH_SIPHASH,
                          .key_rule = b->key_rule,
                          .approximate = b->approximate,
                          .bytes = facts.bytes,
                          .info = info_of(b, &facts),
                          .has_rates = bits,
                          .has_bits = gozero && bits,
                          .shards = b->shards,
                          .nodes = facts.nodes,
                          .shard_bytes = bly_bitmap_shard_bytes(b, 0),
                          .expires_ms = facts.expires_ms,
                          .stamp = b->stamp};
    out->key_missing = out->keyed && !h->options.key;
    return BLY_OK;
}

const handle_ops handle_server_ops = {
    .capabilities = HANDLE_MAY_FAIL | HANDLE_DESCRIBES | HANDLE_LOOKS_UP | HANDLE_ADDS,
    .open = server_open,
    .close = server_close_filter,
    .failed = server_failed,
    .contains = server_contains,
    .add = server_add,
    .list = server_list,
    .facts = server_facts,
};
