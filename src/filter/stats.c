/* Statistics of a filter, and their text. */
#include "base/struct_size.h"
#include "filter/filter.h"
#include "filter/rate.h"

#include <bloomery/host/describe.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void blyi_filter_info(const bly_filter *f, bly_filter_info *out) {
    if (f->levels) {
        f->ops->fill_stats(f, out);
        return;
    }
    uint64_t set = f->kernels->popcount(blyi_words(f), blyi_word_count(f));
    uint64_t bits = bly_plan_bits(&f->geometry), count = blyi_filter_items(f);
    if (set > bits) /* a damaged mapped file may have bits set past the end */
        set = bits;
    double keys = bly_plan_keys(&f->geometry, set);
    double floor = blyi_hash_floor(isfinite(keys) ? keys : (double)count, f->hasher.bits);
    const char *name = bly_hash_name((bly_hash_id)f->hasher.id);
    *out = (bly_filter_info){
        .kind = f->geometry.kind,
        .hashes = f->geometry.hashes,
        .size = f->geometry.size,
        .capacity = f->capacity,
        .count = count,
        .bits = bits,
        .set_bits = set,
        .bytes = f->body_bytes,
        .fill = (double)set / (double)bits,
        .expected_fill = bly_plan_fill(&f->geometry, (double)count),
        .estimated_keys = keys,
        .requested_fpr = f->fpr,
        .expected_fpr = isfinite(keys) ? fmin(1, blyi_rate(&f->geometry, keys) + floor) : 1,
        .current_fpr = fmin(1, (f->ops->current_fpr ? f->ops->current_fpr(f) : 0) + floor),
        .approximate = f->approximate,
        .hash_name = name ? name : "custom",
    };
    if (f->ops->fill_stats)
        f->ops->fill_stats(f, out);
}

bly_status bly_filter_get_info(const bly_filter *f, bly_filter_info *out) {
    bly_filter_info info;
    if (!blyi_can_write_struct(out, sizeof info))
        return BLY_EINVAL;
    blyi_filter_info(f, &info);
    blyi_write_struct(out, &info, sizeof info);
    return BLY_OK;
}

/* Returns the name of a geometry's `hashes`: "k" if it is the number of cells per key. */
static const char *hashes_name(const blyi_kind *k) {
    return k && k->hashes_name && !strstr(k->hashes_name, " per key") ? k->hashes_name : "k";
}

/* Writes the last lines of the text, for filters that have more to report; for others, an empty
 * string. */
static void format_remarks(const bly_filter_info *s, char *out, size_t room) {
    size_t used = 0;
    out[0] = '\0';
    if (s->stuck)
        used = (size_t)snprintf(out, room, "stuck           %llu counters at their limit\n",
                                (unsigned long long)s->stuck);
    const blyi_kind *k = blyi_kind_of(s->kind);
    if (k && k->may_miss_members)
        snprintf(out + used, room - used, "missed          at most %.3g of the keys\n",
                 s->miss_bound);
}

size_t bly_filter_info_format(const bly_filter_info *s, char *buf, size_t size) {
    const char *kind = bly_kind_name(s->kind);
    char more[160];
    format_remarks(s, more, sizeof more);
    bool counts = bly_kind_capabilities(s->kind) & BLY_CARDINALITY_ONLY;
    int length =
        snprintf(buf, size,
                 "kind            %s, %s = %u, hash %s%s\n"
                 "capacity        %llu keys at %g\n"
                 "keys            %llu counted, %.0f estimated\n"
                 "memory          %llu bytes, %.2f bits per key of capacity\n"
                 "bits set        %llu of %llu (%.2f%%; %.2f%% expected)\n"
                 "%s %.3g requested, %.3g expected, %.3g now\n%s",
                 kind ? kind : "unknown", hashes_name(blyi_kind_of(s->kind)), (unsigned)s->hashes,
                 s->hash_name ? s->hash_name : "none", s->approximate ? ", approximate" : "",
                 (unsigned long long)s->capacity, s->requested_fpr, (unsigned long long)s->count,
                 s->estimated_keys, (unsigned long long)s->bytes,
                 s->capacity ? (double)s->bits / (double)s->capacity : 0,
                 (unsigned long long)s->set_bits, (unsigned long long)s->bits, 100 * s->fill,
                 100 * s->expected_fill, counts ? "standard error " : "false positives",
                 s->requested_fpr, s->expected_fpr, s->current_fpr, more);
    return length < 0 ? 0 : (size_t)length;
}
