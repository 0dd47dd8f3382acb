/* url.h - the address of a Redis or Valkey server, and of a key on it. Needs no hiredis.
 */
#ifndef BLOOMERY_REDIS_URL_H
#define BLOOMERY_REDIS_URL_H

#include "../base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An address and its parts:
 *
 *     redis://[[USER]:PASSWORD@][HOST[:PORT]][/DATABASE][/KEY]
 *     unix://[[USER]:PASSWORD@]/PATH/OF/THE/SOCKET[?db=DATABASE&key=KEY]
 *
 * rediss:// means redis:// over TLS, redis+unix:// means unix://. HOST is 127.0.0.1 unless
 * given, PORT 6379, DATABASE 0. An IPv6 address stands in brackets. A first part of the path that
 * is all digits is the database; what follows it, or all of the path, is the key, slashes included.
 * "?db=" and "&key=" may be used with redis://, too, instead of the path. "%XX" is the byte XX
 * everywhere.
 *
 * Over TLS the server must present a certificate for HOST from an authority that the system trusts.
 * After the '?' of rediss:// there may be
 *
 *     cacert=FILE             authorities to trust instead, in PEM
 *     cert=FILE&certkey=FILE  the client's certificate and its private key
 *     servername=NAME         the name in the server's certificate, instead of HOST; for a cluster
 *                             whose nodes have addresses only and share a certificate
 *     insecure=1              accept any certificate; the server is not authenticated
 */
typedef struct bly_redis_url {
    const char *host;   /* NULL: a socket */
    const char *socket; /* NULL: a host */
    uint16_t port;
    bool tls;
    uint32_t database;
    const char *user, *password;                      /* NULL: none */
    const char *cacert, *cert, *certkey, *servername; /* for TLS; NULL: none */
    bool insecure;
    bly_bytes key; /* any bytes; data is NULL when there is none */
    char *block;   /* what these point into */
} bly_redis_url;

/* BLY_EINVAL: *why (may be NULL) is then a sentence that says what is wrong with the text.
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_url_parse(const char *text, const char **why, bly_redis_url *out);
BLY_API void bly_redis_url_free(bly_redis_url *url); /* what it holds; may be done twice */

#ifdef __cplusplus
}
#endif
#endif
