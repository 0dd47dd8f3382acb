/* fuzz_load.c - parses untrusted bytes as a file.
 *
 * The first byte selects options. If it is odd, all checksums are corrected first, including those
 * of levels, so that the checks after them are reached. The next bits select the options with which
 * the file is opened. (A plain file without this byte can be a seed too.) Every filter that the
 * parser accepts must then behave like any other filter: in lookups, statistics, adds, removes,
 * growth, the passing of time, set operations, folding, the functions of its kind, and as the base
 * of an overlay. Writing it must give the bytes of the file (except for kinds that count distinct
 * keys), and reading the file in chunks must give an equal filter.
 */
#include <bloomery/bloomery.h>
#include <bloomery/host/chunks.h>
#include <bloomery/host/describe.h>

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { HEADER = 64, FIX_SUMS = 1, WITHOUT_KEY = 2, WITH_KEY = 4, WITH_CUSTOM = 8, SHARED = 16 };

static void demand(bool truth) {
    if (!truth)
        __builtin_trap();
}

static void store(uint8_t *to, uint64_t value, int width) {
    for (int i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void fix_header_sum(uint8_t *header) {
    store(header + 12, 0, 4);
    store(header + 12, XXH64(header, HEADER, 0), 4);
}

static void fix_outer(uint8_t *file, size_t size) {
    store(file + 56, XXH64(file + HEADER, size - HEADER, 0), 8);
    fix_header_sum(file);
}

/* Corrects the checksums of all levels. The length of each level is in its header. Stops at the
 * first header that is not valid. */
static void fix_levels(uint8_t *body, size_t size) {
    bly_file_info info = {.struct_size = sizeof info};
    while (size >= HEADER) {
        fix_header_sum(body);
        if (bly_file_parse_info(body, size, &info) != BLY_OK || info.body_bytes > size - HEADER)
            return;
        size_t length = HEADER + (size_t)info.body_bytes;
        fix_outer(body, length);
        body += length;
        size -= length;
    }
}

static void fix_sums(uint8_t *file, size_t size) {
    if (size < HEADER)
        return;
    if (file[5] == BLY_SCALABLE || file[5] == BLY_SCALABLE_CUCKOO || file[5] == BLY_OVERLAY)
        fix_levels(file + HEADER, size - HEADER);
    fix_outer(file, size);
}

static bly_hash custom(void *user, const void *key, size_t len) {
    (void)user;
    uint64_t h = XXH64(key, len, 1);
    return (bly_hash){h, h * 3};
}

/* Makes the hasher that the options select. A custom hasher gets the tag of the file, so that it is
 * accepted. Returns false if there is no hasher. */
static bool choose_hasher(unsigned how, const uint8_t *file, size_t size, bly_hasher *out) {
    const uint8_t key[16] = {1, 2, 3};
    bly_file_info info = {.struct_size = sizeof info};
    if (how & WITH_KEY)
        return bly_hasher_keyed(out, key) == BLY_OK;
    if (!(how & WITH_CUSTOM) || bly_file_parse_info(file, size, &info) != BLY_OK)
        return false;
    return bly_hasher_custom(out, custom, NULL, 64, info.seed) == BLY_OK;
}

typedef struct comparison {
    const uint8_t *bytes;
    size_t size, at;
} comparison;

static bly_status compare(void *ctx, const void *data, size_t size) {
    comparison *c = ctx;
    demand(size <= c->size - c->at && memcmp(c->bytes + c->at, data, size) == 0);
    c->at += size;
    return BLY_OK;
}

static void use(bly_filter *f, const uint8_t *file, size_t size) {
    comparison c = {file, size, 0};
    demand(bly_filter_file_size(f) == size);
    /* Kinds that only count distinct keys replace the number of keys in the file by their own
     * estimate. */
    if (!(bly_kind_capabilities(bly_filter_geometry(f).kind) & BLY_CARDINALITY_ONLY))
        demand(bly_filter_write(f, compare, &c) == BLY_OK && c.at == size);

    char text[1024];
    bly_filter_info stats = {.struct_size = sizeof stats};
    bly_filter_get_info(f, &stats);
    demand(bly_filter_info_format(&stats, text, sizeof text) > 0);
    demand(stats.set_bits <= stats.bits);
    demand(stats.current_fpr >= 0 && stats.current_fpr <= 1);

    bly_filter *folded;
    if (bly_filter_fold(f, 2, NULL, &folded) == BLY_OK)
        bly_filter_destroy(folded);
    (void)bly_filter_best_fold(f, 0.01);
    (void)bly_filter_contains(f, "some key", 8);
    (void)bly_filter_copies(f, "some key", 8);
    bly_window_info window = {.struct_size = sizeof window};
    uint64_t age;
    if (bly_window_get_info(f, &window) == BLY_OK && bly_filter_hasher(f))
        demand(bly_window_age(f, "some key", 8, &age) == BLY_OK);
}

/* Uses functions that only one kind has. */
static void use_its_own(const bly_filter *f) {
    bly_filter *other;
    bly_overlay_info changes = {.struct_size = sizeof changes};
    demand(!(bly_hll_estimate(f) < 0));
    if (bly_overlay_get_info(f, &changes) == BLY_OK)
        demand(bly_overlay_base(f) != NULL && changes.miss_bound >= 0 && changes.miss_bound <= 1);
    if (bly_layered_front(f, &other) == BLY_OK) {
        demand(bly_filter_contains(f, "some key", 8) == bly_filter_contains(other, "some key", 8));
        bly_filter_destroy(other);
    }
    if (bly_counting_bits(f, NULL, &other) == BLY_OK) {
        demand(bly_filter_contains(f, "some key", 8) == bly_filter_contains(other, "some key", 8));
        bly_filter_destroy(other);
    }
    if (bly_filter_clone(f, NULL, &other) != BLY_OK)
        return;
    if (bly_counts_age(other) == BLY_OK)
        demand(bly_filter_copies(other, "some key", 8) <= bly_filter_copies(f, "some key", 8) ||
               !bly_filter_hasher(f));
    bly_filter_destroy(other);
}

/* Uses the filter as the base of an overlay. */
static void lay_over(const bly_filter *f) {
    bly_filter *over, *copy;
    bool removed;
    bly_status status = bly_overlay_over(f, NULL, NULL, &over);
    if (status != BLY_OK) {
        demand(status == BLY_EKIND || status == BLY_ENOMEM || status == BLY_ETOOBIG);
        return;
    }
    demand(bly_filter_contains(over, "some key", 8) == bly_filter_contains(f, "some key", 8));
    if (bly_filter_hasher(f)) {
        status = bly_filter_remove(over, "some key", 8, &removed);
        demand(status == BLY_OK && !bly_filter_contains(over, "some key", 8));
        demand(removed == bly_filter_contains(f, "some key", 8));
        status = bly_filter_add(over, "some key", 8, NULL);
        demand(status == BLY_OK && bly_filter_contains(over, "some key", 8));
    }
    if (bly_filter_clone(over, NULL, &copy) == BLY_OK)
        demand(bly_filter_equal(over, copy));
    bly_filter_destroy(copy);
    bly_filter_destroy(over);
}

/* Adds a key, and removes it again if the kind can. */
static void add_and_remove(bly_filter *f, uint32_t can) {
    bly_filter *copy;
    bool removed;
    if (bly_filter_clone(f, NULL, &copy) != BLY_OK)
        return;
    bly_status added = bly_filter_add(f, "some key", 8, NULL);
    if (added == BLY_OK || added == BLY_EKEY)
        demand(bly_filter_contains(f, "some key", 8));
    else
        demand(bly_filter_equal(f, copy));
    if (added == BLY_EUNSUPPORTED)
        demand(!(can & BLY_CAN_ADD));
    else if (!(can & BLY_CAN_REMOVE) && bly_filter_geometry(f).kind != BLY_SCALABLE)
        demand(added == BLY_OK || added == BLY_EKEY);
    if (added == BLY_OK && can & BLY_CAN_REMOVE) {
        uint64_t had = bly_filter_count(f);
        /* A kind that can remove, but not count, is an overlay: its parts may be full, and a
         * damaged file may have wrong counts. */
        bool is_set = !(can & BLY_CAN_COUNT);
        bly_status status = bly_filter_remove(f, "some key", 8, &removed);
        demand(status == BLY_OK || (is_set && status == BLY_EFULL));
        demand(status != BLY_OK || removed);
        demand(bly_filter_count(f) == had - (had > 0) || (is_set && bly_filter_count(f) <= had));
    }
    bly_filter_destroy(copy);
}

/* Advances the time until all keys have expired. (A filter that was opened without its hasher still
 * answers "maybe" then.) */
static void pass_time(bly_filter *f) {
    bly_window_info w = {.struct_size = sizeof w};
    if (bly_window_get_info(f, &w) != BLY_OK || w.span == 0)
        return;
    demand(bly_window_advance(f, w.now) == BLY_OK);
    for (int i = 0; i < 40; i++) {
        demand(bly_window_get_info(f, &w) == BLY_OK);
        if (w.now > UINT64_MAX - w.slice)
            return;
        demand(bly_window_advance(f, w.now + w.slice) == BLY_OK);
    }
    demand(bly_filter_count(f) == 0);
    demand(bly_filter_contains(f, "some key", 8) == !bly_filter_hasher(f));
}

/* Applies set operations to f and an older copy of it. */
static void combine(bly_filter *copy, const bly_filter *f, uint32_t can) {
    bool plain = bly_filter_geometry(f).kind <= BLY_SCALABLE;
    bly_status alike = bly_filter_compatible(copy, f);
    bly_status united = bly_filter_union(copy, f);
    demand(united == (can & BLY_CAN_UNION ? alike : BLY_EUNSUPPORTED) ||
           (can & BLY_CAN_REMOVE && united != BLY_EUNSUPPORTED));
    demand(!plain || bly_filter_equal(f, copy)); /* since the copy was made, keys were only added to
                                                    f */
    alike = bly_filter_compatible(copy, f);
    demand(bly_filter_intersect(copy, f) == (can & BLY_CAN_INTERSECT ? alike : BLY_EUNSUPPORTED));
    demand(!plain || bly_filter_equal(f, copy));
    demand(bly_filter_subtract(copy, f) == (can & BLY_CAN_SUBTRACT ? alike : BLY_EUNSUPPORTED));
    demand(!(can & BLY_CAN_SUBTRACT) || alike != BLY_OK || bly_filter_count(copy) == 0);
}

static void use_and_compare(bly_filter *f, const uint8_t *file, size_t size) {
    uint32_t can = bly_kind_capabilities(bly_filter_geometry(f).kind);
    bly_filter *copy;
    if (bly_filter_clone(f, NULL, &copy) != BLY_OK)
        return;
    demand(bly_filter_equal(f, copy));
    use(f, file, size);
    use_its_own(f);
    lay_over(f);
    add_and_remove(f, can);
    combine(copy, f, can);
    pass_time(f);
    bly_filter_clear(f);
    demand(bly_filter_count(f) == 0);
    bly_filter_destroy(copy);
}

/* ---- the same bytes, read in chunks -------------------------------------------------------- */

static bly_status peek(void *ctx, uint64_t at, void *to, size_t n) {
    const comparison *c = ctx;
    demand(n <= HEADER && at <= c->size && n <= c->size - at);
    memcpy(to, c->bytes + at, n);
    return BLY_OK;
}

static bly_status take(void *ctx, uint64_t at, void *to, size_t n) {
    comparison *c = ctx;
    demand(at == c->at && n <= c->size - c->at);
    memcpy(to, c->bytes + at, n);
    c->at += n;
    return BLY_OK;
}

/* Reads the file in chunks. It must be accepted if and only if it can be parsed, and the filters
 * must be equal. */
static void read_too(const bly_filter *parsed, const bly_open_options *options, const uint8_t *file,
                     size_t size) {
    comparison c = {file, size, 0};
    const bly_chunk_source source = {.size = size, .peek = peek, .read = take, .ctx = &c};
    bly_filter *f;
    bly_status status = bly_filter_read_chunks(&source, options, &f);
    demand((status == BLY_OK) == (f != NULL));
    demand((f != NULL) == (parsed != NULL));
    demand(!f || (c.at == size && bly_filter_equal(f, parsed)));
    bly_filter_destroy(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    bool plain = size >= 4 && memcmp(data, "BLY1", 4) == 0;
    unsigned how = plain ? FIX_SUMS | WITHOUT_KEY : *data++;
    size -= !plain;
    uint8_t *file = malloc(size ? size : 1); /* exactly as large as the input, so that sanitizers
                                                report reads past its end */
    if (!file)
        return 0;
    memcpy(file, data, size);
    if (how & FIX_SUMS)
        fix_sums(file, size);

    bly_hasher hasher;
    bly_open_options options = {
        .struct_size = sizeof options,
        .flags = how & WITHOUT_KEY ? BLY_OPEN_WITHOUT_KEY : 0U,
        .hasher = choose_hasher(how, file, size, &hasher) ? &hasher : NULL,
        .sharing = how & SHARED ? BLY_SHARED : BLY_EXCLUSIVE,
    };
    bly_filter *f;
    bly_file_info info = {.struct_size = sizeof info};
    bly_status status = bly_filter_parse(file, size, &options, &f);
    demand((status == BLY_OK) == (f != NULL));
    read_too(f, &options, file, size);
    if (f) {
        demand(bly_file_parse_info(file, size, &info) == BLY_OK);
        demand(info.body_bytes == size - HEADER);
        use_and_compare(f, file, size);
    }
    bly_filter_destroy(f);
    free(file);
    return 0;
}
