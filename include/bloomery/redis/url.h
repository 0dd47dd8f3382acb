/* url.h - the address of a Redis or Valkey server, and of a key on it. Needs no hiredis. */
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
 * rediss:// means redis:// over TLS, and redis+unix:// means unix://. The defaults are HOST
 * 127.0.0.1, PORT 6379 and DATABASE 0. IPv6 addresses are written in brackets. If the first part of
 * the path is all digits it is the database, and the rest is the key; else the whole path is the
 * key, slashes included. "?db=" and "&key=" may replace the path of redis://, too. "%XX" is the
 * byte XX everywhere.
 *
 * Over TLS the server must present a certificate for HOST from an authority that the system trusts.
 * After the '?' of rediss:// there may be:
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
    bly_bytes key; /* any bytes; data is NULL in an address without a key */
    char *block;   /* the memory that the pointers point into */
} bly_redis_url;

/* Parses an address. The caller frees *out with bly_redis_url_free. Errors: BLY_EINVAL (*why, which
 * may be NULL, is then a static sentence about the text), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_url_parse(const char *text, const char **why, bly_redis_url *out);
/* Frees the memory of an address; may be called twice. */
BLY_API void bly_redis_url_free(bly_redis_url *url);

#ifdef __cplusplus
}
#endif
#endif
