#include "dedup/dedup_report.h"

#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/redis/filter.h>
#include <math.h>
#include <sys/resource.h>

/* The most memory the process has had, in bytes. Linux's own figure comes first: what getrusage
 * counts begins before exec, with the size of whoever started us. */
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

static const char *method(const seen *s) {
    if (s->exact)
        return "fingerprints in memory";
    if (s->confirm)
        return "filter, confirmed on disk";
    return bly_kind_name(bly_filter_geometry(s->filter).kind);
}

uint64_t dedup_totals_repeated(const dedup_totals *t) {
    return t->records - t->unique - (t->redis ? t->redis->unsure + t->redis->unknown : 0);
}

double dedup_totals_lost(const dedup_totals *t) {
    const double most = (double)dedup_totals_repeated(t);
    return t->redis->lost > most ? most : t->redis->lost;
}

char *dedup_report_estimate(double value, char out[DEDUP_ESTIMATE]) {
    if (value >= 9.5 && value < 0x1p63)
        return number_grouped((uint64_t)(value + 0.5), out);
    (void)snprintf(out, DEDUP_ESTIMATE, value < 0.005 ? "0" : "%.2g", value);
    return out;
}

char *dedup_report_about(double value, char out[DEDUP_ESTIMATE]) {
    char number[DEDUP_ESTIMATE];
    if (isnan(value))
        (void)snprintf(out, DEDUP_ESTIMATE, "most");
    else
        (void)snprintf(out, DEDUP_ESTIMATE, "about %.24s", dedup_report_estimate(value, number));
    return out;
}

void dedup_report_count(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule) {
    char lost[DEDUP_ESTIMATE];
    (void)fprintf(to, "%llu %s%s, %llu unique, %llu repeated", (unsigned long long)t->records,
                  t->links ? "link" : "line", t->records == 1 ? "" : "s",
                  (unsigned long long)t->unique, (unsigned long long)(t->records - t->unique));
    if (s->filter && s->lost >= 0.5)
        (void)fprintf(to, " (about %s of them new)", dedup_report_estimate(s->lost, lost));
    if (rule->not_urls)
        (void)fprintf(to, ", %llu no URLs", (unsigned long long)rule->not_urls);
    (void)fputc('\n', to);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void number_line(FILE *to, const char *label, uint64_t value) {
    char text[NUMBER_TEXT];
    (void)fprintf(to, "%-10s %s\n", label, number_grouped(value, text));
}

static void window_line(FILE *to, const dedup_totals *t) {
    char text[NUMBER_TEXT];
    if (t->window_keys)
        (void)fprintf(to, "%-10s the last %s line%s\n", "window",
                      number_grouped(t->window_keys, text), t->window_keys == 1 ? "" : "s");
    if (t->window_seconds)
        (void)fprintf(to, "%-10s the last %s\n", "window", number_span(t->window_seconds, text));
}

static void rate_lines(FILE *to, double lost, const char *of, double rate, double promised) {
    static const double least = 1e-12; /* that is worth telling */
    char estimate[DEDUP_ESTIMATE], now[NUMBER_TEXT], asked[NUMBER_TEXT];
    (void)fprintf(to, "%-10s %s new ones%s, taken for repeats\n", "lost",
                  dedup_report_about(lost, estimate), of);
    (void)fprintf(to, "%-10s %s%s now, %s promised\n", "rate", rate < least ? "below " : "",
                  number_percent(fmax(rate, least), now), number_percent(promised, asked));
}

static void lost_line(FILE *to, const seen *s) {
    char now[NUMBER_TEXT], promised[NUMBER_TEXT];
    if (s->filter) {
        rate_lines(to, s->lost, s->window ? " of the window" : "", seen_rate_now(s),
                   seen_rate_promised(s));
        return;
    }
    (void)fprintf(to, "%-10s none\n", "lost");
    if (s->confirm)
        (void)fprintf(to, "%-10s %s lines the filter alone would have lost, %s pages read\n",
                      "confirmed", number_grouped(confirm_saved(s->confirm), now),
                      number_grouped(confirm_lookups(s->confirm), promised));
}

static void memory_line(FILE *to, const seen *s) {
    char bytes[NUMBER_TEXT], peak[NUMBER_TEXT];
    /* The system gives memory when it is first written to. */
    (void)fprintf(to, "%-10s %s (%s), %s %s\n", "memory", number_bytes(seen_bytes(s), bytes),
                  method(s), number_bytes(peak_bytes(), peak),
                  peak_bytes() < seen_bytes(s) ? "in use so far" : "in all");
}

static void redis_lines(FILE *to, const dedup_totals *t) {
    const seen_redis *s = t->redis;
    const bly_bitmap *b = bly_redis_filter_bitmap(s->remote.filter);
    char keys[NUMBER_TEXT], room[NUMBER_TEXT], bytes[NUMBER_TEXT], name[MESSAGE_TEXT];
    rate_lines(to, dedup_totals_lost(t), "", s->rate, seen_redis_promised(s));
    (void)fprintf(to, "%-10s %s unsure, %s unknown\n", "no answer", number_grouped(s->unsure, keys),
                  number_grouped(s->unknown, room));
    (void)fprintf(to, "%-10s %s\n", "server", message_escape(s->remote.at.name, name, sizeof name));
    (void)fprintf(to, "%-10s %s keys of %s, %s (%s), in %u shard%s on %u server%s\n", "filter",
                  number_grouped(s->facts.count, keys), number_grouped(b->capacity, room),
                  number_bytes(s->facts.bytes, bytes), bly_kind_name(b->geometry.kind), b->shards,
                  b->shards == 1 ? "" : "s", s->facts.nodes, s->facts.nodes == 1 ? "" : "s");
    number_line(to, "trips", s->trips);
    (void)fprintf(to, "%-10s %s in all\n", "memory", number_bytes(peak_bytes(), bytes));
}

void dedup_report_text(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule) {
    char time[NUMBER_TEXT], rate[NUMBER_TEXT];
    if (t->links)
        number_line(to, "text lines", t->texts);
    number_line(to, t->links ? "links" : "lines", t->records);
    number_line(to, "unique", t->unique);
    number_line(to, "repeated", dedup_totals_repeated(t));
    window_line(to, t);
    if (!t->redis)
        lost_line(to, s);
    if (rule->url)
        number_line(to, "not URLs", rule->not_urls);
    if (rule->field)
        number_line(to, "no field", rule->fieldless);
    if (t->redis)
        redis_lines(to, t);
    else
        memory_line(to, s);
    (void)fprintf(to, "%-10s %s, %s lines a second\n", "time", number_time(t->seconds, time),
                  number_short(t->seconds > 0 ? (double)t->records / t->seconds : 0, rate));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* As push and pull have it: "HOST:PORT", or the socket. */
static void server_member(json *j, const bly_redis_url *url) {
    char text[512];
    (void)snprintf(text, sizeof text, "%s:%u", url->host ? url->host : "", (unsigned)url->port);
    json_text(j, "server", url->socket ? url->socket : text);
}

static void redis_members(json *j, const dedup_totals *t) {
    const seen_redis *s = t->redis;
    const bly_bitmap *b = bly_redis_filter_bitmap(s->remote.filter);
    json_integer(j, "unsure", s->unsure);
    json_integer(j, "unknown", s->unknown);
    json_real(j, "estimated_lost", dedup_totals_lost(t));
    json_real(j, "rate_now", s->rate);
    json_real(j, "rate_promised", seen_redis_promised(s));
    server_member(j, &s->remote.at.url);
    json_integer(j, "database", s->remote.at.url.database);
    json_bytes(j, "key", s->remote.at.url.key);
    json_text(j, "kind", bly_kind_name(b->geometry.kind));
    json_integer(j, "capacity", b->capacity);
    json_integer(j, "keys", s->facts.count);
    json_integer(j, "filter_bytes", s->facts.bytes);
    json_integer(j, "shards", b->shards);
    json_integer(j, "servers", s->facts.nodes);
    if (s->facts.expires_ms < 0)
        json_null(j, "expires_seconds");
    else
        json_real(j, "expires_seconds", (double)s->facts.expires_ms / 1000);
    json_integer(j, "trips", s->trips);
}

static void seen_members(json *j, const seen *s) {
    json_real(j, "estimated_lost", s->filter ? s->lost : 0);
    if (s->filter) {
        json_real(j, "rate_now", seen_rate_now(s));
        json_real(j, "rate_promised", seen_rate_promised(s));
        if (s->window)
            json_real(j, "rate_worst", s->worst);
    }
    if (s->confirm) {
        json_integer(j, "confirmed", confirm_saved(s->confirm));
        json_integer(j, "pages_read", confirm_lookups(s->confirm));
    }
}

void dedup_report_json(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule) {
    json j = json_begin(to);
    json_integer(&j, "lines", t->records);
    json_integer(&j, "unique", t->unique);
    json_integer(&j, "repeated", dedup_totals_repeated(t));
    if (t->window_keys)
        json_integer(&j, "window_lines", t->window_keys);
    if (t->window_seconds)
        json_integer(&j, "window_seconds", t->window_seconds);
    if (t->redis)
        redis_members(&j, t);
    else
        seen_members(&j, s);
    if (t->links)
        json_integer(&j, "text_lines", t->texts);
    if (rule->url)
        json_integer(&j, "not_urls", rule->not_urls);
    if (rule->field)
        json_integer(&j, "no_field", rule->fieldless);
    json_text(&j, "method",
              t->redis     ? "redis"
              : s->exact   ? "exact"
              : s->confirm ? "confirm"
                           : method(s));
    if (!t->redis)
        json_integer(&j, "memory_bytes", seen_bytes(s));
    json_integer(&j, "peak_bytes", peak_bytes());
    json_real(&j, "seconds", t->seconds);
    json_real(&j, "lines_per_second", t->seconds > 0 ? (double)t->records / t->seconds : 0);
    json_end(&j);
}
