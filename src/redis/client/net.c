/* What a connection needs besides hiredis: error reasons, a clock, a guard against SIGPIPE,
 * addresses of servers, and sockets that connect without blocking. */
#include "redis/client/net.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

bly_status blyi_no_memory(bly_redis_reason *why) {
    blyi_reason_set(why, "out of memory");
    return BLY_ENOMEM;
}

int64_t blyi_now_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void blyi_reason_set(bly_redis_reason *why, const char *format, ...) {
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

static _Thread_local bool sigpipe_possible; /* true: a connection has failed since the block */

blyi_sigpipe_guard blyi_sigpipe_block(void) {
    blyi_sigpipe_guard g;
    sigset_t waiting;
    sigpipe_possible = false;
    (void)sigemptyset(&g.pipe);
    (void)sigaddset(&g.pipe, SIGPIPE);
    (void)sigemptyset(&waiting);
    (void)sigpending(&waiting);
    g.pending = sigismember(&waiting, SIGPIPE) == 1;
    (void)pthread_sigmask(SIG_BLOCK, &g.pipe, &g.before);
    return g;
}

void blyi_sigpipe_expect(void) {
    sigpipe_possible = true;
}

/* Discards a pending SIGPIPE, but must not wait for one: a signal that was sent to the whole
 * process also appears pending here, and another thread may accept it first. */
static void sigpipe_discard(const sigset_t *pipe) {
#if defined(_POSIX_REALTIME_SIGNALS) && _POSIX_REALTIME_SIGNALS > 0
    const struct timespec at_once = {0};
    while (sigtimedwait(pipe, NULL, &at_once) < 0 && errno == EINTR)
        continue;
#elif !defined(SO_NOSIGPIPE) /* if it is defined, our sockets raise no SIGPIPE */
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

void blyi_sigpipe_restore(const blyi_sigpipe_guard *g) {
    const int saved = errno;
    if (sigpipe_possible && !g->pending)
        sigpipe_discard(&g->pipe);
    (void)pthread_sigmask(SIG_SETMASK, &g->before, NULL);
    errno = saved;
}

/* ---- addresses ------------------------------------------------------------------------------- */

bly_status blyi_address_host(const char *host, size_t length, uint16_t port, blyi_address *out) {
    const size_t room = length + sizeof "[]:65535";
    *out = (blyi_address){.host = strndup(host, length), .port = port, .name = malloc(room)};
    if (!out->host || !out->name) {
        blyi_address_free(out);
        return BLY_ENOMEM;
    }
    (void)snprintf(out->name, room, strchr(out->host, ':') ? "[%s]:%u" : "%s:%u", out->host,
                   (unsigned)port);
    return BLY_OK;
}

bly_status blyi_address_socket(const char *path, blyi_address *out) {
    *out = (blyi_address){.socket = strdup(path), .name = strdup(path)};
    if (out->socket && out->name)
        return BLY_OK;
    blyi_address_free(out);
    return BLY_ENOMEM;
}

void blyi_address_free(blyi_address *address) {
    free(address->host);
    free(address->socket);
    free(address->name);
    *address = (blyi_address){0};
}

/* ---- sockets --------------------------------------------------------------------------------- */

bly_status blyi_dial_open(const blyi_address *address, bly_redis_reason *why, blyi_dial *out) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char port[8];
    *out = (blyi_dial){.address = address};
    if (address->socket)
        return BLY_OK;
    (void)snprintf(port, sizeof port, "%u", (unsigned)address->port);
    const int error = getaddrinfo(address->host, port, &hints, &out->all);
    out->next = out->all;
    if (!error)
        return BLY_OK;
    out->all = out->next = NULL;
    if (error == EAI_MEMORY)
        return blyi_no_memory(why);
    blyi_reason_set(why, "connecting to %s: %s", address->name, gai_strerror(error));
    if (error != EAI_SYSTEM)
        errno = EHOSTUNREACH;
    return BLY_EIO;
}

void blyi_dial_close(blyi_dial *d) {
    if (d->all)
        freeaddrinfo(d->all);
    d->all = d->next = NULL;
}

/* Returns a non-blocking socket that is connecting or connected, or -1. */
static int dial_start(int family, const struct sockaddr *address, socklen_t length) {
    const int on = 1;
    const int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0)
        return -1;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
#ifdef SO_NOSIGPIPE
    (void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    if (family != AF_UNIX)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        (connect(fd, address, length) == 0 || errno == EINPROGRESS || errno == EINTR))
        return fd;
    const int saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

static int dial_start_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = strlen(path);
    if (length >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, length + 1);
    return dial_start(AF_UNIX, (const struct sockaddr *)&address, sizeof address);
}

/* Returns the next address of a host, or NULL: in the first pass IPv4 addresses, in the second all
 * others. */
static const struct addrinfo *dial_next_address(blyi_dial *d) {
    const struct addrinfo *found = NULL;
    while (!found && d->all && d->pass < 2) {
        if (d->next && (d->next->ai_family == AF_INET) == (d->pass == 0))
            found = d->next;
        d->next = d->next ? d->next->ai_next : NULL;
        if (!d->next && !found) {
            d->next = d->all;
            d->pass++;
        }
    }
    return found;
}

int blyi_dial_next(blyi_dial *d) {
    int fd = -1;
    const struct addrinfo *a;
    if (d->address->socket && !d->tried) {
        d->tried = true;
        return dial_start_unix(d->address->socket);
    }
    while (fd < 0 && (a = dial_next_address(d)) != NULL)
        fd = dial_start(a->ai_family, a->ai_addr, a->ai_addrlen);
    return fd;
}

bool blyi_dial_connected(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
        return false;
    errno = error;
    return error == 0;
}
