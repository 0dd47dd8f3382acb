/* add_live.c - lines that become keys of a filter on a plain server.
 *
 * Keys go over as they are read, many at once. There is no file that could stay as it was: what has
 * arrived is there for all. So where a line can be malformed, and that is an error, all lines are
 * read before the first key is sent. (Lines of type line cannot be.)
 *
 * A list that knows its type says so by marks, keys among the others (src/lists/list_marks.c). The
 * marks of a new level are added before the first key of that level: a key that is there is then
 * always looked up.
 */
#include "filters/add_server.h"

#include "filters/filter_file.h"
#include "filters/health.h"
#include "filters/server_facts.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/redis/filter.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOGETHER = 32768 }; /* keys, in one trip */

typedef struct adding {
    const change_values *values;
    remote remote;
    change_type as;
    change_forms forms;     /* where as.unsaid */
    bly_list_levels before; /* the levels that were marked when it was opened */
    bly_list_levels known;  /* that are marked now */
    bly_list_levels levels; /* of all keys so far */
    bool typed;             /* the type's own marks are there */
    bool by_chance;         /* some of the levels may only seem to be marked */
    bool holds;             /* nothing is sent before all is read */
    byte_strings keys;      /* that wait */
    size_t waiting;
    bly_bytes *batch;
    uint8_t *answers;
    uint64_t read, sent, fresh, unsure; /* keys */
    list_lines lines;
} adding;

/* ---- sending --------------------------------------------------------------------------------- */

/* The first n keys of the batch. false: reported. */
static bool send(adding *a, size_t n, bly_redis_batch_result *tally) {
    const bly_status status =
        bly_redis_filter_add_many(a->remote.filter, a->batch, n, BLY_UNKNOWN, a->answers, tally);
    if (status != BLY_OK)
        (void)remote_failed(&a->remote, status);
    return status == BLY_OK;
}

static bool send_keys(adding *a, size_t n) {
    char known[NUMBER_TEXT], unknown[NUMBER_TEXT];
    bly_redis_batch_result tally = {0};
    const bool good = send(a, n, &tally);
    a->sent += n - tally.unknown;
    a->fresh += tally.yes;
    a->unsure += tally.unsure;
    if (!good)
        (void)message_error("%s: %s keys are in it for certain; whether the next %s are is not "
                            "known. Adding them again does no harm",
                            a->remote.at.name, number_grouped(a->sent, known),
                            number_grouped(tally.unknown, unknown));
    return good;
}

/* Marks from the i-th on, of a list of these levels. */
static bool send_marks(adding *a, const bly_list_levels *levels, uint64_t i) {
    const uint64_t count = bly_list_mark_count(a->as.type, levels);
    char(*room)[BLY_LIST_MARK] = count > i ? malloc((size_t)(count - i) * sizeof *room) : NULL;
    bly_redis_batch_result tally;
    size_t n = 0;
    if (count <= i)
        return true;
    if (!room) {
        (void)message_error("out of memory");
        return false;
    }
    for (; i < count; i++, n++)
        a->batch[n] = bly_list_mark_at(a->as.type, levels, i, room[n]);
    const bool good = send(a, n, &tally);
    free(room);
    return good;
}

/* Before keys of levels that are new. */
static bool mark(adding *a) {
    const bly_list_levels none = {{0}};
    bly_list_levels fresh = a->levels;
    if (!a->as.mark)
        return true;
    for (size_t i = 0; i < sizeof fresh.bits / sizeof *fresh.bits; i++)
        fresh.bits[i] &= ~a->known.bits[i];
    const uint64_t first = a->typed ? bly_list_mark_count(a->as.type, &none) : 0;
    if (!send_marks(a, &fresh, first))
        return false;
    a->typed = true;
    for (size_t i = 0; i < sizeof fresh.bits / sizeof *fresh.bits; i++)
        a->known.bits[i] |= fresh.bits[i];
    return true;
}

/* All keys that wait. */
static bool flush(adding *a) {
    size_t at = 0;
    if (a->waiting > 0 && !mark(a))
        return false;
    while (a->waiting > 0) {
        size_t n = 0;
        while (n < TOGETHER && byte_strings_next(&a->keys, &at, &a->batch[n]))
            n++;
        if (!send_keys(a, n))
            return false;
        a->waiting -= n;
    }
    a->keys.used = 0;
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool take_key(void *ctx, bly_bytes key) {
    adding *a = ctx;
    if (!byte_strings_put(&a->keys, key))
        return false;
    a->read++;
    a->waiting++;
    return true;
}

static bool take(void *ctx, uint64_t number, bly_bytes line, const bly_list_key *key) {
    adding *a = ctx;
    (void)number;
    bly_list_levels_add(&a->levels, key->level);
    if (!take_key(a, key->bytes) ||
        (a->as.unsaid && !change_other_forms(&a->forms, line, key->bytes, take_key, a)))
        return false;
    if (a->holds || a->waiting < TOGETHER || flush(a))
        return true;
    a->lines.stopped = true;
    return false;
}

static bool take_all(adding *a, cli_operands files) {
    char sent[NUMBER_TEXT];
    const bool good = change_read(a->values, &a->as, files, take, a, &a->lines);
    if (good)
        return flush(a);
    if (a->sent > 0 && !a->lines.stopped)
        (void)message_error("%s: %s keys had been added by then; adding them again does no harm",
                            a->remote.at.name, number_grouped(a->sent, sent));
    return false;
}

/* ---- the filter ------------------------------------------------------------------------------ */

static bool settle(adding *a) {
    bly_list_info own = {.struct_size = sizeof own, .type = BLY_LIST_LINE};
    bly_redis_filter_info facts = {.struct_size = sizeof facts};
    const change_values *v = a->values;
    if (v->gozero)
        own.levels = bly_list_levels_all(); /* it has no marks, and is given none */
    else if (!live_facts_examine(&a->remote, &own) || !live_facts_look(&a->remote, &facts))
        return false;
    const bly_key_rule rule = bly_redis_filter_bitmap(a->remote.filter)->key_rule;
    change_list list = {
        .path = a->remote.at.name,
        .own = own.type,
        .recorded = rule != BLY_KEYS_UNRECORDED,
        .empty = rule == BLY_KEYS_UNRECORDED && !v->gozero && facts.count == 0,
    };
    if (!v->gozero && !list.recorded && !bly_list_is_typed(own.type) &&
        !live_facts_rule(&a->remote, &list.marks))
        return false;
    if (list.marks.other)
        list.own = BLY_LIST_OTHER;
    if (!change_settle_type(&list, (bly_list_type)v->type, &a->as))
        return false;
    a->as.unsaid &= !v->gozero; /* its keys are those of a program */
    a->forms = change_forms_of(&list, &a->as, true, v->null);
    a->before = a->known = own.levels;
    a->by_chance = own.chance_levels;
    a->typed = a->as.marked;
    a->holds = bly_list_is_typed(a->as.type) && !v->skip;
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void report_json(const adding *a, const bly_filter_info *s, uint64_t marks) {
    json j = json_begin(stdout);
    json_text(&j, "file", a->remote.at.name);
    json_text(&j, "type", line_type_words(a->as.type));
    json_integer(&j, "keys", a->read);
    json_integer(&j, "new", a->fresh);
    json_integer(&j, "unsure", a->unsure);
    json_integer(&j, "malformed", a->lines.malformed);
    if (a->values->gozero) {
        json_integer(&j, "bits", s->bits);
        json_integer(&j, "set_bits", s->set_bits);
        json_real(&j, "estimated_keys", s->estimated_keys);
    } else {
        json_integer(&j, "count", s->count);
        json_integer(&j, "marks", marks);
        json_integer(&j, "capacity", s->capacity);
        json_real(&j, "rate_per_lookup_requested", s->requested_fpr);
    }
    json_real(&j, "rate_per_lookup_current", s->current_fpr);
    if (!a->values->gozero)
        json_bool(&j, "keeps_promise", health_of(s) == HEALTH_GOOD);
    json_end(&j);
}

static void report_words(const adding *a, const bly_filter_info *s, uint64_t marks) {
    char fresh[NUMBER_TEXT], keys[NUMBER_TEXT], count[NUMBER_TEXT], room[NUMBER_TEXT];
    char rate[NUMBER_TEXT], marked[64] = "";
    const uint64_t own = s->count > marks ? s->count - marks : 0;
    (void)number_grouped(a->fresh, fresh);
    (void)number_grouped(a->read, keys);
    if (marks)
        (void)snprintf(marked, sizeof marked, " and %llu marks of its type",
                       (unsigned long long)marks);
    if (a->values->gozero)
        message_note("%s: %s of %s new; false-positive rate per lookup is now %s",
                     a->remote.at.name, fresh, keys, number_percent(s->current_fpr, rate));
    else
        message_note("%s: %s of %s new; it holds %s key%s%s, its capacity is %s%s",
                     a->remote.at.name, fresh, keys, number_grouped(own, count),
                     own == 1 ? "" : "s", marked, number_grouped(s->capacity, room),
                     marks ? " with them" : "");
}

static bool report(const adding *a) {
    char unsure[NUMBER_TEXT], text[HEALTH_TEXT];
    bly_redis_filter_info facts = {.struct_size = sizeof facts};
    if (!live_facts_look(&a->remote, &facts))
        return false;
    const bly_filter_info s = live_facts_stats(bly_redis_filter_bitmap(a->remote.filter), &facts);
    const bly_list_levels none = {{0}};
    const uint64_t marks = a->values->gozero || !a->typed
                               ? 0
                               : bly_list_mark_count(a->as.type, a->by_chance ? &none : &a->known);
    if (a->values->json)
        report_json(a, &s, marks);
    else
        report_words(a, &s, marks);
    if (a->unsure)
        message_note("%s: of %s more it is not known whether they were new: an answer was lost, "
                     "and they were sent again",
                     a->remote.at.name, number_grouped(a->unsure, unsure));
    if (a->as.mark && health_of(&s) == HEALTH_GOOD)
        change_warn_of_levels(a->remote.at.name, a->as.type, &a->before, &a->levels, &s);
    if (!a->values->gozero && !health_warn(a->remote.at.name, &s) && health_past_capacity(&s) &&
        s.current_fpr > s.requested_fpr)
        message_warn("%s: is past its capacity: %s", a->remote.at.name, health_text(&s, text));
    return true;
}

static bool add(adding *a, const bly_hasher *key, cli_operands operands) {
    const change_values *v = a->values;
    a->batch = malloc(TOGETHER * sizeof *a->batch);
    a->answers = malloc(TOGETHER);
    if (!a->batch || !a->answers) {
        (void)message_error("out of memory");
        return false;
    }
    if (!remote_to(&a->remote, operands.items[0]))
        return false;
    const bly_status status = v->gozero ? remote_open_gozero(&a->remote, v->gozero, NULL)
                                        : remote_open(&a->remote, key, NULL);
    const cli_operands files = {operands.items + 1, operands.count - 1};
    return status == BLY_OK && settle(a) && take_all(a, files) && report(a);
}

int add_live(const change_values *v, cli_operands operands) {
    adding a = {.values = v};
    bly_hasher space;
    const bly_hasher *key;
    if (v->copies)
        return message_error("a filter on a plain server does not hold copies of keys; leave out "
                             "--copies");
    if (v->gozero && v->key_file)
        return message_error("go-zero's filters are not keyed; leave out --key-file");
    if (!open_key(v->key_file, &space, &key))
        return CLI_ERROR;
    const bool good = add(&a, key, operands);
    remote_close(&a.remote);
    byte_strings_free(&a.keys);
    bly_url_buffer_free(&a.forms.buffer);
    free(a.batch);
    free(a.answers);
    return good ? CLI_OK : CLI_ERROR;
}
