/* Opens existing filters on servers, and closes them: the handle of such a filter, and its
 * heads. */
#include "redis/filter/redis_filter.h"
#include "base/struct_size.h"

#include "redis/bitmap/shard_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the handle ------------------------------------------------------------------------------ */

static bly_status remote_copy_name(bly_bytes key, bly_redis_filter *f, bly_redis_reason *why) {
    const char *problem = key.data ? "the key's name is longer than 64 KiB"
                                   : "the URL has no key; use redis://HOST/KEY";
    bly_status status = BLY_EINVAL;
    if (key.data && blyi_key_name_fits(key)) {
        char *name = malloc(key.size + 1);
        if (name) {
            memcpy(name, key.data, key.size);
            f->name = (bly_bytes){name, key.size};
            return BLY_OK;
        }
        problem = "out of memory";
        status = BLY_ENOMEM;
    }
    (void)snprintf(why->text, sizeof why->text, "%s", problem);
    return status;
}

bly_status blyi_remote_connect(const bly_redis_url *url, const bly_redis_filter_options *options,
                               bly_redis_reason *why, bly_redis_filter **out) {
    bly_redis_filter_options o = {.struct_size = sizeof o};
    bly_redis_reason ignored, *reason = why ? why : &ignored;
    *out = NULL;
    if (options && !blyi_read_struct(&o, sizeof o, sizeof o, options)) {
        (void)snprintf(reason->text, sizeof reason->text, "%s", bly_strerror(BLY_EINVAL));
        return BLY_EINVAL;
    }
    bly_redis_filter *f = calloc(1, sizeof *f);
    if (!f) {
        (void)snprintf(reason->text, sizeof reason->text, "out of memory");
        return BLY_ENOMEM;
    }
    f->batch = o.batch;
    f->retry_ms = o.retry_ms;
    f->no_retry = o.no_retry;
    bly_status status = remote_copy_name(url->key, f, reason);
    if (status == BLY_OK)
        status = blyi_executor_open(url, &o, reason, &f->executor);
    if (status == BLY_OK)
        *out = f;
    else
        bly_redis_filter_close(f);
    return status;
}

bly_status blyi_remote_finish(bly_redis_filter *f, bly_status status, bly_redis_reason *why,
                              bly_redis_filter **out) {
    *out = status ? NULL : f;
    if (status == BLY_OK)
        return BLY_OK;
    if (why)
        *why = f->why;
    bly_redis_filter_close(f);
    return status;
}

void bly_redis_filter_close(bly_redis_filter *f) {
    if (!f)
        return;
    const int saved = errno;
    blyi_executor_close(f->executor);
    free((void *)(uintptr_t)f->name.data);
    free(f->tags);
    free(f);
    errno = saved;
}

const bly_bitmap *bly_redis_filter_bitmap(const bly_redis_filter *f) {
    return &f->bitmap;
}

const char *bly_redis_filter_error(const bly_redis_filter *f) {
    return f->why.text;
}

/* ---- heads ----------------------------------------------------------------------------------- */

bly_status blyi_remote_head_command(bly_redis_filter *f, void *ctx, uint64_t shard,
                                    bly_bitmap_command **out) {
    (void)ctx;
    const size_t size = bly_bitmap_key(&f->bitmap, f->name, (uint32_t)shard, NULL, 0);
    char *key = malloc(size + 1);
    if (!key)
        return BLY_ENOMEM;
    (void)bly_bitmap_key(&f->bitmap, f->name, (uint32_t)shard, key, size + 1);
    const bly_status status = bly_bitmap_head_command((bly_bytes){key, size}, out);
    free(key);
    return status;
}

bool blyi_remote_is_ours(const bly_redis_filter *f, uint32_t shard, bly_bytes head) {
    uint8_t own[BLY_BITMAP_HEAD];
    blyi_bitmap_head_encode(&f->bitmap, shard, true, own);
    return head.size >= BLYI_BITMAP_IDENTITY && memcmp(head.data, own, BLYI_BITMAP_IDENTITY) == 0;
}

static bly_status remote_read_other_head(bly_redis_filter *f, void *ctx, uint64_t i,
                                         const bly_redis_value *value, bool repeated) {
    const uint32_t shard = (uint32_t)i;
    (void)ctx;
    (void)repeated;
    if (blyi_remote_is_ours(f, shard, value->text))
        return BLY_OK;
    const blyi_key_text first = blyi_remote_key_text(f, 0), here = blyi_remote_key_text(f, shard);
    if (value->text.size == 0)
        return blyi_remote_fail(f, BLY_EMISSING,
                                "%s, one of the %u strings of %s, is missing: deleted, evicted or "
                                "lost; delete the others too, and recreate the filter",
                                here.text, (unsigned)f->bitmap.shards, first.text);
    return blyi_remote_fail(f, BLY_EMISMATCH,
                            "%s is not the expected part of %s; delete both, and recreate the "
                            "filter",
                            here.text, first.text);
}

bly_status blyi_remote_check_other_heads(bly_redis_filter *f) {
    static const blyi_shard_command command = {.build = blyi_remote_head_command,
                                               .read = remote_read_other_head};
    return blyi_remote_run(f, &command, NULL, 1, f->bitmap.shards);
}

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct remote_opening {
    const bly_hasher *hasher;
    bool without_key;
} remote_opening;

static bly_status remote_read_first_head(bly_redis_filter *f, void *ctx, uint64_t i,
                                         const bly_redis_value *value, bool repeated) {
    const remote_opening *o = ctx;
    bly_bitmap_head head;
    bly_redis_reason why;
    (void)i;
    (void)repeated;
    const bly_status status =
        (o->without_key ? blyi_bitmap_head_read_keyless : bly_bitmap_head_parse)(value, o->hasher,
                                                                                 &head, &why);
    if (status)
        return blyi_remote_fail(f, status, "%s", why.text);
    if (head.shard != 0)
        return blyi_remote_fail(f, BLY_EMISMATCH,
                                "the key is shard %u of %u of a filter; open it by the key of its "
                                "first shard",
                                (unsigned)head.shard + 1, (unsigned)head.bitmap.shards);
    if (!head.complete)
        return blyi_remote_fail(f, BLY_EMISSING,
                                "the filter is still being created; try again, or create it, which "
                                "helps to complete it");
    f->bitmap = head.bitmap;
    f->keyless = !head.bitmap.hasher.one;
    return BLY_OK;
}

bly_status bly_redis_filter_open(const bly_redis_url *url, const bly_hasher *hasher,
                                 const bly_redis_filter_options *options, bly_redis_reason *why,
                                 bly_redis_filter **out) {
    static const blyi_shard_command command = {
        .build = blyi_remote_head_command, .read = remote_read_first_head, .errors = true};
    remote_opening o = {.hasher = hasher};
    bly_redis_filter *f;
    bly_status status = blyi_remote_connect(url, options, why, &f);
    *out = NULL;
    if (status)
        return status;
    o.without_key = options && options->without_key; /* blyi_remote_connect has checked its size */
    f->bitmap.shards = 1;
    status = blyi_remote_run(f, &command, &o, 0, 1);
    if (status == BLY_OK)
        status = blyi_remote_check_other_heads(f);
    return blyi_remote_finish(f, status, why, out);
}

bly_status bly_redis_filter_gozero(const bly_redis_url *url, uint64_t bits,
                                   const bly_redis_filter_options *options, bly_redis_reason *why,
                                   bly_redis_filter **out) {
    bly_bitmap bitmap;
    bly_redis_filter *f;
    *out = NULL;
    bly_status status = bly_bitmap_gozero(bits, &bitmap);
    if (status) {
        if (why)
            (void)snprintf(why->text, sizeof why->text,
                           "a go-zero filter has from 1 to 4294967296 bits");
        return status;
    }
    status = blyi_remote_connect(url, options, why, &f);
    if (status)
        return status;
    f->bitmap = bitmap;
    return blyi_remote_finish(f, BLY_OK, why, out);
}
