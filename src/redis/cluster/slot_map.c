/* The known nodes, and which of them owns which slot of a cluster.
 *
 * The reply to CLUSTER SLOTS is an array of ranges, each an array
 *
 *     first slot, last slot, the master, replicas...
 *
 * in which a node is an array: its host (text; nil, empty or "?" mean the host that CLUSTER SLOTS
 * was sent to), its port, and more that is not used here. The whole reply is checked before
 * anything is changed. If the master of a range has port 0, its slots have no owner.
 */
#include "redis/cluster/slot_map.h"

#include <stdlib.h>
#include <string.h>

enum { SLOT_MAP_MAX_HOST = 255 };

bly_status blyi_slot_map_init(const bly_redis_url *url, blyi_slot_map *out) {
    *out = (blyi_slot_map){.list = calloc(1, sizeof *out->list)};
    blyi_node *first = calloc(1, sizeof *first);
    bly_status status = out->list && first ? BLY_OK : BLY_ENOMEM;
    if (status == BLY_OK)
        status = url->socket
                     ? blyi_address_socket(url->socket, &first->address)
                     : blyi_address_host(url->host, strlen(url->host), url->port, &first->address);
    if (status) {
        free(out->list);
        free(first);
        *out = (blyi_slot_map){0};
        return status;
    }
    out->list[out->count++] = first;
    return BLY_OK;
}

static void slot_map_free_node(blyi_node *node) {
    blyi_conn_close(node->conn);
    blyi_address_free(&node->address);
    free(node);
}

void blyi_slot_map_free(blyi_slot_map *map) {
    for (size_t i = 0; i < map->count; i++)
        slot_map_free_node(map->list[i]);
    free(map->list);
    *map = (blyi_slot_map){0};
}

blyi_node *blyi_slot_map_owner(const blyi_slot_map *map, unsigned slot) {
    return map->list[map->owner[slot % BLYI_CLUSTER_SLOTS]];
}

/* ---- nodes by address ------------------------------------------------------------------------ */

static bool slot_map_is_at(const blyi_node *node, bly_bytes host, uint16_t port) {
    return node->address.host && node->address.port == port &&
           strlen(node->address.host) == host.size &&
           memcmp(node->address.host, host.data, host.size) == 0;
}

static bly_status slot_map_add(blyi_slot_map *map, bly_bytes host, uint16_t port, blyi_node **out) {
    if (map->count >= BLYI_MAX_NODES)
        return BLY_ETOOBIG;
    blyi_node **list = realloc(map->list, (map->count + 1) * sizeof *list);
    if (!list)
        return BLY_ENOMEM;
    map->list = list;
    blyi_node *node = calloc(1, sizeof *node);
    if (!node || blyi_address_host(host.data, host.size, port, &node->address)) {
        free(node);
        return BLY_ENOMEM;
    }
    node->io.finished = true;
    list[map->count++] = node;
    *out = node;
    return BLY_OK;
}

/* Returns the host of a node. If `source`, the server that reported it, does not know it, returns
 * the host of `source`, which is this machine for a Unix socket. */
static bly_bytes slot_map_host(const blyi_node *source, bly_bytes host) {
    const bool unknown = host.size == 0 || (host.size == 1 && *(const char *)host.data == '?');
    if (!unknown)
        return host;
    const char *own = source->address.host ? source->address.host : "127.0.0.1";
    return (bly_bytes){own, strlen(own)};
}

bly_status blyi_slot_map_find_node(blyi_slot_map *map, const blyi_node *source, bly_bytes host,
                                   uint16_t port, blyi_node **out) {
    *out = NULL;
    host = slot_map_host(source, host);
    if (port == 0 || host.size > SLOT_MAP_MAX_HOST || memchr(host.data, '\0', host.size))
        return BLY_ECORRUPT;
    for (size_t i = 0; i < map->count && !*out; i++)
        if (slot_map_is_at(map->list[i], host, port))
            *out = map->list[i];
    return *out ? BLY_OK : slot_map_add(map, host, port, out);
}

static uint16_t slot_map_index(const blyi_slot_map *map, const blyi_node *node) {
    size_t i = 0;
    while (map->list[i] != node)
        i++;
    return (uint16_t)i;
}

void blyi_slot_map_moved(blyi_slot_map *map, unsigned slot, const blyi_node *to) {
    map->owner[slot % BLYI_CLUSTER_SLOTS] = slot_map_index(map, to);
    map->cluster = map->stale = true;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct slot_range {
    int64_t first, last;
    bly_bytes host;
    int64_t port; /* 0: no owner */
} slot_range;

/* Reads one range. Returns false if it is not valid. */
static bool slot_map_read_range(const bly_redis_reply *reply, slot_range *out) {
    if (!reply || bly_redis_reply_count(reply) < 3)
        return false;
    const bly_redis_reply *first = bly_redis_reply_at(reply, 0),
                          *last = bly_redis_reply_at(reply, 1),
                          *master = bly_redis_reply_at(reply, 2);
    if (bly_redis_reply_type(first) != BLY_REDIS_INTEGER ||
        bly_redis_reply_type(last) != BLY_REDIS_INTEGER || bly_redis_reply_count(master) < 2)
        return false;
    const bly_redis_reply *host = bly_redis_reply_at(master, 0),
                          *port = bly_redis_reply_at(master, 1);
    const bly_redis_type type = bly_redis_reply_type(host);
    *out = (slot_range){.first = bly_redis_reply_integer(first),
                        .last = bly_redis_reply_integer(last),
                        .host = bly_redis_reply_text(host),
                        .port = bly_redis_reply_integer(port)};
    return (type == BLY_REDIS_TEXT || type == BLY_REDIS_NIL) &&
           bly_redis_reply_type(port) == BLY_REDIS_INTEGER && out->port >= 0 &&
           out->port <= 65535 && out->first >= 0 && out->first <= out->last &&
           out->last < BLYI_CLUSTER_SLOTS && out->host.size <= SLOT_MAP_MAX_HOST &&
           !memchr(out->host.data, '\0', out->host.size);
}

static bool slot_map_check(const bly_redis_reply *slots) {
    const size_t count = bly_redis_reply_count(slots);
    slot_range r;
    if (bly_redis_reply_type(slots) != BLY_REDIS_ARRAY || count > BLYI_CLUSTER_SLOTS)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!slot_map_read_range(bly_redis_reply_at(slots, i), &r))
            return false;
    return true;
}

/* Removes the nodes that own no slot and are not wanted (except the first), and renumbers the
 * others. */
static void slot_map_sweep(blyi_slot_map *map) {
    uint16_t to[BLYI_MAX_NODES];
    bool needed[BLYI_MAX_NODES] = {true};
    size_t kept = 0;
    for (size_t slot = 0; slot < BLYI_CLUSTER_SLOTS; slot++)
        needed[map->owner[slot]] = true;
    for (size_t i = 0; i < map->count; i++) {
        to[i] = (uint16_t)kept;
        if (needed[i] || map->list[i]->wanted)
            map->list[kept++] = map->list[i];
        else
            slot_map_free_node(map->list[i]);
    }
    map->count = kept;
    for (size_t slot = 0; slot < BLYI_CLUSTER_SLOTS; slot++)
        map->owner[slot] = to[map->owner[slot]];
}

bly_status blyi_slot_map_read(blyi_slot_map *map, const blyi_node *source,
                              const bly_redis_reply *slots) {
    if (!slot_map_check(slots))
        return BLY_ECORRUPT;
    uint16_t *owner = calloc(BLYI_CLUSTER_SLOTS, sizeof *owner);
    bly_status status = owner ? BLY_OK : BLY_ENOMEM;
    const size_t count = bly_redis_reply_count(slots);
    for (size_t i = 0; i < count && status == BLY_OK; i++) {
        slot_range r = {0};
        blyi_node *master = NULL;
        (void)slot_map_read_range(bly_redis_reply_at(slots, i), &r);
        if (r.port == 0)
            continue;
        status = blyi_slot_map_find_node(map, source, r.host, (uint16_t)r.port, &master);
        if (status)
            break;
        const uint16_t index = slot_map_index(map, master);
        for (int64_t slot = r.first; slot <= r.last; slot++)
            owner[slot] = index;
    }
    if (status == BLY_OK) {
        memcpy(map->owner, owner, sizeof map->owner);
        map->cluster = true;
        map->stale = false;
        slot_map_sweep(map);
    }
    free(owner);
    return status;
}

/* ---- refreshing ------------------------------------------------------------------------------ */

const bly_bytes blyi_cluster_slots_args[2] = {{"CLUSTER", 7}, {"SLOTS", 5}};

enum { SLOT_MAP_MAX_MS = 1000 }; /* time limit for one node, because another may reply sooner */

/* Returns the rank of a node. Nodes are queried in ascending order of rank: first those that did
 * not fail; among these the URL's address last, because it may have been only an entry point; and
 * otherwise connected nodes before others. */
static unsigned slot_map_rank(const blyi_slot_map *map, const blyi_node *node) {
    return (node->failed ? 4u : 0u) + (node == map->list[0] ? 2u : 0u) + (node->conn ? 0u : 1u);
}

static bly_status slot_map_query(const blyi_login *login, blyi_node *node, bly_redis_reply **out) {
    bly_status status = BLY_OK;
    *out = NULL;
    if (!node->conn)
        status = blyi_conn_open(login, &node->address, &node->why, &node->conn);
    if (status == BLY_OK)
        status = blyi_conn_connect(node->conn, SLOT_MAP_MAX_MS, &node->why);
    if (status == BLY_OK)
        status = blyi_conn_command(node->conn, blyi_cluster_slots_args, 2, SLOT_MAP_MAX_MS,
                                   &node->why, out);
    node->failed = status != BLY_OK;
    if (status) {
        blyi_conn_close(node->conn);
        node->conn = NULL;
    }
    return status;
}

/* Queries one node. Returns whether it replied with a valid map, which has then been read. */
static bool slot_map_try_node(blyi_slot_map *map, const blyi_login *login, blyi_node *node) {
    bly_redis_reply *reply;
    if (slot_map_query(login, node, &reply))
        return false;
    const bool read = blyi_slot_map_read(map, node, reply) == BLY_OK;
    bly_redis_reply_free(reply);
    return read;
}

void blyi_slot_map_refresh(blyi_slot_map *map, const blyi_login *login, int64_t end) {
    enum { RANKS = 8 };
    for (unsigned r = 0; r < RANKS; r++) {
        for (size_t i = 0; i < map->count; i++) {
            blyi_node *node = map->list[i];
            if (slot_map_rank(map, node) == r && blyi_now_ms() < end &&
                slot_map_try_node(map, login, node))
                return;
        }
    }
}
