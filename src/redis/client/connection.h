/* connection.h - one non-blocking connection to one node. Internal, as is everything that uses
 * hiredis.
 *
 * Only name resolution and the two functions at the end block. A caller with several connections
 * polls them all and calls blyi_conn_step for those that are ready. A connection that has failed
 * can only be closed.
 */
#ifndef BLYI_REDIS_CLIENT_CONNECTION_H
#define BLYI_REDIS_CLIENT_CONNECTION_H

#include "redis/client/net.h"
#include "redis/client/tls.h"

#include <bloomery/redis/bitmap.h>

/* ---- what all connections of a client share -------------------------------------------------- */

typedef struct blyi_login {
    char *user, *password; /* NULL: none */
    uint32_t database;
    uint32_t connect_ms; /* limit of the time until the login is complete */
    uint32_t command_ms; /* limit of the time without a byte, while a reply is expected */
    blyi_tls *tls;       /* NULL: no TLS */
    bool query_role;     /* send ROLE, to find out whether the server is a replica */
} blyi_login;

/* Copies user, password and options, and loads certificates. Returns BLY_OK; BLY_EUNSUPPORTED if
 * TLS is requested and this build has none; BLY_EINVAL if a certificate file cannot be used;
 * BLY_ENOMEM. On failure there is nothing to free. */
bly_status blyi_login_init(const bly_redis_url *url, uint32_t connect_ms, uint32_t command_ms,
                           bly_redis_reason *why, blyi_login *out);
void blyi_login_free(blyi_login *login);

/* ---- the connection -------------------------------------------------------------------------- */

typedef struct blyi_conn blyi_conn;

/* Starts to connect. `login` and `address` are borrowed, and must outlive the connection. Returns
 * BLY_OK, BLY_EIO or BLY_ENOMEM. Here and below, `why` must not be NULL, and is filled in on
 * failure. */
bly_status blyi_conn_open(const blyi_login *login, const blyi_address *address,
                          bly_redis_reason *why, blyi_conn **out);
void blyi_conn_close(blyi_conn *conn); /* `conn` may be NULL; errno is preserved */

/* Returns the descriptor for poll(). */
int blyi_conn_fd(const blyi_conn *conn);
/* Returns the events for poll(). */
short blyi_conn_events(const blyi_conn *conn);
/* Returns the milliseconds that are left before the connection times out, or 0 if it has. Once the
 * connection is ready, the time limit starts again with every step that transfers a byte. */
int64_t blyi_conn_time_left(const blyi_conn *conn, int64_t now);
/* Returns the milliseconds since the last byte was transferred or the time limit was restarted. */
int64_t blyi_conn_idle_ms(const blyi_conn *conn, int64_t now);
/* Restarts the time limit. Must be called before the first command after a time without
 * commands. */
void blyi_conn_restart_timer(blyi_conn *conn);

/* Connects, writes and reads as far as possible without blocking, given the events from poll().
 * Returns BLY_OK; BLY_EIO if the connection has failed (errno is EPROTO if the server sent
 * something that is not a reply); BLY_EINVAL if the server refused the password or the database;
 * BLY_ENOMEM. */
bly_status blyi_conn_step(blyi_conn *conn, short events, bly_redis_reason *why);
/* Sets the reason and errno of a connection that has timed out. Returns BLY_EIO. */
bly_status blyi_conn_timed_out(const blyi_conn *conn, bly_redis_reason *why);

/* Whether the login is complete, so that commands may be appended. */
bool blyi_conn_ready(const blyi_conn *conn);
/* Appends a command, which the next steps send. Returns BLY_OK or BLY_ENOMEM. */
bly_status blyi_conn_append(blyi_conn *conn, const bly_bytes *args, size_t n,
                            bly_redis_reason *why);
/* Sets *out to the next complete reply, or to NULL if none has arrived. Returns the statuses of
 * blyi_conn_step. For a reply with too many bytes or elements it returns BLY_EIO, and sets errno to
 * EPROTO. */
bly_status blyi_conn_next_reply(blyi_conn *conn, bly_redis_reason *why, bly_redis_reply **out);

/* Returns NULL if the server is not a replica, or did not reply to ROLE. Otherwise returns its
 * master as "HOST:PORT", or "" if that is unknown. Valid only after the first reply has been
 * read. */
const char *blyi_conn_master(const blyi_conn *conn);
/* Whether ROLE was sent, and its reply has not arrived. */
bool blyi_conn_role_pending(const blyi_conn *conn);

/* Returns how many bytes have been appended so far. */
uint64_t blyi_conn_appended(const blyi_conn *conn);
/* Returns how many of them have been written to the socket: 0 if the server rejected the connection
 * before it read anything. */
uint64_t blyi_conn_written(const blyi_conn *conn);

/* ---- waiting for one connection -------------------------------------------------------------- */

/* Waits until the connection is ready, at most `max_ms` ms. Returns the statuses of
 * blyi_conn_step. */
bly_status blyi_conn_connect(blyi_conn *conn, int64_t max_ms, bly_redis_reason *why);
/* Sends one command and waits for its complete reply, at most `max_ms` ms. The replies to all
 * earlier commands must have been read. */
bly_status blyi_conn_command(blyi_conn *conn, const bly_bytes *args, size_t n, int64_t max_ms,
                             bly_redis_reason *why, bly_redis_reply **out);

#endif
