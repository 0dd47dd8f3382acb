/* slot_map.h - the known nodes, and which of them owns which slot. Internal. */
#ifndef BLYI_REDIS_CLUSTER_SLOT_MAP_H
#define BLYI_REDIS_CLUSTER_SLOT_MAP_H

#include "redis/bitmap/shard_keys.h"
#include "redis/client/connection.h"

enum { BLYI_MAX_NODES = 4096 };

struct blyi_task;

/* A node's part of the current round: its tasks, in order, and how far they are. */
typedef struct blyi_node_io {
    struct blyi_task *first, *last;
    struct blyi_task *unsent, *unanswered; /* the first of each; NULL: none */
    bool map_pending;      /* a reply to CLUSTER SLOTS is expected before all others */
    bool finished;         /* nothing more is expected */
    bool disconnect;       /* close the connection when finished */
    unsigned wait_replies; /* replies expected after those of the tasks; the last is WAIT's */
    int64_t wait_since;    /* when the last reply of the tasks arrived */
    int64_t wait_again_at; /* when to send WAIT again; 0: never */
} blyi_node_io;

typedef struct blyi_node {
    blyi_address address;
    blyi_conn *conn; /* NULL: not connected */
    bool failed;     /* the last attempt to use it failed */
    bool wanted;     /* keep it, even if it owns no slot */
    blyi_node_io io;
    bly_redis_reason why; /* its last error */
} blyi_node;

typedef struct blyi_slot_map {
    blyi_node **list; /* the first is the URL's address, and is never removed */
    size_t count;
    uint16_t owner[BLYI_CLUSTER_SLOTS]; /* index in the list; 0 also where no owner is known */
    bool cluster;                       /* the servers have reported that they are a cluster */
    bool stale;                         /* the owners are out of date */
} blyi_slot_map;

/* A map with the URL's address as its only node. BLY_ENOMEM: nothing to free. */
bly_status blyi_slot_map_init(const bly_redis_url *url, blyi_slot_map *out);
void blyi_slot_map_free(blyi_slot_map *map);

blyi_node *blyi_slot_map_owner(const blyi_slot_map *map, unsigned slot);

/* The node with that address, which is added if it is new. An empty host or "?" means the host of
 * `source`. BLY_ENOMEM, BLY_ETOOBIG (BLYI_MAX_NODES), BLY_ECORRUPT (not a host). */
bly_status blyi_slot_map_find_node(blyi_slot_map *map, const blyi_node *source, bly_bytes host,
                                   uint16_t port, blyi_node **out);

/* Records that another node owns the slot, and that the map is out of date. */
void blyi_slot_map_moved(blyi_slot_map *map, unsigned slot, const blyi_node *to);

/* Reads the reply of `source` to CLUSTER SLOTS. Nodes that own no slot any more, and are not
 * wanted, are closed and removed. BLY_ECORRUPT: not such a reply; BLY_ENOMEM, BLY_ETOOBIG. On
 * failure the owners do not change. */
bly_status blyi_slot_map_read(blyi_slot_map *map, const blyi_node *source,
                              const bly_redis_reply *slots);

/* CLUSTER SLOTS */
extern const bly_bytes blyi_cluster_slots_args[2];

/* Sends CLUSTER SLOTS to one node after the other, until one replies with a valid map or the time
 * `end` has come. Afterwards the next round can begin, with a new map or without. */
void blyi_slot_map_refresh(blyi_slot_map *map, const blyi_login *login, int64_t end);

#endif
