/* Replaces tls.c in builds without hiredis_ssl, in which TLS cannot be used. */
#include "redis/client/tls.h"

bly_status blyi_tls_create(const bly_redis_url *url, bly_redis_reason *why, blyi_tls **out) {
    static const bly_redis_reason none = {"this build cannot speak TLS (rediss://); connect "
                                          "through a tunnel, such as stunnel or ssh -L"};
    (void)url;
    *out = NULL;
    *why = none;
    return BLY_EUNSUPPORTED;
}

void blyi_tls_destroy(blyi_tls *t) {
    (void)t;
}

bly_status blyi_tls_start(blyi_tls *t, struct redisContext *c, const char *host,
                          blyi_tls_error *error, blyi_tls_session **out) {
    (void)t;
    (void)c;
    (void)host;
    (void)error;
    *out = NULL;
    return BLY_EUNSUPPORTED;
}

bly_status blyi_tls_handshake(blyi_tls_session *s, blyi_tls_error *error, short *wait) {
    (void)s;
    (void)error;
    *wait = 0;
    return BLY_EUNSUPPORTED;
}

void blyi_tls_clear_errors(void) {
}

const char *blyi_tls_last_error(bool *refused) {
    *refused = false;
    return NULL;
}
