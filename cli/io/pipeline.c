/* pipeline.c - one loop over batches of records, for every command that reads lines; finds the
 * links in them, and makes their keys. */
#include "io/pipeline.h"

#include "io/interrupt.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdlib.h>
#include <string.h>

/* ---- opening --------------------------------------------------------------------------------- */

/* Makes one record of the text, followed by a separator. */
static bool open_text(pipeline *p, const char *text) {
    const size_t size = strlen(text);
    p->text = malloc(size + 1);
    if (!p->text)
        return message_fail("out of memory");
    memcpy(p->text, text, size);
    p->text[size] = p->in.separator;
    p->in.records[0] = (bly_bytes){p->text, size};
    p->in.count = 1;
    return true;
}

bool pipeline_open(pipeline *p, const pipeline_options *o, cli_operands files) {
    const bool null = o->null || (o->keys && o->keys->null);
    memset(p, 0, sizeof *p);
    p->options = *o;
    p->rule = o->keys ? key_options_rule(o->keys) : (key_rule){.exact = null};
    p->takes_links = o->keys && o->keys->extract;
    p->in.separator = null ? '\0' : '\n';
    progress_begin(&p->progress, o->prints);
    if (o->catch_signals)
        interrupt_watch();
    return o->text ? open_text(p, o->text) : pipeline_reopen(p, files);
}

bool pipeline_reopen(pipeline *p, cli_operands files) {
    const char separator = p->in.separator;
    input_close(&p->in);
    p->begun = p->more = false;
    if (!input_open(&p->in, files.items, files.count, separator, p->options.max_record))
        return false;
    p->in.idle = p->options.idle;
    p->in.idle_ctx = p->options.idle_ctx;
    return true;
}

void pipeline_close(pipeline *p) {
    progress_end(&p->progress);
    input_close(&p->in);
    bly_url_buffer_free(&p->scratch);
    free(p->copies);
    p->copies = NULL;
    key_rule_free(&p->rule);
    byte_strings_free(&p->made);
    free(p->text);
    p->text = NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

void pipeline_begin(pipeline *p) {
    p->begun = true;
    p->more = p->text || input_next(&p->in);
}

uint64_t pipeline_estimate(const pipeline *p) {
    if (p->takes_links || p->text)
        return 0;
    return input_estimate(&p->in);
}

/* Returns how many of the records are passed on together. */
static size_t part_of(const pipeline *p, const bly_bytes *records, size_t n) {
    size_t count = 0, bytes = 0;
    if (!p->options.max_copied || key_is_record(&p->rule) || key_is_part(&p->rule))
        return n;
    for (; count < n && (count == 0 || bytes + records[count].size <= p->options.max_copied);
         count++)
        bytes += records[count].size;
    return count;
}

static bool pass_on(pipeline *p, const bly_bytes *records, size_t n) {
    bool good = true;
    for (size_t at = 0, size; good && at < n; at += size) {
        size = part_of(p, records + at, n - at);
        p->first = p->in.number + (p->takes_links ? 0 : at);
        p->last = p->first + (p->takes_links ? p->in.count : size) - 1;
        p->count += size;
        good = p->take(p->ctx, records + at, size);
    }
    return good;
}

/* ---- links ----------------------------------------------------------------------------------- */

static bool pass_links(pipeline *p) {
    const size_t n = p->link_count;
    p->link_count = 0;
    p->copies_used = 0;
    return pass_on(p, p->links, n);
}

/* Copies a link out of the scratch buffer. Earlier copies must not move, so they are passed on
 * first if the space is used up. */
static bool copy_link(pipeline *p, bly_bytes *link) {
    enum { MIN_ROOM = 1 << 16 };
    if (link->size > p->copies_room - p->copies_used && !pass_links(p))
        return false;
    if (link->size > p->copies_room) {
        const size_t room = link->size < MIN_ROOM ? MIN_ROOM : link->size * 2;
        char *more = realloc(p->copies, room);
        if (!more)
            return message_fail("out of memory");
        p->copies = more;
        p->copies_room = room;
    }
    link->data = memcpy(p->copies + p->copies_used, link->data, link->size);
    p->copies_used += link->size;
    return true;
}

/* Collects the links of a line, and passes them on when there is a batch of them. */
static bool take_links(pipeline *p, bly_bytes line) {
    const char *at = line.data, *end = at + line.size;
    bly_bytes link;
    for (;;) {
        if (bly_url_find(&p->scratch, &at, end, &link) != BLY_OK)
            return message_fail("out of memory");
        if (link.size == 0)
            return true;
        if (p->scratch.data && link.data == p->scratch.data && !copy_link(p, &link))
            return false;
        p->links[p->link_count++] = link;
        if (p->link_count == INPUT_BATCH && !pass_links(p))
            return false;
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static bool pass_batch(pipeline *p) {
    if (!p->takes_links)
        return pass_on(p, p->in.records, p->in.count);
    for (size_t i = 0; i < p->in.count; i++)
        if (!take_links(p, p->in.records[i]))
            return false;
    return pass_links(p);
}

static void read_next(pipeline *p) {
    p->more = !p->text && !p->stop && !interrupt_seen() && input_next(&p->in);
}

bool pipeline_run(pipeline *p, pipeline_take *take, void *ctx) {
    bool good = true;
    p->take = take;
    p->ctx = ctx;
    if (!p->begun)
        pipeline_begin(p);
    while (good && p->more) {
        good = pass_batch(p);
        progress_show(&p->progress, p->in.records_read, input_position(&p->in), p->in.bytes_total);
        if (good)
            read_next(p);
    }
    p->failed = p->in.failed;
    progress_end(&p->progress);
    return good;
}

bool pipeline_takes_links(const pipeline *p) {
    return p->takes_links;
}

void pipeline_note_signal(void) {
    if (interrupt_seen() && !interrupt_reader_gone())
        message_note("stopped by a signal; the result covers the lines read so far");
}

void pipeline_print_time(const pipeline *p, FILE *to) {
    char time[NUMBER_TEXT], rate[NUMBER_TEXT];
    const double seconds = progress_seconds(&p->progress);
    (void)fprintf(to, "%-10s %s, %s lines a second\n", "time", number_time(seconds, time),
                  number_short(seconds > 0 ? (double)p->count / seconds : 0, rate));
}

/* ---- keys ------------------------------------------------------------------------------------ */

void pipeline_keep_returns(pipeline *p, const char *state) {
    p->old_state = p->rule.exact ? NULL : state;
    p->rule.exact = true;
}

static void warn_of_returns(pipeline *p) {
    if (!p->old_state || !p->rule.met_return)
        return;
    message_warn("%s: a line ends in a carriage return, which is part of the key in this state; "
                 "the same line without it is a different key. A new state ignores carriage "
                 "returns at the end of lines",
                 p->old_state);
    p->old_state = NULL;
}

static bool is_part_of(bly_bytes key, bly_bytes record) {
    const uintptr_t from = (uintptr_t)key.data, begin = (uintptr_t)record.data;
    return from >= begin && from <= begin + record.size;
}

/* Makes keys that are not always parts of their records. A key that is not part of its record is
 * copied, because the next key_of overwrites it. The copies may move while more are made, so the
 * keys are pointed to them at the end. */
static bool copy_keys(pipeline *p, const bly_bytes *records, size_t n) {
    size_t at = 0;
    p->made.used = 0;
    for (size_t i = 0; i < n; i++) {
        bly_bytes *key = &p->keys[i];
        if (!key_of(&p->rule, records[i], key))
            return false;
        if (is_part_of(*key, records[i]))
            continue;
        if (!byte_strings_put(&p->made, *key))
            return message_fail("out of memory");
        key->data = NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (!p->keys[i].data)
            (void)byte_strings_next(&p->made, &at, &p->keys[i]);
    return true;
}

/* Makes keys that need no copies: a single key, or keys that are parts of their records. */
static bool make_keys(pipeline *p, const bly_bytes *records, size_t n) {
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = key_of(&p->rule, records[i], &p->keys[i]);
    return good;
}

const bly_bytes *pipeline_keys(pipeline *p, const bly_bytes *records, size_t n) {
    const bly_bytes *keys = p->keys;
    if (key_is_record(&p->rule))
        keys = key_texts(&p->rule, records, n, p->keys);
    else if (!(n == 1 || key_is_part(&p->rule) ? make_keys(p, records, n)
                                               : copy_keys(p, records, n)))
        return NULL;
    warn_of_returns(p);
    return keys;
}
