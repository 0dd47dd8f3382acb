/* slot_map.h - the known nodes, and which of them owns which slot. Internal. */
#ifndef BLYI_REDIS_CLUSTER_SLOT_MAP_H
#define BLYI_REDIS_CLUSTER_SLOT_MAP_H

#include "redis/bitmap/shard_keys.h"
#include "redis/client/connection.h"

enum { BLYI_MAX_NODES = 4096 };

struct blyi_task;

/* A node's part of the current round: its tasks in order, and their progress. */
typedef struct blyi_node_io {
    struct blyi_task *first, *last;
    struct blyi_task *unsent, *unanswered; /* the first of each; NULL: none */
    bool map_pending;      /* the reply to CLUSTER SLOTS is expected before all others */
    bool finished;         /* the node's part of the round has ended */
    bool disconnect;       /* close the connection at the end of the round */
    unsigned wait_replies; /* replies expected after those of the tasks; the last one is to WAIT */
    int64_t wait_since;    /* when the last reply of the tasks arrived */
    int64_t wait_again_at; /* when to send WAIT again; 0: never */
} blyi_node_io;

typedef struct blyi_node {
    blyi_address address;
    blyi_conn *conn; /* NULL: not connected */
    bool failed;     /* the last attempt to use the node failed */
    bool wanted;     /* keep the node, even if it owns no slot */
    blyi_node_io io;
    bly_redis_reason why; /* the node's last error */
} blyi_node;

typedef struct blyi_slot_map {
    blyi_node **list; /* the first is the URL's address, and is never removed */
    size_t count;
    uint16_t owner[BLYI_CLUSTER_SLOTS]; /* index in the list; 0 also if no owner is known */
    bool cluster;                       /* the servers have reported that they are a cluster */
    bool stale;                         /* the owners are out of date */
} blyi_slot_map;

/* Initialises a map with the URL's address as its only node. Returns BLY_OK, or BLY_ENOMEM, after
 * which there is nothing to free. */
bly_status blyi_slot_map_init(const bly_redis_url *url, blyi_slot_map *out);
void blyi_slot_map_free(blyi_slot_map *map);

/* Returns the node that owns the slot, or the first node if no owner is known. */
blyi_node *blyi_slot_map_owner(const blyi_slot_map *map, unsigned slot);

/* Sets *out to the node with that address, which is added if it is new. An empty host or "?" means
 * the host of `source`. Returns BLY_OK; BLY_ENOMEM; BLY_ETOOBIG if there would be more than
 * BLYI_MAX_NODES nodes; BLY_ECORRUPT if it is not an address. */
bly_status blyi_slot_map_find_node(blyi_slot_map *map, const blyi_node *source, bly_bytes host,
                                   uint16_t port, blyi_node **out);

/* Records that another node owns the slot, and that the map is out of date. */
void blyi_slot_map_moved(blyi_slot_map *map, unsigned slot, const blyi_node *to);

/* Reads the reply of `source` to CLUSTER SLOTS. Nodes that own no slot any more, and are not
 * wanted, are closed and removed. Returns BLY_OK; BLY_ECORRUPT if it is not such a reply;
 * BLY_ENOMEM; BLY_ETOOBIG if there are too many nodes. On failure the owners do not change. */
bly_status blyi_slot_map_read(blyi_slot_map *map, const blyi_node *source,
                              const bly_redis_reply *slots);

/* The arguments of the command CLUSTER SLOTS. */
extern const bly_bytes blyi_cluster_slots_args[2];

/* Sends CLUSTER SLOTS to one node after the other, until one replies with a valid map or the time
 * `end` has come. If none does, the map stays as it is. */
void blyi_slot_map_refresh(blyi_slot_map *map, const blyi_login *login, int64_t end);

#endif
