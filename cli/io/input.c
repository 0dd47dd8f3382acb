/* input.c - reads files one after another into one buffer, and cuts it into records. */
#include "io/input.h"

#include "io/interrupt.h"
#include "text/message.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A block this size is read, searched for line ends, hashed and copied while it is in the
 * processor's second-level cache. */
enum { BLOCK = 1 << 18 };

/* If records are shorter than this on average, their ends are searched eight bytes at a time. */
enum { SHORT_RECORD = 24 };
static const size_t default_longest = (size_t)1 << 30;

static char *standard_input[] = {(char[]){"-"}};

static uint64_t total_length(char **paths, size_t count) {
    uint64_t total = 0;
    struct stat st;
    for (size_t i = 0; i < count; i++) {
        bool known = strcmp(paths[i], "-") == 0 ? fstat(0, &st) == 0 : stat(paths[i], &st) == 0;
        if (!known)
            continue; /* the file will be reported and skipped */
        if (!S_ISREG(st.st_mode))
            return 0;
        total += (uint64_t)st.st_size;
    }
    return total;
}

bool input_open(input *in, char **paths, size_t count, char separator, size_t longest) {
    *in = (input){.paths = count ? paths : standard_input, .path_count = count ? count : 1};
    in->separator = separator;
    in->longest = longest ? longest : default_longest;
    in->bytes_total = total_length(in->paths, in->path_count);
    in->room = BLOCK;
    in->buffer = malloc(in->room);
    return in->buffer || message_fail("out of memory");
}

void input_close(input *in) {
    source_close(in->current);
    free(in->buffer);
    in->current = NULL;
    in->buffer = NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool open_next(input *in) {
    while (in->next_path < in->path_count && !interrupt_seen()) {
        const char *path = in->paths[in->next_path++];
        in->path = strcmp(path, "-") == 0 ? "standard input" : path;
        in->current = source_open(path);
        in->begin = in->scanned = in->end = 0;
        in->number = 1;
        in->count = 0;
        in->ended = in->skipping = false;
        if (in->current)
            return true;
        in->failed = true;
    }
    return false;
}

static void close_current(input *in) {
    in->bytes_read += source_position(in->current);
    source_close(in->current);
    in->current = NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Loads eight bytes, the first one as the lowest. */
static uint64_t load(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
           (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
           (uint64_t)b[7] << 56;
}

/* Returns the high bit of every byte that is 0. */
static uint64_t zero_bytes(uint64_t word) {
    const uint64_t low = UINT64_C(0x7F7F7F7F7F7F7F7F);
    return ~(((word & low) + low) | word | low);
}

/* Cuts records while eight more bytes are in the buffer and eight more records fit. If records are
 * short, calling memchr for each takes longer than finding its end this way. Advances *from and
 * *look, and returns the number of records. */
static size_t take_short(input *in, const char **from, const char **look, const char *stop) {
    const uint64_t separators = UINT64_C(0x0101010101010101) * (unsigned char)in->separator;
    size_t count = 0;
    for (; stop - *look >= 8 && count + 8 <= INPUT_BATCH; *look += 8)
        for (uint64_t ends = zero_bytes(load(*look) ^ separators); ends; ends &= ends - 1) {
            const char *found = *look + __builtin_ctzll(ends) / 8;
            in->records[count++] = (bly_bytes){*from, (size_t)(found - *from)};
            *from = found + 1;
        }
    return count;
}

/* Cuts the complete records in the buffer, at most one batch. */
static void take_records(input *in) {
    const char *from = in->buffer + in->begin, *look = in->buffer + in->scanned;
    const char *stop = in->buffer + in->end, *found;
    size_t count = in->short_records ? take_short(in, &from, &look, stop) : 0;
    while (count < INPUT_BATCH && (found = memchr(look, in->separator, (size_t)(stop - look)))) {
        in->records[count++] = (bly_bytes){from, (size_t)(found - from)};
        from = look = found + 1;
    }
    if (count > 0)
        in->short_records = (size_t)(from - in->buffer) - in->begin < SHORT_RECORD * count;
    in->begin = (size_t)(from - in->buffer);
    in->scanned = count < INPUT_BATCH ? in->end : in->begin;
    in->count = count;
    in->records_read += count;
}

/* Makes room after the unread bytes, including one byte for a final separator. */
static bool make_room(input *in) {
    size_t have = in->end - in->begin;
    if (in->begin > 0) {
        memmove(in->buffer, in->buffer + in->begin, have);
        in->scanned -= in->begin;
        in->begin = 0;
        in->end = have;
    }
    if (have + 1 < in->room)
        return true;
    if (in->room >= in->longest) {
        (void)message_error("%s:%llu: skipped a line that is longer than %zu bytes", in->path,
                            (unsigned long long)in->number, in->room - 2);
        in->failed = in->skipping = true;
        in->end = in->scanned = 0;
        return true;
    }
    char *more = realloc(in->buffer, in->room * 2);
    if (!more)
        return message_fail("%s:%llu: out of memory for a line of this length", in->path,
                            (unsigned long long)in->number);
    in->buffer = more;
    in->room *= 2;
    return true;
}

/* Skips to the end of a record that is too long. */
static void skip(input *in) {
    const char *found = memchr(in->buffer, in->separator, in->end);
    in->skipping = !found && !in->ended;
    in->begin = found ? (size_t)(found - in->buffer) + 1 : in->end;
    in->scanned = in->begin;
    in->number += found != NULL;
    in->records_read += found != NULL || in->ended;
}

static bool read_more(input *in) {
    if (!make_room(in))
        return false;
    if (in->idle && source_would_wait(in->current) && !in->idle(in->idle_ctx))
        return false;
    ptrdiff_t n = source_read(in->current, in->buffer + in->end, in->room - 1 - in->end);
    if (n < 0)
        return false;
    in->end += (size_t)n;
    in->ended = n == 0;
    if (in->skipping)
        skip(in);
    if (in->ended && interrupt_seen()) /* an incomplete line is not passed on */
        in->end = in->scanned = in->begin;
    else if (in->ended && in->begin < in->end) /* the last line has no separator */
        in->buffer[in->end++] = in->separator;
    return true;
}

bool input_next(input *in) {
    in->number += in->count;
    in->count = 0;
    for (;;) {
        if (!in->current && !open_next(in))
            return false;
        take_records(in);
        if (in->count > 0)
            return true;
        if (in->ended) {
            close_current(in);
        } else if (!read_more(in)) {
            in->failed = true;
            close_current(in);
        }
    }
}

/* ---- totals ---------------------------------------------------------------------------------- */

uint64_t input_position(const input *in) {
    return in->bytes_read + (in->current ? source_position(in->current) : 0);
}

uint64_t input_estimate(const input *in) {
    if (!in->bytes_total || !in->current || source_compressed(in->current) || !in->count)
        return 0;
    size_t bytes = 0;
    for (size_t i = 0; i < in->count; i++)
        bytes += in->records[i].size + 1;
    double lines = (double)in->bytes_total / (double)bytes * (double)in->count;
    return lines < 0x1p48 ? (uint64_t)lines + 1 : 0;
}
