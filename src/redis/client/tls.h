/* tls.h - TLS for connections, where the build has hiredis_ssl and OpenSSL. Internal. */
#ifndef BLYI_REDIS_CLIENT_TLS_H
#define BLYI_REDIS_CLIENT_TLS_H

#include <bloomery/redis/connection.h>

struct redisContext;

typedef struct blyi_tls blyi_tls;

/* What all connections of a client share: trusted certificates, and the client's own.
 * BLY_EUNSUPPORTED (this build has no TLS), BLY_EINVAL (unusable files), BLY_ENOMEM. */
bly_status blyi_tls_create(const bly_redis_url *url, bly_redis_reason *why, blyi_tls **out);
void blyi_tls_destroy(blyi_tls *t); /* NULL does nothing */

/* Puts TLS between hiredis and its socket, which is connected and non-blocking. The session belongs
 * to the hiredis context. The server must have a certificate for `host`. BLY_EIO: *error says what
 * is wrong, here and below, and errno is EPROTO if another attempt would fail too. BLY_ENOMEM. */
typedef struct blyi_tls_session blyi_tls_session;
typedef struct blyi_tls_error {
    char text[200];
} blyi_tls_error;
bly_status blyi_tls_start(blyi_tls *t, struct redisContext *c, const char *host,
                          blyi_tls_error *error, blyi_tls_session **out);

/* Continues the handshake. *wait: the events to poll for before the next call; 0: it is complete.
 */
bly_status blyi_tls_handshake(blyi_tls_session *s, blyi_tls_error *error, short *wait);

/* Clears OpenSSL's error queue, so that hiredis does not report an earlier error for its next
 * operation. */
void blyi_tls_clear_errors(void);
/* The text of the last error since the queue was cleared, or NULL. *refused: the server rejected
 * the connection, and would do so again. */
const char *blyi_tls_last_error(bool *refused);

#endif
