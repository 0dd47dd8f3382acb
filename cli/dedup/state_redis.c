/* state_redis.c - a state that is a filter on a Redis or Valkey server without the module, which
 * any number of machines share.
 *
 * If several machines add a key, exactly one of them is told that it is new. If the server does not
 * answer, or an answer is lost, --on-error decides: the run ends, or the lines without an answer
 * are printed or dropped.
 *
 * Joining. The first machine creates the filter, the others join it. Its seed is random, so two
 * machines that create it at the same moment request different seeds. The later one gets an error,
 * reads the parameters of the filter that the earlier one has begun, and creates that one. This
 * joins the filter, or completes it if the earlier machine has died.
 *
 * The number of dropped lines. The server counts the keys that were reported as new;
 * bly_bitmap_keys estimates how many different keys there were in all. The difference was dropped,
 * by all machines. This run's share of it is assumed to be its share of the new keys.
 *
 * With --allow-replica keys are only looked up, and those that the filter does not contain are
 * added to a state of this run, which has all fingerprints in memory. So a new key is dropped at
 * the filter's rate alone.
 */
#include "dedup/state.h"

#include "cli.h"
#include "filters/server_filter.h"
#include "io/interrupt.h"
#include "text/message.h"
#include "text/numbers.h"
#include "text/progress.h"

#include <bloomery/redis/filter.h>
#include <math.h>
#include <string.h>

typedef struct redis_state {
    dedup_state base;
    remote remote;
    bly_redis_filter_options options;
    uint64_t keys_before;        /* keys of the filter when it was opened */
    bly_redis_filter_info facts; /* facts at opening, updated by get_facts */
    uint64_t unsure, unknown;    /* lines with the answers BLY_UNSURE and BLY_UNKNOWN */
    uint64_t trips;              /* round trips */
    /* Of the last batch: */
    bly_status status;
    size_t doubtful;    /* lines without an answer */
    size_t first, last; /* the first and the last of them */
    bool away;          /* the server did not answer, which was reported */
    double retry_at;    /* when to connect again */
    uint8_t answers[INPUT_BATCH];
    /* With only_lookups: */
    dedup_state *absent; /* the keys of this run that are not in the filter */
    bly_bytes absent_keys[INPUT_BATCH];
    uint8_t absent_fresh[INPUT_BATCH];
} redis_state;

/* ---- opening --------------------------------------------------------------------------------- */

/* Checks that the filter on the server agrees with the options. */
static bool fits(const redis_state *s, const state_request *r) {
    const bly_bitmap *b = bly_redis_filter_bitmap(s->remote.filter);
    const char *name = s->remote.at.name;
    char is[NUMBER_TEXT], requested[NUMBER_TEXT];
    if (r->keys && r->keys != b->capacity)
        return message_fail(
            "%s: was created for %s keys, not %s; leave out -n to use it, or use another address",
            name, number_grouped(b->capacity, is), number_grouped(r->keys, requested));
    if (r->rate != 0 && r->rate != b->fpr)
        return message_fail("%s: was created for a false-positive rate of %s, not %s; leave out -p "
                            "to use it, or use another address",
                            name, NUMBER_PERCENT(b->fpr), NUMBER_PERCENT(r->rate));
    if (r->seed && r->seed != b->hasher.seed)
        return message_fail(
            "%s: was created with another seed; leave out --seed to use it, or use another address",
            name);
    if (r->shards && r->shards != b->shards)
        return message_fail(
            "%s: has %u shard%s, not %s; leave out --shards to use it, or use another address",
            name, b->shards, b->shards == 1 ? "" : "s", number_grouped(r->shards, requested));
    return true;
}

static bool plan(const state_request *r, bly_bitmap_spec *out) {
    *out = (bly_bitmap_spec){.struct_size = sizeof(bly_bitmap_spec),
                             .capacity = r->keys,
                             .fpr = r->rate != 0 ? r->rate : state_default_rate,
                             .seed = r->seed,
                             .shards = (uint32_t)r->shards,
                             .key_rule = r->key_rule,
                             .expire_ms = r->expire_seconds * 1000};
    return r->seed || state_random_seed(&out->seed);
}

/* Reads the parameters of the filter that another machine has begun to create. On failure, reports
 * the error and returns false. */
static bool adopt(redis_state *s, bly_bitmap_spec *spec) {
    server_key *t = &s->remote.at;
    bly_bitmap_command *look;
    bly_redis_reason why = {""};
    bly_bitmap_head head;
    if (!server_connect(t))
        return false;
    bly_status status = bly_bitmap_head_command(t->url.key, &look);
    if (status != BLY_OK)
        return message_status(t->name, status) == CLI_OK;
    bly_redis_reply *answer = server_command(t, look->args, look->count, "");
    bly_bitmap_command_free(look);
    if (!answer)
        return false;
    const bly_redis_value value = bly_redis_reply_value(answer);
    status = bly_bitmap_head_parse(&value, NULL, &head, &why);
    bly_redis_reply_free(answer);
    if (status != BLY_OK)
        return message_error("%s: %s", t->name, why.text) == CLI_OK;
    spec->capacity = head.bitmap.capacity;
    spec->fpr = head.bitmap.fpr;
    spec->kind = head.bitmap.geometry.kind;
    spec->seed = head.bitmap.hasher.seed;
    spec->shards = head.bitmap.shards;
    spec->key_rule = head.bitmap.key_rule;
    return true;
}

static bool is_replica(const char *why) {
    return strstr(why, " is a replica;") != NULL;
}

static bool refuse(const redis_state *s, const state_request *r, bly_status status,
                   const char *why) {
    const char *name = s->remote.at.name;
    if (status == BLY_EKEY)
        return message_fail("%s: is a keyed filter, which dedup cannot use; use another address",
                            name);
    if (status == BLY_EMISSING && !r->keys && !r->only_lookups)
        return message_fail(
            "%s: %s; use -n N to create a filter for the N different keys of all machines together",
            name, why);
    return message_fail(
        "%s: %s%s", name, *why ? why : bly_strerror(status),
        is_replica(why) ? ", or use --allow-replica to look lines up without adding them" : "");
}

static bool join_or_make(redis_state *s, const state_request *r) {
    const bly_redis_url *url = &s->remote.at.url;
    bly_redis_filter **to = &s->remote.filter;
    bly_bitmap_spec spec = {.struct_size = sizeof spec};
    bly_redis_reason why = {""};
    bly_status status = bly_redis_filter_open(url, NULL, &s->options, &why, to);
    if (status == BLY_EMISSING && r->keys && !r->only_lookups) {
        if (!plan(r, &spec))
            return false;
        status = bly_redis_filter_create(url, &spec, &s->options, &why, to);
        if (status == BLY_EMISMATCH) {
            if (!adopt(s, &spec))
                return false;
            status = bly_redis_filter_create(url, &spec, &s->options, &why, to);
        }
    }
    return status == BLY_OK ? fits(s, r) : refuse(s, r, status, why.text);
}

/* The rule that the filter records; if it records none, the type by its marks. */
static bool recorded_rule(redis_state *s, bly_key_rule *out) {
    bly_list_type type;
    bly_list_levels levels;
    *out = bly_redis_filter_bitmap(s->remote.filter)->key_rule;
    if (*out != BLY_KEYS_UNRECORDED)
        return true;
    const bly_list_source list = remote_list(&s->remote);
    const bly_status status = bly_list_recognise_source(&list, &type, &levels);
    if (status != BLY_OK)
        return remote_failed(&s->remote, status) == CLI_OK;
    if (bly_list_is_typed(type))
        *out = bly_list_key_rule(type);
    return true;
}

static bool get_rule(dedup_state *base, bly_key_rule *rule, uint64_t *keys) {
    redis_state *s = (redis_state *)base;
    BLY_INIT(s->facts);
    if (!recorded_rule(s, rule))
        return false;
    const bly_status status = bly_redis_filter_get_info(s->remote.filter, &s->facts);
    *keys = s->facts.count;
    return status == BLY_OK || remote_failed(&s->remote, status) == CLI_OK;
}

static bool look_up_mark(redis_state *s, bly_bytes mark, bool *known) {
    uint8_t answer = BLY_UNKNOWN;
    const bly_status status =
        bly_redis_filter_contains_many(s->remote.filter, &mark, 1, BLY_UNKNOWN, &answer, NULL);
    *known = answer != BLY_NO;
    s->keys_before = s->facts.count;
    return status == BLY_OK || remote_failed(&s->remote, status) == CLI_OK;
}

static bool add_mark(dedup_state *base, bly_bytes mark, bool *known) {
    redis_state *s = (redis_state *)base;
    bly_answer answer = BLY_UNKNOWN;
    if (base->request.only_lookups)
        return look_up_mark(s, mark, known);
    const bly_status status =
        bly_redis_filter_add(s->remote.filter, mark.data, mark.size, BLY_UNKNOWN, &answer);
    *known = answer != BLY_YES;
    s->keys_before = s->facts.count + (answer == BLY_YES);
    return status == BLY_OK || remote_failed(&s->remote, status) == CLI_OK;
}

static bool open_redis(dedup_state *base) {
    redis_state *s = (redis_state *)base;
    const state_request *r = &base->request;
    BLY_INIT(s->options);
    s->options.replicas = (uint32_t)r->replicas;
    s->options.allow_replica = r->only_lookups;
    if (!remote_parse(&s->remote, r->address) || !join_or_make(s, r))
        return false;
    base->name = s->remote.at.name;
    if (r->only_lookups)
        s->absent = state_open(&(state_request){.exact = true});
    return s->absent || !r->only_lookups;
}

static void close_redis(dedup_state *base) {
    redis_state *s = (redis_state *)base;
    remote_close(&s->remote);
    state_close(s->absent);
}

/* ---- a batch --------------------------------------------------------------------------------- */

static const double retry_seconds = 5; /* between two attempts to connect to a server again */

/* Whether the server still does not answer. After one timeout, lines do not wait for the server
 * again: they get no answer. Every few seconds one attempt is made to open the same filter
 * again. */
static bool still_away(redis_state *s) {
    bly_redis_filter *reopened;
    if (!s->away || s->status != BLY_EIO)
        return false;
    if (progress_clock() < s->retry_at)
        return true;
    s->retry_at = progress_clock() + retry_seconds;
    const bly_status status =
        bly_redis_filter_open(&s->remote.at.url, NULL, &s->options, NULL, &reopened);
    if (status != BLY_OK)
        return status == BLY_EIO; /* the next batch reports other errors */
    const bool same = bly_redis_filter_bitmap(reopened)->stamp ==
                      bly_redis_filter_bitmap(s->remote.filter)->stamp;
    if (same) {
        bly_redis_filter_close(s->remote.filter);
        s->remote.filter = reopened;
    } else
        bly_redis_filter_close(reopened);
    return false;
}

/* The policy decides whether lines without an answer are printed. */
static void judge_answers(redis_state *s, size_t n, uint8_t *fresh) {
    const state_request *r = &s->base.request;
    const uint8_t printed = !r->print_repeats;
    const uint8_t doubtful = r->policy == STATE_PRINT ? printed : !printed;
    s->first = n;
    s->last = n - 1;
    for (size_t i = 0; i < n; i++) {
        const bool known = s->answers[i] <= BLY_YES;
        fresh[i] = known ? s->answers[i] : doubtful;
        if (!known)
            s->last = i;
        if (!known && s->first == n)
            s->first = i;
    }
}

/* A key that is not in the filter is new if it did not occur earlier in this run. */
static bool add_absent(redis_state *s, const bly_bytes *keys, size_t n,
                       bly_redis_batch_result *result) {
    size_t absent = 0;
    for (size_t i = 0; i < n; i++)
        if (s->answers[i] == BLY_NO)
            s->absent_keys[absent++] = keys[i];
    if (!state_add(s->absent, s->absent_keys, absent, s->absent_fresh))
        return false;
    result->yes = 0;
    absent = 0;
    for (size_t i = 0; i < n; i++)
        if (s->answers[i] <= BLY_YES) {
            s->answers[i] = s->answers[i] == BLY_NO && s->absent_fresh[absent++];
            result->yes += s->answers[i];
        }
    return true;
}

static bool look_up(redis_state *s, const bly_bytes *keys, size_t n,
                    bly_redis_batch_result *result) {
    s->status =
        bly_redis_filter_contains_many(s->remote.filter, keys, n, BLY_UNKNOWN, s->answers, result);
    return add_absent(s, keys, n, result);
}

static bool add(dedup_state *base, const bly_bytes *keys, size_t n, uint8_t *fresh) {
    redis_state *s = (redis_state *)base;
    bly_redis_batch_result result = {0};
    if (still_away(s)) {
        memset(s->answers, BLY_UNKNOWN, n);
        result.unknown = n;
    } else if (base->request.only_lookups) {
        if (!look_up(s, keys, n, &result))
            return false;
    } else
        s->status =
            bly_redis_filter_add_many(s->remote.filter, keys, n, BLY_UNKNOWN, s->answers, &result);
    judge_answers(s, n, fresh);
    s->doubtful = result.unsure + result.unknown;
    base->unanswered += s->doubtful;
    base->unique += result.yes;
    s->unsure += result.unsure;
    s->unknown += result.unknown;
    s->trips += result.round_trips;
    return true;
}

/* ---- lines without an answer ----------------------------------------------------------------- */

/* Why the last batch has lines without an answer. */
static const char *reason(const redis_state *s) {
    return s->status == BLY_OK ? "the connection was lost before the answer arrived"
                               : bly_redis_filter_error(s->remote.filter);
}

static bool stop(const redis_state *s, const state_lines *at) {
    const bool added = !s->base.request.only_lookups;
    if (s->base.request.prints_at_end)
        return message_fail("%s: %s; %s of the lines %llu to %llu of %s got no answer, and nothing "
                            "was printed; run dedup again, or use --on-error print",
                            s->base.name, reason(s), NUMBER_GROUPED(s->doubtful),
                            (unsigned long long)at->first, (unsigned long long)at->last, at->path);
    return message_fail(
        "%s: %s; %s of the lines %llu to %llu of %s got no answer and were not printed%s run dedup "
        "again from line %llu; or use --on-error print",
        s->base.name, reason(s), NUMBER_GROUPED(s->doubtful), (unsigned long long)at->first,
        (unsigned long long)at->last, at->path,
        added ? ". The filter may contain them nevertheless: treat these lines as new, and" : ";",
        (unsigned long long)(added ? at->last + 1 : at->first));
}

/* A server that does not answer may come back. Other errors will not go away. */
static bool may_continue(redis_state *s, const state_lines *at) {
    const bool hopeless = s->status != BLY_OK && s->status != BLY_EIO;
    const bool print = s->base.request.policy == STATE_PRINT;
    char lines[NUMBER_TEXT];
    if (s->doubtful && s->base.request.policy == STATE_STOP)
        return stop(s, at);
    if (hopeless)
        return message_fail("%s: %s; dedup has stopped. The last %s lines without an answer, up to "
                            "line %llu of %s, were %s",
                            s->base.name, reason(s), number_grouped(s->doubtful, lines),
                            (unsigned long long)at->last, at->path, print ? "printed" : "dropped");
    if (s->doubtful && !s->away) {
        message_warn("%s: %s; lines without an answer are %s", s->base.name, reason(s),
                     print ? "printed, although they may be repeats"
                           : "dropped, although they may be new");
        s->retry_at = progress_clock() + retry_seconds;
    }
    s->away = s->doubtful != 0;
    return true;
}

/* If lines were added to the filter but not all of them were printed, says so, because every
 * machine will drop these lines from then on. */
static bool printed(dedup_state *base, const state_lines *at, bool good) {
    redis_state *s = (redis_state *)base;
    state_lines doubtful = *at;
    if (!good && !interrupt_reader_gone() && !base->request.only_lookups)
        message_note(
            "%s: lines %llu to %llu of %s were added to the filter, but not all new lines among "
            "them were printed. Later runs will drop these lines; treat all of them as new",
            base->name, (unsigned long long)at->first, (unsigned long long)at->last, at->path);
    /* The line of a link is not known, only the lines of its batch. */
    if (at->exact) {
        doubtful.first = at->first + s->first;
        doubtful.last = at->first + s->last;
    }
    return good && may_continue(s, &doubtful);
}

/* ---- at the end ------------------------------------------------------------------------------ */

/* Reads the filter's count again. If the server does not answer, adds this run's keys to the count
 * at opening. */
static void update_facts(redis_state *s) {
    bly_redis_filter_info facts = {.struct_size = sizeof facts};
    const bool away = s->status == BLY_EIO; /* was reported; do not wait again */
    if (!away && bly_redis_filter_get_info(s->remote.filter, &facts) == BLY_OK) {
        s->facts = facts;
        return;
    }
    if (!away)
        message_warn("%s: %s; the totals of the filter include only the keys of this run",
                     s->base.name, bly_redis_filter_error(s->remote.filter));
    s->facts.count = s->keys_before + (s->base.request.only_lookups ? 0 : s->base.unique);
}

/* The expected number of new keys that this run mistook for known ones. */
static double expect_dropped(const redis_state *s, double came, double rate) {
    const bly_bitmap *b = bly_redis_filter_bitmap(s->remote.filter);
    const dedup_state *base = &s->base;
    const double repeats = (double)(base->records - base->unique - base->unanswered);
    const double fresh = (double)s->facts.count - (double)s->keys_before;
    const double dropped = came - bly_bitmap_keys(b, s->keys_before) - fresh;
    if (rate > state_unknown_rate)
        return NAN;
    if (base->request.only_lookups)
        return fmin(repeats, (double)base->unique * rate / (1 - rate));
    return base->unique ? fmin(repeats, fmax(0, dropped * fmin(1, (double)base->unique / fresh)))
                        : 0;
}

static uint64_t absent_bytes(const redis_state *s) {
    state_facts facts;
    state_get_facts(s->absent, &facts);
    return facts.bytes;
}

static void get_facts(dedup_state *base, state_facts *out) {
    redis_state *s = (redis_state *)base;
    update_facts(s);
    const bly_bitmap *b = bly_redis_filter_bitmap(s->remote.filter);
    const double came = bly_bitmap_keys(b, s->facts.count);
    out->method = "redis";
    out->approximate = true;
    out->rate = bly_plan_fpr(&b->geometry, (uint64_t)came, b->hasher.bits);
    out->requested = b->fpr;
    out->dropped = expect_dropped(s, came, out->rate);
    out->alternative = "--exact without --redis";
    out->on_server = true;
    out->bytes = s->absent ? absent_bytes(s) : 0;
    out->description = "fingerprints of this run";
    out->server = (state_server){
        .name = base->name,
        .url = &s->remote.at.url,
        .kind = bly_kind_name(b->geometry.kind),
        .keys = s->facts.count,
        .capacity = b->capacity,
        .bytes = s->facts.bytes,
        .trips = s->trips,
        .shards = b->shards,
        .servers = s->facts.nodes,
        .expires_seconds = (double)s->facts.expires_ms / 1000,
        .unsure = s->unsure,
        .unknown = s->unknown,
    };
}

/* Reports lines without an answer once more: the first warning may be long ago. */
static bool judge(const dedup_state *base, const state_facts *facts) {
    char count[NUMBER_TEXT], dropped[NUMBER_TEXT], rate[NUMBER_TEXT], requested[NUMBER_TEXT];
    if (base->unanswered)
        message_warn("%s line%s got no answer: %s", number_grouped(base->unanswered, count),
                     base->unanswered == 1 ? "" : "s",
                     base->request.policy == STATE_PRINT
                         ? "printed, although some may be repeats"
                         : "dropped, although some may have been new");
    if (!state_is_overfull(facts))
        return true;
    message_warn("%s: contains %s keys, more than it was planned for: %s new lines were dropped in "
                 "this run, and the false-positive rate is now %s (requested: %s); create a new "
                 "filter under another name, with a larger -n",
                 base->name, number_grouped(facts->server.keys, count),
                 state_dropped_text(facts->dropped, dropped), number_percent(facts->rate, rate),
                 number_percent(facts->requested, requested));
    return facts->rate <= state_useless_rate;
}

const state_ops state_redis_ops = {
    .size = sizeof(redis_state),
    .opens_first = true,
    .shared = true,
    .open = open_redis,
    .close = close_redis,
    .get_rule = get_rule,
    .add_mark = add_mark,
    .add = add,
    .printed = printed,
    .get_facts = get_facts,
    .judge = judge,
};
