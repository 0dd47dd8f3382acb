/* fingerprint_set.c - a hash table with linear probing: one fingerprint per slot, 0 if empty
 * (fingerprint 0 has a flag of its own). A fingerprint is in slot
 *
 *     home(x) = floor(x / 2^32) * slots / 2^32
 *
 * or, if that is taken, in the first free slot after it. Fingerprints are hashes, so nothing is
 * hashed here. At most 70% of the slots are used. An add of a new fingerprint then probes six slots
 * on average, and that of a known one two, nearly always in one cache line or the next, which the
 * processor prefetches. Slots of a batch are prefetched 16 fingerprints ahead.
 *
 * home is monotonic in x, so the table is nearly sorted. Three things follow:
 *  - Any number of slots is possible, so a memory limit can be used completely.
 *  - Growing reads the old table and fills the new one from front to back. Memory that was read is
 *    unmapped at once, so growing takes hardly more memory than the new table.
 *  - The fingerprints of a range are adjacent, and sorting them takes hardly more time than reading
 *    them. The pages of the file (fingerprint_file.h) are made like this.
 * There is one trap: sorted fingerprints that are added to a table too small for all of them crowd
 * at its front, which takes quadratic time. So those of a file are counted before the table is
 * created.
 *
 * 10 million adds, half of them new and the rest repeats of any earlier one, in batches of 4096:
 * 0.3 s of processor time and 64 MiB, or 0.2 s and 55 MiB if the number was known in advance (one
 * core of a virtual x86-64 server).
 */
#include "dedup/fingerprint_set.h"

#include "io/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    AHEAD = 16,           /* prefetch distance in fingerprints */
    MIN_SLOTS = 64,       /* a limit for fewer slots is refused */
    FIRST_SLOTS = 1 << 14 /* if the number of fingerprints is unknown */
};
static const uint64_t huge_page = (uint64_t)1 << 21; /* growing unmaps pieces of this size, too */

struct fingerprint_set {
    uint64_t *slots;
    uint64_t slot_count, count; /* count: without fingerprint 0 */
    void *mapped;               /* the mapping that contains the slots */
    size_t mapped_bytes;
    uint64_t max_slots;
    bool zero;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static void advise_huge(void *at, uint64_t bytes) {
#ifdef MADV_HUGEPAGE
    (void)madvise(at, (size_t)(bytes - bytes % huge_page), MADV_HUGEPAGE);
#else
    (void)at, (void)bytes;
#endif
}

/* Maps empty slots, aligned to huge pages if they fill one. */
static bool map_slots(fingerprint_set *e, uint64_t slot_count) {
    const uint64_t most = SIZE_MAX / sizeof *e->slots / 2;
    uint64_t bytes = slot_count * sizeof *e->slots;
    if (slot_count > most)
        return false;
    e->mapped_bytes = (size_t)(bytes >= huge_page ? bytes + huge_page : bytes);
    e->mapped =
        mmap(NULL, e->mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (e->mapped == MAP_FAILED)
        return false;
    char *at = e->mapped;
    if (bytes >= huge_page) {
        at += (huge_page - (uintptr_t)at % huge_page) % huge_page;
        advise_huge(at, bytes);
    }
    e->slots = (uint64_t *)(void *)at;
    e->slot_count = slot_count;
    return true;
}

/* ---- slots ----------------------------------------------------------------------------------- */

static inline uint64_t home_of(const fingerprint_set *e, uint64_t x) {
    uint64_t high = x >> 32;
    return high * (e->slot_count >> 32) + (high * (e->slot_count & UINT32_MAX) >> 32);
}

/* The slot of x, or the free slot where it should be. */
static inline uint64_t *find(const fingerprint_set *e, uint64_t x) {
    uint64_t i = home_of(e, x);
    while (e->slots[i] != 0 && e->slots[i] != x)
        i = i + 1 == e->slot_count ? 0 : i + 1;
    return e->slots + i;
}

static uint64_t room_of(uint64_t slot_count) {
    return slot_count / 10 * 7 + slot_count % 10 * 7 / 10;
}

/* The smallest number of slots for this number of fingerprints. */
static uint64_t slots_for(uint64_t count) {
    return count / 7 * 10 + (count % 7 * 10 + 6) / 7;
}

/* ---- growing --------------------------------------------------------------------------------- */

/* Unmaps everything before `at`. */
static void release(fingerprint_set *e, const uint64_t *at) {
    size_t bytes = (size_t)((const char *)at - (const char *)e->mapped);
    if (bytes == 0 || munmap(e->mapped, bytes) != 0)
        return;
    e->mapped = (char *)e->mapped + bytes;
    e->mapped_bytes -= bytes;
}

static bly_status grow(fingerprint_set *e, uint64_t slot_count) {
    const uint64_t piece = huge_page / sizeof *e->slots;
    fingerprint_set old = *e;
    if (!map_slots(e, slot_count)) {
        *e = old;
        return BLY_ENOMEM;
    }
    for (uint64_t i = 0; i < old.slot_count; i++) {
        if (i % piece == 0 && i > 0)
            release(&old, old.slots + i);
        if (old.slots[i] != 0)
            *find(e, old.slots[i]) = old.slots[i];
    }
    (void)munmap(old.mapped, old.mapped_bytes);
    return BLY_OK;
}

static uint64_t count_missing(const fingerprint_set *e, const uint64_t *x, size_t n) {
    uint64_t missing = 0;
    for (size_t i = 0; i < n; i++)
        missing += !fingerprint_set_contains(e, x[i]);
    return missing;
}

/* Makes sure that all of x[0..n) can be added. */
static bly_status reserve(fingerprint_set *e, const uint64_t *x, size_t n) {
    if (n <= room_of(e->slot_count) - e->count)
        return BLY_OK;
    uint64_t missing = count_missing(e, x, n);
    if (missing <= room_of(e->slot_count) - e->count)
        return BLY_OK;
    uint64_t least = slots_for(e->count + missing);
    uint64_t wanted = 2 * e->slot_count > least ? 2 * e->slot_count : least;
    if (least > e->max_slots)
        return BLY_EFULL;
    return grow(e, wanted < e->max_slots ? wanted : e->max_slots);
}

/* ---- the set --------------------------------------------------------------------------------- */

fingerprint_set *fingerprint_set_create(uint64_t expected, uint64_t max_bytes) {
    uint64_t most = UINT64_MAX, slots = FIRST_SLOTS;
    if (max_bytes)
        most = max_bytes > sizeof(fingerprint_set)
                   ? (max_bytes - sizeof(fingerprint_set)) / sizeof(uint64_t)
                   : 0;
    if (expected > UINT64_MAX / 16 || most < MIN_SLOTS || slots_for(expected) > most)
        return NULL;
    /* The last batch must not make the table grow. */
    if (expected)
        slots = slots_for(expected + INPUT_BATCH);
    fingerprint_set *e = malloc(sizeof *e);
    if (!e)
        return NULL;
    *e = (fingerprint_set){.max_slots = most};
    if (!map_slots(e, slots < most ? slots : most)) {
        free(e);
        return NULL;
    }
    return e;
}

void fingerprint_set_destroy(fingerprint_set *e) {
    if (!e)
        return;
    (void)munmap(e->mapped, e->mapped_bytes);
    free(e);
}

bly_status fingerprint_set_add(fingerprint_set *e, const uint64_t *fingerprints, size_t n,
                               uint8_t *fresh) {
    bly_status status = reserve(e, fingerprints, n);
    if (status != BLY_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = fingerprints[i];
        if (n - i > AHEAD)
            fingerprint_set_prefetch(e, fingerprints[i + AHEAD]);
        bool is_new;
        if (x != 0) {
            uint64_t *slot = find(e, x);
            is_new = *slot == 0;
            *slot = x; /* always stored, because a branch would cost more */
            e->count += is_new;
        } else {
            is_new = !e->zero;
            e->zero = true;
        }
        if (fresh)
            fresh[i] = is_new;
    }
    return BLY_OK;
}

bool fingerprint_set_contains(const fingerprint_set *e, uint64_t fingerprint) {
    return fingerprint == 0 ? e->zero : *find(e, fingerprint) != 0;
}

void fingerprint_set_prefetch(const fingerprint_set *e, uint64_t fingerprint) {
    __builtin_prefetch(e->slots + home_of(e, fingerprint), 1);
}

void fingerprint_set_clear(fingerprint_set *e) {
    memset(e->slots, 0, (size_t)(e->slot_count * sizeof *e->slots));
    e->count = 0;
    e->zero = false;
}

uint64_t fingerprint_set_count(const fingerprint_set *e) {
    return e->count + e->zero;
}

uint64_t fingerprint_set_bytes(const fingerprint_set *e) {
    return sizeof *e + e->slot_count * sizeof *e->slots;
}

/* Inserts x into the sorted out[0..n). */
static void insert_sorted(uint64_t *out, size_t n, uint64_t x) {
    for (; n > 0 && out[n - 1] > x; n--)
        out[n] = out[n - 1];
    out[n] = x;
}

size_t fingerprint_set_range(const fingerprint_set *e, uint64_t first, uint64_t last, uint64_t *out,
                             size_t room) {
    uint64_t at = home_of(e, first), homes = home_of(e, last) - at + 1;
    size_t n = 0;
    if (first == 0 && e->zero && n++ < room)
        out[0] = 0;
    /* From the first home to the last, then to the next free slot, at most once around. */
    for (uint64_t seen = 0; seen < e->slot_count; seen++) {
        uint64_t x = e->slots[at];
        if (x == 0 && seen >= homes)
            break;
        if (x != 0 && first <= x && x <= last && n++ < room)
            insert_sorted(out, n - 1, x);
        at = at + 1 == e->slot_count ? 0 : at + 1;
    }
    return n;
}
