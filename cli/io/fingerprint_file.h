/* fingerprint_file.h - a set of 64-bit fingerprints in a file, in which one short read finds any of
 * them. state_exact.c saves such files, and state_confirm.c works on them.
 *
 *   page 0       the header, little-endian: "BLYFPS01", u32 version = 1, u32 b, u64 seed,
 *                u64 flags, 24 bytes of 0, u64 checksum of these 56 bytes (xxh3, seed 0);
 *                the rest is 0
 *   page 1 + p   for p in 0 .. 2^b - 1: 512 slots of u64, little-endian, 0 where empty
 *
 *   flags        bit 0: fingerprint 0 is in the set; bits 8 to 12: the key rule (bly_key_rule)
 *
 * All pages have 4096 bytes. The highest b bits of a fingerprint choose its page, and the next 9
 * bits its slot; if that is taken, the fingerprint is in the first free slot after it (the first
 * slot follows the last). There are no overflow pages: when a page is full, the whole file is
 * rewritten with twice as many pages, and each page is split in two. An empty file is an empty set.
 *
 * Fingerprints never move or vanish while a page is in use: writing a page only fills empty slots.
 * So a page that was written in part still has all of its earlier fingerprints, whichever part was
 * written.
 */
#ifndef BLOOMERY_CLI_FINGERPRINT_FILE_H
#define BLOOMERY_CLI_FINGERPRINT_FILE_H

#include <bloomery/bloomery.h>

enum { PAGES_SLOTS = 512 };

typedef struct pages_shape {
    unsigned bits; /* b: the file has 2^b pages */
    uint64_t seed; /* seed of the hash function that makes the fingerprints */
    bool zero;     /* fingerprint 0 is in the set */
    bly_key_rule rule;
} pages_shape;

typedef struct pages {
    char *path;
    int fd;
    bool made;  /* created by pages_open */
    bool whole; /* the file has a header; false: it is still empty */
    pages_shape shape;
    uint64_t count;   /* fingerprints, valid after pages_scan */
    uint64_t *window; /* consecutive pages that are read or written */
} pages;

/* Whether the file begins with the magic bytes. */
bool pages_recognise(const char *path);

/* Opens the file, or creates an empty one, and locks it for this process. Checks the header and the
 * length. If the file is empty, shape.seed is a new random one. On failure, reports the error and
 * returns false; then there is nothing to close. */
bool pages_open(pages *p, const char *path);

/* Opens the file for pages_read and pages_has only, without a lock: what another process adds
 * meanwhile may be visible or not. An empty or incomplete file is an error. On failure, reports the
 * error and returns false; then there is nothing to close. */
bool pages_open_read(pages *p, const char *path);
/* Reads the slots of one page, 0 where empty. On failure, reports the error and returns false. */
bool pages_read(const pages *p, uint64_t page, uint64_t slots[PAGES_SLOTS]);

/* Closes the file, and removes it if it was created but never written. */
void pages_close(pages *p);

uint64_t pages_bytes(void); /* the memory that an open file needs */

/* Records the rule in the file. If the file is empty, the rule is written when the header is first
 * written. On failure, reports the error and returns false. */
bool pages_set_rule(pages *p, bly_key_rule rule);

/* Visits all fingerprints but 0, many per call, in any order within a page. Checks that each is in
 * its page, and counts them. `visit` may be NULL; it returns BLY_OK to continue. On failure,
 * reports the error and returns false. */
typedef bly_status (*pages_visit)(void *ctx, const uint64_t *fingerprints, size_t n);
bool pages_scan(pages *p, pages_visit visit, void *ctx);

/* Looks up a fingerprint in the file. Returns BLY_EIO if the file cannot be read; see errno. */
BLY_CHECKED bly_status pages_has(const pages *p, uint64_t fingerprint, bool *found);

/* Adds fingerprints, in strictly ascending order, to the file, which must not be empty; rewrites
 * the file if a page is full. On failure, reports the error and returns false; then the first *done
 * of them are in the file, and perhaps some others. */
bool pages_insert(pages *p, const uint64_t *fingerprints, size_t n, size_t *done);

/* Replaces the file by one with about `count` fingerprints. `fill` supplies them (NULL: none), one
 * range after another: it writes those from `first` to `last`, except 0, to `out`, at most `room`,
 * and returns how many there are, or PAGES_FAILED after it has reported an error. shape.bits is the
 * smallest b that may be used. The new file appears only when it is complete. On failure, reports
 * the error and returns false; the file is then unchanged. */
#define PAGES_FAILED SIZE_MAX
typedef size_t (*pages_fill)(void *ctx, uint64_t first, uint64_t last, uint64_t *out, size_t room);
bool pages_replace(pages *p, pages_shape shape, uint64_t count, pages_fill fill, void *ctx);

#endif
