/* redis_link.h - connecting to a Redis or Valkey server: its URL, a connection, one command at a
 * time.
 *
 * The connection needs hiredis, which a build may lack (bly_redis_available). The shared library
 * brings it along. A program that links the static library, and uses more of this header than
 * addresses, links with -lhiredis besides, and where the build has TLS with -lhiredis_ssl before it
 * and -lssl -lcrypto after it; one that does not needs nothing.
 */
#ifndef BLOOMERY_REDIS_LINK_H
#define BLOOMERY_REDIS_LINK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- where ----------------------------------------------------------------------------------- */

/* An address, taken apart:
 *
 *     redis://[[USER]:PASSWORD@][HOST[:PORT]][/DATABASE][/KEY]
 *     unix://[[USER]:PASSWORD@]/PATH/OF/THE/SOCKET[?db=DATABASE&key=KEY]
 *
 * rediss:// is redis:// over TLS, redis+unix:// the same as unix://. HOST is 127.0.0.1 unless
 * given, PORT 6379, DATABASE 0. An IPv6 address stands in brackets. A first part of the path that
 * is all digits is the database; what follows it, or all of the path, is the key, slashes included.
 * "?db=" and "&key=" may be used with redis://, too, instead of the path. "%XX" is the byte XX
 * everywhere.
 *
 * Over TLS the server must show a certificate for HOST, made by one whom the system trusts. After
 * the '?' of rediss:// there may be
 *
 *     cacert=FILE             whom to trust instead, in PEM
 *     cert=FILE&certkey=FILE  a certificate of our own and its private key
 *     servername=NAME         for whom the server's certificate is, instead of HOST; for a cluster
 *                             whose nodes are known by their numbers and share one
 *     insecure=1              accept any certificate; the server is not authenticated
 */
typedef struct bly_redis_url {
    const char *host;   /* NULL: a socket */
    const char *socket; /* NULL: a host */
    uint16_t port;
    bool tls;
    uint32_t database;
    const char *user, *password;                      /* NULL: none */
    const char *cacert, *cert, *certkey, *servername; /* of TLS; NULL: none */
    bool insecure;
    bly_bytes key; /* any bytes; data is NULL when there is none */
    char *block;   /* what these point into */
} bly_redis_url;

/* BLY_EINVAL: *why (may be NULL) is then a sentence that says what is wrong with the text.
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_url_parse(const char *text, const char **why, bly_redis_url *out);
BLY_API void bly_redis_url_free(bly_redis_url *url); /* what it holds; may be done twice */

/* ---- the connection -------------------------------------------------------------------------- */

typedef struct bly_redis bly_redis; /* for one thread at a time */

BLY_API bool bly_redis_available(void); /* whether this build has hiredis */

typedef struct bly_redis_options {
    uint32_t connect_ms; /* how long connecting may take, from when the name has been looked up;
                            0: 5 s */
    uint32_t command_ms; /* how long an answer may take, from the command's first byte to its own
                            last; 0: 60 s */
    bool follow_moved;   /* when a cluster says that a key is elsewhere, go there, once for each
                            command, and stay */
} bly_redis_options;

/* What went wrong, in words, with what to do about it where that is known. */
typedef struct bly_redis_reason {
    char text[320];
} bly_redis_reason;

/* Connects, presents user and password, chooses the database. `options` and `why` may be NULL; the
 * last is filled in on failure. BLY_EIO (no connection), BLY_EINVAL (the server refused the
 * password or the database; a file of TLS's cannot be used), BLY_EUNSUPPORTED (no hiredis, or TLS
 * asked for, which there is none of), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_open(const bly_redis_url *url, const bly_redis_options *options,
                                      bly_redis_reason *why, bly_redis **out);
BLY_API void bly_redis_close(bly_redis *r); /* NULL does nothing */

/* The address as "HOST:PORT" or the socket's path, of where it is connected now. */
BLY_API const char *bly_redis_peer(const bly_redis *r);

/* An answer, and those inside it. */
typedef struct bly_redis_reply bly_redis_reply;
typedef enum bly_redis_type {
    BLY_REDIS_NIL,
    BLY_REDIS_INTEGER,
    BLY_REDIS_TEXT,
    BLY_REDIS_ERROR,
    BLY_REDIS_ARRAY
} bly_redis_type;

/* Sends a command of n arguments, its name the first, and waits for the answer, which the caller
 * owns until bly_redis_reply_free. An error of the server's is an answer. BLY_EIO: the connection
 * broke, or the answer took too long, or has a GiB, or more than 2^20 elements; it can only be
 * closed then, and whether the command was carried out is not known. BLY_ENOMEM, BLY_EINVAL (n is
 * 0). */
BLY_CHECKED bly_status bly_redis_command(bly_redis *r, const bly_bytes *args, size_t n,
                                         bly_redis_reply **out);
/* Why the last call failed; good until the next. */
BLY_API const char *bly_redis_why(const bly_redis *r);

BLY_API bly_redis_type bly_redis_reply_type(const bly_redis_reply *reply);
BLY_API int64_t bly_redis_reply_integer(const bly_redis_reply *reply); /* 0 of any other type */
/* Of a text or an error; empty of any other type. A NUL follows the bytes. */
BLY_API bly_bytes bly_redis_reply_text(const bly_redis_reply *reply);
/* Elements of an array; 0 and NULL of any other type, and NULL past the last. */
BLY_API size_t bly_redis_reply_count(const bly_redis_reply *reply);
BLY_API const bly_redis_reply *bly_redis_reply_at(const bly_redis_reply *reply, size_t i);
BLY_API void bly_redis_reply_free(bly_redis_reply *reply); /* the outermost; NULL does nothing */

#ifdef __cplusplus
}
#endif
#endif
