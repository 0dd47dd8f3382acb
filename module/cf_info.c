/* cf_info.c - CF.INFO and CF.DEBUG: the same fields for every filter; of RedisBloom's type with the
 * numbers that RedisBloom gives, of ours with what is really taken, but bucket size and iterations
 * as they were asked for.
 */
#include "args.h"
#include "commands.h"
#include "family.h"
#include "reply.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct numbers {
    uint64_t size, buckets, filters, items, deletes, bucket_size, expansion, max_iterations;
} numbers;

static numbers look_own(const bm_value *value) {
    const bly_filter *f = value->as.filter;
    const bm_traits *traits = &value->traits;
    bly_geometry whole = bly_filter_geometry(f);
    bool grows = whole.kind == BLY_SCALABLE_CUCKOO;
    return (numbers){
        .size = bly_filter_file_size(f),
        .buckets = bly_filter_geometry(bly_filter_level(f, 0)).size,
        .filters = bly_filter_levels(f),
        .items = bly_filter_count(f),
        .deletes = traits->deletes,
        .bucket_size = traits->bucket_size,
        .expansion = traits->face == BM_FACE_CF ? traits->expansion
                     : grows                    ? (whole.detail ? whole.detail : 2)
                                                : 0,
        .max_iterations = traits->max_iterations,
    };
}

static numbers look(const bm_value *value) {
    if (value->what == BM_FILTER)
        return look_own(value);
    bly_rb_cuckoo_info info = bly_rb_cuckoo_look(value->as.cuckoo);
    return (numbers){.size = info.size,
                     .buckets = info.buckets,
                     .filters = info.filters,
                     .items = info.items,
                     .deletes = info.deletes,
                     .bucket_size = info.bucket_size,
                     .expansion = info.expansion,
                     .max_iterations = info.max_iterations};
}

int bm_cf_info(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key;
    if (bm_family_look(ctx, argv[1], bm_cf_takes, &key)) {
        numbers n = look(key.value);
        const struct {
            const char *name;
            uint64_t value;
        } fields[] = {{"Size", n.size},
                      {"Number of buckets", n.buckets},
                      {"Number of filters", n.filters},
                      {"Number of items inserted", n.items},
                      {"Number of items deleted", n.deletes},
                      {"Bucket size", n.bucket_size},
                      {"Expansion rate", n.expansion},
                      {"Max iterations", n.max_iterations}};
        size_t count = sizeof fields / sizeof *fields;
        rm.ReplyWithMap(ctx, (long)count);
        for (size_t i = 0; i < count; i++) {
            rm.ReplyWithSimpleString(ctx, fields[i].name);
            bm_reply_count(ctx, fields[i].value);
        }
    }
    bm_key_close(&key);
    return RM_OK;
}

int bm_cf_debug(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key;
    if (bm_family_look(ctx, argv[1], bm_cf_takes, &key)) {
        numbers n = look(key.value);
        char text[256];
        int size = snprintf(
            text, sizeof text,
            "bktsize:%" PRIu64 " buckets:%" PRIu64 " items:%" PRIu64 " deletes:%" PRIu64
            " filters:%" PRIu64 " max_iterations:%" PRIu64 " expansion:%" PRIu64,
            n.bucket_size, n.buckets, n.items, n.deletes, n.filters, n.max_iterations, n.expansion);
        rm.ReplyWithStringBuffer(ctx, text, (size_t)size);
    }
    bm_key_close(&key);
    return RM_OK;
}
