/* connection.h - a connection to a Redis or Valkey server, one command at a time.
 *
 * It needs hiredis, which a build may lack (bly_redis_available). The shared library is linked with
 * hiredis. A program that links the static library and uses this header must also link with
 * -lhiredis and, if the build has TLS, with -lhiredis_ssl before it and -lssl -lcrypto after it. */
#ifndef BLOOMERY_REDIS_CONNECTION_H
#define BLOOMERY_REDIS_CONNECTION_H

#include "url.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A connection. For one thread at a time. */
typedef struct bly_redis bly_redis;
/* Returns true if this build has hiredis. */
BLY_API bool bly_redis_available(void);

/* How to connect. */
typedef struct bly_redis_options {
    size_t struct_size;
    uint32_t connect_ms; /* time limit of connecting, after the name was resolved; 0: 5 s */
    uint32_t command_ms; /* time limit of a command, from its first byte to the last byte of the
                            reply; 0: 60 s */
    bool follow_moved;   /* if a cluster replies MOVED, connect to that node, once per command,
                            and stay there */
} bly_redis_options;

/* What went wrong, as text, and what to do about it if that is known. */
typedef struct bly_redis_reason {
    char text[320];
} bly_redis_reason;

/* Connects, authenticates and selects the database. `options` and `why` may be NULL; *why is filled
 * in on failure. The caller closes *out with bly_redis_close. Errors: BLY_EIO (no connection),
 * BLY_EINVAL (the server refused the password or the database; a TLS file cannot be used;
 * struct_size), BLY_EUNSUPPORTED (no hiredis, or TLS in a build without it), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_open(const bly_redis_url *url, const bly_redis_options *options,
                                      bly_redis_reason *why, bly_redis **out);
/* Closes a connection. NULL does nothing. */
BLY_API void bly_redis_close(bly_redis *r);
/* Returns the present address of the server: "HOST:PORT", or the path of the socket. */
BLY_API const char *bly_redis_address(const bly_redis *r);
/* A reply of a server. Replies inside an array belong to the outermost one. */
typedef struct bly_redis_reply bly_redis_reply;

/* The type of a reply. */
typedef enum bly_redis_type {
    BLY_REDIS_NIL,
    BLY_REDIS_INTEGER,
    BLY_REDIS_TEXT,
    BLY_REDIS_ERROR,
    BLY_REDIS_ARRAY
} bly_redis_type;

/* Sends a command of n arguments, starting with its name, and waits for the reply, which the caller
 * frees with bly_redis_reply_free. An error from the server is a reply. After BLY_EIO the
 * connection can only be closed, and it is unknown whether the server executed the command.
 * Errors: BLY_EIO (the connection broke, or the reply took too long, has 1 GiB or more than 2^20
 * elements), BLY_ENOMEM, BLY_EINVAL (n is 0). */
BLY_CHECKED bly_status bly_redis_command(bly_redis *r, const bly_bytes *args, size_t n,
                                         bly_redis_reply **out);
/* Returns why the last call failed; valid until the next call. */
BLY_API const char *bly_redis_error(const bly_redis *r);
/* Returns the type of a reply. */
BLY_API bly_redis_type bly_redis_reply_type(const bly_redis_reply *reply);
/* Returns the value of an integer; 0 for any other type. */
BLY_API int64_t bly_redis_reply_integer(const bly_redis_reply *reply);
/* Returns the bytes of a text or an error, followed by a NUL; empty for any other type. */
BLY_API bly_bytes bly_redis_reply_text(const bly_redis_reply *reply);
/* Give the number of elements of an array, and element i. 0 and NULL for any other type; NULL past
 * the last element. */
BLY_API size_t bly_redis_reply_count(const bly_redis_reply *reply);
BLY_API const bly_redis_reply *bly_redis_reply_at(const bly_redis_reply *reply, size_t i);
/* Frees an outermost reply. NULL does nothing. */
BLY_API void bly_redis_reply_free(bly_redis_reply *reply);

#ifdef __cplusplus
}
#endif
#endif
