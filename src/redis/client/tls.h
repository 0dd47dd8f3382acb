/* tls.h - TLS for connections, in builds with hiredis_ssl and OpenSSL. Internal. */
#ifndef BLYI_REDIS_CLIENT_TLS_H
#define BLYI_REDIS_CLIENT_TLS_H

#include <bloomery/redis/connection.h>

struct redisContext;

typedef struct blyi_tls blyi_tls;

/* Creates what all connections of a client share: the trusted certificates, and the client's own
 * certificate. Returns BLY_OK; BLY_EUNSUPPORTED if this build has no TLS; BLY_EINVAL if a file
 * cannot be used; BLY_ENOMEM. */
bly_status blyi_tls_create(const bly_redis_url *url, bly_redis_reason *why, blyi_tls **out);
void blyi_tls_destroy(blyi_tls *t); /* `t` may be NULL */

/* Puts TLS between hiredis and its socket, which must be connected and non-blocking. The session
 * belongs to the hiredis context. The server must have a certificate for `host`. Returns BLY_OK,
 * BLY_ENOMEM, or BLY_EIO. For BLY_EIO, here and below, *error says what is wrong, and errno is
 * EPROTO if another attempt would also fail. */
typedef struct blyi_tls_session blyi_tls_session;
typedef struct blyi_tls_error {
    char text[200];
} blyi_tls_error;
bly_status blyi_tls_start(blyi_tls *t, struct redisContext *c, const char *host,
                          blyi_tls_error *error, blyi_tls_session **out);

/* Continues the handshake. Sets *wait to the events to poll for before the next call, or to 0 if
 * the handshake is complete. */
bly_status blyi_tls_handshake(blyi_tls_session *s, blyi_tls_error *error, short *wait);

/* Clears OpenSSL's error queue, so that an earlier error is not reported for the next operation. */
void blyi_tls_clear_errors(void);
/* Returns the text of the last error since the queue was cleared, or NULL. Sets *refused to whether
 * the server rejected the connection, and would do so again. */
const char *blyi_tls_last_error(bool *refused);

#endif
