/* link.h - one connection to one node. Internal, like all that speaks to hiredis.
 *
 * Nothing here waits, but for the name service, and the two functions at the end. Whoever has
 * several links polls them all, and lets each take the steps it can. A link that has failed can
 * only be closed.
 */
#ifndef BLYI_REDIS_LINK_H
#define BLYI_REDIS_LINK_H

#include "redis/client/tls.h"

#include <bloomery/redis_bitmap.h>
#include <signal.h>

/* As printf. What a server has said may be in it: whatever would not be seen becomes a space. */
void blyi_say(bly_redis_reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

bly_status blyi_no_memory(bly_redis_reason *why); /* says so; BLY_ENOMEM */

int64_t blyi_now_ms(void); /* of a clock that is never set */

/* ---- SIGPIPE --------------------------------------------------------------------------------- */

/* hiredis writes to a socket whose other end may have gone away, and for that the system sends
 * SIGPIPE, of which a program dies that has not been told otherwise. A library must not change that
 * for the whole program, so the signal is held back in this thread while links work, and one that
 * came of it is taken off before it is let through again: only if a link has failed, since
 * otherwise it is not ours. errno is as before. */
typedef struct blyi_pipe_guard {
    sigset_t pipe, before;
    bool pending; /* one was waiting already, and is not ours to take */
} blyi_pipe_guard;

blyi_pipe_guard blyi_hold_pipe(void);
void blyi_release_pipe(const blyi_pipe_guard *g);
void blyi_expect_pipe(void); /* a link has failed, perhaps in writing */

/* ---- what all links of a client have in common ------------------------------------------------
 */

typedef struct blyi_login {
    char *user, *password; /* NULL: none */
    uint32_t database;
    uint32_t connect_ms; /* until the server has let us in */
    uint32_t command_ms; /* of silence, when an answer is due */
    blyi_tls *tls;       /* NULL: without */
    bool ask_role;       /* links ask whether they have reached a replica */
} blyi_login;

/* On failure `out` is empty. BLY_EUNSUPPORTED (no TLS), BLY_EINVAL (its files), BLY_ENOMEM. */
bly_status blyi_login_make(const bly_redis_url *url, uint32_t connect_ms, uint32_t command_ms,
                           bly_redis_reason *why, blyi_login *out);
void blyi_login_free(blyi_login *login);

/* ---- the link -------------------------------------------------------------------------------- */

typedef struct blyi_place {
    char *host, *socket; /* one of them is NULL */
    uint16_t port;
    char *name; /* "HOST:PORT", or the path */
} blyi_place;

/* `host` is of so many bytes. BLY_ENOMEM. */
bly_status blyi_place_host(const char *host, size_t length, uint16_t port, blyi_place *out);
bly_status blyi_place_socket(const char *path, blyi_place *out);
void blyi_place_free(blyi_place *place);

typedef struct blyi_link blyi_link;

/* Begins to connect. Both are kept, and must outlive the link. BLY_EIO, BLY_ENOMEM; `why` (never
 * NULL) is then filled in, here and below. */
bly_status blyi_link_open(const blyi_login *login, const blyi_place *place, bly_redis_reason *why,
                          blyi_link **out);
void blyi_link_close(blyi_link *l); /* NULL does nothing; errno is as before */

int blyi_link_fd(const blyi_link *l);
short blyi_link_events(const blyi_link *l); /* for poll() */
/* What is left, in ms, of the time that the server has for its next sign of life; 0: it is over.
 * Once the link is ready, that counts from the last step that moved a byte. */
int64_t blyi_link_patience(const blyi_link *l, int64_t now);
int64_t blyi_link_silence(const blyi_link *l, int64_t now); /* in ms */
/* Nothing was due, but something will be: the server's time begins now. */
void blyi_link_wake(blyi_link *l);

/* Does what can be done at once, given what poll() says of it. BLY_EIO: broken (errno EPROTO: what
 * came is no answer). BLY_EINVAL: the server refused password or database. BLY_ENOMEM. */
bly_status blyi_link_step(blyi_link *l, short events, bly_redis_reason *why);
/* Failed, because its time is over. */
bly_status blyi_link_late(const blyi_link *l, bly_redis_reason *why);

/* The server has let us in: commands may be appended. */
bool blyi_link_ready(const blyi_link *l);
/* They are sent by steps. BLY_ENOMEM. */
bly_status blyi_link_append(blyi_link *l, const bly_bytes *args, size_t n, bly_redis_reason *why);
/* The next answer that has come; NULL: none. As steps; of an answer that has no end, or more parts
 * than anybody asks for, BLY_EIO with EPROTO. */
bly_status blyi_link_take(blyi_link *l, bly_redis_reason *why, bly_redis_reply **out);

/* What it said of itself when we came, once an answer has been taken: NULL, if it is no replica, or
 * does not tell; otherwise its master as "HOST:PORT", or "". */
const char *blyi_link_master(const blyi_link *l);
/* It was asked, and has not answered. */
bool blyi_link_role_due(const blyi_link *l);

/* Bytes appended so far, and those of them that have been given to the system: none, if the server
 * turned us away at the door. */
uint64_t blyi_link_appended(const blyi_link *l);
uint64_t blyi_link_written(const blyi_link *l);

/* ---- waiting for one link ---------------------------------------------------------------------
 */

/* Until it is ready, but no longer than `most_ms`. As steps. */
bly_status blyi_link_connect(blyi_link *l, int64_t most_ms, bly_redis_reason *why);
/* One command and its answer, down to its last byte, in no more than `most_ms`; nothing else may be
 * under way. */
bly_status blyi_link_command(blyi_link *l, const bly_bytes *args, size_t n, int64_t most_ms,
                             bly_redis_reason *why, bly_redis_reply **out);

#endif
