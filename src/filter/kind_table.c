/* The table of kinds, and functions about a kind that need no filter.
 *
 * This is the one file outside src/kinds/ that names the descriptors. To add a kind, declare its
 * descriptor and give it a row.
 */
#include "base/struct_size.h"
#include "filter/kind.h"

#include <bloomery/host/describe.h>
#include <stdio.h>
#include <string.h>

extern const blyi_kind blyi_kind_classic, blyi_kind_partitioned, blyi_kind_sbbf, blyi_kind_split512,
    blyi_kind_bb2x512, blyi_kind_scalable, blyi_kind_window, blyi_kind_counting,
    blyi_kind_multilayer, blyi_kind_layered, blyi_kind_overlay, blyi_kind_hybrid, blyi_kind_cuckoo,
    blyi_kind_fuse, blyi_kind_ribbon, blyi_kind_counts, blyi_kind_hll, blyi_kind_growable_cuckoo,
    blyi_kind_scalable_cuckoo;

static const blyi_kind *const kind_table[] = {
    [BLY_CLASSIC] = &blyi_kind_classic,
    [BLY_PARTITIONED] = &blyi_kind_partitioned,
    [BLY_SBBF] = &blyi_kind_sbbf,
    [BLY_SPLIT512] = &blyi_kind_split512,
    [BLY_BB2X512] = &blyi_kind_bb2x512,
    [BLY_SCALABLE] = &blyi_kind_scalable,
    [BLY_WINDOW] = &blyi_kind_window,
    [BLY_COUNTING] = &blyi_kind_counting,
    [BLY_MULTILAYER] = &blyi_kind_multilayer,
    [BLY_LAYERED] = &blyi_kind_layered,
    [BLY_OVERLAY] = &blyi_kind_overlay,
    [BLY_HYBRID] = &blyi_kind_hybrid,
    [BLY_CUCKOO] = &blyi_kind_cuckoo,
    [BLY_FUSE] = &blyi_kind_fuse,
    [BLY_RIBBON] = &blyi_kind_ribbon,
    [BLY_COUNTS] = &blyi_kind_counts,
    [BLY_HLL] = &blyi_kind_hll,
    [BLY_GROWABLE_CUCKOO] = &blyi_kind_growable_cuckoo,
    [BLY_SCALABLE_CUCKOO] = &blyi_kind_scalable_cuckoo,
};

enum { KIND_CODES = sizeof kind_table / sizeof *kind_table };

/* Kinds of earlier versions. Their codes stay reserved. */
static const bly_removed_kind removed_kinds[] = {
    {8, "stable", "window"},
    {20, "blocked-counting", "layered"},
};

enum { REMOVED_KINDS = sizeof removed_kinds / sizeof *removed_kinds };

const blyi_kind *blyi_kind_of(bly_kind kind) {
    return (unsigned)kind < KIND_CODES ? kind_table[kind] : NULL;
}

static bly_status check_unknown(const bly_geometry *g) {
    (void)g;
    return BLY_EKIND;
}

static uint64_t no_bits(const bly_geometry *g) {
    (void)g;
    return 0;
}

static unsigned one_bit(const bly_geometry *g) {
    (void)g;
    return 1;
}

static double always(const bly_geometry *g, double n) {
    (void)g;
    (void)n;
    return 1;
}

const blyi_planner *blyi_planner_of(bly_kind kind) {
    static const blyi_planner unknown = {
        .check = check_unknown,
        .bits = no_bits,
        .width = one_bit,
        .rate = always,
        .max_keys = no_bits,
        .fill = always,
    };
    const blyi_kind *k = blyi_kind_of(kind);
    return k ? k->planner : &unknown;
}

const char *bly_kind_name(bly_kind kind) {
    const blyi_kind *k = blyi_kind_of(kind);
    return k ? k->name : NULL;
}

bly_status bly_kind_by_name(const char *name, bly_kind *out) {
    for (bly_kind k = BLY_KIND_NONE; (k = bly_kind_next(k)) != BLY_KIND_NONE;) {
        if (strcmp(bly_kind_name(k), name) == 0) {
            *out = k;
            return BLY_OK;
        }
    }
    return BLY_EKIND;
}

bly_kind bly_kind_next(bly_kind kind) {
    if (kind != BLY_KIND_NONE && !blyi_kind_of(kind))
        return BLY_KIND_NONE;
    for (unsigned next = (unsigned)kind + 1; next < KIND_CODES; next++)
        if (kind_table[next])
            return (bly_kind)next;
    return BLY_KIND_NONE;
}

uint32_t bly_kind_capabilities(bly_kind kind) {
    const blyi_kind *k = blyi_kind_of(kind);
    return k ? k->ops->capabilities : 0;
}

bly_status bly_kind_get_info(bly_kind kind, bly_kind_info *out) {
    const blyi_kind *k = blyi_kind_of(kind);
    if (!k)
        return BLY_EKIND;
    const bly_kind_info info = {
        .name = k->name,
        .article = k->article ? k->article : "a",
        .meaning = k->meaning,
        .hashes = k->hashes_name ? k->hashes_name : "bits per key",
        .capabilities = k->ops->capabilities,
    };
    if (!blyi_can_write_struct(out, sizeof info))
        return BLY_EINVAL;
    blyi_write_struct(out, &info, sizeof info);
    return BLY_OK;
}

const bly_removed_kind *bly_kind_removed(uint32_t code) {
    for (size_t i = 0; i < REMOVED_KINDS; i++)
        if (removed_kinds[i].code == code)
            return &removed_kinds[i];
    return NULL;
}

const bly_removed_kind *bly_kind_removed_by_name(const char *name) {
    for (size_t i = 0; i < REMOVED_KINDS; i++)
        if (strcmp(removed_kinds[i].name, name) == 0)
            return &removed_kinds[i];
    return NULL;
}

/* ---- descriptions of geometries -------------------------------------------------------------- */

enum { GROUPED_TEXT = 32, GEOMETRY_TEXT = 256 };

/* Writes the digits of a number in groups of three, separated by commas. */
static void group_digits(uint64_t number, char out[GROUPED_TEXT]) {
    char digits[GROUPED_TEXT];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *to = out;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
}

static size_t copy_to_buffer(const char *text, char *buf, size_t size) {
    int length = snprintf(buf, size, "%s", text);
    return length < 0 ? 0 : (size_t)length;
}

static void describe_size(const bly_geometry *g, char *out, size_t room) {
    const blyi_kind *k = blyi_kind_of(g->kind);
    char grouped[GROUPED_TEXT];
    group_digits(g->size, grouped);
    if (k->describe_size)
        k->describe_size(g, grouped, out, room);
    else
        snprintf(out, room, "%s %s%s", grouped, k->size_unit ? k->size_unit : "block",
                 g->size == 1 ? "" : "s");
}

static void describe_bits(const bly_geometry *g, char *out, size_t room) {
    snprintf(out, room, ", %u bit%s per key%s%s", (unsigned)g->hashes, g->hashes == 1 ? "" : "s",
             g->options & BLY_TEXTBOOK ? ", textbook double hashing" : "",
             g->options & BLY_FOLDABLE ? ", foldable" : "");
}

void blyi_describe_nothing(const bly_geometry *g, char *out, size_t room) {
    (void)g;
    if (room > 0)
        *out = '\0';
}

void blyi_describe_counters(const bly_geometry *g, char *out, size_t room) {
    const uint64_t each = g->size ? bly_geometry_counters(g) / g->size : 0;
    snprintf(out, room, " of %llu counters, %u counter%s per key", (unsigned long long)each,
             (unsigned)g->hashes, g->hashes == 1 ? "" : "s");
}

size_t bly_geometry_format_size(const bly_geometry *g, char *buf, size_t size) {
    char text[GEOMETRY_TEXT] = "";
    if (blyi_kind_of(g->kind))
        describe_size(g, text, sizeof text);
    return copy_to_buffer(text, buf, size);
}

size_t bly_geometry_format(const bly_geometry *g, char *buf, size_t size) {
    const blyi_kind *k = blyi_kind_of(g->kind);
    char text[GEOMETRY_TEXT] = "";
    if (k) {
        describe_size(g, text, sizeof text);
        size_t used = strlen(text);
        (k->describe_rest ? k->describe_rest : describe_bits)(g, text + used, sizeof text - used);
    }
    return copy_to_buffer(text, buf, size);
}

uint64_t bly_geometry_counters(const bly_geometry *g) {
    const blyi_kind *k = blyi_kind_of(g->kind);
    return k && k->planner->counters ? k->planner->counters(g) : 0;
}
