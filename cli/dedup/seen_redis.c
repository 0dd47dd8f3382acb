/* seen_redis.c - see seen_redis.h.
 *
 * Joining. The first machine makes the filter, the others join it. Its seed is random, as that of
 * every filter that holds what strangers chose, so two that make it at the same moment want
 * different ones. The later one is told so, and looks at what the earlier one has begun: making
 * just that joins it, or helps to complete it, even if the earlier one has died.
 *
 * What is lost. The server counts keys that came out new, and bly_bitmap_keys tells how many have
 * come, in all; what lies between was lost. The part of it that this run has lost is taken to be
 * its part of what was new meanwhile.
 */
#include "dedup/seen_redis.h"

#include "cli.h"
#include "dedup/seen.h"
#include "filters/server_facts.h"
#include "filters/state_rule.h"
#include "text/message.h"
#include "text/numbers.h"
#include "text/progress.h"

#include <bloomery/redis/filter.h>
#include <math.h>
#include <string.h>

/* ---- opening --------------------------------------------------------------------------------- */

/* What the user asks for must be what is there. */
static bool fits(const seen_redis *s, const seen_redis_wish *wish) {
    const bly_bitmap *b = bly_redis_filter_bitmap(s->remote.filter);
    const char *name = s->remote.at.name;
    char is[NUMBER_TEXT], asked[NUMBER_TEXT];
    if (wish->keys && wish->keys != b->capacity)
        (void)message_error("%s: was made for %s keys, not %s; leave out -n to join it, or name "
                            "another key",
                            name, number_grouped(b->capacity, is),
                            number_grouped(wish->keys, asked));
    else if (wish->rate != 0 && wish->rate != b->fpr)
        (void)message_error("%s: was made for a rate of %g, not %g; leave out -p to join it, or "
                            "name another key",
                            name, b->fpr, wish->rate);
    else if (wish->seed && wish->seed != b->hasher.seed)
        (void)message_error("%s: has another seed; leave out --seed to join it, or name another "
                            "key",
                            name);
    else if (wish->shards && wish->shards != b->shards)
        (void)message_error("%s: has %u shard%s, not %s; leave out --shards to join it, or name "
                            "another key",
                            name, b->shards, b->shards == 1 ? "" : "s",
                            number_grouped(wish->shards, asked));
    else
        return true;
    return false;
}

static bool plan(const seen_redis_wish *wish, bly_bitmap_spec *out) {
    *out = (bly_bitmap_spec){.struct_size = sizeof(bly_bitmap_spec),
                             .capacity = wish->keys,
                             .fpr = wish->rate != 0 ? wish->rate : seen_default_rate,
                             .seed = wish->seed,
                             .shards = (uint32_t)wish->shards,
                             .key_rule = wish->key_rule,
                             .expire_ms = wish->seconds * 1000};
    return wish->seed || seen_random_seed(&out->seed);
}

/* What somebody has begun to make there becomes what is to be made. false: reported. */
static bool adopt(seen_redis *s, bly_bitmap_spec *spec) {
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

static bool refuse(const seen_redis *s, const seen_redis_wish *wish, bly_status status,
                   const char *why) {
    const char *name = s->remote.at.name;
    if (status == BLY_EKEY)
        (void)message_error("%s: is keyed, and dedup has no key for it; name another key", name);
    else if (status == BLY_EMISSING && !wish->keys)
        (void)message_error("%s: %s; -n N makes one for the N different keys that all machines "
                            "together will bring",
                            name, why);
    else
        (void)message_error("%s: %s", name, *why ? why : bly_strerror(status));
    return false;
}

static bool join_or_make(seen_redis *s, const seen_redis_wish *wish) {
    const bly_redis_url *url = &s->remote.at.url;
    bly_redis_filter **to = &s->remote.filter;
    bly_bitmap_spec spec = {.struct_size = sizeof spec};
    bly_redis_reason why = {""};
    bly_status status = bly_redis_filter_open(url, NULL, &s->options, &why, to);
    if (status == BLY_EMISSING && wish->keys) {
        if (!plan(wish, &spec))
            return false;
        status = bly_redis_filter_create(url, &spec, &s->options, &why, to);
        if (status == BLY_EMISMATCH) {
            if (!adopt(s, &spec))
                return false;
            status = bly_redis_filter_create(url, &spec, &s->options, &why, to);
        }
    }
    return status == BLY_OK ? fits(s, wish) : refuse(s, wish, status, why.text);
}

/* What the filter records; of one that records nothing, the type that its marks tell. */
static bool rule_there(const seen_redis *s, bly_key_rule *out) {
    bly_list_type type;
    bly_list_levels levels;
    *out = bly_redis_filter_bitmap(s->remote.filter)->key_rule;
    if (*out != BLY_KEYS_UNRECORDED)
        return true;
    if (!live_facts_type(&s->remote, &type, &levels))
        return false;
    if (bly_list_is_typed(type))
        *out = bly_list_key_rule(type);
    return true;
}

/* As a state's: one key more says by which rule keys are made of lines. */
static bool mark_rule(seen_redis *s, const seen_redis_wish *wish) {
    char text[SEEN_MARK];
    bly_answer answer = BLY_UNKNOWN;
    bly_key_rule there;
    if (!rule_there(s, &there))
        return false;
    const key_state fit = key_state_of(s->remote.at.name, there, wish->key_rule, false);
    if (fit == KEY_STATE_REFUSED)
        return false;
    s->keeps_return = fit == KEY_STATE_OLD;
    const size_t size = seen_mark_text(wish->rule, text);
    BLY_INIT(s->facts);
    bly_status status = bly_redis_filter_get_info(s->remote.filter, &s->facts);
    if (status == BLY_OK)
        status = bly_redis_filter_add(s->remote.filter, text, size, BLY_UNKNOWN, &answer);
    if (status != BLY_OK)
        return remote_failed(&s->remote, status) == CLI_OK;
    if (answer == BLY_YES && s->facts.count > 0 && s->keeps_return &&
        wish->key_rule == BLY_KEYS_RECORD)
        message_warn("%s: does not record how its keys were made; they are taken for whole lines",
                     s->remote.at.name);
    else if (answer == BLY_YES && s->facts.count > 0 &&
             (s->keeps_return || wish->key_rule == BLY_KEYS_OTHER))
        message_warn("%s: was not made with these options (--url, --field, --ignore-case, "
                     "--extract-urls): lines it knows may be printed again",
                     s->remote.at.name);
    s->before = s->facts.count + (answer == BLY_YES);
    return true;
}

bool seen_redis_open(seen_redis *s, const seen_redis_wish *wish) {
    s->policy = wish->policy;
    BLY_INIT(s->options);
    s->options.replicas = (uint32_t)wish->replicas;
    return remote_to(&s->remote, wish->address) && join_or_make(s, wish) && mark_rule(s, wish);
}

void seen_redis_close(seen_redis *s) {
    remote_close(&s->remote);
    byte_strings_free(&s->texts);
}

/* ---- a batch --------------------------------------------------------------------------------- */

/* The keys of the records: the records themselves, parts of them, or texts of their own. NULL: out
 * of memory, reported. */
static const bly_bytes *keys_of(seen_redis *s, key_rule *rule, const bly_bytes *records, size_t n) {
    if (key_is_record(rule))
        return key_texts(rule, records, n, s->keys);
    const bool part = key_is_part(rule);
    s->texts.used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!key_of(rule, records[i], &s->keys[i]))
            return NULL;
        if (!part && !byte_strings_put(&s->texts, s->keys[i])) {
            (void)message_error("out of memory");
            return NULL;
        }
    }
    size_t at = 0;
    for (size_t i = 0; !part && i < n; i++)
        (void)byte_strings_next(&s->texts, &at, &s->keys[i]);
    return s->keys;
}

static const double rest = 5; /* seconds between two questions to a server that is away */

/* It was waited for in vain once. From then on lines are not held up: in between they get no
 * answer, and now and then somebody looks whether it is back, with the same filter. */
static bool still_away(seen_redis *s) {
    bly_redis_filter *anew;
    if (!s->away || s->status != BLY_EIO)
        return false;
    if (progress_clock() < s->again)
        return true;
    s->again = progress_clock() + rest;
    const bly_status status =
        bly_redis_filter_open(&s->remote.at.url, NULL, &s->options, NULL, &anew);
    if (status != BLY_OK)
        return status == BLY_EIO; /* of anything else the next question tells why */
    const bool same =
        bly_redis_filter_bitmap(anew)->stamp == bly_redis_filter_bitmap(s->remote.filter)->stamp;
    if (same) {
        bly_redis_filter_close(s->remote.filter);
        s->remote.filter = anew;
    } else
        bly_redis_filter_close(anew);
    return false;
}

bool seen_redis_ask(seen_redis *s, key_rule *rule, const bly_bytes *records, size_t n,
                    uint8_t doubt, uint8_t *fresh) {
    bly_redis_batch_result tally = {0};
    const bly_bytes *keys = keys_of(s, rule, records, n);
    if (!keys)
        return false;
    if (still_away(s)) {
        memset(s->answers, BLY_UNKNOWN, n);
        tally.unknown = n;
    } else
        s->status =
            bly_redis_filter_add_many(s->remote.filter, keys, n, BLY_UNKNOWN, s->answers, &tally);
    s->first = n;
    s->last = n - 1;
    for (size_t i = 0; i < n; i++) {
        const bool known = s->answers[i] <= BLY_YES;
        fresh[i] = known ? s->answers[i] : doubt;
        if (!known)
            s->last = i;
        if (!known && s->first == n)
            s->first = i;
    }
    s->doubtful = tally.unsure + tally.unknown;
    s->fresh += tally.yes;
    s->unsure += tally.unsure;
    s->unknown += tally.unknown;
    s->trips += tally.round_trips;
    return true;
}

/* ---- lines in doubt -------------------------------------------------------------------------- */

/* With which words the last batch ended. */
static const char *reason(const seen_redis *s) {
    return s->status == BLY_OK ? "an answer was lost, with the connection"
                               : bly_redis_filter_error(s->remote.filter);
}

static bool stop(const seen_redis *s, const char *path, uint64_t from, uint64_t to) {
    char lines[NUMBER_TEXT];
    (void)message_error(
        "%s: %s; %s of the lines %llu to %llu of %s got no answer, and were not printed. The "
        "filter may have them all the same, and would take them for repeats. To lose none, take "
        "those lines for new, and go on from line %llu; --on-error print does so by itself",
        s->remote.at.name, reason(s), number_grouped(s->doubtful, lines), (unsigned long long)from,
        (unsigned long long)to, path, (unsigned long long)to + 1);
    return false;
}

/* A server that is away may come back. One that answers, but not as it should, will go on so. */
bool seen_redis_go_on(seen_redis *s, const char *path, uint64_t from, uint64_t to) {
    const bool hopeless = s->status != BLY_OK && s->status != BLY_EIO;
    const bool print = s->policy == SEEN_REDIS_PRINT;
    char lines[NUMBER_TEXT];
    if (s->doubtful && s->policy == SEEN_REDIS_STOP)
        return stop(s, path, from, to);
    if (hopeless) {
        (void)message_error("%s: %s; the last %s lines that got no answer, up to line %llu of %s, "
                            "were %s",
                            s->remote.at.name, reason(s), number_grouped(s->doubtful, lines),
                            (unsigned long long)to, path, print ? "printed" : "left out");
        return false;
    }
    if (s->doubtful && !s->away)
        message_warn("%s: %s; lines that get no answer are %s", s->remote.at.name, reason(s),
                     print ? "printed, though they may be repeats"
                           : "left out, though they may be new");
    if (s->doubtful && !s->away)
        s->again = progress_clock() + rest;
    s->away = s->doubtful != 0;
    return true;
}

/* ---- the rate -------------------------------------------------------------------------------- */

void seen_redis_look(seen_redis *s) {
    static const double hardly_any = 0.9; /* come out new, and tell nothing of the others */
    const bly_bitmap *b = bly_redis_filter_bitmap(s->remote.filter);
    bly_redis_filter_info facts = {.struct_size = sizeof facts};
    const bool away = s->status == BLY_EIO; /* it was waited for, and that has been said */
    if (!away && bly_redis_filter_get_info(s->remote.filter, &facts) == BLY_OK)
        s->facts = facts;
    else {
        if (!away)
            message_warn("%s: %s; what is told of the filter counts the keys of this run alone",
                         s->remote.at.name, bly_redis_filter_error(s->remote.filter));
        s->facts.count = s->before + s->fresh;
    }
    const double came = bly_bitmap_keys(b, s->facts.count);
    s->rate = bly_plan_fpr(&b->geometry, (uint64_t)came, b->hasher.bits);
    const double fresh = (double)s->facts.count - (double)s->before;
    const double lost = came - bly_bitmap_keys(b, s->before) - fresh;
    s->lost = s->fresh ? fmax(0, lost * fmin(1, (double)s->fresh / fresh)) : 0;
    if (s->rate > hardly_any)
        s->lost = NAN;
}

double seen_redis_promised(const seen_redis *s) {
    return bly_redis_filter_bitmap(s->remote.filter)->fpr;
}
