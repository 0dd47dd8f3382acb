/* What links need and do not own: a clock, the signal that writing may raise, who we are, places.
 */
#include "redis/client/connection.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

bly_status blyi_no_memory(bly_redis_reason *why) {
    blyi_say(why, "out of memory");
    return BLY_ENOMEM;
}

int64_t blyi_now_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void blyi_say(bly_redis_reason *why, const char *format, ...) {
    const int saved = errno;
    va_list list;
    va_start(list, format);
    (void)vsnprintf(why->text, sizeof why->text, format, list);
    va_end(list);
    for (char *c = why->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    errno = saved;
}

/* ---- SIGPIPE --------------------------------------------------------------------------------- */

static _Thread_local bool may_be_raised; /* since it is held back */

blyi_pipe_guard blyi_hold_pipe(void) {
    blyi_pipe_guard g;
    sigset_t waiting;
    may_be_raised = false;
    (void)sigemptyset(&g.pipe);
    (void)sigaddset(&g.pipe, SIGPIPE);
    (void)sigemptyset(&waiting);
    (void)sigpending(&waiting);
    g.pending = sigismember(&waiting, SIGPIPE) == 1;
    (void)pthread_sigmask(SIG_BLOCK, &g.pipe, &g.before);
    return g;
}

void blyi_expect_pipe(void) {
    may_be_raised = true;
}

/* Takes the signal off, if it is there, and does not wait for it: one that was sent to the whole
 * process seems to be there, too, until another thread has taken it. */
static void take_off(const sigset_t *pipe) {
#if defined(_POSIX_REALTIME_SIGNALS) && _POSIX_REALTIME_SIGNALS > 0
    const struct timespec at_once = {0};
    while (sigtimedwait(pipe, NULL, &at_once) < 0 && errno == EINTR)
        continue;
#elif !defined(SO_NOSIGPIPE) /* where links raise none */
    sigset_t waiting;
    int number;
    (void)sigemptyset(&waiting);
    (void)sigpending(&waiting);
    if (sigismember(&waiting, SIGPIPE) == 1)
        (void)sigwait(pipe, &number);
#else
    (void)pipe;
#endif
}

void blyi_release_pipe(const blyi_pipe_guard *g) {
    const int saved = errno;
    if (may_be_raised && !g->pending)
        take_off(&g->pipe);
    (void)pthread_sigmask(SIG_SETMASK, &g->before, NULL);
    errno = saved;
}

/* ---- who we are ------------------------------------------------------------------------------ */

/* NULL stays NULL; false: no memory. */
static bool copy_text(const char *from, char **to) {
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

bly_status blyi_login_make(const bly_redis_url *url, uint32_t connect_ms, uint32_t command_ms,
                           bly_redis_reason *why, blyi_login *out) {
    bly_status status = BLY_OK;
    *out =
        (blyi_login){.database = url->database, .connect_ms = connect_ms, .command_ms = command_ms};
    if (!copy_text(url->user, &out->user) || !copy_text(url->password, &out->password)) {
        blyi_say(why, "out of memory");
        status = BLY_ENOMEM;
    }
    if (status == BLY_OK && url->tls)
        status = blyi_tls_make(url, why, &out->tls);
    if (status)
        blyi_login_free(out);
    return status;
}

void blyi_login_free(blyi_login *login) {
    free(login->user);
    free(login->password);
    blyi_tls_free(login->tls);
    *login = (blyi_login){0};
}

/* ---- places ---------------------------------------------------------------------------------- */

bly_status blyi_place_host(const char *host, size_t length, uint16_t port, blyi_place *out) {
    const size_t room = length + sizeof "[]:65535";
    *out = (blyi_place){.host = strndup(host, length), .port = port, .name = malloc(room)};
    if (!out->host || !out->name) {
        blyi_place_free(out);
        return BLY_ENOMEM;
    }
    (void)snprintf(out->name, room, strchr(out->host, ':') ? "[%s]:%u" : "%s:%u", out->host,
                   (unsigned)port);
    return BLY_OK;
}

bly_status blyi_place_socket(const char *path, blyi_place *out) {
    *out = (blyi_place){.socket = strdup(path), .name = strdup(path)};
    if (out->socket && out->name)
        return BLY_OK;
    blyi_place_free(out);
    return BLY_ENOMEM;
}

void blyi_place_free(blyi_place *place) {
    free(place->host);
    free(place->socket);
    free(place->name);
    *place = (blyi_place){0};
}
