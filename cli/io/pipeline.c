/* pipeline.c - one loop over batches of records, for every command that reads lines. */
#include "io/pipeline.h"

#include "io/interrupt.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdlib.h>
#include <string.h>

/* ---- opening --------------------------------------------------------------------------------- */

/* Makes the text a record, followed by a separator. */
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
    const char separator = null ? '\0' : '\n';
    memset(p, 0, sizeof *p);
    p->rule = o->keys ? key_options_rule(o->keys) : (key_rule){.exact = null};
    p->links.pass_lines = !(o->keys && o->keys->extract);
    p->in.separator = separator;
    progress_begin(&p->progress, o->prints);
    p->in.longest = o->max_record;
    p->max_copied = o->max_copied;
    p->in.idle = o->idle;
    p->in.idle_ctx = o->idle_ctx;
    if (o->catch_signals)
        interrupt_watch();
    return o->text ? open_text(p, o->text) : pipeline_reopen(p, files);
}

bool pipeline_reopen(pipeline *p, cli_operands files) {
    bool (*const idle)(void *) = p->in.idle;
    void *const idle_ctx = p->in.idle_ctx;
    input_close(&p->in);
    p->begun = p->more = false;
    if (!input_open(&p->in, files.items, files.count, p->in.separator, p->in.longest))
        return false;
    p->in.idle = idle;
    p->in.idle_ctx = idle_ctx;
    return true;
}

void pipeline_close(pipeline *p) {
    progress_end(&p->progress);
    input_close(&p->in);
    links_free(&p->links);
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
    if (pipeline_takes_links(p) || p->text)
        return 0;
    return input_estimate(&p->in);
}

/* The context of `receive`. */
typedef struct receiver {
    pipeline *pipeline;
    pipeline_take *take;
    void *ctx;
} receiver;

/* How many of the records are passed on together. */
static size_t part_of(const pipeline *p, const bly_bytes *records, size_t n) {
    size_t count = 0, bytes = 0;
    if (!p->max_copied || key_is_record(&p->rule) || key_is_part(&p->rule))
        return n;
    for (; count < n && (count == 0 || bytes + records[count].size <= p->max_copied); count++)
        bytes += records[count].size;
    return count;
}

static bool receive(void *ctx, const bly_bytes *records, size_t n) {
    const receiver *r = ctx;
    pipeline *p = r->pipeline;
    const bool is_links = pipeline_takes_links(p);
    bool good = true;
    for (size_t at = 0, size; good && at < n; at += size) {
        size = part_of(p, records + at, n - at);
        p->first = p->in.number + (is_links ? 0 : at);
        p->last = p->first + (is_links ? p->in.count : size) - 1;
        p->count += size;
        good = r->take(r->ctx, records + at, size);
    }
    return good;
}

static void read_next(pipeline *p) {
    p->more = !p->text && !p->stop && !interrupt_seen() && input_next(&p->in);
}

bool pipeline_run(pipeline *p, pipeline_take *take, void *ctx) {
    receiver r = {p, take, ctx};
    bool good = true;
    if (!p->begun)
        pipeline_begin(p);
    while (good && p->more) {
        good = links_take(&p->links, p->in.records, p->in.count, receive, &r);
        progress_show(&p->progress, p->in.records_read, input_position(&p->in), p->in.bytes_total);
        if (good)
            read_next(p);
    }
    p->failed = input_failed(&p->in);
    progress_end(&p->progress);
    return good;
}

bool pipeline_takes_links(const pipeline *p) {
    return !p->links.pass_lines;
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

/* For keys that need not be parts of their records: those that are not are copied, because key_of
 * overwrites the last one. Copies may move until all are made. */
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

/* For one key, and for keys that are parts of their records. */
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
