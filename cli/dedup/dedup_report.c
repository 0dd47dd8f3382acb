/* dedup_report.c - totals, rates and memory of `dedup`, as text and as JSON. */
#include "dedup/dedup_report.h"

#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct totals {
    const pipeline *lines;
    const dedup_state *state;
    state_facts facts;
} totals;

/* The peak memory of the process in bytes. Linux's own figure is preferred: the figure of getrusage
 * includes the time before exec, and so the size of the parent process. */
static uint64_t peak_bytes(void) {
    char line[256];
    unsigned long long kilobytes = 0;
    struct rusage usage;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1)
            break;
    if (status)
        (void)fclose(status);
    if (!kilobytes && getrusage(RUSAGE_SELF, &usage) == 0)
        kilobytes = (unsigned long long)usage.ru_maxrss;
    return kilobytes * 1024;
}

/* Lines that are repeats or were mistaken for repeats, without those that got no answer. */
static uint64_t repeated(const dedup_state *s) {
    return s->records - s->unique - s->unanswered;
}

static void print_count(const totals *r) {
    const dedup_state *s = r->state;
    char dropped[NUMBER_TEXT];
    (void)printf("%llu %s%s, %llu unique, %llu repeated", (unsigned long long)s->records,
                 pipeline_takes_links(r->lines) ? "link" : "line", s->records == 1 ? "" : "s",
                 (unsigned long long)s->unique, (unsigned long long)repeated(s));
    if (isnan(r->facts.dropped))
        (void)printf(" (most new lines among them)");
    else if (r->facts.approximate && r->facts.dropped >= 0.5)
        (void)printf(" (about %s of them new)", number_estimate(r->facts.dropped, dropped));
    if (r->lines->rule.not_urls)
        (void)printf(", %llu not URLs", (unsigned long long)r->lines->rule.not_urls);
    (void)putchar('\n');
}

/* Prints how many new lines were probably dropped; nothing with --exact or --confirm, or if
 * state_judge warns. */
static void note_dropped(const totals *r) {
    const state_facts *f = &r->facts;
    const char *what = r->state->request.print_repeats ? "printed" : "dropped";
    char dropped[NUMBER_TEXT];
    if (!f->approximate || state_is_overfull(f) || !isatty(STDERR_FILENO))
        return;
    if (isnan(f->dropped)) {
        message_note("most new lines were mistaken for repeats and %s; to avoid this, use %s", what,
                     f->alternative);
        return;
    }
    (void)number_estimate(f->dropped, dropped);
    const bool one = strcmp(dropped, "1") == 0;
    if (f->dropped >= 0.5)
        message_note(
            "about %s new line%s mistaken for %s and %s (estimated, not counted); to avoid this, "
            "use %s",
            dropped, one ? " was" : "s were", one ? "a repeat" : "repeats", what, f->alternative);
    else
        message_note("probably no new line was mistaken for a repeat and %s (expected number: "
                     "%s%s); to be certain, use %s",
                     what, f->dropped < 0.005 ? "below " : "",
                     f->dropped < 0.005 ? "0.01" : dropped, f->alternative);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void number_line(FILE *to, const char *label, uint64_t value) {
    char text[NUMBER_TEXT];
    (void)fprintf(to, "%-10s %s\n", label, number_grouped(value, text));
}

static void window_line(FILE *to, const state_request *r) {
    char text[NUMBER_TEXT];
    if (r->window_lines)
        (void)fprintf(to, "%-10s the last %s line%s\n", "window",
                      number_grouped(r->window_lines, text), r->window_lines == 1 ? "" : "s");
    if (r->window_span)
        (void)fprintf(to, "%-10s the last %s\n", "window",
                      number_span(r->window_span / 1000, text));
}

static void dropped_lines(FILE *to, const state_facts *f) {
    static const double least = 1e-12; /* the lowest rate that is worth printing */
    char text[NUMBER_TEXT], requested[NUMBER_TEXT];
    if (!f->approximate) {
        (void)fprintf(to, "%-10s none\n", "dropped");
        return;
    }
    (void)fprintf(to, "%-10s %s new lines%s, mistaken for repeats\n", "dropped",
                  state_dropped_text(f->dropped, text), f->dropped_scope);
    (void)fprintf(to, "%-10s %s%s current, %s requested\n", "rate", f->rate < least ? "below " : "",
                  number_percent(fmax(f->rate, least), text),
                  number_percent(f->requested, requested));
}

static void confirmed_line(FILE *to, const state_facts *f) {
    char confirmed[NUMBER_TEXT], read[NUMBER_TEXT];
    (void)fprintf(to, "%-10s %s lines that the filter alone would have dropped, %s pages read\n",
                  "confirmed", number_grouped(f->confirmed, confirmed),
                  number_grouped(f->pages_read, read));
}

static void server_lines(FILE *to, const state_server *s) {
    char keys[NUMBER_TEXT], room[NUMBER_TEXT], bytes[NUMBER_TEXT], name[MESSAGE_TEXT];
    (void)fprintf(to, "%-10s %s unsure, %s unknown\n", "no answer", number_grouped(s->unsure, keys),
                  number_grouped(s->unknown, room));
    (void)fprintf(to, "%-10s %s\n", "server", message_escape(s->name, name, sizeof name));
    (void)fprintf(to, "%-10s %s of %s keys, %s (%s), in %u shard%s on %u server%s\n", "filter",
                  number_grouped(s->keys, keys), number_grouped(s->capacity, room),
                  number_bytes(s->bytes, bytes), s->kind, s->shards, s->shards == 1 ? "" : "s",
                  s->servers, s->servers == 1 ? "" : "s");
    (void)fprintf(to, "%-10s %s round trip%s\n", "network", number_grouped(s->trips, keys),
                  s->trips == 1 ? "" : "s");
}

static void memory_line(FILE *to, const state_facts *f) {
    char bytes[NUMBER_TEXT], peak[NUMBER_TEXT];
    const uint64_t most = peak_bytes();
    (void)number_bytes(most, peak);
    if (!f->bytes)
        (void)fprintf(to, "%-10s %s in all\n", "memory", peak);
    else /* memory that was not written to yet is not in use */
        (void)fprintf(to, "%-10s %s (%s), %s %s\n", "memory", number_bytes(f->bytes, bytes),
                      f->description, peak, most < f->bytes ? "in use so far" : "in all");
}

static void print_text(const totals *r, FILE *to) {
    const bool is_links = pipeline_takes_links(r->lines);
    if (is_links)
        number_line(to, "text lines", r->lines->in.records_read);
    number_line(to, is_links ? "links" : "lines", r->state->records);
    number_line(to, "unique", r->state->unique);
    number_line(to, "repeated", repeated(r->state));
    window_line(to, &r->state->request);
    dropped_lines(to, &r->facts);
    if (r->facts.confirms)
        confirmed_line(to, &r->facts);
    key_rule_print(&r->lines->rule, to);
    if (r->facts.on_server)
        server_lines(to, &r->facts.server);
    memory_line(to, &r->facts);
    pipeline_print_time(r->lines, to);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Writes the members "server" ("HOST:PORT", or the path of the socket), "database" and "key", as in
 * the reports of push and pull. */
static void address_members(json *j, const bly_redis_url *url) {
    char text[512];
    (void)snprintf(text, sizeof text, "%s:%u", url->host ? url->host : "", (unsigned)url->port);
    json_text(j, "server", url->socket ? url->socket : text);
    json_integer(j, "database", url->database);
    json_bytes(j, "key", url->key);
}

static void server_members(json *j, const state_server *s) {
    json_integer(j, "unsure", s->unsure);
    json_integer(j, "unknown", s->unknown);
    address_members(j, s->url);
    json_text(j, "kind", s->kind);
    json_integer(j, "capacity", s->capacity);
    json_integer(j, "keys", s->keys);
    json_integer(j, "filter_bytes", s->bytes);
    json_integer(j, "shards", s->shards);
    json_integer(j, "servers", s->servers);
    if (s->expires_seconds < 0)
        json_null(j, "expires_seconds");
    else
        json_real(j, "expires_seconds", s->expires_seconds);
    json_integer(j, "trips", s->trips);
}

static void state_members(json *j, const state_facts *f) {
    json_real(j, "expected_dropped", f->dropped);
    if (f->approximate) {
        json_real(j, "rate_current", f->rate);
        json_real(j, "rate_requested", f->requested);
    }
    if (f->worst >= 0)
        json_real(j, "rate_worst", f->worst);
    if (f->confirms) {
        json_integer(j, "confirmed", f->confirmed);
        json_integer(j, "pages_read", f->pages_read);
    }
    if (f->on_server)
        server_members(j, &f->server);
}

static void print_json(const totals *r, FILE *to) {
    const state_request *request = &r->state->request;
    const double seconds = progress_seconds(&r->lines->progress);
    json j = json_begin(to);
    json_integer(&j, "lines", r->state->records);
    json_integer(&j, "unique", r->state->unique);
    json_integer(&j, "repeated", repeated(r->state));
    if (request->window_lines)
        json_integer(&j, "window_lines", request->window_lines);
    if (request->window_span)
        json_integer(&j, "window_seconds", request->window_span / 1000);
    state_members(&j, &r->facts);
    if (pipeline_takes_links(r->lines))
        json_integer(&j, "text_lines", r->lines->in.records_read);
    key_rule_json(&r->lines->rule, &j);
    json_text(&j, "method", r->facts.method);
    if (r->facts.bytes)
        json_integer(&j, "memory_bytes", r->facts.bytes);
    json_integer(&j, "peak_bytes", peak_bytes());
    json_real(&j, "seconds", seconds);
    json_real(&j, "lines_per_second", seconds > 0 ? (double)r->state->records / seconds : 0);
    json_end(&j);
}

bool dedup_report(const dedup_options *o, const pipeline *lines, dedup_state *state) {
    totals all = {.lines = lines, .state = state};
    state_get_facts(state, &all.facts);
    if (o->json)
        print_json(&all, o->count ? stdout : stderr);
    else if (o->count)
        print_count(&all);
    if (o->stats && !o->json)
        print_text(&all, stderr);
    if (!o->json && !o->count && !o->stats)
        note_dropped(&all);
    return state_judge(state, &all.facts);
}
