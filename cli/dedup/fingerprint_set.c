/* fingerprint_set.c - a table of slots, one fingerprint each, 0 where empty (fingerprint 0 has a
 * flag of its own). A fingerprint belongs into slot
 *
 *     home(x) = floor(x / 2^32) * slots / 2^32
 *
 * or, when that is taken, into the first free one after it: linear probing. Fingerprints are hashes
 * already, so nothing is hashed here. At most 70% of the slots are taken: a new fingerprint then
 * looks at six slots on average, a known one at two, nearly always in one cache line or in the one
 * after it, which the processor fetches along. What a batch needs is requested 16 ahead.
 *
 * home grows with x, so the table is nearly sorted. Three things follow:
 *  - Any number of slots will do, so a limit of memory can be used up to its end.
 *  - Growing reads the old table and fills the new one from front to back. What has been read is
 *    given back at once, so that growing never takes more memory than the new table.
 *  - All fingerprints of a range lie in one piece of the table; sorting it takes hardly more than
 *    reading it. That is how a page of the file (fingerprint_file.h) is put together.
 * And one trap: to add sorted fingerprints to a table too small for all of them crowds them at its
 * front, and takes quadratic time. Who reads them from a file counts them before the table is
 * created.
 *
 * 10 million adds, half of them new and the rest repeats of any earlier one, in batches of 4096:
 * 0.3 s of processor time and 64 MiB, or 0.2 s and 55 MiB when the number was told before (one core
 * of a virtual x86-64 server).
 */
#include "dedup/fingerprint_set.h"

#include "io/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    AHEAD = 16,           /* slots requested before they are needed */
    FEWEST_SLOTS = 64,    /* a limit below this is none */
    FIRST_SLOTS = 1 << 14 /* when nothing is known */
};
static const uint64_t huge_page = (uint64_t)1 << 21; /* and the piece that growing gives back */

struct fingerprint_set {
    uint64_t *slots;
    uint64_t slot_count, count; /* count: without fingerprint 0 */
    void *mapped;               /* what the slots lie in */
    size_t mapped_bytes;
    uint64_t most_slots;
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

/* Empty slots, on a border of huge pages when they fill one. */
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

/* Where x is, or the free slot where it belongs. */
static inline uint64_t *find(const fingerprint_set *e, uint64_t x) {
    uint64_t i = home_of(e, x);
    while (e->slots[i] != 0 && e->slots[i] != x)
        i = i + 1 == e->slot_count ? 0 : i + 1;
    return e->slots + i;
}

static uint64_t room_of(uint64_t slot_count) {
    return slot_count / 10 * 7 + slot_count % 10 * 7 / 10;
}

/* The fewest slots for that many fingerprints. */
static uint64_t slots_for(uint64_t count) {
    return count / 7 * 10 + (count % 7 * 10 + 6) / 7;
}

/* ---- growing --------------------------------------------------------------------------------- */

/* Gives back what lies before `at`. */
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
    if (least > e->most_slots)
        return BLY_EFULL;
    return grow(e, wanted < e->most_slots ? wanted : e->most_slots);
}

/* ---- the set --------------------------------------------------------------------------------- */

fingerprint_set *fingerprint_set_create(uint64_t expected, uint64_t most_bytes) {
    uint64_t most = UINT64_MAX, slots = FIRST_SLOTS;
    if (most_bytes)
        most = most_bytes > sizeof(fingerprint_set)
                   ? (most_bytes - sizeof(fingerprint_set)) / sizeof(uint64_t)
                   : 0;
    if (expected > UINT64_MAX / 16 || most < FEWEST_SLOTS || slots_for(expected) > most)
        return NULL;
    /* A batch that comes last must not make it grow. */
    if (expected)
        slots = slots_for(expected + INPUT_BATCH);
    fingerprint_set *e = malloc(sizeof *e);
    if (!e)
        return NULL;
    *e = (fingerprint_set){.most_slots = most};
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
            *slot = x; /* even if it is there: cheaper than to ask */
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

/* Puts x where it belongs in the sorted out[0..n). */
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
    /* From the first home to the last, and on to the next free slot; but nothing twice. */
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
