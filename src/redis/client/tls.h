/* tls.h - TLS for links, where the build has hiredis's part for it and OpenSSL. Internal. */
#ifndef BLYI_REDIS_TLS_H
#define BLYI_REDIS_TLS_H

#include <bloomery/redis_link.h>

struct redisContext;

typedef struct blyi_tls blyi_tls;

/* What all links of a client need: who is trusted, and who we are. BLY_EUNSUPPORTED (not in this
 * build), BLY_EINVAL (files that cannot be used), BLY_ENOMEM. */
bly_status blyi_tls_make(const bly_redis_url *url, bly_redis_reason *why, blyi_tls **out);
void blyi_tls_free(blyi_tls *t); /* NULL does nothing */

/* Puts TLS between hiredis and the socket, which is connected and does not block. The session
 * belongs to the connection. `host` is who must be there. BLY_EIO: *trouble says what is wrong,
 * here and below, and errno is EPROTO where it would be so again. BLY_ENOMEM. */
typedef struct blyi_tls_session blyi_tls_session;
typedef struct blyi_tls_trouble {
    char text[200];
} blyi_tls_trouble;
bly_status blyi_tls_begin(blyi_tls *t, struct redisContext *c, const char *host,
                          blyi_tls_trouble *trouble, blyi_tls_session **out);

/* Goes on with the handshake. *wait: what to poll for before the next try; 0: it is done. */
bly_status blyi_tls_shake(blyi_tls_session *s, blyi_tls_trouble *trouble, short *wait);

/* Forgets what went wrong before, which hiredis must not take for what it does next. */
void blyi_tls_forget(void);
/* What has gone wrong since: NULL, or words. *refused: the other side has said so, and would again.
 */
const char *blyi_tls_last_trouble(bool *refused);

#endif
