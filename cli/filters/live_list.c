#include "filters/live_list.h"

#include "io/interrupt.h"
#include "text/message.h"
#include "text/progress.h"

#include <bloomery/redis/filter.h>
#include <string.h>
#include <time.h>

static const double patience = 10; /* seconds, for a new filter to take the old one's place */
static const double rest = 5;      /* between two questions to a server that does not answer */

bool live_goes_on(const live *l) {
    return l->how->otherwise == LIVE_YES || l->how->otherwise == LIVE_NO;
}

static bly_redis_filter_options options_of(const live *l) {
    enum { SHORT = 2000 };
    if (!live_goes_on(l))
        return (bly_redis_filter_options){.struct_size = sizeof(bly_redis_filter_options)};
    return (bly_redis_filter_options){.struct_size = sizeof(bly_redis_filter_options),
                                      .connect_ms = SHORT,
                                      .command_ms = SHORT,
                                      .retry_ms = SHORT};
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Reports. */
static bly_status open_once(live *l) {
    const bly_redis_filter_options options = options_of(l);
    return l->how->gozero ? remote_open_gozero(&l->remote, l->how->gozero, &options)
                          : remote_open(&l->remote, l->key, &options);
}

/* What may pass, in contrast to a wrong key or to a thing that is no filter. */
static bool may_pass(bly_status status) {
    return status == BLY_EIO || status == BLY_EMISSING || status == BLY_EMISMATCH ||
           status == BLY_EREFUSED;
}

static void go_away(live *l) {
    if (!l->away)
        message_warn("%s: until it answers, all lines are taken for lines that are %sin the list",
                     l->remote.at.name, l->how->otherwise == LIVE_NO ? "not " : "");
    l->away = true;
    l->again = progress_clock() + rest;
}

bool live_open(live *l, const char *address, const bly_hasher *key, const live_how *how) {
    *l = (live){.how = how, .key = key};
    if (!remote_to(&l->remote, address))
        return false;
    const bly_status status = open_once(l);
    if (status == BLY_OK)
        return true;
    if (!live_goes_on(l) || !may_pass(status))
        return false;
    go_away(l);
    return true;
}

void live_close(live *l) {
    remote_close(&l->remote);
}

/* ---- opening again --------------------------------------------------------------------------- */

/* In silence. */
static bly_status open_again(live *l) {
    const bly_redis_filter_options options = options_of(l);
    const bly_redis_url *url = &l->remote.at.url;
    bly_redis_filter_close(l->remote.filter);
    l->remote.filter = NULL;
    if (l->how->gozero)
        return bly_redis_filter_gozero(url, l->how->gozero, &options, NULL, &l->remote.filter);
    return bly_redis_filter_open(url, l->key, &options, NULL, &l->remote.filter);
}

/* A filter of several strings is replaced string by string. */
static bly_status wait_for_new(live *l) {
    const struct timespec pause = {0, 250000000};
    const double end = progress_clock() + patience;
    bly_status status = open_again(l);
    while ((status == BLY_EMISSING || status == BLY_EMISMATCH) && progress_clock() < end &&
           !interrupt_seen()) {
        (void)nanosleep(&pause, NULL);
        status = open_again(l);
    }
    return status;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* While it is away. */
static live_result do_without(live *l, size_t n, uint8_t *answers) {
    memset(answers, BLY_UNKNOWN, n);
    if (progress_clock() < l->again)
        return LIVE_ANSWERED;
    if (open_again(l) != BLY_OK) {
        go_away(l);
        return LIVE_ANSWERED;
    }
    l->away = false;
    return LIVE_RENEWED;
}

/* It was replaced, or is gone. go-zero's has no mark by which a new one could be told. */
static bool may_renew(const live *l) {
    return l->how->follow && !l->how->gozero &&
           (l->status == BLY_EMISMATCH || l->status == BLY_EMISSING);
}

live_result live_fail(live *l) {
    if (may_renew(l)) {
        if (wait_for_new(l) == BLY_OK) {
            message_note("%s: was replaced; the new list is in use", l->remote.at.name);
            return LIVE_RENEWED;
        }
        if (open_once(l) == BLY_OK) /* which tells why */
            return LIVE_RENEWED;
    } else
        (void)remote_failed(&l->remote, l->status);
    if (!live_goes_on(l)) {
        if (l->status == BLY_EMISMATCH && !l->how->follow)
            message_note("--follow takes over a list that takes the place of another");
        return LIVE_FAILED;
    }
    go_away(l);
    return LIVE_ANSWERED;
}

live_result live_ask(live *l, const bly_bytes *keys, size_t n, uint8_t *answers) {
    if (n == 0)
        return LIVE_ANSWERED;
    if (l->away)
        return do_without(l, n, answers);
    l->status =
        bly_redis_filter_contains_many(l->remote.filter, keys, n, BLY_UNKNOWN, answers, NULL);
    return l->status == BLY_OK ? LIVE_ANSWERED : live_fail(l);
}

bly_status live_ask_marks(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    live *l = ctx;
    l->status = bly_redis_filter_contains_many(l->remote.filter, keys, n, BLY_UNKNOWN, found, NULL);
    return l->status;
}

static bly_status ask_rate(void *ctx, double *rate) {
    live *l = ctx;
    bly_redis_filter_info facts = {.struct_size = sizeof facts};
    l->status = bly_redis_filter_get_info(l->remote.filter, &facts);
    *rate = facts.expected_fpr;
    return l->status;
}

bly_list_source live_list(live *l) {
    const bly_key_rule rule = bly_redis_filter_bitmap(l->remote.filter)->key_rule;
    return (bly_list_source){live_ask_marks, ask_rate, l, rule};
}
