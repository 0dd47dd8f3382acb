/* fingerprint_file.h - a set of 64-bit fingerprints in a file, where each is found by one short
 * read. `dedup --exact` saves its set as one, and `dedup --confirm` works on one.
 *
 *   page 0        the header, little-endian: "BLYFPS01", u32 version = 1, u32 b, u64 seed, u64
 *                 flags (bit 0: fingerprint 0 is in the set; bits 8 to 12: what the fingerprints
 *                 are of, a bly_key_rule), 24 bytes of 0, u64 checksum of these 56 bytes (xxh3,
 *                 seed 0); the rest is 0
 *   page 1 + p    for p in 0 .. 2^b - 1: 512 slots of u64, little-endian, 0 where empty
 *
 * All pages have 4096 bytes. A fingerprint lies in the page that its highest b bits name; within
 * the page in the slot that its next 9 bits name or, when that is taken, in the first free one
 * after it (after the last slot comes the first). There are no other pages: when one cannot take
 * any more, the whole file is written anew with twice as many, and each page splits in two. An
 * empty file is an empty set.
 *
 * Fingerprints never move or vanish while a page is in use: writing a page only fills slots that
 * were empty. So a page that was written in part, whichever part, still has all that it had before.
 */
#ifndef BLOOMERY_CLI_FINGERPRINT_FILE_H
#define BLOOMERY_CLI_FINGERPRINT_FILE_H

#include <bloomery/bloomery.h>

enum { PAGES_SLOTS = 512 };

typedef struct pages_shape {
    unsigned bits; /* b */
    uint64_t seed; /* of the hash that makes the fingerprints */
    bool zero;     /* fingerprint 0 is in the set */
    bly_key_rule rule;
} pages_shape;

typedef struct pages {
    char *path;
    int fd;
    bool made;  /* by pages_open: there was no file before */
    bool whole; /* false: the file is still empty */
    pages_shape shape;
    uint64_t count;   /* fingerprints, once they have been counted by pages_scan */
    uint64_t *window; /* some consecutive pages on their way in or out */
} pages;

/* Whether the file begins as one of these does. */
bool pages_recognise(const char *path);

/* Opens the file, or creates an empty one, and locks it: one process at a time. The header and the
 * length are checked. When the file is empty, shape.seed is a new one, chosen at random. false: a
 * message has been printed, and there is nothing to close. */
bool pages_open(pages *p, const char *path);

/* Opens the file to be read by pages_read and pages_has alone, without a lock: what another process
 * adds meanwhile may be seen or not. An empty file, like any other that is not whole, is an error.
 * false: a message has been printed, and there is nothing to close. */
bool pages_open_read(pages *p, const char *path);
/* The slots of one page, 0 where empty. false: a message has been printed. */
bool pages_read(const pages *p, uint64_t page, uint64_t slots[PAGES_SLOTS]);

/* Closes, and removes a file that was made and never written. */
void pages_close(pages *p);

uint64_t pages_bytes(void); /* of memory that an open one needs */

/* Records another rule in the file, if it is whole; else it is recorded when the file is written.
 * false: a message has been printed. */
bool pages_set_rule(pages *p, bly_key_rule rule);

/* Goes through all fingerprints but 0, many at a time and in no special order within a page; checks
 * that each lies in its page, and counts them. `visit` may be NULL; it returns BLY_OK to go on.
 * false: a message has been printed. */
typedef bly_status (*pages_visit)(void *ctx, const uint64_t *fingerprints, size_t n);
bool pages_scan(pages *p, pages_visit visit, void *ctx);

/* Whether the set in the file has it. BLY_EIO (errno). */
BLY_CHECKED bly_status pages_has(const pages *p, uint64_t fingerprint, bool *found);

/* Adds fingerprints, which ascend strictly, to the file, which must be whole; it is written anew
 * when it must be. false: a message has been printed; the first *done of them are in the file, and
 * perhaps some others. */
bool pages_insert(pages *p, const uint64_t *fingerprints, size_t n, size_t *done);

/* Replaces the file by one of about `count` fingerprints, which `fill` tells (NULL: there are
 * none): it is asked for one range after the other, puts those from `first` to `last`, but never 0,
 * into `out`, at most `room`, and returns how many there are, or PAGES_FAILED when that cannot be
 * known, of which a message has been printed. The bits of `shape` are the least that will be used.
 * The new file appears only when it is whole. false: a message has been printed, and the file is as
 * it was. */
#define PAGES_FAILED SIZE_MAX
typedef size_t (*pages_fill)(void *ctx, uint64_t first, uint64_t last, uint64_t *out, size_t room);
bool pages_replace(pages *p, pages_shape shape, uint64_t count, pages_fill fill, void *ctx);

#endif
