/* One connection to one node, by hiredis.
 *
 * The socket is ours, and never blocks; hiredis gets it when it is connected, and keeps what is to
 * be sent, writes it, reads, and makes answers of what was read. A link goes through these stages,
 * of which TLS is left out where there is none:
 *
 *     CONNECTING   until the socket can be written; if that failed, with the next address
 *     SHAKING      TLS's handshake
 *     GREETING     AUTH and SELECT are sent together, and their answers awaited: what follows must
 *                  not be carried out in another database
 *     READY
 *
 * ROLE is the last word of the greeting, if it is asked at all. Nothing waits for its answer, which
 * comes before those to the first commands, and is taken by the link itself.
 */
#include "redis/client/connection.h"

#include "redis/bitmap/bitmap_layout.h"
#include "redis/client/net.h"

#include <errno.h>
#include <hiredis.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FEW_ARGS = 16,         /* commands of no more need no memory of their own */
    PORTION = 16384,       /* what hiredis reads at a time */
    MOST_ANSWER = 1 << 30, /* bytes; a string has at most half of that */
    MOST_PARTS = 1 << 20,  /* elements of all arrays of an answer: each takes memory before it has
                              come. All slots of a cluster are half of that at most */
    MASTER_ROOM = 272,     /* for "HOST:PORT" */
    MOST_PORTIONS = 64,    /* in one step, so that other links get their turn */
};

typedef enum stage { CONNECTING, SHAKING, GREETING, READY } stage;

struct blyi_link {
    const blyi_login *login;
    const blyi_place *place;
    blyi_dial dial;
    int fd;          /* hiredis's, as soon as there is a context */
    redisContext *c; /* from SHAKING on */
    blyi_tls_session *session;
    short shake;            /* what the handshake waits for */
    const char *greeted[2]; /* what the next answers of the greeting are about */
    stage stage;
    int64_t since; /* READY: the last byte's time; before: when it began */
    uint64_t appended;
    redisReplyObjectFunctions makers; /* hiredis's own, but for arrays */
    const redisReplyObjectFunctions *usual;
    size_t coming, parts; /* of the answer that is not whole yet: bytes read, elements */
    bool role_due, replica, turned_away;
    char master[MASTER_ROOM]; /* of a replica */
};

/* ---- what went wrong ------------------------------------------------------------------------- */

/* By errno. */
static bly_status not_connected(const blyi_link *l, bly_redis_reason *why) {
    const int error = errno ? errno : ECONNRESET;
    blyi_say(why, "connecting to %s: %s", l->place->name, strerror(error));
    errno = error;
    return BLY_EIO;
}

static bly_status endless(const blyi_link *l, bly_redis_reason *why) {
    blyi_say(why, "the answer of %s has no end", l->place->name);
    errno = EPROTO;
    return BLY_EIO;
}

/* What hiredis says of the link; and BLY_EIO with a meaningful errno. */
static bly_status broken(const blyi_link *l, bly_redis_reason *why) {
    const redisContext *c = l->c;
    const int error = errno ? errno : ECONNRESET;
    const char *doing = l->stage == READY ? "waiting for" : "connecting to";
    bool refused = false;
    const char *trouble = l->session ? blyi_tls_last_trouble(&refused) : NULL;
    blyi_expect_pipe();
    if (l->parts > MOST_PARTS)
        return endless(l, why);
    if (c->err == REDIS_ERR_OOM)
        return blyi_no_memory(why);
    if (c->err == REDIS_ERR_PROTOCOL)
        blyi_say(why, "%s does not speak Redis's protocol: %s", l->place->name, c->errstr);
    else if (trouble)
        blyi_say(why, "%s %s: TLS: %s", doing, l->place->name, trouble);
    else if (c->err == REDIS_ERR_EOF)
        blyi_say(why, "%s closed the connection", l->place->name);
    else
        blyi_say(why, "%s %s: %s", doing, l->place->name, strerror(error));
    errno = refused || c->err == REDIS_ERR_PROTOCOL ? EPROTO : error;
    return BLY_EIO;
}

bly_status blyi_link_late(const blyi_link *l, bly_redis_reason *why) {
    blyi_say(why, "%s %s took too long%s", l->stage == READY ? "waiting for" : "connecting to",
             l->place->name, l->stage == SHAKING ? "; perhaps it does not speak TLS" : "");
    errno = ETIMEDOUT;
    return BLY_EIO;
}

/* ---- connecting ------------------------------------------------------------------------------ */

bly_status blyi_link_open(const blyi_login *login, const blyi_place *place, bly_redis_reason *why,
                          blyi_link **out) {
    blyi_link *l = calloc(1, sizeof *l);
    *out = NULL;
    if (!l)
        return blyi_no_memory(why);
    *l = (blyi_link){.login = login, .place = place, .fd = -1, .since = blyi_now_ms()};
    bly_status status = blyi_dial_open(place, why, &l->dial);
    if (status == BLY_OK) {
        l->fd = blyi_dial_next(&l->dial);
        if (l->fd < 0)
            status = not_connected(l, why);
    }
    if (status)
        blyi_link_close(l);
    else
        *out = l;
    return status;
}

void blyi_link_close(blyi_link *l) {
    const int saved = errno;
    if (!l)
        return;
    blyi_dial_close(&l->dial);
    if (l->c)
        redisFree(l->c);
    else if (l->fd >= 0)
        (void)close(l->fd);
    free(l);
    errno = saved;
}

static bly_status greet(blyi_link *l, bly_redis_reason *why) {
    const blyi_login *me = l->login;
    const char **next = l->greeted;
    bly_status status = BLY_OK;
    l->stage = GREETING;
    if (me->password && me->user) {
        *next++ = "user or password";
        status = blyi_link_append(
            l, (bly_bytes[]){blyi_word("AUTH"), blyi_word(me->user), blyi_word(me->password)}, 3,
            why);
    } else if (me->password) {
        *next++ = "password";
        status =
            blyi_link_append(l, (bly_bytes[]){blyi_word("AUTH"), blyi_word(me->password)}, 2, why);
    }
    if (status == BLY_OK && me->database) {
        char number[16];
        (void)snprintf(number, sizeof number, "%u", (unsigned)me->database);
        *next++ = "database";
        status = blyi_link_append(l, (bly_bytes[]){blyi_word("SELECT"), blyi_word(number)}, 2, why);
    }
    if (status == BLY_OK && me->ask_role) {
        const bly_bytes role = blyi_word("ROLE");
        l->role_due = true;
        status = blyi_link_append(l, &role, 1, why);
    }
    if (next == l->greeted) {
        l->stage = READY;
        l->since = blyi_now_ms();
    }
    return status;
}

static bly_status refused(const blyi_link *l, const bly_redis_value *value, bly_redis_reason *why) {
    blyi_say(why, "%s refused the %s: %s", l->place->name, l->greeted[0],
             (const char *)value->text.data);
    if (bly_redis_judge(value) != BLY_REDIS_LATER)
        return BLY_EINVAL;
    errno = EAGAIN;
    return BLY_EIO;
}

/* Takes the answers to the greeting that have come. */
static bly_status hear_greeting(blyi_link *l, bly_redis_reason *why) {
    while (l->greeted[0]) {
        bly_redis_reply *reply;
        bly_status status = blyi_link_take(l, why, &reply);
        if (status || !reply)
            return status;
        const bly_redis_value value = bly_redis_reply_value(reply);
        if (value.type == BLY_REDIS_ERROR)
            status = refused(l, &value, why);
        bly_redis_reply_free(reply);
        if (status)
            return status;
        l->greeted[0] = l->greeted[1];
        l->greeted[1] = NULL;
    }
    l->stage = READY;
    l->since = blyi_now_ms();
    return BLY_OK;
}

static bly_status no_tls(const blyi_link *l, const blyi_tls_trouble *trouble,
                         bly_redis_reason *why) {
    const int saved = errno;
    blyi_expect_pipe();
    blyi_say(why, "connecting to %s: TLS: %s", l->place->name, trouble->text);
    errno = saved;
    return BLY_EIO;
}

static bly_status shake_hands(blyi_link *l, bly_redis_reason *why) {
    blyi_tls_trouble trouble;
    bly_status status = blyi_tls_shake(l->session, &trouble, &l->shake);
    if (status)
        return no_tls(l, &trouble, why);
    return l->shake ? BLY_OK : greet(l, why);
}

#if HIREDIS_MAJOR >= 1
typedef size_t array_size;
#else
typedef int array_size;
#endif

/* hiredis believes whatever size is announced. */
static void *make_array(const redisReadTask *task, array_size elements) {
    blyi_link *l = task->privdata;
    l->parts += (size_t)elements;
    return l->parts > MOST_PARTS ? NULL : l->usual->createArray(task, elements);
}

static void watch_arrays(blyi_link *l) {
    l->usual = l->c->reader->fn;
    l->makers = *l->usual;
    l->makers.createArray = make_array;
    l->c->reader->fn = &l->makers;
    l->c->reader->privdata = l;
}

/* The socket has arrived, or the next one is on its way. */
static bly_status arrive(blyi_link *l, bly_redis_reason *why) {
    if (!blyi_dial_arrived(l->fd)) {
        const int error = errno;
        (void)close(l->fd);
        errno = error;
        l->fd = blyi_dial_next(&l->dial);
        return l->fd < 0 ? not_connected(l, why) : BLY_OK;
    }
    blyi_dial_close(&l->dial);
    l->c = redisConnectFd(l->fd);
    if (!l->c)
        return blyi_no_memory(why);
    if (l->c->err)
        return broken(l, why);
    l->c->flags &= ~REDIS_BLOCK;
    watch_arrays(l);
    if (!l->login->tls)
        return greet(l, why);
    l->stage = SHAKING;
    blyi_tls_trouble trouble;
    bly_status status = blyi_tls_begin(l->login->tls, l->c, l->place->host, &trouble, &l->session);
    if (status == BLY_ENOMEM)
        return blyi_no_memory(why);
    return status ? no_tls(l, &trouble, why) : shake_hands(l, why);
}

/* ---- steps ----------------------------------------------------------------------------------- */

int blyi_link_fd(const blyi_link *l) {
    return l->fd;
}

bool blyi_link_ready(const blyi_link *l) {
    return l->stage == READY;
}

static size_t unsent(const blyi_link *l) {
    return l->c->obuf ? sdslen(l->c->obuf) : 0; /* none: there was no memory */
}

short blyi_link_events(const blyi_link *l) {
    if (l->stage == CONNECTING)
        return POLLOUT;
    if (l->stage == SHAKING)
        return l->shake;
    return unsent(l) ? POLLIN | POLLOUT : POLLIN;
}

int64_t blyi_link_patience(const blyi_link *l, int64_t now) {
    const int64_t end =
        l->since + (l->stage == READY ? l->login->command_ms : l->login->connect_ms);
    return end > now ? end - now : 0;
}

int64_t blyi_link_silence(const blyi_link *l, int64_t now) {
    return now - l->since;
}

void blyi_link_wake(blyi_link *l) {
    if (l->stage == READY)
        l->since = blyi_now_ms();
}

/* Whatever has come, but no more than one link may claim at a time. *bytes: how much. */
static bly_status read_some(blyi_link *l, bly_redis_reason *why, size_t *bytes) {
    size_t portion = PORTION;
    *bytes = 0;
    for (int i = 0; i < MOST_PORTIONS && portion == PORTION; i++) {
        const size_t before = l->c->reader->len;
        errno = 0;
        if (redisBufferRead(l->c) != REDIS_OK)
            return broken(l, why);
        portion = l->c->reader->len - before;
        *bytes += portion;
    }
    l->coming += *bytes;
    return l->coming < MOST_ANSWER ? BLY_OK : endless(l, why);
}

/* Reads first: a server that closes the connection may have said why. */
static bly_status talk(blyi_link *l, short events, bly_redis_reason *why) {
    size_t bytes = 0;
    if (l->session)
        blyi_tls_forget();
    if (events & ~POLLOUT) {
        bly_status status = read_some(l, why, &bytes);
        if (status)
            return status;
    }
    if (events & POLLOUT) {
        int done;
        const size_t before = unsent(l);
        errno = 0;
        if (redisBufferWrite(l->c, &done) != REDIS_OK)
            return broken(l, why);
        if (!l->c->obuf)
            return blyi_no_memory(why);
        bytes += before - unsent(l);
    }
    if (bytes && l->stage == READY)
        l->since = blyi_now_ms();
    return BLY_OK;
}

bly_status blyi_link_step(blyi_link *l, short events, bly_redis_reason *why) {
    if (!events)
        return BLY_OK;
    if (l->stage == CONNECTING)
        return arrive(l, why);
    if (l->stage == SHAKING)
        return shake_hands(l, why);
    bly_status status = talk(l, events, why);
    return status == BLY_OK && l->stage == GREETING ? hear_greeting(l, why) : status;
}

/* ---- commands and answers -------------------------------------------------------------------- */

/* hiredis wants two arrays of what we have in one: one block holds both. */
bly_status blyi_link_append(blyi_link *l, const bly_bytes *args, size_t n, bly_redis_reason *why) {
    struct {
        const char *data[FEW_ARGS];
        size_t size[FEW_ARGS];
    } few;
    const char **data = few.data;
    size_t *size = few.size;
    void *block = NULL;
    const size_t before = unsent(l);
    if (n > FEW_ARGS) {
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
    const int result = redisAppendCommandArgv(l->c, (int)n, data, size);
    free(block);
    if (result != REDIS_OK)
        return blyi_no_memory(why);
    l->appended += unsent(l) - before;
    return BLY_OK;
}

static bly_status take_one(blyi_link *l, bly_redis_reason *why, bly_redis_reply **out) {
    void *reply = NULL;
    errno = 0;
    *out = NULL;
    if (redisGetReplyFromReader(l->c, &reply) != REDIS_OK)
        return broken(l, why);
    if (reply) {
        l->coming = l->c->reader->len - l->c->reader->pos;
        l->parts = 0;
    }
    *out = reply;
    return BLY_OK;
}

static bool begins(bly_bytes text, const char *with) {
    const size_t length = strlen(with);
    return text.size >= length && memcmp(text.data, with, length) == 0;
}

/* Whoever may not ask is not told, which is as good as a master. But a server that has no room for
 * us, or does not want us, says so before it has read anything, and hangs up. */
static bly_status hear_role_error(blyi_link *l, bly_bytes text, bly_redis_reason *why) {
    const bool full = begins(text, "ERR max number of clients"), denied = begins(text, "DENIED ");
    if (!full && !denied)
        return BLY_OK;
    l->turned_away = true;
    blyi_say(why, "%s: %s", l->place->name, (const char *)text.data);
    errno = EAGAIN;
    return denied ? BLY_EINVAL : BLY_EIO;
}

/* "master" and more, "sentinel" and more, or "slave", its master's host and port, and more. */
static bly_status hear_role(blyi_link *l, const bly_redis_reply *reply, bly_redis_reason *why) {
    const bly_redis_value value = bly_redis_reply_value(reply);
    if (value.type == BLY_REDIS_ERROR)
        return hear_role_error(l, value.text, why);
    const bly_redis_reply *kind = bly_redis_reply_at(reply, 0),
                          *host = bly_redis_reply_at(reply, 1),
                          *port = bly_redis_reply_at(reply, 2);
    l->replica = kind && (begins(bly_redis_reply_text(kind), "slave") ||
                          begins(bly_redis_reply_text(kind), "replica"));
    if (l->replica && host && port && bly_redis_reply_text(host).size > 0)
        (void)snprintf(l->master, sizeof l->master, "%.255s:%lld",
                       (const char *)bly_redis_reply_text(host).data,
                       (long long)bly_redis_reply_integer(port));
    return BLY_OK;
}

bly_status blyi_link_take(blyi_link *l, bly_redis_reason *why, bly_redis_reply **out) {
    bly_status status = take_one(l, why, out);
    if (*out && l->role_due && l->stage == READY) {
        l->role_due = false;
        status = hear_role(l, *out, why);
        bly_redis_reply_free(*out);
        *out = NULL;
        if (status == BLY_OK)
            status = take_one(l, why, out);
    }
    return status;
}

const char *blyi_link_master(const blyi_link *l) {
    return l->replica ? l->master : NULL;
}

bool blyi_link_role_due(const blyi_link *l) {
    return l->role_due;
}

uint64_t blyi_link_appended(const blyi_link *l) {
    return l->appended;
}

uint64_t blyi_link_written(const blyi_link *l) {
    return l->c && !l->turned_away ? l->appended - unsent(l) : 0;
}

/* ---- waiting for one link -------------------------------------------------------------------- */

/* Until there is something to do, which is then done. */
static bly_status wait_for(blyi_link *l, int64_t end, bly_redis_reason *why) {
    for (;;) {
        struct pollfd one = {.fd = l->fd, .events = blyi_link_events(l)};
        const int64_t now = blyi_now_ms();
        int64_t left = blyi_link_patience(l, now);
        if (left > end - now)
            left = end > now ? end - now : 0;
        const int found = poll(&one, 1, left < INT_MAX ? (int)left : INT_MAX);
        if (found > 0)
            return blyi_link_step(l, one.revents, why);
        if (found == 0 && left < INT_MAX)
            return blyi_link_late(l, why);
        if (found < 0 && errno != EINTR && errno != EAGAIN)
            return errno == ENOMEM ? blyi_no_memory(why) : not_connected(l, why);
    }
}

bly_status blyi_link_connect(blyi_link *l, int64_t most_ms, bly_redis_reason *why) {
    const int64_t end = blyi_now_ms() + most_ms;
    bly_status status = BLY_OK;
    while (status == BLY_OK && l->stage != READY)
        status = wait_for(l, end, why);
    return status;
}

bly_status blyi_link_command(blyi_link *l, const bly_bytes *args, size_t n, int64_t most_ms,
                             bly_redis_reason *why, bly_redis_reply **out) {
    *out = NULL;
    const int64_t begin = blyi_now_ms();
    const int64_t end = most_ms < INT64_MAX - begin ? begin + most_ms : INT64_MAX;
    blyi_link_wake(l);
    bly_status status = blyi_link_append(l, args, n, why);
    while (status == BLY_OK && !*out) {
        status = wait_for(l, end, why);
        if (status == BLY_OK)
            status = blyi_link_take(l, why, out);
    }
    return status;
}
