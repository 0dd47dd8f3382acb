/* One round: every work goes to the node that has its slot, and all nodes work at the same time. */
#include "redis/cluster/executor_internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static void assign(blyi_exchange *x) {
    for (size_t i = 0; i < x->nodes.count; i++) {
        x->nodes.list[i]->turn = (blyi_turn){.over = true};
        x->nodes.list[i]->wanted = false;
    }
    for (size_t i = 0; i < x->count; i++) {
        blyi_work *w = &x->works[i];
        if (w->done)
            continue;
        blyi_node *node = w->ask ? w->ask : blyi_nodes_owner(&x->nodes, w->slot);
        blyi_turn *t = &node->turn;
        w->at = node;
        w->next = NULL;
        w->begins = UINT64_MAX;
        w->asked = false;
        if (t->last)
            t->last->next = w;
        else
            *t = (blyi_turn){.first = w, .unsent = w, .unanswered = w};
        t->last = w;
    }
}

/* Of the poll arrays: one node may be added in the course of each step, but none has a turn then.
 */
static bly_status make_room(blyi_exchange *x) {
    const size_t n = x->nodes.count;
    if (n <= x->poll_room)
        return BLY_OK;
    struct pollfd *polls = realloc(x->polls, n * sizeof *polls);
    if (polls)
        x->polls = polls;
    blyi_node **polled = realloc(x->polled, n * sizeof *polled);
    if (polled)
        x->polled = polled;
    if (!polls || !polled)
        return BLY_ENOMEM;
    x->poll_room = n;
    return BLY_OK;
}

/* How long a node may still be silent, or pauses. One that waits for replicas has their time
 * besides. */
static int64_t patience(const blyi_exchange *x, const blyi_node *node, int64_t now) {
    const blyi_turn *t = &node->turn;
    if (t->again_at)
        return t->again_at > now ? t->again_at - now : 0;
    int64_t left = blyi_link_patience(node->link, t->closing ? now - x->options.replicas_ms : now);
    if (x->again) {
        const int64_t silence = blyi_link_silence(node->link, now);
        const int64_t least = silence < BLYI_LEAST_MS ? BLYI_LEAST_MS - silence : 0;
        const int64_t rest = x->end - now > least ? x->end - now : least;
        left = left < rest ? left : rest;
    }
    return left;
}

/* Whose turn is not over; *wait: how long all of them may be silent. */
static size_t gather(blyi_exchange *x, int64_t now, int *wait) {
    size_t n = 0;
    int64_t least = INT_MAX;
    for (size_t i = 0; i < x->nodes.count; i++) {
        blyi_node *node = x->nodes.list[i];
        if (node->turn.over)
            continue;
        const int64_t left = patience(x, node, now);
        least = left < least ? left : least;
        x->polls[n] =
            (struct pollfd){.fd = blyi_link_fd(node->link), .events = blyi_link_events(node->link)};
        x->polled[n++] = node;
    }
    *wait = (int)least;
    return n;
}

/* poll() has no memory for so many. */
static void give_up(blyi_exchange *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        blyi_say(&x->polled[i]->why, "out of memory");
        blyi_turn_broken(x, x->polled[i], BLY_ENOMEM);
    }
}

bly_status blyi_round(blyi_exchange *x) {
    int wait;
    assign(x);
    if (make_room(x))
        return BLY_ENOMEM;
    x->rounds++;
    const size_t nodes = x->nodes.count;
    for (size_t i = 0; i < nodes; i++)
        if (!x->nodes.list[i]->turn.over)
            blyi_turn_begin(x, x->nodes.list[i]);
    for (size_t n; (n = gather(x, blyi_now_ms(), &wait)) > 0;) {
        const int found = poll(x->polls, (nfds_t)n, wait);
        if (found < 0 && errno != EINTR && errno != EAGAIN)
            give_up(x, n);
        const int64_t now = blyi_now_ms();
        for (size_t i = 0; i < n; i++) {
            const short events = found > 0 ? x->polls[i].revents : 0;
            if (events)
                blyi_turn_step(x, x->polled[i], events);
            else if (!x->polled[i]->turn.over && patience(x, x->polled[i], now) == 0)
                blyi_turn_late(x, x->polled[i]);
        }
    }
    return BLY_OK;
}
