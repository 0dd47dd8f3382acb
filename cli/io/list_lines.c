#include "io/list_lines.h"

#include "io/input.h"
#include "io/interrupt.h"
#include "text/message.h"
#include "text/numbers.h"
#include "text/progress.h"

#include <stdlib.h>

enum { NAMED = 10 }; /* malformed lines, before they are only counted */

typedef struct job {
    input in;
    progress progress;
    const line_rule *rule;
    bly_list_reader *reader;
    bool skip;
    list_line *each;
    void *ctx;
    list_lines *lines;
} job;

static void complain(job *j, uint64_t number, bly_bytes line) {
    if (j->lines->malformed++ >= NAMED)
        return;
    progress_end(&j->progress);
    line_complain(bly_list_reader_reason(j->reader), j->in.path, number, line, j->skip);
}

/* false: out of memory. */
static bool take(job *j, uint64_t number, bly_bytes line) {
    bly_list_key key;
    j->lines->lines++;
    switch (bly_list_read(j->reader, j->rule->type, j->rule->flags, line.data, line.size, &key)) {
    case BLY_OK:
        break;
    case BLY_EINVAL:
        complain(j, number, line);
        return true;
    default:
        return false;
    }
    j->lines->empty += key.blank;
    return key.blank || j->each(j->ctx, number, line, &key);
}

static bool take_all(job *j) {
    while (input_next(&j->in)) {
        for (size_t i = 0; i < j->in.count; i++)
            if (!take(j, j->in.number + i, j->in.records[i]))
                return false;
        progress_show(&j->progress, j->in.records_read, input_position(&j->in), j->in.bytes_total);
    }
    return true;
}

/* Malformed lines that were not named, and what to do about all of them. */
static bool judge(const job *j) {
    char count[NUMBER_TEXT];
    uint64_t malformed = j->lines->malformed;
    if (malformed > NAMED && j->skip)
        message_note("and %s malformed lines more", number_grouped(malformed - NAMED, count));
    if (malformed == 0 || j->skip)
        return true;
    (void)message_error("%s malformed line%s; nothing was written (--skip-malformed leaves them "
                        "out)",
                        number_grouped(malformed, count), malformed == 1 ? "" : "s");
    return false;
}

bool list_lines_read(char **paths, size_t count, const line_rule *rule, bool skip, list_line *each,
                     void *ctx, list_lines *lines) {
    job *j = calloc(1, sizeof *j);
    if (!j || bly_list_reader_create(&j->reader) != BLY_OK) {
        (void)message_error("out of memory");
        free(j);
        return false;
    }
    j->rule = rule;
    j->skip = skip;
    j->each = each;
    j->ctx = ctx;
    j->lines = lines;
    bool good = input_open(&j->in, paths, count, rule->flags & BLY_LIST_RECORDS ? '\0' : '\n', 0);
    if (good) {
        progress_begin(&j->progress, false);
        good = take_all(j);
        progress_end(&j->progress);
        if (!good && !lines->stopped)
            (void)message_error("out of memory; nothing was written");
        good = good && !interrupt_seen() && judge(j) && !input_failed(&j->in);
        input_close(&j->in);
    }
    bly_list_reader_destroy(j->reader);
    free(j);
    return good;
}
