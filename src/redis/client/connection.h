/* connection.h - one non-blocking connection to one node. Internal, as is everything that uses
 * hiredis.
 *
 * Only name resolution and the two functions at the end wait. A caller with several connections
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
    uint32_t connect_ms; /* time limit until the login is complete */
    uint32_t command_ms; /* time limit without a byte, while a reply is expected */
    blyi_tls *tls;       /* NULL: no TLS */
    bool query_role;     /* send ROLE, to find out whether the server is a replica */
} blyi_login;

/* On failure `out` is empty. BLY_EUNSUPPORTED (this build has no TLS), BLY_EINVAL (unusable
 * certificate files), BLY_ENOMEM. */
bly_status blyi_login_init(const bly_redis_url *url, uint32_t connect_ms, uint32_t command_ms,
                           bly_redis_reason *why, blyi_login *out);
void blyi_login_free(blyi_login *login);

/* ---- the connection -------------------------------------------------------------------------- */

typedef struct blyi_conn blyi_conn;

/* Starts to connect. `login` and `address` are borrowed, and must outlive the connection. BLY_EIO,
 * BLY_ENOMEM. Here and below, `why` (never NULL) is filled in on failure. */
bly_status blyi_conn_open(const blyi_login *login, const blyi_address *address,
                          bly_redis_reason *why, blyi_conn **out);
void blyi_conn_close(blyi_conn *conn); /* NULL does nothing; preserves errno */

int blyi_conn_fd(const blyi_conn *conn);
short blyi_conn_events(const blyi_conn *conn); /* for poll() */
/* Milliseconds that are left before the connection times out; 0: it has. Once the connection is
 * ready, the time limit starts again with every step that transfers a byte. */
int64_t blyi_conn_time_left(const blyi_conn *conn, int64_t now);
int64_t blyi_conn_idle_ms(const blyi_conn *conn, int64_t now);
/* Restarts the time limit. Call it before the first command after a time without commands. */
void blyi_conn_restart_timer(blyi_conn *conn);

/* Does what is possible without blocking, given the events from poll(). BLY_EIO: broken (errno is
 * EPROTO if the server sent something that is not a reply). BLY_EINVAL: the server refused the
 * password or the database. BLY_ENOMEM. */
bly_status blyi_conn_step(blyi_conn *conn, short events, bly_redis_reason *why);
/* Sets the reason and errno of a connection that has timed out. Returns BLY_EIO. */
bly_status blyi_conn_timed_out(const blyi_conn *conn, bly_redis_reason *why);

/* The login is complete: commands may be appended. */
bool blyi_conn_ready(const blyi_conn *conn);
/* Appends a command, which the next steps send. BLY_ENOMEM. */
bly_status blyi_conn_append(blyi_conn *conn, const bly_bytes *args, size_t n,
                            bly_redis_reason *why);
/* The next complete reply; NULL: none has arrived. Statuses as of blyi_conn_step; a reply with too
 * many bytes or elements is BLY_EIO with errno EPROTO. */
bly_status blyi_conn_next_reply(blyi_conn *conn, bly_redis_reason *why, bly_redis_reply **out);

/* NULL if the server is not a replica, or did not say. Otherwise its master as "HOST:PORT", or ""
 * if that is unknown. Valid once a reply has been read. */
const char *blyi_conn_master(const blyi_conn *conn);
/* ROLE was sent, and its reply has not arrived. */
bool blyi_conn_role_pending(const blyi_conn *conn);

/* Bytes appended so far, and those of them that were written to the socket. The second is 0 if the
 * server rejected the connection before it read anything. */
uint64_t blyi_conn_appended(const blyi_conn *conn);
uint64_t blyi_conn_written(const blyi_conn *conn);

/* ---- waiting for one connection -------------------------------------------------------------- */

/* Waits until the connection is ready, at most `max_ms`. Statuses as of blyi_conn_step. */
bly_status blyi_conn_connect(blyi_conn *conn, int64_t max_ms, bly_redis_reason *why);
/* Sends one command and waits for its complete reply, at most `max_ms`. No other command may be in
 * flight. */
bly_status blyi_conn_command(blyi_conn *conn, const bly_bytes *args, size_t n, int64_t max_ms,
                             bly_redis_reason *why, bly_redis_reply **out);

#endif
