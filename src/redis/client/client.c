/* Implements the public connection of <bloomery/redis/connection.h>: it sends one command at a time
 * and waits for the reply. Also gives access to the parts of replies. */
#include "base/struct_size.h"
#include "redis/client/connection.h"

#include <errno.h>
#include <hiredis.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT_CONNECT_MS = 5000, CLIENT_COMMAND_MS = 60000 };

struct bly_redis {
    blyi_login login;
    blyi_address address;
    blyi_conn *conn; /* NULL: the connection is broken */
    bool follow_moved;
    bly_redis_reason why;
};

bool bly_redis_available(void) {
    return true;
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* Closes the connection, if there is one, and connects to r->address. */
static bly_status client_connect(bly_redis *r) {
    blyi_conn_close(r->conn);
    bly_status status = blyi_conn_open(&r->login, &r->address, &r->why, &r->conn);
    if (status == BLY_OK)
        status = blyi_conn_connect(r->conn, INT_MAX, &r->why);
    if (status) {
        blyi_conn_close(r->conn);
        r->conn = NULL;
    }
    return status;
}

static bly_status client_init(bly_redis *r, const bly_redis_url *url,
                              const bly_redis_options *options) {
    bly_redis_options o = {0};
    if (options && !blyi_read_struct(&o, sizeof o, sizeof o, options)) {
        (void)snprintf(r->why.text, sizeof r->why.text, "%s", bly_strerror(BLY_EINVAL));
        return BLY_EINVAL;
    }
    r->follow_moved = o.follow_moved;
    bly_status status =
        blyi_login_init(url, o.connect_ms ? o.connect_ms : CLIENT_CONNECT_MS,
                        o.command_ms ? o.command_ms : CLIENT_COMMAND_MS, &r->why, &r->login);
    if (status)
        return status;
    status = url->socket ? blyi_address_socket(url->socket, &r->address)
                         : blyi_address_host(url->host, strlen(url->host), url->port, &r->address);
    return status ? blyi_no_memory(&r->why) : BLY_OK;
}

bly_status bly_redis_open(const bly_redis_url *url, const bly_redis_options *options,
                          bly_redis_reason *why, bly_redis **out) {
    bly_redis_reason ignored;
    bly_redis *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return blyi_no_memory(why ? why : &ignored);
    bly_status status = client_init(r, url, options);
    if (status == BLY_OK) {
        const blyi_sigpipe_guard guard = blyi_sigpipe_block();
        status = client_connect(r);
        blyi_sigpipe_restore(&guard);
    }
    if (status == BLY_OK) {
        *out = r;
        return BLY_OK;
    }
    if (why)
        *why = r->why;
    const int saved = errno;
    bly_redis_close(r);
    errno = saved;
    return status;
}

void bly_redis_close(bly_redis *r) {
    if (!r)
        return;
    blyi_conn_close(r->conn);
    blyi_login_free(&r->login);
    blyi_address_free(&r->address);
    free(r);
}

const char *bly_redis_address(const bly_redis *r) {
    return r->address.name;
}

const char *bly_redis_error(const bly_redis *r) {
    return r->why.text;
}

/* ---- commands -------------------------------------------------------------------------------- */

static bly_status client_run(bly_redis *r, const bly_bytes *args, size_t n, bly_redis_reply **out) {
    bly_status status = blyi_conn_command(r->conn, args, n, r->login.command_ms, &r->why, out);
    if (status) {
        blyi_conn_close(r->conn);
        r->conn = NULL;
    }
    return status;
}

/* Connects to the node that a reply such as "MOVED 3999 127.0.0.1:6381" names. An empty host means
 * the current one. Returns false if it is another reply or names no node; otherwise *status is the
 * result of connecting. */
static bool client_follow_moved(bly_redis *r, const bly_redis_reply *reply, bly_status *status) {
    const bly_redis_value value = bly_redis_reply_value(reply);
    bly_redis_redirect to;
    blyi_address address;
    if (bly_redis_classify(&value) != BLY_REDIS_MOVED || !bly_redis_redirect_parse(&value, &to))
        return false;
    if (to.host.size == 0) {
        if (r->address.socket)
            return false;
        to.host = (bly_bytes){r->address.host, strlen(r->address.host)};
    }
    *status = blyi_address_host(to.host.data, to.host.size, to.port, &address);
    if (*status) {
        *status = blyi_no_memory(&r->why);
        return true;
    }
    blyi_conn_close(r->conn); /* before its address is freed */
    r->conn = NULL;
    blyi_address_free(&r->address);
    r->address = address;
    *status = client_connect(r);
    return true;
}

bly_status bly_redis_command(bly_redis *r, const bly_bytes *args, size_t n, bly_redis_reply **out) {
    *out = NULL;
    if (n == 0 || n > INT_MAX) {
        blyi_reason_set(&r->why, "a command must have from 1 to %d arguments", INT_MAX);
        return BLY_EINVAL;
    }
    if (!r->conn) {
        blyi_reason_set(&r->why, "the connection to %s is broken", r->address.name);
        errno = ENOTCONN;
        return BLY_EIO;
    }
    const blyi_sigpipe_guard guard = blyi_sigpipe_block();
    bly_status status = client_run(r, args, n, out);
    bly_status there = BLY_OK;
    if (status == BLY_OK && r->follow_moved && client_follow_moved(r, *out, &there)) {
        bly_redis_reply_free(*out);
        *out = NULL;
        status = there ? there : client_run(r, args, n, out);
    }
    blyi_sigpipe_restore(&guard);
    return status;
}

/* ---- replies --------------------------------------------------------------------------------- */

static const redisReply *client_reply(const bly_redis_reply *reply) {
    return (const redisReply *)(const void *)reply;
}

bly_redis_type bly_redis_reply_type(const bly_redis_reply *reply) {
    switch (client_reply(reply)->type) {
    case REDIS_REPLY_INTEGER:
        return BLY_REDIS_INTEGER;
    case REDIS_REPLY_ERROR:
        return BLY_REDIS_ERROR;
    case REDIS_REPLY_ARRAY:
        return BLY_REDIS_ARRAY;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
        return BLY_REDIS_TEXT;
    default:
        return BLY_REDIS_NIL;
    }
}

bly_redis_value bly_redis_reply_value(const bly_redis_reply *reply) {
    return (bly_redis_value){.type = bly_redis_reply_type(reply),
                             .integer = bly_redis_reply_integer(reply),
                             .text = bly_redis_reply_text(reply)};
}

int64_t bly_redis_reply_integer(const bly_redis_reply *reply) {
    return bly_redis_reply_type(reply) == BLY_REDIS_INTEGER ? client_reply(reply)->integer : 0;
}

bly_bytes bly_redis_reply_text(const bly_redis_reply *reply) {
    const bly_redis_type type = bly_redis_reply_type(reply);
    if (type != BLY_REDIS_TEXT && type != BLY_REDIS_ERROR)
        return (bly_bytes){"", 0};
    return (bly_bytes){client_reply(reply)->str, (size_t)client_reply(reply)->len};
}

size_t bly_redis_reply_count(const bly_redis_reply *reply) {
    return bly_redis_reply_type(reply) == BLY_REDIS_ARRAY ? client_reply(reply)->elements : 0;
}

const bly_redis_reply *bly_redis_reply_at(const bly_redis_reply *reply, size_t i) {
    return i < bly_redis_reply_count(reply) ? (const void *)client_reply(reply)->element[i] : NULL;
}

void bly_redis_reply_free(bly_redis_reply *reply) {
    if (reply)
        freeReplyObject(reply);
}
