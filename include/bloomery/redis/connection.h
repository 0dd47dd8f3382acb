/* connection.h - a connection to a Redis or Valkey server, one command at a time.
 *
 * The connection needs hiredis, which a build may lack (bly_redis_available). The shared library is
 * linked with it. A program that links the static library and uses this header must link with
 * -lhiredis too and, if the build has TLS, with -lhiredis_ssl before it and -lssl -lcrypto after
 * it.
 */
#ifndef BLOOMERY_REDIS_CONNECTION_H
#define BLOOMERY_REDIS_CONNECTION_H

#include "url.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bly_redis bly_redis; /* for one thread at a time */

BLY_API bool bly_redis_available(void); /* whether this build has hiredis */

typedef struct bly_redis_options {
    size_t struct_size;
    uint32_t connect_ms; /* how long connecting may take, from when the name has been looked up;
                            0: 5 s */
    uint32_t command_ms; /* how long an answer may take, from the command's first byte to its own
                            last; 0: 60 s */
    bool follow_moved;   /* when a cluster says that a key is elsewhere, go there, once for each
                            command, and stay */
} bly_redis_options;

/* What went wrong, in words, and what to do about it where that is known. */
typedef struct bly_redis_reason {
    char text[320];
} bly_redis_reason;

/* Connects, presents user and password, chooses the database. `options` and `why` may be NULL; the
 * last is filled in on failure. BLY_EIO (no connection), BLY_EINVAL (the server refused the
 * password or the database; a TLS file cannot be used; struct_size), BLY_EUNSUPPORTED (no hiredis,
 * or TLS requested in a build without it), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_open(const bly_redis_url *url, const bly_redis_options *options,
                                      bly_redis_reason *why, bly_redis **out);
BLY_API void bly_redis_close(bly_redis *r); /* NULL does nothing */

/* Where it is connected now: "HOST:PORT", or the path of the socket. */
BLY_API const char *bly_redis_address(const bly_redis *r);

/* A reply, and those inside it. */
typedef struct bly_redis_reply bly_redis_reply;
typedef enum bly_redis_type {
    BLY_REDIS_NIL,
    BLY_REDIS_INTEGER,
    BLY_REDIS_TEXT,
    BLY_REDIS_ERROR,
    BLY_REDIS_ARRAY
} bly_redis_type;

/* Sends a command of n arguments, its name the first, and waits for the reply, which the caller
 * owns until bly_redis_reply_free. An error from the server is a reply. BLY_EIO: the connection
 * broke, or the answer took too long, or has a GiB, or more than 2^20 elements; it can only be
 * closed then, and whether the command was carried out is not known. BLY_ENOMEM, BLY_EINVAL (n is
 * 0). */
BLY_CHECKED bly_status bly_redis_command(bly_redis *r, const bly_bytes *args, size_t n,
                                         bly_redis_reply **out);
/* Why the last call failed; good until the next. */
BLY_API const char *bly_redis_error(const bly_redis *r);

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
