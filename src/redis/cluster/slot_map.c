/* The servers that an exchange knows, and which of them has which slot.
 *
 * CLUSTER SLOTS is an array of ranges, each an array
 *
 *     first slot, last slot, the master, replicas...
 *
 * of which a node is an array: its host (text; nil, empty or "?" where the server does not know,
 * and means the one that was asked), its port, and more that is of no use here. The answer is
 * looked through before anything is changed. Ranges whose master has no port are of slots that
 * nobody serves.
 */
#include "redis/cluster/slot_map.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HOST = 255 };

bly_status blyi_nodes_make(const bly_redis_url *url, blyi_nodes *out) {
    *out = (blyi_nodes){.list = calloc(1, sizeof *out->list)};
    blyi_node *first = calloc(1, sizeof *first);
    bly_status status = out->list && first ? BLY_OK : BLY_ENOMEM;
    if (status == BLY_OK)
        status = url->socket
                     ? blyi_place_socket(url->socket, &first->place)
                     : blyi_place_host(url->host, strlen(url->host), url->port, &first->place);
    if (status) {
        free(out->list);
        free(first);
        *out = (blyi_nodes){0};
        return status;
    }
    out->list[out->count++] = first;
    return BLY_OK;
}

static void free_node(blyi_node *node) {
    blyi_link_close(node->link);
    blyi_place_free(&node->place);
    free(node);
}

void blyi_nodes_free(blyi_nodes *n) {
    for (size_t i = 0; i < n->count; i++)
        free_node(n->list[i]);
    free(n->list);
    *n = (blyi_nodes){0};
}

blyi_node *blyi_nodes_owner(const blyi_nodes *n, unsigned slot) {
    return n->list[n->owner[slot % BLYI_SLOTS]];
}

/* ---- nodes by address ------------------------------------------------------------------------ */

static bool is_at(const blyi_node *node, bly_bytes host, uint16_t port) {
    return node->place.host && node->place.port == port && strlen(node->place.host) == host.size &&
           memcmp(node->place.host, host.data, host.size) == 0;
}

static bly_status add(blyi_nodes *n, bly_bytes host, uint16_t port, blyi_node **out) {
    if (n->count >= BLYI_MOST_NODES)
        return BLY_ETOOBIG;
    blyi_node **list = realloc(n->list, (n->count + 1) * sizeof *list);
    if (!list)
        return BLY_ENOMEM;
    n->list = list;
    blyi_node *node = calloc(1, sizeof *node);
    if (!node || blyi_place_host(host.data, host.size, port, &node->place)) {
        free(node);
        return BLY_ENOMEM;
    }
    node->turn.over = true;
    list[n->count++] = node;
    *out = node;
    return BLY_OK;
}

/* Where a server knows no host, it is its own; of a socket, this machine. */
static bly_bytes host_or_own(const blyi_node *asked, bly_bytes host) {
    const bool unknown = host.size == 0 || (host.size == 1 && *(const char *)host.data == '?');
    if (!unknown)
        return host;
    const char *own = asked->place.host ? asked->place.host : "127.0.0.1";
    return (bly_bytes){own, strlen(own)};
}

bly_status blyi_nodes_find(blyi_nodes *n, const blyi_node *asked, bly_bytes host, uint16_t port,
                           blyi_node **out) {
    *out = NULL;
    host = host_or_own(asked, host);
    if (port == 0 || host.size > MOST_HOST || memchr(host.data, '\0', host.size))
        return BLY_ECORRUPT;
    for (size_t i = 0; i < n->count && !*out; i++)
        if (is_at(n->list[i], host, port))
            *out = n->list[i];
    return *out ? BLY_OK : add(n, host, port, out);
}

static uint16_t index_of(const blyi_nodes *n, const blyi_node *node) {
    size_t i = 0;
    while (n->list[i] != node)
        i++;
    return (uint16_t)i;
}

void blyi_nodes_moved(blyi_nodes *n, unsigned slot, const blyi_node *to) {
    n->owner[slot % BLYI_SLOTS] = index_of(n, to);
    n->cluster = n->stale = true;
}

/* ---- the map --------------------------------------------------------------------------------- */

typedef struct range {
    int64_t first, last;
    bly_bytes host;
    int64_t port; /* 0: served by nobody */
} range;

/* false: it is none. */
static bool read_range(const bly_redis_reply *reply, range *out) {
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
    *out = (range){.first = bly_redis_reply_integer(first),
                   .last = bly_redis_reply_integer(last),
                   .host = bly_redis_reply_text(host),
                   .port = bly_redis_reply_integer(port)};
    return (type == BLY_REDIS_TEXT || type == BLY_REDIS_NIL) &&
           bly_redis_reply_type(port) == BLY_REDIS_INTEGER && out->port >= 0 &&
           out->port <= 65535 && out->first >= 0 && out->first <= out->last &&
           out->last < BLYI_SLOTS && out->host.size <= MOST_HOST &&
           !memchr(out->host.data, '\0', out->host.size);
}

static bool read_all(const bly_redis_reply *slots) {
    const size_t count = bly_redis_reply_count(slots);
    range r;
    if (bly_redis_reply_type(slots) != BLY_REDIS_ARRAY || count > BLYI_SLOTS)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_range(bly_redis_reply_at(slots, i), &r))
            return false;
    return true;
}

/* Drops the nodes that nobody needs, and closes the gaps. */
static void sweep(blyi_nodes *n) {
    uint16_t to[BLYI_MOST_NODES];
    bool needed[BLYI_MOST_NODES] = {true};
    size_t kept = 0;
    for (size_t slot = 0; slot < BLYI_SLOTS; slot++)
        needed[n->owner[slot]] = true;
    for (size_t i = 0; i < n->count; i++) {
        to[i] = (uint16_t)kept;
        if (needed[i] || n->list[i]->wanted)
            n->list[kept++] = n->list[i];
        else
            free_node(n->list[i]);
    }
    n->count = kept;
    for (size_t slot = 0; slot < BLYI_SLOTS; slot++)
        n->owner[slot] = to[n->owner[slot]];
}

bly_status blyi_nodes_read(blyi_nodes *n, const blyi_node *asked, const bly_redis_reply *slots) {
    if (!read_all(slots))
        return BLY_ECORRUPT;
    uint16_t *owner = calloc(BLYI_SLOTS, sizeof *owner);
    bly_status status = owner ? BLY_OK : BLY_ENOMEM;
    const size_t count = bly_redis_reply_count(slots);
    for (size_t i = 0; i < count && status == BLY_OK; i++) {
        range r = {0};
        blyi_node *master = NULL;
        (void)read_range(bly_redis_reply_at(slots, i), &r);
        if (r.port == 0)
            continue;
        status = blyi_nodes_find(n, asked, r.host, (uint16_t)r.port, &master);
        if (status)
            break;
        const uint16_t index = index_of(n, master);
        for (int64_t slot = r.first; slot <= r.last; slot++)
            owner[slot] = index;
    }
    if (status == BLY_OK) {
        memcpy(n->owner, owner, sizeof n->owner);
        n->cluster = true;
        n->stale = false;
        sweep(n);
    }
    free(owner);
    return status;
}
