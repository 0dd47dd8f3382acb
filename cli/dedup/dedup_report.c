#include "dedup_report.h"

#include "json.h"
#include "numbers.h"

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

char *dedup_report_estimate(double value, char out[DEDUP_ESTIMATE]) {
    if (value >= 9.5 && value < 0x1p63)
        return number_grouped((uint64_t)(value + 0.5), out);
    (void)snprintf(out, DEDUP_ESTIMATE, value < 0.005 ? "0" : "%.2g", value);
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

static void lost_line(FILE *to, const seen *s) {
    static const double least = 1e-12; /* that is worth telling */
    char now[NUMBER_TEXT], promised[NUMBER_TEXT], lost[DEDUP_ESTIMATE];
    if (s->filter) {
        (void)fprintf(to, "%-10s about %s new ones%s, taken for repeats\n", "lost",
                      dedup_report_estimate(s->lost, lost), s->window ? " of the window" : "");
        const double rate = seen_rate_now(s);
        (void)fprintf(to, "%-10s %s%s now, %s promised\n", "rate", rate < least ? "below " : "",
                      number_percent(fmax(rate, least), now),
                      number_percent(seen_rate_promised(s), promised));
        return;
    }
    (void)fprintf(to, "%-10s none\n", "lost");
    if (s->confirm)
        (void)fprintf(to, "%-10s %s lines the filter alone would have lost, %s pages read\n",
                      "confirmed", number_grouped(confirm_saved(s->confirm), now),
                      number_grouped(confirm_lookups(s->confirm), promised));
}

void dedup_report_text(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule) {
    char bytes[NUMBER_TEXT], peak[NUMBER_TEXT], time[NUMBER_TEXT], rate[NUMBER_TEXT];
    if (t->links)
        number_line(to, "text lines", t->texts);
    number_line(to, t->links ? "links" : "lines", t->records);
    number_line(to, "unique", t->unique);
    number_line(to, "repeated", t->records - t->unique);
    window_line(to, t);
    lost_line(to, s);
    if (rule->url)
        number_line(to, "not URLs", rule->not_urls);
    if (rule->field)
        number_line(to, "no field", rule->fieldless);
    /* The system gives memory when it is first written to. */
    (void)fprintf(to, "%-10s %s (%s), %s %s\n", "memory", number_bytes(seen_bytes(s), bytes),
                  method(s), number_bytes(peak_bytes(), peak),
                  peak_bytes() < seen_bytes(s) ? "in use so far" : "in all");
    (void)fprintf(to, "%-10s %s, %s lines a second\n", "time", number_time(t->seconds, time),
                  number_short(t->seconds > 0 ? (double)t->records / t->seconds : 0, rate));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void dedup_report_json(FILE *to, const dedup_totals *t, const seen *s, const key_rule *rule) {
    json j = json_begin(to);
    json_integer(&j, "lines", t->records);
    json_integer(&j, "unique", t->unique);
    json_integer(&j, "repeated", t->records - t->unique);
    if (t->window_keys)
        json_integer(&j, "window_lines", t->window_keys);
    if (t->window_seconds)
        json_integer(&j, "window_seconds", t->window_seconds);
    json_real(&j, "estimated_lost", s->filter ? s->lost : 0);
    if (s->filter) {
        json_real(&j, "rate_now", seen_rate_now(s));
        json_real(&j, "rate_promised", seen_rate_promised(s));
        if (s->window)
            json_real(&j, "rate_worst", s->worst);
    }
    if (s->confirm) {
        json_integer(&j, "confirmed", confirm_saved(s->confirm));
        json_integer(&j, "pages_read", confirm_lookups(s->confirm));
    }
    if (t->links)
        json_integer(&j, "text_lines", t->texts);
    if (rule->url)
        json_integer(&j, "not_urls", rule->not_urls);
    if (rule->field)
        json_integer(&j, "no_field", rule->fieldless);
    json_text(&j, "method", s->exact ? "exact" : s->confirm ? "confirm" : method(s));
    json_integer(&j, "memory_bytes", seen_bytes(s));
    json_integer(&j, "peak_bytes", peak_bytes());
    json_real(&j, "seconds", t->seconds);
    json_real(&j, "lines_per_second", t->seconds > 0 ? (double)t->records / t->seconds : 0);
    json_end(&j);
}
