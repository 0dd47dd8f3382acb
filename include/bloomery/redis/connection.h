/* connection.h - connections to a Redis or Valkey server, for one command at a time.
 *
 * Connections need hiredis. A library that was built without it cannot open any
 * (bly_redis_available). The shared library is linked with hiredis. A program that links the static
 * library and uses this header must also link with -lhiredis and, if the build has TLS, with
 * -lhiredis_ssl before it and -lssl -lcrypto after it. */
#ifndef BLOOMERY_REDIS_CONNECTION_H
#define BLOOMERY_REDIS_CONNECTION_H

#include "url.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A connection. It may be used by one thread at a time. */
typedef struct bly_redis bly_redis;
/* Returns true if this library was built with hiredis. */
BLY_API bool bly_redis_available(void);

/* How to connect. */
typedef struct bly_redis_options {
    size_t struct_size;
    uint32_t connect_ms; /* time limit for connecting, after the host name is resolved; 0: 5 s */
    uint32_t command_ms; /* time limit for a command, from its first byte sent to the last byte of
                            the reply; 0: 60 s */
    bool follow_moved;   /* true: if a node of a cluster replies MOVED, connect to the node that it
                            names, once per command, and stay connected to it; false: return the
                            reply */
} bly_redis_options;

/* A text that says what went wrong and, if that is known, what to do. */
typedef struct bly_redis_reason {
    char text[320];
} bly_redis_reason;

/* Connects, authenticates and selects the database. `options` and `why` may be NULL; If the call
 * fails, *why is filled in. The caller closes *out with bly_redis_close. Errors: BLY_EIO (no
 * connection), BLY_EINVAL (the server refused the password or the database; a TLS file cannot be
 * used; struct_size), BLY_EUNSUPPORTED (the library was built without hiredis, or without TLS and
 * the URL needs it), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_redis_open(const bly_redis_url *url, const bly_redis_options *options,
                                      bly_redis_reason *why, bly_redis **out);
/* Closes a connection. NULL does nothing. */
BLY_API void bly_redis_close(bly_redis *r);
/* Returns the address of the server that the connection uses now: "HOST:PORT", or the path of the
 * socket. */
BLY_API const char *bly_redis_address(const bly_redis *r);
/* A reply of a server. The elements of an array are replies too; they are freed with the outermost
 * reply. */
typedef struct bly_redis_reply bly_redis_reply;

/* The type of a reply. */
typedef enum bly_redis_type {
    BLY_REDIS_NIL,
    BLY_REDIS_INTEGER,
    BLY_REDIS_TEXT,
    BLY_REDIS_ERROR,
    BLY_REDIS_ARRAY
} bly_redis_type;

/* Sends a command of n arguments, of which the first is its name, and waits for the reply. The
 * caller frees the reply with bly_redis_reply_free. If the server replies with an error, the call
 * returns BLY_OK and a reply of type BLY_REDIS_ERROR. After BLY_EIO the connection can only be
 * closed, and it is unknown whether the server executed the command. Errors: BLY_EIO (the
 * connection broke, the reply took too long, or it has 1 GiB or more than 2^20 elements),
 * BLY_ENOMEM, BLY_EINVAL (n is 0). */
BLY_CHECKED bly_status bly_redis_command(bly_redis *r, const bly_bytes *args, size_t n,
                                         bly_redis_reply **out);
/* Returns a text that says why the last call failed. It is valid until the next call. */
BLY_API const char *bly_redis_error(const bly_redis *r);
/* Returns the type of a reply. */
BLY_API bly_redis_type bly_redis_reply_type(const bly_redis_reply *reply);
/* Returns the value of an integer; 0 for any other type. */
BLY_API int64_t bly_redis_reply_integer(const bly_redis_reply *reply);
/* Returns the bytes of a text or an error, followed by a NUL; empty for any other type. */
BLY_API bly_bytes bly_redis_reply_text(const bly_redis_reply *reply);
/* Returns the number of elements of an array; 0 for any other type. */
BLY_API size_t bly_redis_reply_count(const bly_redis_reply *reply);
/* Returns element i of an array; NULL past the last one, and for any other type. */
BLY_API const bly_redis_reply *bly_redis_reply_at(const bly_redis_reply *reply, size_t i);
/* Frees a reply and its elements; not for the elements of an array. NULL does nothing. */
BLY_API void bly_redis_reply_free(bly_redis_reply *reply);

#ifdef __cplusplus
}
#endif
#endif
