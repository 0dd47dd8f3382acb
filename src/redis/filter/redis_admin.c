/* Administers a filter on servers: reads facts about it, sets its expiry, deletes it. */
#include "base/struct_size.h"
#include "redis/filter/redis_filter.h"

#include "filter/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- facts ----------------------------------------------------------------------------------- */

bly_status blyi_remote_facts_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                     bly_bitmap_command **out) {
    (void)ctx;
    return blyi_bitmap_facts(&f->bitmap, f->name, (uint32_t)shard, out);
}

/* Parses a decimal number, and moves *text past it. Returns false if there is no number. */
static bool admin_parse_number(const char **text, int64_t *out) {
    char *end;
    *out = strtoll(*text, &end, 10);
    const bool any = end != *text;
    *text = end;
    return any;
}

bly_status blyi_remote_read_facts(bly_redis_filter *f, const bly_redis_value *value,
                                  blyi_shard_facts *out) {
    const char *text = value->text.data;
    int64_t count, pttl, bytes;
    const bool fits = value->type == BLY_REDIS_TEXT && admin_parse_number(&text, &count) &&
                      admin_parse_number(&text, &pttl) && admin_parse_number(&text, &bytes) &&
                      !*text;
    if (!fits || count < 0 || bytes < 0) {
        (void)blyi_remote_bad_reply(f);
        return BLY_ECORRUPT;
    }
    *out = (blyi_shard_facts){.count = (uint64_t)count, .bytes = (uint64_t)bytes, .pttl = pttl};
    return BLY_OK;
}

static bly_status admin_sum_facts(bly_redis_filter *f, void *ctx, uint64_t shard,
                                  const bly_redis_value *value, bool repeated) {
    bly_redis_filter_info *sum = ctx;
    blyi_shard_facts facts;
    (void)shard;
    (void)repeated;
    const bly_status status = blyi_remote_read_facts(f, value, &facts);
    if (status)
        return status;
    sum->count = blyi_sum(sum->count, facts.count);
    sum->bytes = blyi_sum(sum->bytes, facts.bytes);
    if (facts.pttl >= 0 && (sum->expires_ms < 0 || facts.pttl < sum->expires_ms))
        sum->expires_ms = facts.pttl;
    return BLY_OK;
}

static bly_status admin_set_bits_command(bly_redis_filter *f, void *ctx, uint64_t i,
                                         bly_bitmap_command **out) {
    (void)ctx;
    (void)i;
    return blyi_bitmap_set_bits(&f->bitmap, f->name, out);
}

static bly_status admin_read_set_bits(bly_redis_filter *f, void *ctx, uint64_t i,
                                      const bly_redis_value *value, bool repeated) {
    bly_redis_filter_info *facts = ctx;
    (void)i;
    (void)repeated;
    if (value->type != BLY_REDIS_INTEGER || value->integer < 0)
        return blyi_remote_bad_reply(f);
    facts->set_bits = (uint64_t)value->integer;
    return BLY_OK;
}

static int admin_compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Counts the nodes that have at least one shard, as far as is known. */
static bly_status admin_count_nodes(bly_redis_filter *f, uint32_t *out) {
    const uint32_t shards = f->bitmap.shards;
    const size_t room = bly_bitmap_key(&f->bitmap, f->name, shards - 1, NULL, 0) + 64;
    const char **names = calloc(shards, sizeof *names);
    char *key = malloc(room);
    const bool enough = names && key;
    for (uint32_t i = 0; enough && i < shards; i++) {
        const size_t size = bly_bitmap_key(&f->bitmap, f->name, i, key, room);
        names[i] = blyi_executor_node(f->executor, (bly_bytes){key, size});
    }
    if (enough) {
        qsort(names, shards, sizeof *names, admin_compare_names);
        *out = 1;
        for (uint32_t i = 1; i < shards; i++)
            *out += strcmp(names[i - 1], names[i]) != 0;
    }
    free(names);
    free(key);
    return enough ? BLY_OK : blyi_remote_fail(f, BLY_ENOMEM, "out of memory");
}

bly_status bly_redis_filter_get_info(bly_redis_filter *f, bly_redis_filter_info *out) {
    static const blyi_shard_command facts = {.build = blyi_remote_facts_command,
                                             .read = admin_sum_facts},
                                    bits = {.build = admin_set_bits_command,
                                            .read = admin_read_set_bits};
    const bly_bitmap *b = &f->bitmap;
    bly_redis_filter_info sum = {.expires_ms = -1};
    if (!blyi_can_write_struct(out, sizeof sum))
        return blyi_remote_fail(f, BLY_EINVAL, "%s", bly_strerror(BLY_EINVAL));
    bly_status status = blyi_remote_run(f, &facts, &sum, 0, b->shards);
    if (status == BLY_OK && b->form == BLY_BITMAP_GOZERO)
        status = blyi_remote_run(f, &bits, &sum, 0, 1);
    if (status == BLY_OK)
        status = admin_count_nodes(f, &sum.nodes);
    if (status)
        return status;
    if (b->form == BLY_BITMAP_GOZERO)
        sum.expected_fpr = pow((double)sum.set_bits / (double)b->geometry.size, BLY_BITMAP_HASHES);
    else
        sum.expected_fpr =
            bly_plan_fpr(&b->geometry, (uint64_t)bly_bitmap_keys(b, sum.count), b->hasher.bits);
    blyi_write_struct(out, &sum, sizeof sum);
    return BLY_OK;
}

/* ---- expiry and deletion --------------------------------------------------------------------- */

static bly_status admin_expire_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                       bly_bitmap_command **out) {
    const uint64_t *expire_at = ctx;
    return bly_bitmap_expire(&f->bitmap, f->name, (uint32_t)shard, *expire_at, out);
}

bly_status bly_redis_filter_expire(bly_redis_filter *f, uint64_t ms) {
    static const blyi_shard_command command = {.build = admin_expire_command,
                                               .read = blyi_remote_expect_one};
    uint64_t expire_at = blyi_remote_time_in(ms);
    return blyi_remote_run(f, &command, &expire_at, 0, f->bitmap.shards);
}

bly_status blyi_remote_drop_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                    bly_bitmap_command **out) {
    (void)ctx;
    return bly_bitmap_drop(&f->bitmap, f->name, (uint32_t)shard, out);
}

static bly_status admin_read_first_drop(bly_redis_filter *f, void *ctx, uint64_t shard,
                                        const bly_redis_value *value, bool repeated) {
    const bly_status status = blyi_remote_expect_zero_or_one(f, ctx, shard, value, repeated);
    if (status || value->integer || repeated)
        return status;
    return blyi_remote_fail(f, BLY_EMISSING, "the filter no longer exists, or was replaced");
}

/* Deletes the first shard last. As long as it exists, no client creates another filter of that
 * name, whose shards would have the same keys as those of this one. */
bly_status bly_redis_filter_drop(bly_redis_filter *f) {
    static const blyi_shard_command others = {.build = blyi_remote_drop_command,
                                              .read = blyi_remote_expect_zero_or_one},
                                    first = {.build = blyi_remote_drop_command,
                                             .read = admin_read_first_drop};
    const bly_status status = blyi_remote_run(f, &others, NULL, 1, f->bitmap.shards);
    return status ? status : blyi_remote_run(f, &first, NULL, 0, 1);
}
