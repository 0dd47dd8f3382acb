/* describe_fingerprints.c - describes the files of dedup --exact and --confirm.
 *
 * Every page is read and checked. The rule that makes keys from lines is not stored as text. The
 * file contains a fingerprint of the rule, so the likely rules are looked up until one is found.
 */
#include "filters/describe_fingerprints.h"

#include "cli.h"
#include "filters/describe.h"
#include "filters/rule_marks.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <string.h>

enum { PAGE_BYTES = 8 * PAGES_SLOTS, SLOT_BITS = 9, MAX_FIELD = 16, FAR_FIELD = 1000 };
enum { RULE = 128, PLAIN_RULES = 12 /* without --field */ };

static uint64_t pages_of(const fingerprints *f) {
    return UINT64_C(1) << f->shape.bits;
}

static uint64_t file_bytes(const fingerprints *f) {
    return (pages_of(f) + 1) * PAGE_BYTES;
}

static double fill_of(const fingerprints *f) {
    return (double)f->count / ((double)pages_of(f) * PAGES_SLOTS);
}

/* The probability that the fingerprint of a new line is in the file. */
static double rate_of(const fingerprints *f) {
    return (double)f->count * 0x1p-64;
}

/* ---- the pages ------------------------------------------------------------------------------- */

/* Counts the fingerprints of one page. A lookup starts at the fingerprint's home slot and ends at
 * the next free slot, so a fingerprint with a free slot in between is not found. (When its line
 * comes again, it is added a second time, which does no harm.) */
static bool check_page(fingerprints *f, uint64_t page, const uint64_t slots[PAGES_SLOTS]) {
    for (size_t i = 0; i < PAGES_SLOTS; i++) {
        const uint64_t x = slots[i];
        size_t at = (size_t)(x << f->shape.bits >> (64 - SLOT_BITS));
        if (x == 0)
            continue;
        if ((f->shape.bits ? x >> (64 - f->shape.bits) : 0) != page)
            return false;
        while (at != i && slots[at] != 0)
            at = (at + 1) % PAGES_SLOTS;
        f->lost += at != i;
        f->count++;
    }
    return true;
}

static bool check_pages(fingerprints *f, const pages *file) {
    uint64_t slots[PAGES_SLOTS];
    f->counted = true;
    f->count = f->shape.zero;
    for (uint64_t page = 0; page < pages_of(f); page++) {
        if (!pages_read(file, page, slots))
            return false;
        if (!check_page(f, page, slots))
            return message_fail("%s: is damaged: page %llu has a fingerprint that does not "
                                "belong there; remove the file and start again",
                                f->path, (unsigned long long)page);
    }
    return true;
}

/* ---- the rule -------------------------------------------------------------------------------- */

/* Looks up the mark of a rule. The first rule found is stored. On failure, reports the error and
 * returns false. */
static bool try_rule(fingerprints *f, const pages *file, const bly_hasher *hasher,
                     const key_options *rule) {
    char words[KEY_OPTIONS_WORDS], text[RULE_MARK];
    const size_t size = rule_mark_text("dedup", key_options_words(rule, words), text);
    bool found;
    if (pages_has(file, bly_hash_key(hasher, text, size).lo, &found) != BLY_OK)
        return message_errno(f->path) == CLI_OK;
    f->marks += found;
    const bool fits =
        f->shape.rule == BLY_KEYS_UNRECORDED || f->shape.rule == key_options_code(rule);
    if (found && fits && !f->ruled) {
        f->ruled = true;
        f->rule = *rule;
    }
    return true;
}

/* The i-th likely rule: first all without --field, then the first fields with any delimiter, then
 * other fields with common delimiters. Returns false at the end. */
static bool likely_rule(unsigned i, key_options *out) {
    static const char common[] = "\t,; |:";
    enum { FORMS = 6, COMMON = sizeof common - 1, NEAR = MAX_FIELD * 256 * FORMS };
    if (i < PLAIN_RULES) {
        *out = (key_options){.url = i / 4, .ignore_case = i & 1, .extract = (i & 2) != 0};
        return true;
    }
    i -= PLAIN_RULES;
    const bool near = i < NEAR;
    i -= near ? 0 : NEAR;
    const unsigned delimiters = near ? 256 : COMMON, delimiter = i / FORMS % delimiters;
    *out = (key_options){
        .url = i % 3,
        .ignore_case = i / 3 % 2,
        .delimiter = {.given = true, .value = near ? (char)delimiter : common[delimiter]},
        .field = (near ? 1 : MAX_FIELD + 1) + i / FORMS / delimiters};
    return out->field <= FAR_FIELD;
}

/* A rule without --field and --ignore-case is recorded completely in the header. A file whose
 * header records a rule also contains a fingerprint of that rule, even if it was not found. */
static void use_recorded_rule(fingerprints *f) {
    if (f->shape.rule == BLY_KEYS_UNRECORDED)
        return;
    if (f->marks == 0 && f->count > 0)
        f->marks = 1;
    if (f->ruled || f->shape.rule == BLY_KEYS_OTHER)
        return;
    f->ruled = true;
    f->rule = (key_options){.url = f->shape.rule == BLY_KEYS_RECORD_URL     ? 1
                                   : f->shape.rule == BLY_KEYS_RECORD_CRAWL ? 2
                                                                            : 0};
}

/* Finds the details of the rule, which the header does not record, by looking up likely rules. */
static bool find_rule(fingerprints *f, const pages *file) {
    bly_hasher hasher;
    key_options rule;
    if (bly_hasher_init(&hasher, BLY_HASH_XXH3, f->shape.seed) != BLY_OK)
        return true;
    for (unsigned i = 0; (i < PLAIN_RULES || !f->ruled) && likely_rule(i, &rule); i++)
        if (!try_rule(f, file, &hasher, &rule))
            return false;
    use_recorded_rule(f);
    return true;
}

/* Writes the option for a delimiter, quoted for a shell, as in "-t ','". */
static char *delimiter_text(unsigned char c, char out[24]) {
    if (c == '\t')
        (void)snprintf(out, 24, "-t $'\\t'");
    else if (c < ' ' || c >= 0x7F)
        (void)snprintf(out, 24, "-t $'\\x%02x'", c);
    else
        (void)snprintf(out, 24, c == '\'' ? "-t \"%c\"" : "-t '%c'", c);
    return out;
}

/* Writes the rule as options of dedup. */
static char *rule_text(const fingerprints *f, char out[RULE]) {
    const key_options *r = &f->rule;
    char field[64] = "", delimiter[24];
    if (r->field)
        (void)snprintf(field, sizeof field, "--field %llu %s ", (unsigned long long)r->field,
                       delimiter_text((unsigned char)r->delimiter.value, delimiter));
    (void)snprintf(out, RULE, "%s%s%s%s", field,
                   r->url == 1   ? "--url=standard "
                   : r->url == 2 ? "--url=crawl "
                                 : "",
                   r->ignore_case ? "--ignore-case " : "", r->extract ? "--extract-urls " : "");
    const size_t length = strlen(out);
    if (length > 0)
        out[length - 1] = '\0';
    return out;
}

/* ---- text and JSON --------------------------------------------------------------------------- */

bool fingerprints_read(fingerprints *f, const char *path, bool header) {
    pages file;
    *f = (fingerprints){.path = path};
    if (!pages_open_read(&file, path))
        return false;
    f->shape = file.shape;
    const bool good = header || (check_pages(f, &file) && find_rule(f, &file));
    pages_close(&file);
    return good;
}

char *fingerprints_marks_text(const fingerprints *f, char out[FINGERPRINTS_MARKS]) {
    out[0] = '\0';
    if (f->marks)
        (void)snprintf(out, FINGERPRINTS_MARKS, ", and %llu that record%s the key rule",
                       (unsigned long long)f->marks, f->marks == 1 ? "s" : "");
    return out;
}

void fingerprints_print(const fingerprints *f) {
    char marks[FINGERPRINTS_MARKS];
    char bar[DESCRIBE_BAR], rule[RULE];
    const uint64_t lines = f->count - f->marks;
    describe_name(stdout, f->path);
    describe_row(stdout, "kind",
                 "fingerprints of lines, 64 bits each: a file of dedup --exact or --confirm");
    describe_row(stdout, "shape", "%s page%s of %d slots", NUMBER_GROUPED(pages_of(f)),
                 f->shape.bits ? "s" : "", PAGES_SLOTS);
    describe_row(stdout, "file", "%s (%s bytes)", NUMBER_BYTES(file_bytes(f)),
                 NUMBER_GROUPED(file_bytes(f)));
    describe_row(stdout, "hash", "%s, seed %llu", bly_hash_name(BLY_HASH_XXH3),
                 (unsigned long long)f->shape.seed);
    if (!f->counted)
        return;
    describe_row(stdout, "rule", "%s",
                 f->ruled                          ? (*rule_text(f, rule) ? rule : "whole lines")
                 : f->shape.rule == BLY_KEYS_OTHER ? "unknown, but with --field or --ignore-case"
                                                   : "unknown");
    describe_row(stdout, "lines", "%s fingerprint%s%s", NUMBER_GROUPED(lines),
                 lines == 1 ? "" : "s", fingerprints_marks_text(f, marks));
    describe_row(stdout, "rate", "%s new lines mistaken for repeats, per lookup and per line",
                 NUMBER_ONE_IN(rate_of(f)));
    describe_row(stdout, "fill", "%s %.0f%% of its slots in use", describe_bar(fill_of(f), bar),
                 100 * fill_of(f));
    if (f->lost)
        describe_row(stdout, "note",
                     "%s fingerprints cannot be found, because a write was interrupted",
                     NUMBER_GROUPED(f->lost));
}

void fingerprints_json(const fingerprints *f) {
    char rule[RULE];
    json j = json_begin(stdout);
    json_text(&j, "file", f->path);
    json_integer(&j, "file_bytes", file_bytes(f));
    json_text(&j, "kind", "fingerprints");
    json_integer(&j, "pages", pages_of(f));
    json_text(&j, "hash", bly_hash_name(BLY_HASH_XXH3));
    json_bool(&j, "keyed", false);
    json_integer(&j, "seed", f->shape.seed);
    if (f->counted) {
        json_integer(&j, "fingerprints", f->count);
        json_integer(&j, "marks", f->marks);
        json_integer(&j, "not_found", f->lost);
        json_text(&j, "rule", f->ruled ? rule_text(f, rule) : NULL);
        json_real(&j, "fill", fill_of(f));
        json_real(&j, "rate_per_lookup", rate_of(f));
    }
    json_end(&j);
}
