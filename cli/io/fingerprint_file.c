/* fingerprint_file.c - one file format: its header and its pages, and how they are read, written
 * and enlarged. */
#include "io/fingerprint_file.h"

#include "io/lock.h"
#include "io/output.h"
#include "text/message.h"

#include <bloomery/host/describe.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,
    SLOT_BITS = 9,   /* 2^9 = PAGES_SLOTS */
    MAX_BITS = 40,   /* log2 of the largest number of pages */
    MEAN_LOAD = 384, /* the most fingerprints per page on average; so few that no page overflows by
                        chance, however many pages there are */
    SPARE_BITS = 2,  /* the bits that a file may have in addition to those that MEAN_LOAD needs */
    WINDOW = 64,     /* pages read or written at once */
    NEAR = 4,        /* pages this close are read and written together with those between them */
    PROBE = 32,      /* slots read at once in a lookup */
    OPEN_TRIES = 100 /* attempts to open a file that is repeatedly replaced */
};

uint64_t pages_bytes(void) {
    return sizeof(pages) + (uint64_t)WINDOW * PAGE_BYTES;
}

/* ---- where a fingerprint lies ---------------------------------------------------------------- */

static uint64_t page_of(uint64_t x, unsigned bits) {
    return bits ? x >> (64 - bits) : 0;
}

static uint64_t first_of(uint64_t page, unsigned bits) {
    return bits ? page << (64 - bits) : 0;
}

static off_t offset_of(uint64_t page) {
    return (off_t)((page + 1) * PAGE_BYTES);
}

static size_t home_of(uint64_t x, unsigned bits) {
    return (size_t)(x << bits >> (64 - SLOT_BITS));
}

static uint64_t pages_of(const pages *p) {
    return p->whole ? (uint64_t)1 << p->shape.bits : 0;
}

/* Converts a number to the byte order of the file, or back. On little-endian machines the compiler
 * removes the conversion. */
static uint64_t little(uint64_t x) {
    uint8_t b[8];
    uint64_t out;
    for (int i = 0; i < 8; i++)
        b[i] = (uint8_t)(x >> 8 * i);
    memcpy(&out, b, sizeof out);
    return out;
}

typedef enum put_result { PUT, PUT_THERE, PUT_FULL } put_result;

/* Adds x to a page in the byte order of the file. */
static put_result page_put(uint64_t page[PAGES_SLOTS], uint64_t x, unsigned bits) {
    size_t home = home_of(x, bits);
    x = little(x);
    for (size_t i = 0; i < PAGES_SLOTS; i++) {
        uint64_t *slot = page + (home + i) % PAGES_SLOTS;
        if (*slot == x)
            return PUT_THERE;
        if (*slot == 0) {
            *slot = x;
            return PUT;
        }
    }
    return PUT_FULL;
}

/* ---- reading and writing --------------------------------------------------------------------- */

typedef enum direction { READ, WRITE } direction;

static bool transfer(direction way, int fd, void *data, size_t size, off_t at) {
    char *next = data;
    while (size > 0) {
        const ssize_t n = way == READ ? pread(fd, next, size, at) : pwrite(fd, next, size, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = way == READ ? EIO : ENOSPC; /* EIO: another process has shortened the file */
        if (n <= 0)
            return false;
        next += n;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Reads n pages to the window, or writes them from there. */
static bool transfer_window(direction way, const pages *p, uint64_t page, size_t n) {
    return transfer(way, p->fd, p->window, n * PAGE_BYTES, offset_of(page)) ||
           message_fail_errno(p->path);
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Everything that changes is in the first 64 bytes, which a disk writes atomically. */
enum { HEAD_BYTES = 64, SUMMED = 56, VERSION = 1, FLAG_ZERO = 1, RULE_SHIFT = 8, RULE_MASK = 31 };
static const char magic[8] = {'B', 'L', 'Y', 'F', 'P', 'S', '0', '1'};

static void put_word(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_word(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static bool sum_of(const uint8_t *head, uint64_t *sum) {
    bly_hasher hasher;
    if (bly_hasher_init(&hasher, BLY_HASH_XXH3, 0) != BLY_OK)
        return false;
    *sum = bly_hash_key(&hasher, head, SUMMED).lo;
    return true;
}

static bool encode(const pages_shape *shape, uint8_t page[PAGE_BYTES]) {
    uint64_t sum;
    memset(page, 0, PAGE_BYTES);
    memcpy(page, magic, sizeof magic);
    put_word(page + 8, VERSION, 4);
    put_word(page + 12, shape->bits, 4);
    put_word(page + 16, shape->seed, 8);
    put_word(page + 24, (shape->zero ? FLAG_ZERO : 0) | (uint64_t)shape->rule << RULE_SHIFT, 8);
    if (!sum_of(page, &sum))
        return false;
    put_word(page + SUMMED, sum, 8);
    return true;
}

/* Decodes the header. Returns BLY_EVERSION if it has a newer version than this program knows;
 * BLY_ECORRUPT if its checksum is wrong, or if any byte is not as this program would write it. */
static bly_status decode(const uint8_t page[PAGE_BYTES], pages_shape *shape) {
    uint8_t again[PAGE_BYTES];
    uint64_t sum;
    if (memcmp(page, magic, sizeof magic) != 0 || !sum_of(page, &sum) ||
        sum != get_word(page + SUMMED, 8))
        return BLY_ECORRUPT;
    if (get_word(page + 8, 4) > VERSION)
        return BLY_EVERSION;
    const uint64_t flags = get_word(page + 24, 8);
    *shape = (pages_shape){.bits = (unsigned)get_word(page + 12, 4),
                           .seed = get_word(page + 16, 8),
                           .zero = flags & FLAG_ZERO,
                           .rule = (bly_key_rule)(flags >> RULE_SHIFT & RULE_MASK)};
    if (shape->bits > MAX_BITS || !bly_key_rule_known((unsigned)shape->rule) ||
        !encode(shape, again) || memcmp(page, again, PAGE_BYTES) != 0)
        return BLY_ECORRUPT;
    return BLY_OK;
}

bool pages_recognise(const char *path) {
    char head[sizeof magic] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool ours = fd >= 0 && read(fd, head, sizeof head) == sizeof head &&
                memcmp(head, magic, sizeof magic) == 0;
    if (fd >= 0)
        (void)close(fd);
    return ours;
}

/* Reports that the file is damaged, and returns false. Advises to remove the file only if it
 * certainly is a fingerprint file. */
static bool say_damaged(const pages *p) {
    bly_file_info info = {.struct_size = sizeof info};
    if (bly_file_get_info(p->path, &info) == BLY_OK)
        return message_fail("%s: a filter that was created without --exact and --confirm; leave "
                            "out these options, or name another file",
                            p->path);
    if (pages_recognise(p->path))
        return message_fail("%s: damaged; remove it to start a new state", p->path);
    return message_fail("%s: not a fingerprint file; name another state", p->path);
}

static bool read_header(pages *p, uint64_t size) {
    uint8_t page[PAGE_BYTES];
    bly_status status = BLY_ECORRUPT;
    if (size >= PAGE_BYTES) {
        if (!transfer(READ, p->fd, page, sizeof page, 0))
            return message_fail_errno(p->path);
        status = decode(page, &p->shape);
    }
    if (status == BLY_EVERSION)
        return message_ok(p->path, status);
    if (status != BLY_OK || size != (uint64_t)offset_of((uint64_t)1 << p->shape.bits))
        return say_damaged(p);
    p->whole = true;
    return true;
}

/* Writes the header again, with a changed shape. */
static bool write_shape(pages *p, const pages_shape *shape) {
    uint8_t page[PAGE_BYTES];
    if (!encode(shape, page) || !transfer(WRITE, p->fd, page, HEAD_BYTES, 0))
        return message_fail_errno(p->path);
    p->shape = *shape;
    return true;
}

/* Records that fingerprint 0 is in the set. */
static bool write_zero(pages *p) {
    pages_shape shape = p->shape;
    shape.zero = true;
    if (!write_shape(p, &shape))
        return false;
    p->count++;
    return true;
}

bool pages_set_rule(pages *p, bly_key_rule rule) {
    pages_shape shape = p->shape;
    shape.rule = rule;
    if (p->whole && p->shape.rule != rule)
        return write_shape(p, &shape);
    p->shape = shape;
    return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void close_file(pages *p) {
    if (p->fd >= 0)
        (void)close(p->fd);
    p->fd = -1;
}

/* Opens the file, or creates it. It must be certain which of the two happened, because only a file
 * created here may be removed. */
static void open_or_make(pages *p) {
    /* O_NONBLOCK: a pipe must be refused, not waited for. */
    const int flags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    for (int try = 0; try < OPEN_TRIES; try++) {
        p->fd = open(p->path, flags);
        p->made = p->fd < 0 && errno == ENOENT;
        if (!p->made)
            return;
        p->fd = open(p->path, flags | O_CREAT | O_EXCL, 0666);
        if (p->fd >= 0 || errno != EEXIST)
            return; /* otherwise another process has just created it */
    }
}

/* Opens and locks the file that has the name at this moment. On failure, reports the error and
 * returns false. */
static bool open_once(pages *p, struct stat *st) {
    open_or_make(p);
    if (p->fd < 0 || fstat(p->fd, st) != 0)
        (void)message_errno(p->path);
    else if (!S_ISREG(st->st_mode))
        (void)message_error("%s: not a regular file", p->path);
    else if (flock(p->fd, LOCK_EX | LOCK_NB) == 0 && fstat(p->fd, st) == 0)
        return true;
    else if (errno == EWOULDBLOCK)
        (void)message_error(
            "%s: another process is using this file; try again when it has finished", p->path);
    else
        (void)message_errno(p->path);
    close_file(p);
    return false;
}

static bool open_locked(pages *p, struct stat *st) {
    for (int try = 0; try < OPEN_TRIES; try++) {
        if (!open_once(p, st))
            return false;
        /* If the file was replaced before it was locked, it is no longer the right one. */
        if (lock_still_named(p->path, p->fd))
            return true;
        close_file(p);
    }
    return message_fail("%s: another process is using this file; try again when it has finished",
                        p->path);
}

static bool choose_seed(pages *p) {
    uint8_t key[16];
    const bly_status status = bly_random_key(key);
    p->shape.seed = get_word(key, 8);
    return message_ok(p->path, status);
}

bool pages_open(pages *p, const char *path) {
    struct stat st;
    *p = (pages){.fd = -1, .path = strdup(path), .window = malloc((size_t)WINDOW * PAGE_BYTES)};
    const bool good = message_ok(path, p->path && p->window ? BLY_OK : BLY_ENOMEM) &&
                      open_locked(p, &st) &&
                      (st.st_size == 0 ? choose_seed(p) : read_header(p, (uint64_t)st.st_size));
    if (!good)
        pages_close(p);
    return good;
}

bool pages_open_read(pages *p, const char *path) {
    struct stat st;
    *p = (pages){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
                 .path = strdup(path)};
    const bool good =
        ((p->fd >= 0 && p->path && fstat(p->fd, &st) == 0) || message_fail_errno(path)) &&
        read_header(p, (uint64_t)st.st_size);
    if (!good)
        pages_close(p);
    return good;
}

bool pages_read(const pages *p, uint64_t page, uint64_t slots[PAGES_SLOTS]) {
    if (!transfer(READ, p->fd, slots, PAGE_BYTES, offset_of(page)))
        return message_fail_errno(p->path);
    for (size_t i = 0; i < PAGES_SLOTS; i++)
        slots[i] = little(slots[i]);
    return true;
}

void pages_close(pages *p) {
    /* Remove it while it is locked: a process that waits for the lock then sees that it is gone. */
    if (p->fd >= 0 && p->made && !p->whole)
        (void)unlink(p->path);
    close_file(p);
    free(p->path);
    free(p->window);
    *p = (pages){.fd = -1};
}

/* ---- lookups and scans ----------------------------------------------------------------------- */

/* Compacts the window to a list of its fingerprints. Returns false if one is in the wrong page. */
static bool list_window(pages *p, uint64_t page, size_t pages_read, size_t *found) {
    uint64_t *window = p->window;
    bool good = true;
    size_t n = 0;
    for (size_t i = 0; i < pages_read * PAGES_SLOTS; i++) {
        uint64_t x = little(window[i]);
        window[n] = x;
        n += x != 0;
        good &= x == 0 || page_of(x, p->shape.bits) == page + i / PAGES_SLOTS;
    }
    *found = n;
    return good;
}

bool pages_scan(pages *p, pages_visit visit, void *ctx) {
    uint64_t all = pages_of(p), count = p->shape.zero;
    for (uint64_t page = 0; page < all; page += WINDOW) {
        size_t n = all - page < WINDOW ? (size_t)(all - page) : WINDOW, found;
        if (!transfer_window(READ, p, page, n))
            return false;
        if (!list_window(p, page, n, &found))
            return say_damaged(p);
        if (!message_ok(p->path, visit ? visit(ctx, p->window, found) : BLY_OK))
            return false;
        count += found;
    }
    p->count = count;
    return true;
}

bly_status pages_has(const pages *p, uint64_t fingerprint, bool *found) {
    uint64_t page = page_of(fingerprint, p->shape.bits), part[PROBE], x = little(fingerprint);
    size_t home = home_of(fingerprint, p->shape.bits), n;
    *found = fingerprint == 0 && p->shape.zero;
    if (fingerprint == 0 || !p->whole)
        return BLY_OK;
    for (size_t looked = 0; looked < PAGES_SLOTS; looked += n) {
        size_t slot = (home + looked) % PAGES_SLOTS;
        n = PAGES_SLOTS - slot < PROBE ? PAGES_SLOTS - slot : PROBE;
        if (!transfer(READ, p->fd, part, n * sizeof *part,
                      offset_of(page) + (off_t)(slot * sizeof *part)))
            return BLY_EIO;
        for (size_t i = 0; i < n; i++) {
            *found = part[i] == x;
            if (*found || part[i] == 0)
                return BLY_OK;
        }
    }
    return BLY_OK;
}

/* ---- rewriting the file ---------------------------------------------------------------------- */

/* The smallest b with which 2^b pages are enough for `count` fingerprints. */
static unsigned bits_for(uint64_t count) {
    unsigned bits = 0;
    while (bits < MAX_BITS && count >> bits > MEAN_LOAD)
        bits++;
    return bits;
}

typedef enum outcome { DONE, CROWDED, FAILED } outcome;

/* A file that is being written. */
typedef struct draft {
    output to;
    pages_shape shape;
    uint64_t count;
    pages_fill fill;
    void *ctx;
} draft;

static outcome write_page(draft *d, uint64_t page) {
    uint64_t list[PAGES_SLOTS], slots[PAGES_SLOTS] = {0};
    uint64_t first = first_of(page, d->shape.bits), last = first + (UINT64_MAX >> d->shape.bits);
    size_t n = d->fill ? d->fill(d->ctx, first, last, list, PAGES_SLOTS) : 0;
    if (n == PAGES_FAILED)
        return FAILED;
    if (n > PAGES_SLOTS)
        return CROWDED;
    for (size_t i = 0; i < n; i++)
        d->count += page_put(slots, list[i], d->shape.bits) == PUT;
    return output_put(&d->to, slots, sizeof slots) ? DONE : FAILED;
}

static outcome write_pages(draft *d) {
    uint8_t header[PAGE_BYTES];
    if (!encode(&d->shape, header) || !output_put(&d->to, header, sizeof header))
        return FAILED;
    outcome result = DONE;
    for (uint64_t page = 0; result == DONE && page >> d->shape.bits == 0; page++)
        result = write_page(d, page);
    return result;
}

/* Locks the new file before it gets the name, so that no other process can lock it in between. */
static outcome write_and_rename(pages *p, draft *d) {
    if (flock(d->to.fd, LOCK_EX | LOCK_NB) != 0) {
        (void)message_errno(p->path);
        return FAILED;
    }
    const outcome result = write_pages(d);
    if (result != DONE)
        return result;
    const int fd = fcntl(d->to.fd, F_DUPFD_CLOEXEC, 0); /* both descriptors share one lock */
    if (fd < 0) {
        (void)message_errno(p->path);
        return FAILED;
    }
    if (!output_commit(&d->to)) {
        (void)close(fd);
        return FAILED;
    }
    close_file(p);
    p->fd = fd;
    p->shape = d->shape;
    p->count = d->count;
    p->whole = true;
    return DONE;
}

/* Writes another file and renames it over the old one. */
static outcome rewrite(pages *p, draft *d) {
    d->count = d->shape.zero;
    if (!output_open(&d->to, p->path, true))
        return FAILED;
    const outcome result = write_and_rename(p, d);
    output_close(&d->to);
    return result;
}

bool pages_replace(pages *p, pages_shape shape, uint64_t count, pages_fill fill, void *ctx) {
    unsigned least = bits_for(count), most = least + SPARE_BITS;
    draft d = {.shape = shape, .fill = fill, .ctx = ctx};
    if (d.shape.bits < least)
        d.shape.bits = least;
    for (; d.shape.bits <= most && d.shape.bits <= MAX_BITS; d.shape.bits++) {
        outcome result = rewrite(p, &d);
        if (result != CROWDED)
            return result == DONE;
    }
    return message_fail("%s: its fingerprints are not evenly distributed, so they were damaged or "
                        "chosen by an attacker; remove the file to start a new state",
                        p->path);
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* The fingerprints in the file and additional ones, for a file with more pages. */
typedef struct merge {
    pages *p;
    const uint64_t *more;
    size_t n, next;  /* more[next..n) has not been supplied yet */
    uint64_t loaded; /* the first page in the window, or UINT64_MAX */
} merge;

static const uint64_t *old_page(merge *m, uint64_t page) {
    uint64_t start = page - page % WINDOW, left = pages_of(m->p) - start;
    if (m->loaded != start) {
        if (!transfer_window(READ, m->p, start, left < WINDOW ? (size_t)left : WINDOW))
            return NULL;
        m->loaded = start;
    }
    return m->p->window + page % WINDOW * PAGES_SLOTS;
}

static size_t fill_merged(void *ctx, uint64_t first, uint64_t last, uint64_t *out, size_t room) {
    merge *m = ctx;
    size_t count = 0;
    if (first == 0)
        m->next = 0;
    const uint64_t *page = old_page(m, page_of(first, m->p->shape.bits));
    if (!page)
        return PAGES_FAILED;
    for (size_t i = 0; i < PAGES_SLOTS; i++) {
        uint64_t x = little(page[i]);
        if (x != 0 && first <= x && x <= last)
            out[count++] = x;
    }
    for (; m->next < m->n && m->more[m->next] <= last; m->next++)
        if (count++ < room)
            out[count - 1] = m->more[m->next];
    return count;
}

/* Adds fingerprints to one run of nearby pages. Returns how many it has added: all that belong
 * there, or, if a page is full (*full becomes true), those of the pages before it. On failure,
 * reports the error and returns PAGES_FAILED. */
static size_t insert_run(pages *p, const uint64_t *x, size_t n, bool *full) {
    unsigned bits = p->shape.bits;
    uint64_t start = page_of(x[0], bits), end = start + 1, added = 0, of_page = 0;
    size_t taken = 0, page_begin = 0;
    for (; taken < n; taken++) {
        uint64_t page = page_of(x[taken], bits);
        if (page >= start + WINDOW || page >= end + NEAR)
            break;
        end = page + 1;
    }
    if (!transfer_window(READ, p, start, (size_t)(end - start)))
        return PAGES_FAILED;
    for (size_t i = 0; i < taken && !*full; i++) {
        uint64_t page = page_of(x[i], bits);
        if (i > 0 && page != page_of(x[i - 1], bits)) {
            page_begin = i;
            added += of_page;
            of_page = 0;
        }
        put_result result = page_put(p->window + (page - start) * PAGES_SLOTS, x[i], bits);
        of_page += result == PUT;
        if (result == PUT_FULL) {
            *full = true;
            of_page = 0;
            taken = page_begin;
            end = page;
        }
    }
    if (end > start && !transfer_window(WRITE, p, start, (size_t)(end - start)))
        return PAGES_FAILED;
    p->count += added + of_page;
    return taken;
}

bool pages_insert(pages *p, const uint64_t *fingerprints, size_t n, size_t *done) {
    bool full = false;
    *done = 0;
    if (n > 0 && fingerprints[0] == 0) {
        if (!p->shape.zero && !write_zero(p))
            return false;
        *done = 1;
    }
    while (*done < n && !full) {
        size_t taken = insert_run(p, fingerprints + *done, n - *done, &full);
        if (taken == PAGES_FAILED)
            return false;
        *done += taken;
    }
    if (*done == n)
        return true;
    merge m = {p, fingerprints + *done, n - *done, 0, UINT64_MAX};
    pages_shape shape = p->shape;
    shape.bits++;
    if (!pages_replace(p, shape, p->count - shape.zero + m.n, fill_merged, &m))
        return false;
    *done = n;
    return true;
}
