/* link_dial.h - sockets on their way to a server. Internal. */
#ifndef BLYI_REDIS_LINK_DIAL_H
#define BLYI_REDIS_LINK_DIAL_H

#include "redis/client/connection.h"

struct addrinfo;

/* A name may have several addresses. They are tried one after the other, those of IPv4 first. */
typedef struct blyi_dial {
    const blyi_place *place;
    struct addrinfo *all, *next; /* of a host */
    unsigned pass;               /* 0: IPv4 */
    bool tried;                  /* of a socket: there is just one */
} blyi_dial;

/* Looks the name up, which may take a while. BLY_EIO, BLY_ENOMEM. */
bly_status blyi_dial_open(const blyi_place *place, bly_redis_reason *why, blyi_dial *out);
void blyi_dial_close(blyi_dial *d); /* may be done twice */

/* A socket that does not block, on its way to the next address: when poll() says that it can be
 * written, it has arrived or failed (blyi_dial_arrived). -1: there are no more; errno says why the
 * last one failed, as it was before if there was none left to try. */
int blyi_dial_next(blyi_dial *d);
/* false: it has failed, and errno says why. */
bool blyi_dial_arrived(int fd);

#endif
