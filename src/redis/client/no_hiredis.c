/* Replaces the client and the cluster executor in builds without hiredis: opening a connection
 * fails, so the other functions are never called with a connection. */
#include "redis/cluster/executor.h"

#include <string.h>

static const char no_hiredis[] =
    "this build of Bloomery has no hiredis, and cannot connect to servers";

/* ---- connections ----------------------------------------------------------------------------- */

bool bly_redis_available(void) {
    return false;
}

bly_status bly_redis_open(const bly_redis_url *url, const bly_redis_options *options,
                          bly_redis_reason *why, bly_redis **out) {
    (void)url;
    (void)options;
    *out = NULL;
    if (why)
        memcpy(why->text, no_hiredis, sizeof no_hiredis);
    return BLY_EUNSUPPORTED;
}

void bly_redis_close(bly_redis *r) {
    (void)r;
}

const char *bly_redis_address(const bly_redis *r) {
    (void)r;
    return "";
}

const char *bly_redis_error(const bly_redis *r) {
    (void)r;
    return no_hiredis;
}

bly_status bly_redis_command(bly_redis *r, const bly_bytes *args, size_t n, bly_redis_reply **out) {
    (void)r;
    (void)args;
    (void)n;
    *out = NULL;
    return BLY_EUNSUPPORTED;
}

bly_redis_type bly_redis_reply_type(const bly_redis_reply *reply) {
    (void)reply;
    return BLY_REDIS_NIL;
}

bly_redis_value bly_redis_reply_value(const bly_redis_reply *reply) {
    (void)reply;
    return (bly_redis_value){.type = BLY_REDIS_NIL, .text = {"", 0}};
}

int64_t bly_redis_reply_integer(const bly_redis_reply *reply) {
    (void)reply;
    return 0;
}

bly_bytes bly_redis_reply_text(const bly_redis_reply *reply) {
    (void)reply;
    return (bly_bytes){"", 0};
}

size_t bly_redis_reply_count(const bly_redis_reply *reply) {
    (void)reply;
    return 0;
}

const bly_redis_reply *bly_redis_reply_at(const bly_redis_reply *reply, size_t i) {
    (void)reply;
    (void)i;
    return NULL;
}

void bly_redis_reply_free(bly_redis_reply *reply) {
    (void)reply;
}

/* ---- executor.h ------------------------------------------------------------------------------ */

bly_status blyi_executor_open(const bly_redis_url *url, const bly_redis_filter_options *options,
                              bly_redis_reason *why, blyi_executor **out) {
    (void)url;
    (void)options;
    *out = NULL;
    if (why)
        memcpy(why->text, no_hiredis, sizeof no_hiredis);
    return BLY_EUNSUPPORTED;
}

void blyi_executor_close(blyi_executor *x) {
    (void)x;
}

bly_status blyi_executor_run(blyi_executor *x, blyi_request *requests, size_t n) {
    (void)x;
    (void)requests;
    (void)n;
    return BLY_EUNSUPPORTED;
}

void blyi_requests_clear(blyi_request *requests, size_t n) {
    for (size_t i = 0; i < n; i++)
        requests[i] = (blyi_request){.command = requests[i].command, .once = requests[i].once};
}

const char *blyi_executor_why(const blyi_executor *x) {
    (void)x;
    return "";
}

size_t blyi_executor_rounds(const blyi_executor *x) {
    (void)x;
    return 0;
}

const char *blyi_executor_node(const blyi_executor *x, bly_bytes key) {
    (void)x;
    (void)key;
    return "";
}
