/* client_none.c - in place of client.c, in a build without hiredis: no connection is ever opened,
 * so that the rest of the interface has nothing to work on. */
#include <bloomery/redis.h>

#include <string.h>

static const char reason[] = "this build of Bloomery has no hiredis, and cannot talk to servers";

bool bly_redis_available(void) {
    return false;
}

bly_status bly_redis_open(const bly_redis_url *url, const bly_redis_options *options,
                          bly_redis_reason *why, bly_redis **out) {
    (void)url;
    (void)options;
    *out = NULL;
    if (why)
        memcpy(why->text, reason, sizeof reason);
    return BLY_EUNSUPPORTED;
}

void bly_redis_close(bly_redis *r) {
    (void)r;
}

const char *bly_redis_peer(const bly_redis *r) {
    (void)r;
    return "";
}

const char *bly_redis_why(const bly_redis *r) {
    (void)r;
    return reason;
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
