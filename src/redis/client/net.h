/* net.h - what a connection needs besides hiredis: error reasons, a clock, a guard against SIGPIPE,
 * addresses of servers, non-blocking sockets. Internal. */
#ifndef BLYI_REDIS_CLIENT_NET_H
#define BLYI_REDIS_CLIENT_NET_H

#include <bloomery/redis/connection.h>
#include <signal.h>

/* Formats a reason as printf does. Control characters become spaces, because the arguments may
 * contain text from a server. Preserves errno. */
void blyi_reason_set(bly_redis_reason *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the reason "out of memory" and returns BLY_ENOMEM. */
bly_status blyi_no_memory(bly_redis_reason *why);

int64_t blyi_now_ms(void); /* monotonic clock */

/* ---- SIGPIPE --------------------------------------------------------------------------------- */

/* hiredis may write to a socket that the server has closed. The system then sends SIGPIPE, which by
 * default ends the program. A library must not change signal handling for the whole program. So
 * SIGPIPE is blocked in this thread while connections are used, and a SIGPIPE that a connection
 * caused is discarded before the mask is restored. It is discarded only if a connection has failed
 * (blyi_sigpipe_expect); otherwise it has another cause. These functions preserve errno. */
typedef struct blyi_sigpipe_guard {
    sigset_t pipe, before;
    bool pending; /* a SIGPIPE was pending before, and must stay */
} blyi_sigpipe_guard;

blyi_sigpipe_guard blyi_sigpipe_block(void);
void blyi_sigpipe_restore(const blyi_sigpipe_guard *g);
void blyi_sigpipe_expect(void); /* a connection has failed, possibly while writing */

/* ---- addresses ------------------------------------------------------------------------------- */

typedef struct blyi_address {
    char *host, *socket; /* one of them is NULL */
    uint16_t port;
    char *name; /* "HOST:PORT", or the path of the socket */
} blyi_address;

/* Both fill in *out, and return BLY_OK or BLY_ENOMEM. `host` has `length` bytes. */
bly_status blyi_address_host(const char *host, size_t length, uint16_t port, blyi_address *out);
bly_status blyi_address_socket(const char *path, blyi_address *out);
void blyi_address_free(blyi_address *address);

/* ---- sockets --------------------------------------------------------------------------------- */

struct addrinfo;

/* The network addresses of a server. They are tried in order, IPv4 addresses first. */
typedef struct blyi_dial {
    const blyi_address *address;
    struct addrinfo *all, *next; /* the addresses of a host; NULL for a Unix socket */
    unsigned pass;               /* 0: trying IPv4 addresses; 1: the others; 2: at the end */
    bool tried;                  /* whether the Unix socket was tried, which has only one address */
} blyi_dial;

/* Resolves the host's name, which may block. Returns BLY_OK, BLY_EIO or BLY_ENOMEM. */
bly_status blyi_dial_open(const blyi_address *address, bly_redis_reason *why, blyi_dial *out);
void blyi_dial_close(blyi_dial *d); /* may be called twice */

/* Returns a non-blocking socket that is connecting to the next address. When poll() reports that it
 * is writable, blyi_dial_connected says whether it is connected. Returns -1 if no address is left.
 * Then errno is the error of the last address tried in this call; it is unchanged if none was
 * tried. */
int blyi_dial_next(blyi_dial *d);
/* Returns whether the socket is connected. If not, sets errno to the reason. */
bool blyi_dial_connected(int fd);

#endif
