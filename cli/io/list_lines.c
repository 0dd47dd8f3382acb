/* list_lines.c - names types, reads lines as keys of a type, and reports malformed lines. */
#include "io/list_lines.h"

#include "io/interrupt.h"
#include "io/pipeline.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages -------------------------------------------------------------------------------- */

const char *line_type_words(bly_list_type type) {
    switch (type) {
    case BLY_LIST_RECORD:
        return "line";
    case BLY_LIST_RECORD_URL:
        return "URL lines (--url)";
    case BLY_LIST_RECORD_CRAWL:
        return "URL lines (--url=crawl)";
    case BLY_LIST_OTHER:
        return "lines (--field or --ignore-case)";
    default:
        return bly_list_type_name(type);
    }
}

char *line_quote(bly_bytes text, char out[LINE_QUOTE]) {
    enum { LONGEST = 60 };
    const unsigned char *at = text.data;
    size_t shown = text.size;
    if (shown > LONGEST) /* not in the middle of a UTF-8 character */
        for (shown = LONGEST; shown > 0 && (at[shown] & 0xC0) == 0x80;)
            shown--;
    (void)message_escape_bytes((bly_bytes){at, shown}, out, LINE_QUOTE);
    return shown < text.size ? strcat(out, "...") : out;
}

void line_complain(const char *reason, const char *path, uint64_t number, bly_bytes line,
                   bool note) {
    char quoted[LINE_QUOTE], where[32] = "";
    if (path)
        (void)snprintf(where, sizeof where, ":%llu: ", (unsigned long long)number);
    (void)line_quote(line, quoted);
    if (note)
        message_note("%s%s%s: '%s'", path ? path : "", where, reason, quoted);
    else
        (void)message_error("%s%s%s: '%s'", path ? path : "", where, reason, quoted);
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct typed_lines {
    pipeline lines;
    const line_rule *rule;
    bly_list_reader *reader;
    bool skip;
    uint64_t comments; /* malformed lines that would be accepted with --comments */
    list_line *each;
    void *ctx;
    list_lines *counts;
} typed_lines;

static void complain(typed_lines *t, uint64_t number, bly_bytes line) {
    if (t->counts->malformed++ >= MAX_NAMED_LINES)
        return;
    progress_end(&t->lines.progress);
    line_complain(bly_list_reader_reason(t->reader), t->lines.in.path, number, line, t->skip);
}

/* Whether a malformed line would be accepted with --comments. */
static bool is_comment(typed_lines *t, bly_bytes line) {
    bly_list_key key;
    return bly_list_read(t->reader, t->rule->type, t->rule->flags | BLY_LIST_COMMENTS, line.data,
                         line.size, &key) == BLY_OK;
}

/* Passes on the key of one line. Returns false if memory ran out, or `each` returned false. */
static bool take_line(typed_lines *t, uint64_t number, bly_bytes line) {
    bly_list_key key;
    t->counts->lines++;
    switch (bly_list_read(t->reader, t->rule->type, t->rule->flags, line.data, line.size, &key)) {
    case BLY_OK:
        break;
    case BLY_EINVAL:
        complain(t, number, line);
        t->comments += is_comment(t, line);
        return true;
    default:
        return false;
    }
    t->counts->empty += key.blank;
    return key.blank || t->each(t->ctx, number, line, &key);
}

static bool take_batch(void *at, const bly_bytes *records, size_t n) {
    typed_lines *t = at;
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = take_line(t, t->lines.first + i, records[i]);
    if (!good && !t->counts->stopped)
        (void)message_error("out of memory");
    return good;
}

enum { ADVICE_TEXT = 96, FEW_LINES = 3 };

/* Writes what to do about malformed lines. --skip-malformed is not suggested if most lines are
 * malformed, because the list would be useless without them. One or two malformed lines are too few
 * to judge by. */
static void advice(const typed_lines *t, char out[ADVICE_TEXT]) {
    const uint64_t others = t->counts->malformed - t->comments;
    const uint64_t keys = t->counts->lines - t->counts->empty - t->comments;
    if (others > keys / 2 && others >= FEW_LINES)
        (void)snprintf(out, ADVICE_TEXT,
                       "most lines are not of type %s; check --type and the input",
                       line_type_words(t->rule->type));
    else if (t->comments)
        (void)strcpy(out, "use --comments to ignore comments, which begin with '#' or ';'");
    else
        (void)strcpy(out, "use --skip-malformed to skip such lines");
}

/* Reports the malformed lines that were not named. Returns false if malformed lines are an error.
 */
static bool accept_malformed(const typed_lines *t) {
    char count[NUMBER_TEXT], what_to_do[ADVICE_TEXT];
    uint64_t malformed = t->counts->malformed;
    const uint64_t more = malformed > MAX_NAMED_LINES ? malformed - MAX_NAMED_LINES : 0;
    if (more && t->skip)
        message_note("and %s more malformed line%s", number_grouped(more, count),
                     more == 1 ? "" : "s");
    if (malformed == 0 || t->skip)
        return true;
    advice(t, what_to_do);
    return message_fail("%s malformed line%s, so nothing was written; %s",
                        number_grouped(malformed, count), malformed == 1 ? "" : "s", what_to_do);
}

bool list_lines_read(char **paths, size_t count, const line_rule *rule, bool skip, list_line *each,
                     void *ctx, list_lines *lines) {
    const pipeline_options how = {.null = (rule->flags & BLY_LIST_RECORDS) != 0};
    typed_lines *t = calloc(1, sizeof *t);
    if (!t || bly_list_reader_create(&t->reader) != BLY_OK) {
        (void)message_error("out of memory");
        free(t);
        return false;
    }
    t->rule = rule;
    t->skip = skip;
    t->each = each;
    t->ctx = ctx;
    t->counts = lines;
    const bool good = pipeline_open(&t->lines, &how, (cli_operands){paths, count}) &&
                      pipeline_run(&t->lines, take_batch, t) && !interrupt_seen() &&
                      accept_malformed(t) && !t->lines.failed;
    pipeline_close(&t->lines);
    bly_list_reader_destroy(t->reader);
    free(t);
    return good;
}
