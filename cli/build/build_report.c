/* build_report.c - the report of `bloomery build`. */
#include "build/build_run.h"
#include "filters/describe.h"
#include "filters/filter_file.h"
#include "filters/health.h"
#include "filters/kind_words.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdio.h>

static void report_json(const build_run *r) {
    const unsigned lookups = bly_list_max_lookups(r->rule.type, &r->contents.levels);
    json out = json_begin(stdout);
    json_text(&out, "list", r->to.name);
    json_text(&out, "type", line_type_words(r->rule.type));
    json_text(&out, "kind", bly_kind_name(bly_filter_geometry(r->filter).kind));
    json_text(&out, "hash", bly_hash_name((bly_hash_id)r->spec.hasher.id));
    json_bool(&out, "keyed", r->keyed);
    json_integer_or_null(&out, "seed", !r->keyed, r->spec.hasher.seed);
    json_integer(&out, "lines", r->lines.lines);
    json_integer(&out, "keys", r->keys.distinct);
    json_integer(&out, "repeated", r->repeated);
    if (r->keys.copies)
        json_integer(&out, "copies", r->keys.count);
    json_integer(&out, "malformed", r->lines.malformed);
    json_integer(&out, "empty", r->lines.empty);
    json_integer(&out, "marks", bly_list_mark_count(r->rule.type, &r->contents.levels));
    json_integer(&out, "capacity", bly_filter_capacity(r->filter));
    rates_json_requested(&out, r->spec.fpr / lookups, (rates_lookups){lookups, lookups});
    json_integer(&out, "bytes", destination_bytes(&r->to, r->filter));
    json_integer(&out, "tries", r->tries);
    if (r->to.on_server)
        json_integer(&out, "shards", destination_shards(&r->to));
    json_end(&out);
}

bool build_report_stats(const build_run *r, bly_filter *f) {
    const handle_options how = {.key = r->keyed ? &r->spec.hasher : NULL};
    filter_handle h;
    description d;
    if (!r->to.on_server)
        handle_borrow(&h, r->to.name, f);
    const bool open = !r->to.on_server || handle_open(&h, r->options->output, &how);
    const bool good = open && describe(&d, &h, true);
    if (good) {
        d.out = stderr;
        description_print(&d);
    }
    if (r->to.on_server)
        handle_close(&h);
    return good;
}

/* With -n the capacity is fixed, so the rate may be higher than requested: only without -n does
 * bly_list_fill enlarge the filter until the rate holds. */
static void warn_of_rate(const build_run *r) {
    const bly_filter_info s = filter_info(r->filter);
    if (kinds_share_cells(s.kind) && s.current_fpr > HEALTH_MARGIN * s.requested_fpr)
        message_warn("%s: false-positive rate per lookup is %s (requested: %s), because its keys "
                     "are unevenly distributed; give a larger -n",
                     r->to.name, NUMBER_PERCENT(s.current_fpr), NUMBER_PERCENT(s.requested_fpr));
}

void build_report_list(const bly_filter *f, const char *name, uint64_t bytes, double rate,
                       rates_lookups lookups) {
    char rates[RATES_TEXT];
    const bly_kind kind = bly_filter_geometry(f).kind;
    const char *size = NUMBER_BYTES(bytes);
    if (kinds_can(kind, BLY_CARDINALITY_ONLY))
        message_note("%s: %s, %s, with a standard error of %s", name, bly_kind_name(kind), size,
                     NUMBER_PERCENT(bly_hll_error(f)));
    else
        message_note("%s: %s, %s, false positives: %s", name, bly_kind_name(kind), size,
                     rates_text(rate, lookups, rates));
}

void build_report(const build_run *r) {
    char extra[128] = "";
    size_t used = 0;
    if (r->lines.malformed)
        used = (size_t)snprintf(extra, sizeof extra, ", %s malformed skipped",
                                NUMBER_GROUPED(r->lines.malformed));
    if (r->lines.empty)
        (void)snprintf(extra + used, sizeof extra - used, ", %s blank or comments",
                       NUMBER_GROUPED(r->lines.empty));
    message_note("%s line%s: %s key%s, %s repeated%s%s", NUMBER_GROUPED(r->lines.lines),
                 r->lines.lines == 1 ? "" : "s", NUMBER_GROUPED(r->keys.distinct),
                 r->keys.distinct == 1 ? "" : "s", NUMBER_GROUPED(r->repeated),
                 r->keys.copies && r->repeated ? " and stored as copies" : "", extra);
    const unsigned lookups = bly_list_max_lookups(r->rule.type, &r->contents.levels);
    build_report_list(r->filter, r->to.name, destination_bytes(&r->to, r->filter),
                      r->spec.fpr / lookups, (rates_lookups){lookups, lookups});
    if (r->limited)
        message_note("the false-positive rate of a list of type %s is at most %s per lookup, so "
                     "this list has a lower rate than requested",
                     line_type_words(r->contents.type), NUMBER_PERCENT(BLY_LIST_MAX_RATE));
    if (r->tries > 1 && r->keyed)
        message_note("no line of %s matches the list after %u tries; for this, the false-positive "
                     "rate per line was lowered to %s",
                     r->allow.path, r->tries, NUMBER_PERCENT(r->spec.fpr));
    else if (r->tries > 1)
        message_note("no line of %s matches the list after %u tries; the seed is %llu",
                     r->allow.path, r->tries, (unsigned long long)r->spec.hasher.seed);
    warn_of_rate(r);
    if (r->options->json)
        report_json(r);
}
