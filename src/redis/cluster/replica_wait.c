/* The end of a turn: replicas.
 *
 * WAIT counts the replicas that have all that this connection has written. Servers take that
 * literally: a write that changed nothing, since another client, or an attempt of our own over
 * another connection, had done it before, is not written again, and replicas need not have it. So a
 * write that leaves a key as it is, but is passed on to replicas in any case, goes before WAIT:
 * everything that this turn was told is in the stream before it.
 *
 * A server that says at once that replicas are lacking is asked again, after a pause, until their
 * time is over.
 */
#include "redis/cluster/executor_internal.h"

#include "redis/bitmap/bitmap_layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_PAUSE_MS = 10, PAUSES = 10 }; /* at least, and in all the time that is left */

static const char mark[] =
    "if redis.call('EXISTS',KEYS[1])==1 then redis.call('APPEND',KEYS[1],'') "
    "end return 1";

static bly_status ask(const blyi_exchange *x, blyi_node *node, int64_t ms) {
    char replicas[24], limit[24];
    (void)snprintf(replicas, sizeof replicas, "%lu", (unsigned long)x->options.replicas);
    (void)snprintf(limit, sizeof limit, "%lld", (long long)ms);
    node->turn.closing++;
    return blyi_link_append(node->link,
                            (bly_bytes[]){blyi_word("WAIT"), blyi_word(replicas), blyi_word(limit)},
                            3, &node->why);
}

/* The last that replicas must confirm; NULL: none. */
static const blyi_work *waiting(const blyi_node *node) {
    const blyi_work *last = NULL;
    for (const blyi_work *w = node->turn.first; w; w = w->next)
        if (w->confirm)
            last = w;
    return last;
}

bly_status blyi_wait_begin(blyi_exchange *x, blyi_node *node, bool *begun) {
    const blyi_work *last = waiting(node);
    *begun = last;
    if (!last)
        return BLY_OK;
    const bly_bytes args[] = {blyi_word("EVAL"), blyi_word(mark), blyi_word("1"),
                              last->request->command->key};
    bly_status status = BLY_OK;
    node->turn.closed_at = blyi_now_ms();
    if (last->asked) {
        const bly_bytes asking = blyi_word("ASKING");
        node->turn.closing++;
        status = blyi_link_append(node->link, &asking, 1, &node->why);
    }
    if (status == BLY_OK) {
        node->turn.closing++;
        status = blyi_link_append(node->link, args, 4, &node->why);
    }
    return status ? status : ask(x, node, x->options.replicas_ms);
}

/* All that were waiting for replicas: done, or with that status. */
static void settle(blyi_exchange *x, blyi_node *node, bly_status status) {
    for (blyi_work *w = node->turn.first; w; w = w->next) {
        if (!w->confirm)
            continue;
        w->confirm = false;
        if (status == BLY_OK)
            blyi_work_done(x, w);
        else
            blyi_work_fail(x, w, status, &node->why);
    }
}

/* They have been carried out, but must be again, where the slots are now. */
static void repeat(blyi_exchange *x, blyi_node *node) {
    for (blyi_work *w = node->turn.first; w; w = w->next) {
        if (!w->confirm)
            continue;
        w->confirm = false;
        bly_redis_reply_free(w->request->reply);
        w->request->reply = NULL;
        errno = EAGAIN;
        blyi_work_put_off(x, w, BLY_EIO, &node->why, true);
    }
    x->nodes.stale = x->nodes.cluster;
}

static void hear_error(blyi_exchange *x, blyi_node *node, const bly_redis_value *value) {
    /* What WAIT says when its server has become a replica. */
    static const char unblocked[] = "UNBLOCKED";
    const bool demoted = strncmp(value->text.data, unblocked, sizeof unblocked - 1) == 0;
    blyi_say(&node->why, "%s does not say whether replicas have it: %s", node->place.name,
             (const char *)value->text.data);
    if (demoted || bly_redis_judge(value) != BLY_REDIS_REFUSED) {
        node->turn.drop = node->turn.drop || demoted;
        repeat(x, node);
        return;
    }
    errno = EPROTO;
    settle(x, node, BLY_EIO);
}

bly_status blyi_wait_hear(blyi_exchange *x, blyi_node *node, const bly_redis_reply *reply) {
    const bly_redis_value value = bly_redis_reply_value(reply);
    blyi_turn *t = &node->turn;
    const bool last = --t->closing == 0;
    if (!waiting(node))
        return BLY_OK;
    if (value.type == BLY_REDIS_ERROR) {
        hear_error(x, node, &value);
        return BLY_OK;
    }
    if (!last)
        return BLY_OK;
    if (value.type == BLY_REDIS_INTEGER && value.integer >= (int64_t)x->options.replicas) {
        settle(x, node, BLY_OK);
        return BLY_OK;
    }
    const int64_t now = blyi_now_ms(), left = t->closed_at + x->options.replicas_ms - now;
    if (left > 0) {
        const int64_t pause = left / PAUSES > LEAST_PAUSE_MS ? left / PAUSES : LEAST_PAUSE_MS;
        t->again_at = now + (pause < left ? pause : left);
        return BLY_OK;
    }
    blyi_say(
        &node->why,
        "%s: only %lld of %lu replicas have confirmed within %lu ms; see its INFO replication, "
        "and start replicas, wait longer, or ask for fewer",
        node->place.name, (long long)value.integer, (unsigned long)x->options.replicas,
        (unsigned long)x->options.replicas_ms);
    errno = ETIMEDOUT;
    settle(x, node, BLY_EIO);
    return BLY_OK;
}

bly_status blyi_wait_again(blyi_exchange *x, blyi_node *node) {
    blyi_turn *t = &node->turn;
    const int64_t left = t->closed_at + x->options.replicas_ms - blyi_now_ms();
    t->again_at = 0;
    blyi_link_wake(node->link);
    return ask(x, node, left > 0 ? left : 1); /* 0 would be for ever */
}
