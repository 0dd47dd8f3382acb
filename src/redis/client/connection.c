/* One non-blocking connection to one node, over hiredis.
 *
 * The socket is opened here and never blocks. Once it is connected, it belongs to hiredis, which
 * buffers and writes commands, reads, and parses replies. A connection goes through these stages,
 * without the handshake if there is no TLS:
 *
 *     CONN_CONNECTING   until the socket is writable; if that failed, the next address is tried
 *     CONN_HANDSHAKE    TLS handshake
 *     CONN_LOGIN        AUTH and SELECT are sent together. Their replies are awaited, because the
 *                       commands that follow must not run in another database
 *     CONN_READY
 *
 * If the role is queried, ROLE is the last command of the login. Nothing waits for its reply: the
 * connection reads it before the reply to the first other command.
 */
#include "redis/client/connection.h"

#include "redis/bitmap/bitmap_commands.h"

#include <errno.h>
#include <hiredis.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CONN_FEW_ARGS = 16,             /* a command with more arguments needs an allocation */
    CONN_READ_BYTES = 16384,        /* bytes that hiredis reads at a time */
    CONN_MAX_REPLY_BYTES = 1 << 30, /* twice the size of the largest Redis string */
    /* The limit for all arrays of a reply together, because hiredis allocates an array before its
     * elements have arrived. The reply to CLUSTER SLOTS has at most half as many elements. */
    CONN_MAX_REPLY_ELEMENTS = 1 << 20,
    CONN_MASTER_BYTES = 272, /* for "HOST:PORT" */
    CONN_MAX_READS = 64,     /* per step, so that other connections are served, too */
};

typedef enum conn_stage { CONN_CONNECTING, CONN_HANDSHAKE, CONN_LOGIN, CONN_READY } conn_stage;

struct blyi_conn {
    const blyi_login *login;
    const blyi_address *address;
    blyi_dial dial;
    int fd;                /* closed by the context, once there is one */
    redisContext *context; /* from CONN_HANDSHAKE on */
    blyi_tls_session *session;
    short handshake_wait;       /* events that the handshake waits for */
    const char *login_parts[2]; /* what the next replies of the login are about; NULL: no reply */
    conn_stage stage;
    int64_t since; /* if ready: time of the last byte; before that: when connecting began */
    uint64_t appended;
    redisReplyObjectFunctions functions; /* those of hiredis, but with a limit for arrays */
    const redisReplyObjectFunctions *default_functions;
    size_t reply_bytes, reply_elements; /* of the incomplete reply, so far */
    bool role_pending, replica;
    bool rejected;                  /* the server rejected the connection before it read anything */
    char master[CONN_MASTER_BYTES]; /* "HOST:PORT", if the server is a replica */
};

/* ---- login ----------------------------------------------------------------------------------- */

/* Copies the text, or NULL. Returns false if memory runs out. */
static bool conn_copy_text(const char *from, char **to) {
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

bly_status blyi_login_init(const bly_redis_url *url, uint32_t connect_ms, uint32_t command_ms,
                           bly_redis_reason *why, blyi_login *out) {
    bly_status status = BLY_OK;
    *out =
        (blyi_login){.database = url->database, .connect_ms = connect_ms, .command_ms = command_ms};
    if (!conn_copy_text(url->user, &out->user) || !conn_copy_text(url->password, &out->password))
        status = blyi_no_memory(why);
    if (status == BLY_OK && url->tls)
        status = blyi_tls_create(url, why, &out->tls);
    if (status)
        blyi_login_free(out);
    return status;
}

void blyi_login_free(blyi_login *login) {
    free(login->user);
    free(login->password);
    blyi_tls_destroy(login->tls);
    *login = (blyi_login){0};
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Sets the reason from errno. Returns BLY_EIO. */
static bly_status conn_connect_failed(const blyi_conn *conn, bly_redis_reason *why) {
    const int error = errno ? errno : ECONNRESET;
    blyi_reason_set(why, "connecting to %s: %s", conn->address->name, strerror(error));
    errno = error;
    return BLY_EIO;
}

static bly_status conn_reply_too_large(const blyi_conn *conn, bly_redis_reason *why) {
    blyi_reason_set(why, "the reply of %s is too large", conn->address->name);
    errno = EPROTO;
    return BLY_EIO;
}

/* Sets the reason from hiredis's error. Returns BLY_EIO with a meaningful errno. */
static bly_status conn_broken(const blyi_conn *conn, bly_redis_reason *why) {
    const redisContext *c = conn->context;
    const int error = errno ? errno : ECONNRESET;
    const char *doing = conn->stage == CONN_READY ? "waiting for" : "connecting to";
    bool refused = false;
    const char *error_text = conn->session ? blyi_tls_last_error(&refused) : NULL;
    blyi_sigpipe_expect();
    if (conn->reply_elements > CONN_MAX_REPLY_ELEMENTS)
        return conn_reply_too_large(conn, why);
    if (c->err == REDIS_ERR_OOM)
        return blyi_no_memory(why);
    if (c->err == REDIS_ERR_PROTOCOL)
        blyi_reason_set(why, "%s does not speak the Redis protocol: %s", conn->address->name,
                        c->errstr);
    else if (error_text)
        blyi_reason_set(why, "%s %s: TLS: %s", doing, conn->address->name, error_text);
    else if (c->err == REDIS_ERR_EOF)
        blyi_reason_set(why, "%s closed the connection", conn->address->name);
    else
        blyi_reason_set(why, "%s %s: %s", doing, conn->address->name, strerror(error));
    errno = refused || c->err == REDIS_ERR_PROTOCOL ? EPROTO : error;
    return BLY_EIO;
}

bly_status blyi_conn_timed_out(const blyi_conn *conn, bly_redis_reason *why) {
    blyi_reason_set(why, "%s %s took too long%s",
                    conn->stage == CONN_READY ? "waiting for" : "connecting to",
                    conn->address->name,
                    conn->stage == CONN_HANDSHAKE ? "; perhaps it does not speak TLS" : "");
    errno = ETIMEDOUT;
    return BLY_EIO;
}

/* ---- connecting ------------------------------------------------------------------------------ */

bly_status blyi_conn_open(const blyi_login *login, const blyi_address *address,
                          bly_redis_reason *why, blyi_conn **out) {
    blyi_conn *conn = calloc(1, sizeof *conn);
    *out = NULL;
    if (!conn)
        return blyi_no_memory(why);
    *conn = (blyi_conn){.login = login, .address = address, .fd = -1, .since = blyi_now_ms()};
    bly_status status = blyi_dial_open(address, why, &conn->dial);
    if (status == BLY_OK) {
        conn->fd = blyi_dial_next(&conn->dial);
        if (conn->fd < 0)
            status = conn_connect_failed(conn, why);
    }
    if (status)
        blyi_conn_close(conn);
    else
        *out = conn;
    return status;
}

void blyi_conn_close(blyi_conn *conn) {
    const int saved = errno;
    if (!conn)
        return;
    blyi_dial_close(&conn->dial);
    if (conn->context)
        redisFree(conn->context);
    else if (conn->fd >= 0)
        (void)close(conn->fd);
    free(conn);
    errno = saved;
}

static bly_status conn_send_login(blyi_conn *conn, bly_redis_reason *why) {
    const blyi_login *me = conn->login;
    const char **next = conn->login_parts;
    bly_status status = BLY_OK;
    conn->stage = CONN_LOGIN;
    if (me->password && me->user) {
        *next++ = "user or password";
        status = blyi_conn_append(
            conn, (bly_bytes[]){blyi_arg("AUTH"), blyi_arg(me->user), blyi_arg(me->password)}, 3,
            why);
    } else if (me->password) {
        *next++ = "password";
        status =
            blyi_conn_append(conn, (bly_bytes[]){blyi_arg("AUTH"), blyi_arg(me->password)}, 2, why);
    }
    if (status == BLY_OK && me->database) {
        char number[16];
        (void)snprintf(number, sizeof number, "%u", (unsigned)me->database);
        *next++ = "database";
        status =
            blyi_conn_append(conn, (bly_bytes[]){blyi_arg("SELECT"), blyi_arg(number)}, 2, why);
    }
    if (status == BLY_OK && me->query_role) {
        const bly_bytes role = blyi_arg("ROLE");
        conn->role_pending = true;
        status = blyi_conn_append(conn, &role, 1, why);
    }
    if (next == conn->login_parts) {
        conn->stage = CONN_READY;
        conn->since = blyi_now_ms();
    }
    return status;
}

static bly_status conn_login_refused(const blyi_conn *conn, const bly_redis_value *value,
                                     bly_redis_reason *why) {
    blyi_reason_set(why, "%s refused the %s: %s", conn->address->name, conn->login_parts[0],
                    (const char *)value->text.data);
    if (bly_redis_classify(value) != BLY_REDIS_LATER)
        return BLY_EINVAL;
    errno = EAGAIN;
    return BLY_EIO;
}

/* Reads those replies to the login that have arrived. */
static bly_status conn_read_login(blyi_conn *conn, bly_redis_reason *why) {
    while (conn->login_parts[0]) {
        bly_redis_reply *reply;
        bly_status status = blyi_conn_next_reply(conn, why, &reply);
        if (status || !reply)
            return status;
        const bly_redis_value value = bly_redis_reply_value(reply);
        if (value.type == BLY_REDIS_ERROR)
            status = conn_login_refused(conn, &value, why);
        bly_redis_reply_free(reply);
        if (status)
            return status;
        conn->login_parts[0] = conn->login_parts[1];
        conn->login_parts[1] = NULL;
    }
    conn->stage = CONN_READY;
    conn->since = blyi_now_ms();
    return BLY_OK;
}

static bly_status conn_tls_failed(const blyi_conn *conn, const blyi_tls_error *error,
                                  bly_redis_reason *why) {
    const int saved = errno;
    blyi_sigpipe_expect();
    blyi_reason_set(why, "connecting to %s: TLS: %s", conn->address->name, error->text);
    errno = saved;
    return BLY_EIO;
}

static bly_status conn_handshake(blyi_conn *conn, bly_redis_reason *why) {
    blyi_tls_error error;
    bly_status status = blyi_tls_handshake(conn->session, &error, &conn->handshake_wait);
    if (status)
        return conn_tls_failed(conn, &error, why);
    return conn->handshake_wait ? BLY_OK : conn_send_login(conn, why);
}

#if HIREDIS_MAJOR >= 1
typedef size_t conn_array_size;
#else
typedef int conn_array_size;
#endif

/* Limits the size of arrays: without this, hiredis allocates any size that the server announces. */
static void *conn_create_array(const redisReadTask *task, conn_array_size elements) {
    blyi_conn *conn = task->privdata;
    conn->reply_elements += (size_t)elements;
    return conn->reply_elements > CONN_MAX_REPLY_ELEMENTS
               ? NULL
               : conn->default_functions->createArray(task, elements);
}

static void conn_limit_arrays(blyi_conn *conn) {
    conn->default_functions = conn->context->reader->fn;
    conn->functions = *conn->default_functions;
    conn->functions.createArray = conn_create_array;
    conn->context->reader->fn = &conn->functions;
    conn->context->reader->privdata = conn;
}

/* Continues when an attempt to connect has ended: if it failed, tries the next address. */
static bly_status conn_socket_ready(blyi_conn *conn, bly_redis_reason *why) {
    if (!blyi_dial_connected(conn->fd)) {
        const int error = errno;
        (void)close(conn->fd);
        errno = error;
        conn->fd = blyi_dial_next(&conn->dial);
        return conn->fd < 0 ? conn_connect_failed(conn, why) : BLY_OK;
    }
    blyi_dial_close(&conn->dial);
    conn->context = redisConnectFd(conn->fd);
    if (!conn->context)
        return blyi_no_memory(why);
    if (conn->context->err)
        return conn_broken(conn, why);
    conn->context->flags &= ~REDIS_BLOCK;
    conn_limit_arrays(conn);
    if (!conn->login->tls)
        return conn_send_login(conn, why);
    conn->stage = CONN_HANDSHAKE;
    blyi_tls_error error;
    bly_status status = blyi_tls_start(conn->login->tls, conn->context, conn->address->host, &error,
                                       &conn->session);
    if (status == BLY_ENOMEM)
        return blyi_no_memory(why);
    return status ? conn_tls_failed(conn, &error, why) : conn_handshake(conn, why);
}

/* ---- steps ----------------------------------------------------------------------------------- */

int blyi_conn_fd(const blyi_conn *conn) {
    return conn->fd;
}

bool blyi_conn_ready(const blyi_conn *conn) {
    return conn->stage == CONN_READY;
}

static size_t conn_unsent_bytes(const blyi_conn *conn) {
    return conn->context->obuf ? sdslen(conn->context->obuf) : 0; /* NULL if memory ran out */
}

short blyi_conn_events(const blyi_conn *conn) {
    if (conn->stage == CONN_CONNECTING)
        return POLLOUT;
    if (conn->stage == CONN_HANDSHAKE)
        return conn->handshake_wait;
    return conn_unsent_bytes(conn) ? POLLIN | POLLOUT : POLLIN;
}

int64_t blyi_conn_time_left(const blyi_conn *conn, int64_t now) {
    const int64_t end = conn->since + (conn->stage == CONN_READY ? conn->login->command_ms
                                                                 : conn->login->connect_ms);
    return end > now ? end - now : 0;
}

int64_t blyi_conn_idle_ms(const blyi_conn *conn, int64_t now) {
    return now - conn->since;
}

void blyi_conn_restart_timer(blyi_conn *conn) {
    if (conn->stage == CONN_READY)
        conn->since = blyi_now_ms();
}

/* Reads what has arrived, by at most CONN_MAX_READS reads. Sets *bytes to the number of bytes. */
static bly_status conn_read(blyi_conn *conn, bly_redis_reason *why, size_t *bytes) {
    size_t bytes_read = CONN_READ_BYTES;
    *bytes = 0;
    for (int i = 0; i < CONN_MAX_READS && bytes_read == CONN_READ_BYTES; i++) {
        const size_t before = conn->context->reader->len;
        errno = 0;
        if (redisBufferRead(conn->context) != REDIS_OK)
            return conn_broken(conn, why);
        bytes_read = conn->context->reader->len - before;
        *bytes += bytes_read;
    }
    conn->reply_bytes += *bytes;
    return conn->reply_bytes < CONN_MAX_REPLY_BYTES ? BLY_OK : conn_reply_too_large(conn, why);
}

/* Reads before it writes: a server that closes the connection may have sent the reason first. */
static bly_status conn_transfer(blyi_conn *conn, short events, bly_redis_reason *why) {
    size_t bytes = 0;
    if (conn->session)
        blyi_tls_clear_errors();
    if (events & ~POLLOUT) {
        bly_status status = conn_read(conn, why, &bytes);
        if (status)
            return status;
    }
    if (events & POLLOUT) {
        int done;
        const size_t before = conn_unsent_bytes(conn);
        errno = 0;
        if (redisBufferWrite(conn->context, &done) != REDIS_OK)
            return conn_broken(conn, why);
        if (!conn->context->obuf)
            return blyi_no_memory(why);
        bytes += before - conn_unsent_bytes(conn);
    }
    if (bytes && conn->stage == CONN_READY)
        conn->since = blyi_now_ms();
    return BLY_OK;
}

bly_status blyi_conn_step(blyi_conn *conn, short events, bly_redis_reason *why) {
    if (!events)
        return BLY_OK;
    if (conn->stage == CONN_CONNECTING)
        return conn_socket_ready(conn, why);
    if (conn->stage == CONN_HANDSHAKE)
        return conn_handshake(conn, why);
    bly_status status = conn_transfer(conn, events, why);
    return status == BLY_OK && conn->stage == CONN_LOGIN ? conn_read_login(conn, why) : status;
}

/* ---- commands and replies -------------------------------------------------------------------- */

/* hiredis takes the pointers and the sizes in two arrays. One allocation contains both. */
bly_status blyi_conn_append(blyi_conn *conn, const bly_bytes *args, size_t n,
                            bly_redis_reason *why) {
    struct {
        const char *data[CONN_FEW_ARGS];
        size_t size[CONN_FEW_ARGS];
    } few;
    const char **data = few.data;
    size_t *size = few.size;
    void *block = NULL;
    const size_t before = conn_unsent_bytes(conn);
    if (n > CONN_FEW_ARGS) {
        block = n <= INT_MAX ? calloc(n, sizeof *data + sizeof *size) : NULL;
        if (!block)
            return blyi_no_memory(why);
        data = block;
        size = (size_t *)(void *)(data + n);
    }
    for (size_t i = 0; i < n; i++) {
        data[i] = args[i].data ? args[i].data : "";
        size[i] = args[i].size;
    }
    const int result = redisAppendCommandArgv(conn->context, (int)n, data, size);
    free(block);
    if (result != REDIS_OK)
        return blyi_no_memory(why);
    conn->appended += conn_unsent_bytes(conn) - before;
    return BLY_OK;
}

static bly_status conn_parse_reply(blyi_conn *conn, bly_redis_reason *why, bly_redis_reply **out) {
    void *reply = NULL;
    errno = 0;
    *out = NULL;
    if (redisGetReplyFromReader(conn->context, &reply) != REDIS_OK)
        return conn_broken(conn, why);
    if (reply) {
        conn->reply_bytes = conn->context->reader->len - conn->context->reader->pos;
        conn->reply_elements = 0;
    }
    *out = reply;
    return BLY_OK;
}

static bool conn_text_begins(bly_bytes text, const char *with) {
    const size_t length = strlen(with);
    return text.size >= length && memcmp(text.data, with, length) == 0;
}

/* If the user has no permission for ROLE, the reply is an error, and the server is assumed to be a
 * master. But a server that has too many clients, or is in protected mode, sends an error before it
 * has read anything, and closes the connection. */
static bly_status conn_read_role_error(blyi_conn *conn, bly_bytes text, bly_redis_reason *why) {
    const bool full = conn_text_begins(text, "ERR max number of clients"),
               denied = conn_text_begins(text, "DENIED ");
    if (!full && !denied)
        return BLY_OK;
    conn->rejected = true;
    blyi_reason_set(why, "%s: %s", conn->address->name, (const char *)text.data);
    errno = EAGAIN;
    return denied ? BLY_EINVAL : BLY_EIO;
}

/* Reads the reply to ROLE: an array whose first element is "master", "sentinel" or "slave". After
 * "slave" come the master's host and port, and more that is not used here. */
static bly_status conn_read_role(blyi_conn *conn, const bly_redis_reply *reply,
                                 bly_redis_reason *why) {
    const bly_redis_value value = bly_redis_reply_value(reply);
    if (value.type == BLY_REDIS_ERROR)
        return conn_read_role_error(conn, value.text, why);
    const bly_redis_reply *kind = bly_redis_reply_at(reply, 0),
                          *host = bly_redis_reply_at(reply, 1),
                          *port = bly_redis_reply_at(reply, 2);
    conn->replica = kind && (conn_text_begins(bly_redis_reply_text(kind), "slave") ||
                             conn_text_begins(bly_redis_reply_text(kind), "replica"));
    if (conn->replica && host && port && bly_redis_reply_text(host).size > 0)
        (void)snprintf(conn->master, sizeof conn->master, "%.255s:%lld",
                       (const char *)bly_redis_reply_text(host).data,
                       (long long)bly_redis_reply_integer(port));
    return BLY_OK;
}

bly_status blyi_conn_next_reply(blyi_conn *conn, bly_redis_reason *why, bly_redis_reply **out) {
    bly_status status = conn_parse_reply(conn, why, out);
    if (*out && conn->role_pending && conn->stage == CONN_READY) {
        conn->role_pending = false;
        status = conn_read_role(conn, *out, why);
        bly_redis_reply_free(*out);
        *out = NULL;
        if (status == BLY_OK)
            status = conn_parse_reply(conn, why, out);
    }
    return status;
}

const char *blyi_conn_master(const blyi_conn *conn) {
    return conn->replica ? conn->master : NULL;
}

bool blyi_conn_role_pending(const blyi_conn *conn) {
    return conn->role_pending;
}

uint64_t blyi_conn_appended(const blyi_conn *conn) {
    return conn->appended;
}

uint64_t blyi_conn_written(const blyi_conn *conn) {
    return conn->context && !conn->rejected ? conn->appended - conn_unsent_bytes(conn) : 0;
}

/* ---- waiting for one connection -------------------------------------------------------------- */

/* Waits until the connection can make progress, until its time limit or until `end`, and calls
 * blyi_conn_step. */
static bly_status conn_wait(blyi_conn *conn, int64_t end, bly_redis_reason *why) {
    for (;;) {
        struct pollfd one = {.fd = conn->fd, .events = blyi_conn_events(conn)};
        const int64_t now = blyi_now_ms();
        int64_t left = blyi_conn_time_left(conn, now);
        if (left > end - now)
            left = end > now ? end - now : 0;
        const int found = poll(&one, 1, left < INT_MAX ? (int)left : INT_MAX);
        if (found > 0)
            return blyi_conn_step(conn, one.revents, why);
        if (found == 0 && left < INT_MAX)
            return blyi_conn_timed_out(conn, why);
        if (found < 0 && errno != EINTR && errno != EAGAIN)
            return errno == ENOMEM ? blyi_no_memory(why) : conn_connect_failed(conn, why);
    }
}

bly_status blyi_conn_connect(blyi_conn *conn, int64_t max_ms, bly_redis_reason *why) {
    const int64_t end = blyi_now_ms() + max_ms;
    bly_status status = BLY_OK;
    while (status == BLY_OK && conn->stage != CONN_READY)
        status = conn_wait(conn, end, why);
    return status;
}

bly_status blyi_conn_command(blyi_conn *conn, const bly_bytes *args, size_t n, int64_t max_ms,
                             bly_redis_reason *why, bly_redis_reply **out) {
    *out = NULL;
    const int64_t begin = blyi_now_ms();
    const int64_t end = max_ms < INT64_MAX - begin ? begin + max_ms : INT64_MAX;
    blyi_conn_restart_timer(conn);
    bly_status status = blyi_conn_append(conn, args, n, why);
    while (status == BLY_OK && !*out) {
        status = conn_wait(conn, end, why);
        if (status == BLY_OK)
            status = blyi_conn_next_reply(conn, why, out);
    }
    return status;
}
