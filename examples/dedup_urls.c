/* dedup_urls.c - prints each line of a list of URLs the first time it occurs.
 *
 *     dedup_urls [-n KEYS] [-p RATE] [FILE]
 *     cc dedup_urls.c $(pkg-config --cflags --libs bloomery)
 *
 * Lines keep their order and their bytes. A carriage return at the end of a line is printed but not
 * compared: "x" and "x\r" are the same URL. A missing newline at the end is added. A line may be
 * empty or of any length.
 *
 * A repeat is never printed. A new URL is mistaken for a repeat with the requested probability
 * (-p), as long as there are no more distinct URLs than planned (-n). The report on standard error
 * has the resulting rate and the memory of the filter. The program also needs a buffer, which is as
 * long as the longest line, but at least 1 MiB.
 */
#define _POSIX_C_SOURCE 200809L
#include <bloomery/bloomery.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, BATCH = 4096, DEFAULT_KEYS = 1000000 };

static const char usage[] =
    "usage: dedup_urls [-n KEYS] [-p RATE] [FILE]\n"
    "Prints the lines of FILE (or of standard input) that were not there before.\n"
    "A carriage return at the end of a line is printed, but makes no difference.\n"
    "  -n KEYS  distinct lines to plan for (as many as FILE has lines; 1000000 for a pipe)\n"
    "  -p RATE  how often a new line may be mistaken for a repeat (0.001)\n";

/* The state of the program. The lines of a batch are adjacent in the buffer, beginning with
 * lines[0]. */
typedef struct job {
    bly_filter *seen;
    bly_bytes lines[BATCH]; /* without line ends */
    uint8_t added[BATCH];
    size_t count;
    uint64_t read, kept;
} job;

static int complain(const char *what, const char *why) {
    (void)fprintf(stderr, "dedup_urls: %s: %s\n", what, why);
    return 2;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Adds the lines of the batch, and prints those that are new. Adjacent new lines are written by one
 * call. `end` is the end of the last line. */
static int finish_batch(job *j, const char *end) {
    bly_status status = bly_filter_add_many(j->seen, j->lines, j->count, j->added, NULL);
    if (status != BLY_OK)
        return complain("adding", bly_strerror(status));
    for (size_t i = 0, next; i < j->count; i = next) {
        const char *from = j->lines[i].data;
        for (next = i + 1; next < j->count && j->added[next] == j->added[i];)
            next++;
        const char *to = next < j->count ? (const char *)j->lines[next].data : end;
        size_t size = (size_t)(to - from);
        if (j->added[i]) {
            if (fwrite(from, 1, size, stdout) != size)
                return complain("standard output", strerror(errno));
            j->kept += next - i;
        }
    }
    j->read += j->count;
    j->count = 0;
    return 0;
}

/* Appends a line to the batch. `end` is the position after its newline. */
static void take_line(job *j, const char *from, const char *end) {
    size_t size = (size_t)(end - from) - 1;
    if (size > 0 && from[size - 1] == '\r')
        size--;
    j->lines[j->count++] = (bly_bytes){from, size};
}

/* Processes all complete lines of text[0..size). The first `known` bytes are known to contain no
 * newline. *used becomes the offset of the incomplete line at the end. */
static int take_lines(job *j, const char *text, size_t known, size_t size, size_t *used) {
    const char *from = text, *look = text + known, *stop = text + size, *newline;
    int code = 0;
    while (code == 0 && (newline = memchr(look, '\n', (size_t)(stop - look)))) {
        take_line(j, from, newline + 1);
        from = look = newline + 1;
        if (j->count == BATCH)
            code = finish_batch(j, from);
    }
    if (code == 0 && j->count > 0)
        code = finish_batch(j, from);
    *used = (size_t)(from - text);
    return code;
}

/* ---- input ---------------------------------------------------------------------------------- */

static ssize_t read_some(int fd, char *to, size_t size) {
    ssize_t n;
    do
        n = read(fd, to, size);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Reads and processes all lines. *buffer has *room bytes. One byte is kept free, in which a newline
 * is added if the input does not end with one. */
static int dedup(job *j, int fd, char **buffer, size_t *room) {
    size_t have = 0, used;
    ssize_t n;
    int code = 0;
    while (code == 0 && (n = read_some(fd, *buffer + have, *room - 1 - have)) > 0) {
        code = take_lines(j, *buffer, have, have + (size_t)n, &used);
        have += (size_t)n - used;
        if (used > 0)
            memmove(*buffer, *buffer + used, have);
        if (have == *room - 1) { /* a long line: double the buffer */
            char *more = *room <= SIZE_MAX / 2 ? realloc(*buffer, *room * 2) : NULL;
            if (!more)
                return complain("a very long line", strerror(ENOMEM));
            *buffer = more;
            *room *= 2;
        }
    }
    if (code != 0)
        return code;
    if (n < 0)
        return complain("reading", strerror(errno));
    if (have > 0) {
        (*buffer)[have] = '\n';
        code = take_lines(j, *buffer, have, have + 1, &used);
    }
    if (code == 0 && fflush(stdout) != 0)
        return complain("standard output", strerror(errno));
    return code;
}

/* Returns the number of lines in the rest of the file; 0 also if it is unknown, as for a pipe. */
static uint64_t count_lines(int fd, char *buffer, size_t room) {
    struct stat st;
    off_t start = lseek(fd, 0, SEEK_CUR);
    if (start < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    uint64_t lines = 0;
    char last = '\n';
    for (ssize_t n; (n = read_some(fd, buffer, room)) > 0; last = buffer[n - 1])
        for (const char *at = buffer; (at = memchr(at, '\n', (size_t)(buffer + n - at))); at++)
            lines++;
    lines += last != '\n';
    return lseek(fd, start, SEEK_SET) == start ? lines : 0;
}

/* ---- program -------------------------------------------------------------------------------- */

static void report(const job *j) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(j->seen, &s);
    (void)fprintf(
        stderr,
        "read     %llu lines\nkept     %llu\ndropped  %llu\n"
        "memory   %llu bytes (%s, planned for %llu keys)\nrate     %g requested, %.2g current\n",
        (unsigned long long)j->read, (unsigned long long)j->kept,
        (unsigned long long)(j->read - j->kept), (unsigned long long)s.bytes, bly_kind_name(s.kind),
        (unsigned long long)s.capacity, s.requested_fpr, s.current_fpr);
    if (s.count > s.capacity && s.current_fpr > s.requested_fpr)
        (void)fprintf(stderr, "more keys than planned for: -n %llu is enough\n",
                      (unsigned long long)j->read);
}

static int run(int fd, double keys, double rate) {
    static job j; /* too large for some stacks */
    size_t room = BLOCK;
    char *buffer = malloc(room);
    if (!buffer)
        return complain("starting", strerror(ENOMEM));
    (void)setvbuf(stdout, NULL, _IOFBF, BLOCK);
    uint64_t plan = keys > 0 ? (uint64_t)keys : count_lines(fd, buffer, room);
    bly_status status = bly_filter_new(plan ? plan : DEFAULT_KEYS, rate, &j.seen);
    int code = 0;
    if (status != BLY_OK)
        code = complain("planning", bly_strerror(status));
    else if ((code = dedup(&j, fd, &buffer, &room)) == 0)
        report(&j);
    bly_filter_destroy(j.seen);
    free(buffer);
    return code;
}

/* Returns 0 if `text` is not a number. */
static double number(const char *text) {
    char *end;
    double value = strtod(text, &end);
    return end != text && *end == '\0' ? value : 0;
}

int main(int argc, char **argv) {
    double keys = 0, rate = 0.001;
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0 ? 2 : 0;
    for (int option; (option = getopt(argc, argv, "n:p:h")) != -1;) {
        if (option == 'h')
            return fputs(usage, stdout) < 0 ? 2 : 0;
        if (option == 'n' && !((keys = number(optarg)) >= 1 && keys <= 0x1p48))
            return complain(optarg, "not a number of keys");
        if (option == 'p' && !((rate = number(optarg)) > 0 && rate < 1))
            return complain(optarg, "not a rate between 0 and 1");
        if (option == '?') {
            (void)fputs(usage, stderr);
            return 2;
        }
    }
    if (argc - optind > 1) {
        (void)fputs(usage, stderr);
        return 2;
    }
    const char *path = optind < argc ? argv[optind] : "-";
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY);
    if (fd < 0)
        return complain(path, strerror(errno));
    return run(fd, keys, rate);
}
