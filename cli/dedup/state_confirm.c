/* state_confirm.c - a state that is a filter which is never believed when it says "seen".
 *
 * The idea. A Bloom filter errs on one side only: "new" is always true, "seen" nearly always. A
 * crawler that trusts "seen" loses a page now and then, for good. Here every "seen" is checked
 * against the fingerprints themselves. Those lie on disk, for they take eight bytes a key and the
 * filter one or two; and since most new keys are told by the filter alone, the disk is asked about
 * repeats and the filter's few errors (confirm_saved counts them) only. A higher rate of errors
 * costs reads, never an answer: that is why the filter may be small, and why it may be overfull.
 *
 * What happens to a fingerprint:
 *
 *   batch     again within one call: a repeat
 *   filter    "new": it is new.  "seen": asked further
 *   hot       a cache of 2^19 that are known to be in the file, one possible place each: a repeat
 *   waiting   the set of those that are not yet in the file: a repeat
 *   file      one read of 256 bytes from its page (pages.h): a repeat, or it was new after all
 *
 * What is new joins `waiting`. When 2^18 wait, the caller flushes its output and calls
 * confirm_settle: they are sorted, so that the file is gone through from front to back, pages near
 * each other in one read and one write. When a page is full the whole file is written anew with
 * twice as many pages; all the doublings of a growing file together write less than twice its final
 * length.
 *
 * What a kill can do. Fingerprints get into the file by confirm_settle alone, after their lines
 * were handed on. So whatever the moment of a kill, no line is lost: the file knows only lines that
 * were printed. Lines that were printed and not settled are printed again when the same input comes
 * again. And the file always opens: doubling makes another file and renames it when it is whole
 * (a kill may leave the unfinished one, ".NAME.xxxxxx.tmp", which can be removed); settling in
 * place only fills empty slots, and no page depends on another. So after a write that stopped half
 * way, or of which a power failure let only some sectors reach the disk, each slot holds what it
 * held or what was to be put there, and each fingerprint lies in its page: all that was there
 * before is found, some of the new ones may not be, and count as lines to be printed again. After a
 * power failure the file may know lines that were handed to the system and never reached the disk:
 * who needs more must sync the output before settling.
 *
 * Two processes cannot use one file: it is locked (flock), and so is its successor before the
 * rename. Who opened the old one meanwhile finds that the name now means another file, and begins
 * again. Nobody can aim keys at one page or one slot, for the seed of the hash is random.
 *
 * Measured, 10 million fingerprints, half of them repeats, in batches of 4096, number not known
 * before, filter at 1% (one core of a virtual x86-64 server where a system call takes 0.7 us; file
 * in the page cache): when a repeat may be of any earlier one, about 4 s of processor time for 3.2
 * million reads of the file; when 40% of them are of the newest 100,000 and the others follow
 * Zipf's law, about 2 s for 0.9 million. 0.6 s of either is settling. 9,000 new keys would have
 * been lost. 24 MB of memory (17 MB when the number is known), 64 MiB of file; opening it again
 * takes 0.1 s.
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
    DUE = 1 << 18,         /* fingerprints that wait before it is time to settle */
    HOT = 1 << 19,         /* entries of the cache of confirmed fingerprints */
    FIRST_GUESS = 1 << 20, /* keys, when nobody knows how many will come */
    AHEAD = 16,            /* keys whose memory is requested before it is needed */
    PER_PAGE = 320         /* fingerprints that a page has, about */
};

struct confirm {
    pages file;
    bly_hasher hasher;
    bly_filter *filter;
    fingerprint_set *batch; /* of the call that is going on: a repeat within it is known at once */
    fingerprint_set *waiting; /* not yet in the file */
    uint64_t *hot;            /* surely in the file; 0: nothing */
    uint64_t *list;           /* the waiting ones in order */
    size_t list_room;
    uint64_t lookups, saved;
    /* The distinct fingerprints of a call. */
    uint64_t once[INPUT_BATCH];
    size_t at[INPUT_BATCH]; /* where in the call */
    bly_bytes keys[INPUT_BATCH];
    uint8_t flags[INPUT_BATCH];
};

/* ---- opening --------------------------------------------------------------------------------- */

/* A false positive of the filter costs a page read, not a line. One in a million is not worth more
 * memory; and the levels of a filter share its rate, so a much lower one would stop it from
 * growing. */
static const double best_rate = 1e-6;

static bool make_filter(confirm *c, uint64_t expected, double fpr) {
    uint64_t there = c->file.whole ? (uint64_t)PER_PAGE << c->file.shape.bits : 0;
    bly_spec spec = bly_spec_for(BLY_SCALABLE, there + (expected ? expected : FIRST_GUESS),
                                 fpr > best_rate ? fpr : best_rate);
    if (expected)
        spec.scalable.first_share = 0.8;
    bly_status status = bly_filter_create(&spec, &c->filter);
    if (status != BLY_OK)
        (void)message_error("cannot create a filter for %llu keys: %s",
                            (unsigned long long)spec.capacity, bly_strerror(status));
    return status == BLY_OK;
}

static bool make_tables(confirm *c) {
    c->batch = fingerprint_set_create(INPUT_BATCH, 0);
    c->waiting = fingerprint_set_create(DUE + INPUT_BATCH, 0);
    c->hot = calloc(HOT, sizeof *c->hot);
    c->list_room = DUE + INPUT_BATCH;
    c->list = malloc(c->list_room * sizeof *c->list);
    bool good = c->batch && c->waiting && c->hot && c->list;
    if (!good)
        (void)message_error("out of memory");
    return good;
}

/* Fingerprints as keys of the filter, at most INPUT_BATCH; which of them are new to it in flags. */
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

/* The filter must know all that the file has. */
static bool take_in(confirm *c) {
    static const uint64_t zero = 0;
    if (!c->file.whole)
        return pages_replace(&c->file, c->file.shape, 0, NULL, NULL);
    if (!pages_scan(&c->file, add_from_file, c))
        return false;
    bly_status status = c->file.shape.zero ? add_to_filter(c, &zero, 1) : BLY_OK;
    if (status != BLY_OK)
        (void)message_status(c->file.path, status);
    return status == BLY_OK;
}

confirm *confirm_open(const char *path, uint64_t expected, double fpr) {
    confirm *c = calloc(1, sizeof *c);
    if (!c) {
        (void)message_error("out of memory");
        return NULL;
    }
    c->file.fd = -1;
    if (!pages_open(&c->file, path) || !make_filter(c, expected, fpr) || !make_tables(c) ||
        !take_in(c) || bly_hasher_init(&c->hasher, BLY_HASH_XXH3, c->file.shape.seed) != BLY_OK) {
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

/* Whether x, which the filter takes for seen, was seen. */
static bly_status look(confirm *c, uint64_t x, bool *seen) {
    *seen = (*hot_entry(c, x) == x && x != 0) || fingerprint_set_contains(c->waiting, x);
    if (*seen)
        return BLY_OK;
    c->lookups++;
    bly_status status = pages_has(&c->file, x, seen);
    if (status == BLY_OK && *seen)
        *hot_entry(c, x) = x;
    return status;
}

/* Leaves of once[0..n) those that are new, and returns how many; flags[i] says of each whether the
 * filter knew, too. SIZE_MAX: *status. */
static size_t sift(confirm *c, size_t n, bly_status *status) {
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        if (n - i > AHEAD) {
            __builtin_prefetch(hot_entry(c, c->once[i + AHEAD]));
            fingerprint_set_prefetch(c->waiting, c->once[i + AHEAD]);
        }
        if (!c->flags[i])
            *status = look(c, c->once[i], &seen);
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
    size_t left = sift(c, distinct, &status);
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
        if (!more) {
            (void)message_error("out of memory");
            return false;
        }
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
    /* What is left, when the disk was full, goes on waiting: there is room, as there was before. */
    fingerprint_set_clear(c->waiting);
    return fingerprint_set_add(c->waiting, c->list + done, n - done, NULL) == BLY_OK && good;
}

/* ---- what is known --------------------------------------------------------------------------- */

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
    static const double usual_rate = 0.01; /* an error costs a page read, not a line */
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
        (void)message_error("out of memory");
    else if (status != BLY_OK)
        (void)message_status("the file of --confirm", status);
    base->unique += confirm_count(s->confirm) - before;
    return status == BLY_OK;
}

static bool add_mark(dedup_state *base, bly_bytes mark, bool *known) {
    uint8_t fresh = 0;
    const bool good = add(base, &mark, 1, &fresh);
    *known = !fresh;
    base->unique = 0;
    return good;
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
    .add_mark = add_mark,
    .add = add,
    .save_due = save_due,
    .save = save,
    .get_facts = get_facts,
};
