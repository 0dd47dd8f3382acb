/* state_confirm.c - a state that is a filter whose answer "seen" is always checked.
 *
 * The idea. A Bloom filter has errors on one side only: "new" is always right, "seen" nearly
 * always. A crawler that relies on "seen" loses a page now and then. Here every "seen" is checked
 * against the fingerprints, which are on disk because they take eight bytes per key, while the
 * filter takes only one or two. For most new keys the filter's answer is enough, so the disk is
 * read only for repeats and for false positives (confirm_saved counts them). A higher
 * false-positive rate costs reads, but never a key. That is why the filter may be small or
 * overfull.
 *
 * A fingerprint is looked up in this order:
 *
 *   batch     a repeat within one call
 *   filter    "new" is final; after "seen" the lookup continues
 *   hot       a direct-mapped cache of 2^19 fingerprints that are in the file: a repeat
 *   waiting   the fingerprints that are not in the file yet: a repeat
 *   file      one read of 256 bytes from its page (fingerprint_file.h): a repeat, or new after all
 *
 * New fingerprints are added to `waiting`. When `waiting` has 2^18 of them, the caller flushes its
 * output and calls confirm_settle. This writes them in sorted order, front to back, with one read
 * and one write for pages near each other. When a page is full, the whole file is written again
 * with twice as many pages. All doublings of a growing file together write less than twice its
 * final length.
 *
 * After a kill. Only confirm_settle writes fingerprints to the file, after their lines were
 * printed. So a kill at any moment loses no line. Lines that were printed, but whose fingerprints
 * did not reach the file, are printed again when the same input is read again. The file can always
 * be opened. Doubling writes another file and renames it when it is complete (a kill may leave a
 * ".NAME.bloomery-xxxxxx.tmp", which can be removed). Without doubling, confirm_settle only fills
 * empty slots, and no page depends on another. So after a partial write, or a power failure that
 * let only some sectors reach the disk, each slot has its old or its new contents. All older
 * fingerprints are found; some of the new ones may be missing, and their lines are printed again.
 * After a power failure the file may have fingerprints of lines that were written to the output but
 * did not reach the disk. To exclude that, sync the output before calling confirm_settle.
 *
 * Two processes cannot use one file: it is locked (flock), and so is the file that replaces it
 * before the rename. A process that has opened the old file sees that the name refers to another
 * file, and opens that one. The seed of the hash is random, so an attacker cannot choose keys for
 * one page or one slot.
 *
 * Measured: 10 million fingerprints, half of them repeats, in batches of 4096, number not known in
 * advance, filter at 1% (one core of a virtual x86-64 server where a system call takes 0.7 us; file
 * in the page cache). If a repeat may be of any earlier key: about 4 s of processor time, 3.2
 * million reads of the file. If 40% of them are of the newest 100,000 keys and the others follow
 * Zipf's law: about 2 s and 0.9 million reads. In both cases confirm_settle takes 0.6 s of that.
 * The filter alone would have dropped 9,000 new keys. Memory 24 MB (17 MB if the number is known),
 * file 64 MiB; opening it again takes 0.1 s.
 */
#include "dedup/state_confirm.h"

#include "dedup/dedup_plan.h"
#include "dedup/fingerprint_set.h"
#include "dedup/state.h"
#include "io/fingerprint_file.h"
#include "io/output.h"
#include "text/message.h"

#include <stdlib.h>
#include <string.h>

enum {
    DUE = 1 << 18,         /* with this many waiting fingerprints, confirm_settle is due */
    HOT = 1 << 19,         /* entries of the cache of confirmed fingerprints */
    FIRST_GUESS = 1 << 20, /* planned keys if the number is unknown */
    AHEAD = 16,            /* prefetch distance in keys */
    PER_PAGE = 320         /* typical number of fingerprints in a page */
};

struct confirm {
    pages file;
    bly_hasher hasher;
    bly_filter *filter;
    fingerprint_set *batch;   /* the fingerprints of the current call */
    fingerprint_set *waiting; /* the fingerprints that are not in the file yet */
    uint64_t *hot;            /* fingerprints that are certainly in the file; 0: an empty entry */
    uint64_t *list;           /* the waiting fingerprints, sorted */
    size_t list_room;
    uint64_t lookups, saved;
    /* The distinct fingerprints of a call. */
    uint64_t once[INPUT_BATCH];
    size_t at[INPUT_BATCH]; /* their positions in the call */
    bly_bytes keys[INPUT_BATCH];
    uint8_t flags[INPUT_BATCH];
};

/* ---- opening --------------------------------------------------------------------------------- */

/* A false positive costs a page read, not a line, so a rate below one in a million is not worth its
 * memory. The levels of a filter share its rate, and with a much lower one it could not grow. */
static const double best_rate = 1e-6;

static bool make_filter(confirm *c, uint64_t expected, double fpr) {
    uint64_t existing = c->file.whole ? (uint64_t)PER_PAGE << c->file.shape.bits : 0;
    bly_spec spec = bly_spec_for(BLY_SCALABLE, existing + (expected ? expected : FIRST_GUESS),
                                 fpr > best_rate ? fpr : best_rate);
    if (expected)
        spec.scalable.first_share = 0.8;
    bly_status status = bly_filter_create(&spec, &c->filter);
    return status == BLY_OK ||
           message_fail("cannot create a filter for %llu keys: %s",
                        (unsigned long long)spec.capacity, bly_strerror(status));
}

static bool make_tables(confirm *c) {
    c->batch = fingerprint_set_create(INPUT_BATCH, 0);
    c->waiting = fingerprint_set_create(DUE + INPUT_BATCH, 0);
    c->hot = calloc(HOT, sizeof *c->hot);
    c->list_room = DUE + INPUT_BATCH;
    c->list = malloc(c->list_room * sizeof *c->list);
    bool good = c->batch && c->waiting && c->hot && c->list;
    return good || message_fail("out of memory");
}

/* Adds at most INPUT_BATCH fingerprints to the filter; flags[i] = 1 if x[i] is new to it. */
static bly_status add_to_filter(confirm *c, const uint64_t *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        c->keys[i] = (bly_bytes){x + i, sizeof *x};
    return bly_filter_add_many(c->filter, c->keys, n, c->flags, NULL);
}

static bly_status add_from_file(void *ctx, const uint64_t *x, size_t n) {
    bly_status status = BLY_OK;
    for (size_t i = 0; i < n && status == BLY_OK; i += INPUT_BATCH)
        status = add_to_filter(ctx, x + i, n - i < INPUT_BATCH ? n - i : INPUT_BATCH);
    return status;
}

/* Adds all fingerprints of the file to the filter, or creates the file. */
static bool fill_filter(confirm *c) {
    static const uint64_t zero = 0;
    if (!c->file.whole)
        return pages_replace(&c->file, c->file.shape, 0, NULL, NULL);
    if (!pages_scan(&c->file, add_from_file, c))
        return false;
    return message_ok(c->file.path, c->file.shape.zero ? add_to_filter(c, &zero, 1) : BLY_OK);
}

confirm *confirm_open(const char *path, uint64_t expected, double fpr) {
    confirm *c = calloc(1, sizeof *c);
    if (!c) {
        (void)message_error("out of memory");
        return NULL;
    }
    c->file.fd = -1;
    if (!pages_open(&c->file, path) || !make_filter(c, expected, fpr) || !make_tables(c) ||
        !fill_filter(c) ||
        bly_hasher_init(&c->hasher, BLY_HASH_XXH3, c->file.shape.seed) != BLY_OK) {
        confirm_close(c);
        return NULL;
    }
    return c;
}

void confirm_close(confirm *c) {
    if (!c)
        return;
    pages_close(&c->file);
    bly_filter_destroy(c->filter);
    fingerprint_set_destroy(c->batch);
    fingerprint_set_destroy(c->waiting);
    free(c->hot);
    free(c->list);
    free(c);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static uint64_t *hot_entry(const confirm *c, uint64_t x) {
    return c->hot + x % HOT;
}

/* Whether x, for which the filter answers "seen", was added before. */
static bly_status look_up(confirm *c, uint64_t x, bool *seen) {
    *seen = (*hot_entry(c, x) == x && x != 0) || fingerprint_set_contains(c->waiting, x);
    if (*seen)
        return BLY_OK;
    c->lookups++;
    bly_status status = pages_has(&c->file, x, seen);
    if (status == BLY_OK && *seen)
        *hot_entry(c, x) = x;
    return status;
}

/* Reduces once[0..n) to the fingerprints that are new, and returns their number; flags[i] says
 * whether the filter answered "new". On failure, sets *status and returns SIZE_MAX. */
static size_t keep_new(confirm *c, size_t n, bly_status *status) {
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        if (n - i > AHEAD) {
            __builtin_prefetch(hot_entry(c, c->once[i + AHEAD]));
            fingerprint_set_prefetch(c->waiting, c->once[i + AHEAD]);
        }
        if (!c->flags[i])
            *status = look_up(c, c->once[i], &seen);
        if (*status != BLY_OK)
            return SIZE_MAX;
        c->once[left] = c->once[i];
        c->at[left] = c->at[i];
        c->flags[left] = c->flags[i];
        left += !seen;
    }
    return left;
}

bly_status confirm_add(confirm *c, const uint64_t *fingerprints, size_t n, uint8_t *fresh) {
    size_t distinct = 0;
    fingerprint_set_clear(c->batch);
    bly_status status = fingerprint_set_add(c->batch, fingerprints, n, fresh);
    if (status != BLY_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        c->once[distinct] = fingerprints[i];
        c->at[distinct] = i;
        distinct += fresh[i];
    }
    status = add_to_filter(c, c->once, distinct);
    if (status != BLY_OK)
        return status;
    size_t left = keep_new(c, distinct, &status);
    if (status == BLY_OK)
        status = fingerprint_set_add(c->waiting, c->once, left, NULL);
    if (status != BLY_OK)
        return status;
    memset(fresh, 0, n);
    for (size_t i = 0; i < left; i++) {
        fresh[c->at[i]] = 1;
        c->saved += !c->flags[i];
    }
    return BLY_OK;
}

/* ---- settling -------------------------------------------------------------------------------- */

bool confirm_is_due(const confirm *c) {
    return fingerprint_set_count(c->waiting) >= DUE;
}

static bool list_waiting(confirm *c, size_t n) {
    if (n > c->list_room) {
        uint64_t *more = realloc(c->list, n * sizeof *more);
        if (!more)
            return message_fail("out of memory");
        c->list = more;
        c->list_room = n;
    }
    (void)fingerprint_set_range(c->waiting, 0, UINT64_MAX, c->list, n);
    return true;
}

bool confirm_settle(confirm *c) {
    size_t n = (size_t)fingerprint_set_count(c->waiting), done;
    if (n == 0)
        return true;
    if (!list_waiting(c, n))
        return false;
    bool good = pages_insert(&c->file, c->list, n, &done);
    for (size_t i = 0; i < done; i++)
        *hot_entry(c, c->list[i]) = c->list[i];
    /* If the disk is full, the others stay in `waiting`, which had room for them before. */
    fingerprint_set_clear(c->waiting);
    return fingerprint_set_add(c->waiting, c->list + done, n - done, NULL) == BLY_OK && good;
}

/* ---- facts ----------------------------------------------------------------------------------- */

const bly_hasher *confirm_hasher(const confirm *c) {
    return &c->hasher;
}

uint64_t confirm_count(const confirm *c) {
    return c->file.count + fingerprint_set_count(c->waiting);
}

uint64_t confirm_bytes(const confirm *c) {
    bly_geometry g = bly_filter_geometry(c->filter);
    return sizeof *c + pages_bytes() - sizeof c->file + bly_plan_bytes(&g) +
           fingerprint_set_bytes(c->batch) + fingerprint_set_bytes(c->waiting) +
           HOT * sizeof *c->hot + c->list_room * sizeof *c->list;
}

uint64_t confirm_lookups(const confirm *c) {
    return c->lookups;
}

uint64_t confirm_saved(const confirm *c) {
    return c->saved;
}

/* ---- the state ------------------------------------------------------------------------------- */

typedef struct confirm_state {
    dedup_state base;
    confirm *confirm;
    bly_hash hashes[INPUT_BATCH];
    uint64_t fingerprints[INPUT_BATCH];
} confirm_state;

static confirm *confirm_of(const dedup_state *base) {
    return ((const confirm_state *)base)->confirm;
}

static bool open_confirm(dedup_state *base) {
    static const double usual_rate = 0.01; /* a false positive costs a page read, not a line */
    const state_request *r = &base->request;
    const uint64_t estimate = r->estimate < dedup_max_estimate ? r->estimate : dedup_max_estimate;
    if (!output_may_replace(r->confirm, true))
        return false;
    ((confirm_state *)base)->confirm =
        confirm_open(r->confirm, r->keys ? r->keys : estimate, r->rate != 0 ? r->rate : usual_rate);
    return confirm_of(base) != NULL;
}

static void close_confirm(dedup_state *base) {
    confirm_close(confirm_of(base));
}

static bool get_rule(dedup_state *base, bly_key_rule *rule, uint64_t *keys) {
    *rule = confirm_of(base)->file.shape.rule;
    *keys = confirm_count(confirm_of(base));
    return true;
}

static bool set_rule(dedup_state *base, bly_key_rule rule) {
    return pages_set_rule(&confirm_of(base)->file, rule);
}

static bool add(dedup_state *base, const bly_bytes *keys, size_t n, uint8_t *fresh) {
    confirm_state *s = (confirm_state *)base;
    const uint64_t before = confirm_count(s->confirm);
    bly_hash_keys(&s->confirm->hasher, keys, n, s->hashes);
    for (size_t i = 0; i < n; i++)
        s->fingerprints[i] = s->hashes[i].lo;
    const bly_status status = confirm_add(s->confirm, s->fingerprints, n, fresh);
    if (status == BLY_ENOMEM)
        return message_fail("out of memory");
    base->unique += confirm_count(s->confirm) - before;
    return message_ok(base->name, status);
}

static bool save_due(const dedup_state *base) {
    return confirm_is_due(confirm_of(base));
}

static bool save(dedup_state *base) {
    return confirm_settle(confirm_of(base));
}

static void get_facts(dedup_state *base, state_facts *out) {
    const confirm *c = confirm_of(base);
    out->method = "confirm";
    out->description = "filter, confirmed on disk";
    out->bytes = confirm_bytes(c);
    out->confirms = true;
    out->confirmed = c->saved;
    out->pages_read = c->lookups;
}

const state_ops state_confirm_ops = {
    .size = sizeof(confirm_state),
    .records_rule = true,
    .open = open_confirm,
    .close = close_confirm,
    .get_rule = get_rule,
    .set_rule = set_rule,
    .add = add,
    .save_due = save_due,
    .save = save,
    .get_facts = get_facts,
};
