/* Asking for the slots anew, when a node is away or has said that they have moved.
 *
 * Those that can be asked without connecting come first, those that failed last, and the url's own
 * address after all others: it is the one that may have been only a way in. */
#include "redis/cluster/executor_internal.h"

#include <stdlib.h>

const bly_bytes blyi_ask_slots[2] = {{"CLUSTER", 7}, {"SLOTS", 5}};

enum { MOST_MS = 1000 }; /* for one node: another may answer sooner */

/* What a node is worth as a source: the least first. */
static unsigned rank(const blyi_exchange *x, const blyi_node *node) {
    return (node->failed ? 4u : 0u) + (node == x->nodes.list[0] ? 2u : 0u) + (node->link ? 0u : 1u);
}

static bly_status ask(blyi_exchange *x, blyi_node *node, bly_redis_reply **out) {
    bly_status status = BLY_OK;
    *out = NULL;
    if (!node->link)
        status = blyi_link_open(&x->login, &node->place, &node->why, &node->link);
    if (status == BLY_OK)
        status = blyi_link_connect(node->link, MOST_MS, &node->why);
    if (status == BLY_OK)
        status = blyi_link_command(node->link, blyi_ask_slots, 2, MOST_MS, &node->why, out);
    node->failed = status != BLY_OK;
    if (status) {
        blyi_link_close(node->link);
        node->link = NULL;
    }
    return status;
}

/* Whether that settles it. */
static bool try_node(blyi_exchange *x, blyi_node *node) {
    bly_redis_reply *reply;
    if (ask(x, node, &reply))
        return false;
    const bool read = blyi_nodes_read(&x->nodes, node, reply) == BLY_OK;
    bly_redis_reply_free(reply);
    return read;
}

void blyi_map_refresh(blyi_exchange *x) {
    enum { RANKS = 8 };
    x->rounds++;
    for (unsigned r = 0; r < RANKS; r++) {
        for (size_t i = 0; i < x->nodes.count; i++) {
            blyi_node *node = x->nodes.list[i];
            if (rank(x, node) == r && blyi_now_ms() < x->end && try_node(x, node))
                return;
        }
    }
}
