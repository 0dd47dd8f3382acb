/* One command at a time, over one link that is waited for; and what answers hold. */
#include "redis/client/connection.h"

#include <errno.h>
#include <hiredis.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_MS = 5000, COMMAND_MS = 60000 };

struct bly_redis {
    blyi_login login;
    blyi_place place;
    blyi_link *link; /* NULL: broken */
    bool follow_moved;
    bly_redis_reason why;
};

bool bly_redis_available(void) {
    return true;
}

static bly_status no_memory(bly_redis *r) {
    blyi_say(&r->why, "out of memory");
    return BLY_ENOMEM;
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* Anew, to wherever r now points. */
static bly_status connect_to(bly_redis *r) {
    blyi_link_close(r->link);
    bly_status status = blyi_link_open(&r->login, &r->place, &r->why, &r->link);
    if (status == BLY_OK)
        status = blyi_link_connect(r->link, INT_MAX, &r->why);
    if (status) {
        blyi_link_close(r->link);
        r->link = NULL;
    }
    return status;
}

static bly_status make(bly_redis *r, const bly_redis_url *url, const bly_redis_options *options) {
    static const bly_redis_options usual = {0};
    const bly_redis_options *o = options ? options : &usual;
    r->follow_moved = o->follow_moved;
    bly_status status =
        blyi_login_make(url, o->connect_ms ? o->connect_ms : CONNECT_MS,
                        o->command_ms ? o->command_ms : COMMAND_MS, &r->why, &r->login);
    if (status)
        return status;
    status = url->socket ? blyi_place_socket(url->socket, &r->place)
                         : blyi_place_host(url->host, strlen(url->host), url->port, &r->place);
    return status ? no_memory(r) : BLY_OK;
}

bly_status bly_redis_open(const bly_redis_url *url, const bly_redis_options *options,
                          bly_redis_reason *why, bly_redis **out) {
    static const bly_redis_reason lack = {"out of memory"};
    bly_redis *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r) {
        if (why)
            *why = lack;
        return BLY_ENOMEM;
    }
    bly_status status = make(r, url, options);
    if (status == BLY_OK) {
        const blyi_pipe_guard guard = blyi_hold_pipe();
        status = connect_to(r);
        blyi_release_pipe(&guard);
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
    blyi_link_close(r->link);
    blyi_login_free(&r->login);
    blyi_place_free(&r->place);
    free(r);
}

const char *bly_redis_peer(const bly_redis *r) {
    return r->place.name;
}

const char *bly_redis_why(const bly_redis *r) {
    return r->why.text;
}

/* ---- commands -------------------------------------------------------------------------------- */

static bly_status run(bly_redis *r, const bly_bytes *args, size_t n, bly_redis_reply **out) {
    bly_status status = blyi_link_command(r->link, args, n, r->login.command_ms, &r->why, out);
    if (status) {
        blyi_link_close(r->link);
        r->link = NULL;
    }
    return status;
}

/* "MOVED 3999 127.0.0.1:6381": goes there. An empty host is the one we asked. false: it is another
 * answer, or names no place. */
static bool is_moved(bly_redis *r, const bly_redis_reply *reply, bly_status *status) {
    const bly_redis_value value = bly_redis_reply_value(reply);
    bly_redis_place to;
    blyi_place place;
    if (bly_redis_judge(&value) != BLY_REDIS_MOVED || !bly_redis_place_of(&value, &to))
        return false;
    if (to.host.size == 0) {
        if (r->place.socket)
            return false;
        to.host = (bly_bytes){r->place.host, strlen(r->place.host)};
    }
    *status = blyi_place_host(to.host.data, to.host.size, to.port, &place);
    if (*status) {
        *status = no_memory(r);
        return true;
    }
    blyi_link_close(r->link); /* which knows the old place */
    r->link = NULL;
    blyi_place_free(&r->place);
    r->place = place;
    *status = connect_to(r);
    return true;
}

bly_status bly_redis_command(bly_redis *r, const bly_bytes *args, size_t n, bly_redis_reply **out) {
    *out = NULL;
    if (n == 0 || n > INT_MAX) {
        blyi_say(&r->why, "a command has from 1 to %d arguments", INT_MAX);
        return BLY_EINVAL;
    }
    if (!r->link) {
        blyi_say(&r->why, "the connection to %s is broken", r->place.name);
        errno = ENOTCONN;
        return BLY_EIO;
    }
    const blyi_pipe_guard guard = blyi_hold_pipe();
    bly_status status = run(r, args, n, out);
    bly_status there = BLY_OK;
    if (status == BLY_OK && r->follow_moved && is_moved(r, *out, &there)) {
        bly_redis_reply_free(*out);
        *out = NULL;
        status = there ? there : run(r, args, n, out);
    }
    blyi_release_pipe(&guard);
    return status;
}

/* ---- answers --------------------------------------------------------------------------------- */

static const redisReply *inside(const bly_redis_reply *reply) {
    return (const redisReply *)(const void *)reply;
}

bly_redis_type bly_redis_reply_type(const bly_redis_reply *reply) {
    switch (inside(reply)->type) {
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
    return bly_redis_reply_type(reply) == BLY_REDIS_INTEGER ? inside(reply)->integer : 0;
}

bly_bytes bly_redis_reply_text(const bly_redis_reply *reply) {
    const bly_redis_type type = bly_redis_reply_type(reply);
    if (type != BLY_REDIS_TEXT && type != BLY_REDIS_ERROR)
        return (bly_bytes){"", 0};
    return (bly_bytes){inside(reply)->str, (size_t)inside(reply)->len};
}

size_t bly_redis_reply_count(const bly_redis_reply *reply) {
    return bly_redis_reply_type(reply) == BLY_REDIS_ARRAY ? inside(reply)->elements : 0;
}

const bly_redis_reply *bly_redis_reply_at(const bly_redis_reply *reply, size_t i) {
    return i < bly_redis_reply_count(reply) ? (const void *)inside(reply)->element[i] : NULL;
}

void bly_redis_reply_free(bly_redis_reply *reply) {
    if (reply)
        freeReplyObject(reply);
}
