/* nodes.h - the servers that an exchange knows, and which of them has which slot. Internal. */
#ifndef BLYI_REDIS_NODES_H
#define BLYI_REDIS_NODES_H

#include "redis/client/connection.h"

enum { BLYI_SLOTS = 16384, BLYI_MOST_NODES = 4096 };

struct blyi_work;

/* A node's part of the round that is under way: what it is to do, in order. */
typedef struct blyi_turn {
    struct blyi_work *first, *last;
    struct blyi_work *unsent, *unanswered; /* the first of either; NULL: none */
    bool map;                              /* an answer to CLUSTER SLOTS comes before all others */
    bool over;                             /* nothing more is to come */
    bool drop;                             /* the link is to be closed then */
    unsigned closing;  /* answers that come after those of the work: the last is WAIT's */
    int64_t closed_at; /* when the last answer of the work came */
    int64_t again_at;  /* when WAIT is to be sent again; 0: it is not */
} blyi_turn;

typedef struct blyi_node {
    blyi_place place;
    blyi_link *link; /* NULL: none */
    bool failed;     /* the last attempt to use it */
    bool wanted;     /* stays, even if no slot is its own */
    blyi_turn turn;
    bly_redis_reason why; /* the last trouble with it */
} blyi_node;

typedef struct blyi_nodes {
    blyi_node **list; /* the first is the url's own address, and stays */
    size_t count;
    uint16_t owner[BLYI_SLOTS]; /* index in the list; 0: the url's own, since none other is known */
    bool cluster;               /* they have said so */
    bool stale;                 /* what is known of slots is out of date */
} blyi_nodes;

/* Just the url's own address. BLY_ENOMEM: nothing to free. */
bly_status blyi_nodes_make(const bly_redis_url *url, blyi_nodes *out);
void blyi_nodes_free(blyi_nodes *n);

blyi_node *blyi_nodes_owner(const blyi_nodes *n, unsigned slot);

/* The node of that address, added where it is new. An empty host or "?" is that of `asked`.
 * BLY_ENOMEM, BLY_ETOOBIG (BLYI_MOST_NODES), BLY_ECORRUPT (no host). */
bly_status blyi_nodes_find(blyi_nodes *n, const blyi_node *asked, bly_bytes host, uint16_t port,
                           blyi_node **out);

/* One slot is elsewhere: it is noted, and that the map is out of date. */
void blyi_nodes_moved(blyi_nodes *n, unsigned slot, const blyi_node *to);

/* What `asked` has answered to CLUSTER SLOTS. Nodes that have no slot any more, and are not wanted,
 * are dropped, and their links closed. BLY_ECORRUPT: it is no such answer; BLY_ENOMEM,
 * BLY_ETOOBIG: the map is as before. */
bly_status blyi_nodes_read(blyi_nodes *n, const blyi_node *asked, const bly_redis_reply *slots);

#endif
