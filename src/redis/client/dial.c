/* Sockets on their way to a server. */
#include "redis/client/net.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bly_status blyi_dial_open(const blyi_place *place, bly_redis_reason *why, blyi_dial *out) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char port[8];
    *out = (blyi_dial){.place = place};
    if (place->socket)
        return BLY_OK;
    (void)snprintf(port, sizeof port, "%u", (unsigned)place->port);
    const int error = getaddrinfo(place->host, port, &hints, &out->all);
    out->next = out->all;
    if (!error)
        return BLY_OK;
    out->all = out->next = NULL;
    if (error == EAI_MEMORY) {
        blyi_say(why, "out of memory");
        return BLY_ENOMEM;
    }
    blyi_say(why, "connecting to %s: %s", place->name, gai_strerror(error));
    if (error != EAI_SYSTEM)
        errno = EHOSTUNREACH;
    return BLY_EIO;
}

void blyi_dial_close(blyi_dial *d) {
    if (d->all)
        freeaddrinfo(d->all);
    d->all = d->next = NULL;
}

/* On its way, or -1. */
static int depart(int family, const struct sockaddr *address, socklen_t length) {
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

static int depart_for_path(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = strlen(path);
    if (length >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, length + 1);
    return depart(AF_UNIX, (const struct sockaddr *)&address, sizeof address);
}

/* The next address of a host. */
static const struct addrinfo *following(blyi_dial *d) {
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
    if (d->place->socket && !d->tried) {
        d->tried = true;
        return depart_for_path(d->place->socket);
    }
    while (fd < 0 && (a = following(d)) != NULL)
        fd = depart(a->ai_family, a->ai_addr, a->ai_addrlen);
    return fd;
}

bool blyi_dial_arrived(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
        return false;
    errno = error;
    return error == 0;
}
