/* tls_none.c - in place of tls.c, where hiredis comes without TLS: none is ever made. */
#include "redis/client/tls.h"

bly_status blyi_tls_make(const bly_redis_url *url, bly_redis_reason *why, blyi_tls **out) {
    static const bly_redis_reason none = {"this build cannot speak TLS (rediss://); connect "
                                          "through a tunnel, such as stunnel or ssh -L"};
    (void)url;
    *out = NULL;
    *why = none;
    return BLY_EUNSUPPORTED;
}

void blyi_tls_free(blyi_tls *t) {
    (void)t;
}

bly_status blyi_tls_begin(blyi_tls *t, struct redisContext *c, const char *host,
                          blyi_tls_trouble *trouble, blyi_tls_session **out) {
    (void)t;
    (void)c;
    (void)host;
    (void)trouble;
    *out = NULL;
    return BLY_EUNSUPPORTED;
}

bly_status blyi_tls_shake(blyi_tls_session *s, blyi_tls_trouble *trouble, short *wait) {
    (void)s;
    (void)trouble;
    *wait = 0;
    return BLY_EUNSUPPORTED;
}

void blyi_tls_forget(void) {
}

const char *blyi_tls_last_trouble(bool *refused) {
    *refused = false;
    return NULL;
}
