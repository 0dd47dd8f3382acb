/* url.h - URLs that name a Redis or Valkey server, and a key on it. These functions do not need
 * hiredis. */
#ifndef BLOOMERY_REDIS_URL_H
#define BLOOMERY_REDIS_URL_H

#include "../base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parts of a URL:
 *
 *     redis://[[USER]:PASSWORD@][HOST[:PORT]][/DATABASE][/KEY]
 *     unix://[[USER]:PASSWORD@]/PATH/OF/THE/SOCKET[?db=DATABASE&key=KEY]
 *
 * rediss:// means redis:// over TLS, and redis+unix:// means unix://. The defaults are HOST
 * 127.0.0.1, PORT 6379 and DATABASE 0. IPv6 addresses are written in brackets. If the first part of
 * the path consists of digits, it is the database, and the rest is the key; otherwise the whole
 * path is the key, including slashes. In redis:// URLs too, "?db=" and "&key=" may be used instead
 * of the path. "%XX" means the byte XX in every part.
 *
 * Over TLS the server must present a certificate for HOST from an authority that the system trusts.
 * A rediss:// URL may have these options after a '?':
 *
 *     cacert=FILE             authorities to trust instead, in PEM
 *     cert=FILE&certkey=FILE  the client's certificate and its private key
 *     servername=NAME         the name in the server's certificate, instead of HOST; for a cluster
 *                             whose nodes have addresses only and share a certificate
 *     insecure=1              accept any certificate; the server is not authenticated
 */
typedef struct bly_redis_url {
    const char *host;   /* NULL if the URL names a socket */
    const char *socket; /* NULL if the URL names a host */
    uint16_t port;
    bool tls;
    uint32_t database;
    const char *user, *password;                      /* NULL: none */
    const char *cacert, *cert, *certkey, *servername; /* for TLS; NULL: none */
    bool insecure;
    bly_bytes key; /* may contain any bytes; data is NULL if the URL has no key */
    char *block;   /* the memory into which the pointers point */
} bly_redis_url;

/* Parses a URL. The caller frees *out with bly_redis_url_free. `why` may be NULL. Errors:
 * BLY_EINVAL (`text` is not valid; *why becomes a static sentence that says what is wrong),
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_url_parse(const char *text, const char **why, bly_redis_url *out);
/* Frees the memory of a URL. It may be called twice. */
BLY_API void bly_redis_url_free(bly_redis_url *url);

#ifdef __cplusplus
}
#endif
#endif
