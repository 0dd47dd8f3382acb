/* A connection to a server, by hiredis.
 *
 * hiredis writes to a socket whose other end may have gone away, and for that the system sends
 * SIGPIPE, of which a program dies that has not been told otherwise. A library must not change that
 * for the whole program, so the signal is held back in this thread while hiredis works, and one
 * that came of it is taken off before it is let through again.
 */
#include <bloomery/redis.h>

#include <errno.h>
#include <hiredis.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum {
    CONNECT_MS = 5000,
    COMMAND_MS = 60000,
    FEW_ARGS = 16, /* commands of no more need no memory of their own */
};

struct bly_redis {
    redisContext *link; /* NULL or with an error: broken */
    bly_redis_options options;
    char *host, *socket, *user, *password; /* as in bly_redis_url, but our own */
    uint16_t port;
    uint32_t database;
    char *peer;
    bly_redis_reason why;
};

bool bly_redis_available(void) {
    return true;
}

/* ---- SIGPIPE --------------------------------------------------------------------------------- */

typedef struct pipe_guard {
    sigset_t pipe, before;
    bool pending; /* one was waiting already, and is not ours to take */
} pipe_guard;

static pipe_guard hold_pipe(void) {
    pipe_guard g;
    sigset_t waiting;
    (void)sigemptyset(&g.pipe);
    (void)sigaddset(&g.pipe, SIGPIPE);
    (void)sigemptyset(&waiting);
    (void)sigpending(&waiting);
    g.pending = sigismember(&waiting, SIGPIPE) == 1;
    (void)pthread_sigmask(SIG_BLOCK, &g.pipe, &g.before);
    return g;
}

static void release_pipe(const pipe_guard *g) {
    sigset_t waiting;
    int number;
    const int saved = errno;
    (void)sigemptyset(&waiting);
    (void)sigpending(&waiting);
    if (!g->pending && sigismember(&waiting, SIGPIPE) == 1)
        (void)sigwait(&g->pipe, &number);
    (void)pthread_sigmask(SIG_SETMASK, &g->before, NULL);
    errno = saved;
}

/* ---- what went wrong ------------------------------------------------------------------------- */

#define SAY(r, ...) ((void)snprintf((r)->why.text, sizeof(r)->why.text, __VA_ARGS__))

/* What hiredis says of the link; and BLY_EIO with a meaningful errno. */
static bly_status broken(bly_redis *r, const char *doing) {
    const redisContext *c = r->link;
    const int error = errno;
    if (!c || c->err == REDIS_ERR_OOM) {
        SAY(r, "out of memory");
        return BLY_ENOMEM;
    }
    const bool late = c->err == REDIS_ERR_IO && (error == EAGAIN || error == ETIMEDOUT);
    if (late)
        SAY(r, "%s %s took too long", doing, r->peer);
    else if (c->err == REDIS_ERR_EOF)
        SAY(r, "%s closed the connection", r->peer);
    else
        SAY(r, "%s %s: %s", doing, r->peer, c->errstr);
    errno = late ? ETIMEDOUT : error ? error : ECONNRESET;
    return BLY_EIO;
}

/* ---- connecting ------------------------------------------------------------------------------ */

static struct timeval time_of(uint32_t ms, uint32_t otherwise) {
    const uint32_t value = ms ? ms : otherwise;
    return (struct timeval){.tv_sec = value / 1000, .tv_usec = value % 1000 * 1000};
}

static bool name_peer(bly_redis *r) {
    free(r->peer);
    const size_t room = r->socket ? strlen(r->socket) + 1 : strlen(r->host) + sizeof "[]:65535";
    r->peer = malloc(room);
    if (!r->peer)
        return false;
    if (r->socket)
        memcpy(r->peer, r->socket, room);
    else
        (void)snprintf(r->peer, room, strchr(r->host, ':') ? "[%s]:%u" : "%s:%u", r->host,
                       (unsigned)r->port);
    return true;
}

static bly_status refused(bly_redis *r, const char *what, const bly_redis_reply *reply) {
    SAY(r, "%s refused the %s: %s", r->peer, what, (const char *)bly_redis_reply_text(reply).data);
    return BLY_EINVAL;
}

static bly_status run(bly_redis *r, const bly_bytes *args, size_t n, bly_redis_reply **out);

static bly_bytes word(const char *text) {
    return (bly_bytes){text, strlen(text)};
}

/* One command whose only good answer is no error. */
static bly_status prepare(bly_redis *r, const char *what, const bly_bytes *args, size_t n) {
    bly_redis_reply *reply;
    bly_status status = run(r, args, n, &reply);
    if (status)
        return status;
    if (bly_redis_reply_type(reply) == BLY_REDIS_ERROR)
        status = refused(r, what, reply);
    bly_redis_reply_free(reply);
    return status;
}

static bly_status introduce(bly_redis *r) {
    bly_status status = BLY_OK;
    if (r->password && r->user)
        status = prepare(r, "user or password",
                         (bly_bytes[]){word("AUTH"), word(r->user), word(r->password)}, 3);
    else if (r->password)
        status = prepare(r, "password", (bly_bytes[]){word("AUTH"), word(r->password)}, 2);
    if (status == BLY_OK && r->database) {
        char number[16];
        (void)snprintf(number, sizeof number, "%u", (unsigned)r->database);
        status = prepare(r, "database", (bly_bytes[]){word("SELECT"), word(number)}, 2);
    }
    return status;
}

/* Anew, to wherever r now points. */
static bly_status connect_to(bly_redis *r) {
    const struct timeval wait = time_of(r->options.connect_ms, CONNECT_MS);
    if (r->link)
        redisFree(r->link);
    r->link = NULL;
    if (!name_peer(r)) {
        SAY(r, "out of memory");
        return BLY_ENOMEM;
    }
    r->link = r->socket ? redisConnectUnixWithTimeout(r->socket, wait)
                        : redisConnectWithTimeout(r->host, r->port, wait);
    if (!r->link || r->link->err)
        return broken(r, "connecting to");
    if (redisSetTimeout(r->link, time_of(r->options.command_ms, COMMAND_MS)) != REDIS_OK)
        return broken(r, "setting a time limit for");
    return introduce(r);
}

/* NULL stays NULL; false: no memory. */
static bool copy_text(const char *from, char **to) {
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

static bly_status make(const bly_redis_url *url, const bly_redis_options *options,
                       bly_redis **out) {
    bly_redis *r = calloc(1, sizeof *r);
    *out = r;
    if (!r)
        return BLY_ENOMEM;
    if (options)
        r->options = *options;
    r->port = url->port;
    r->database = url->database;
    const bool copied = copy_text(url->host, &r->host) && copy_text(url->socket, &r->socket) &&
                        copy_text(url->user, &r->user) && copy_text(url->password, &r->password);
    return copied ? BLY_OK : BLY_ENOMEM;
}

bly_status bly_redis_open(const bly_redis_url *url, const bly_redis_options *options,
                          bly_redis_reason *why, bly_redis **out) {
    static const bly_redis_reason no_memory = {"out of memory"},
                                  no_tls = {"this build cannot speak TLS (rediss://); connect "
                                            "through a tunnel, such as stunnel or ssh -L"};
    const bly_redis_reason *reason = &no_memory;
    bly_redis *r = NULL;
    *out = NULL;
    bly_status status = url->tls ? BLY_EUNSUPPORTED : make(url, options, &r);
    if (status == BLY_OK) {
        const pipe_guard guard = hold_pipe();
        status = connect_to(r);
        release_pipe(&guard);
        reason = &r->why;
    }
    if (status == BLY_OK) {
        *out = r;
        return BLY_OK;
    }
    if (why)
        *why = status == BLY_EUNSUPPORTED ? no_tls : *reason;
    const int saved = errno;
    bly_redis_close(r);
    errno = saved;
    return status;
}

void bly_redis_close(bly_redis *r) {
    if (!r)
        return;
    if (r->link)
        redisFree(r->link);
    free(r->host);
    free(r->socket);
    free(r->user);
    free(r->password);
    free(r->peer);
    free(r);
}

const char *bly_redis_peer(const bly_redis *r) {
    return r->peer;
}

const char *bly_redis_why(const bly_redis *r) {
    return r->why.text;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* hiredis wants two arrays of what we have in one: one block holds both. */
static bly_status run(bly_redis *r, const bly_bytes *args, size_t n, bly_redis_reply **out) {
    struct {
        const char *data[FEW_ARGS];
        size_t size[FEW_ARGS];
    } few;
    const char **data = few.data;
    size_t *size = few.size;
    void *block = NULL;
    if (n > FEW_ARGS) {
        block = calloc(n, sizeof *data + sizeof *size);
        if (!block) {
            SAY(r, "out of memory");
            return BLY_ENOMEM;
        }
        data = block;
        size = (size_t *)(void *)(data + n);
    }
    for (size_t i = 0; i < n; i++) {
        data[i] = args[i].data ? args[i].data : "";
        size[i] = args[i].size;
    }
    errno = 0;
    *out = redisCommandArgv(r->link, (int)n, data, size);
    bly_status status = *out ? BLY_OK : broken(r, "waiting for");
    const int saved = errno;
    free(block);
    errno = saved;
    return status;
}

/* "MOVED 3999 127.0.0.1:6381": goes there. An empty host is the one we asked. false: it is another
 * answer, or names no place. */
static bool is_moved(bly_redis *r, const bly_redis_reply *reply, bly_status *status) {
    const char *text = bly_redis_reply_text(reply).data;
    if (bly_redis_reply_type(reply) != BLY_REDIS_ERROR || strncmp(text, "MOVED ", 6) != 0)
        return false;
    const char *place = strrchr(text, ' ') + 1, *colon = strrchr(place, ':');
    const unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;
    if (port == 0 || port > 65535 || *place == '?' || (colon == place && r->socket))
        return false;
    char *host = colon > place ? strndup(place, (size_t)(colon - place)) : r->host;
    if (!host) {
        SAY(r, "out of memory");
        *status = BLY_ENOMEM;
        return true;
    }
    if (host != r->host)
        free(r->host);
    free(r->socket);
    r->host = host;
    r->socket = NULL;
    r->port = (uint16_t)port;
    *status = connect_to(r);
    return true;
}

bly_status bly_redis_command(bly_redis *r, const bly_bytes *args, size_t n, bly_redis_reply **out) {
    *out = NULL;
    if (n == 0 || n > INT_MAX) {
        SAY(r, "a command has from 1 to %d arguments", INT_MAX);
        return BLY_EINVAL;
    }
    if (!r->link || r->link->err) {
        SAY(r, "the connection to %s is broken", r->peer ? r->peer : "the server");
        errno = ENOTCONN;
        return BLY_EIO;
    }
    const pipe_guard guard = hold_pipe();
    bly_status status = run(r, args, n, out);
    bly_status there = BLY_OK;
    if (status == BLY_OK && r->options.follow_moved && is_moved(r, *out, &there)) {
        bly_redis_reply_free(*out);
        *out = NULL;
        status = there ? there : run(r, args, n, out);
    }
    release_pipe(&guard);
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
