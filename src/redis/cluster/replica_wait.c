/* Waits for replicas to confirm a node's writes, at the end of its round.
 *
 * WAIT counts the replicas that have received all writes of this connection. But a write that
 * changed nothing is not replicated: another client, or an earlier attempt over another connection,
 * has made the same change before, and WAIT does not wait for that earlier write. So before WAIT, a
 * marker is sent: a write that leaves a key unchanged but is always replicated. All changes that
 * the replies of this round reported come before the marker in the replication stream.
 *
 * If a server replies to WAIT too early and with too few replicas, WAIT is sent again after a
 * pause, until replicas_ms have passed.
 */
#include "redis/cluster/executor_internal.h"

#include "redis/bitmap/bitmap_commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The pause before WAIT is sent again: a tenth of the time that is left, but at least 10 ms. */
enum { REPLICA_MIN_PAUSE_MS = 10, REPLICA_PAUSES = 10 };

/* The marker: a write that leaves a key unchanged, but is replicated. */
static const char replica_marker[] =
    "if redis.call('EXISTS',KEYS[1])==1 then redis.call('APPEND',KEYS[1],'') "
    "end return 1";

static bly_status replica_send_wait(const blyi_executor *x, blyi_node *node, int64_t ms) {
    char replicas[24], limit[24];
    (void)snprintf(replicas, sizeof replicas, "%lu", (unsigned long)x->options.replicas);
    (void)snprintf(limit, sizeof limit, "%lld", (long long)ms);
    node->io.wait_replies++;
    return blyi_conn_append(node->conn,
                            (bly_bytes[]){blyi_arg("WAIT"), blyi_arg(replicas), blyi_arg(limit)}, 3,
                            &node->why);
}

/* Returns the last task that replicas must confirm, or NULL. */
static const blyi_task *replica_last_unconfirmed(const blyi_node *node) {
    const blyi_task *last = NULL;
    for (const blyi_task *task = node->io.first; task; task = task->next)
        if (task->confirm)
            last = task;
    return last;
}

bly_status blyi_replica_wait_begin(blyi_executor *x, blyi_node *node, bool *begun) {
    const blyi_task *last = replica_last_unconfirmed(node);
    *begun = last;
    if (!last)
        return BLY_OK;
    const bly_bytes args[] = {blyi_arg("EVAL"), blyi_arg(replica_marker), blyi_arg("1"),
                              last->request->command->key};
    bly_status status = BLY_OK;
    node->io.wait_since = blyi_now_ms();
    if (last->asking_answered) {
        const bly_bytes asking = blyi_arg("ASKING");
        node->io.wait_replies++;
        status = blyi_conn_append(node->conn, &asking, 1, &node->why);
    }
    if (status == BLY_OK) {
        node->io.wait_replies++;
        status = blyi_conn_append(node->conn, args, 4, &node->why);
    }
    return status ? status : replica_send_wait(x, node, x->options.replicas_ms);
}

/* Ends all tasks that replicas must confirm: as done if status is BLY_OK, else as failed with that
 * status. */
static void replica_settle(blyi_executor *x, blyi_node *node, bly_status status) {
    for (blyi_task *task = node->io.first; task; task = task->next) {
        if (!task->confirm)
            continue;
        task->confirm = false;
        if (status == BLY_OK)
            blyi_task_done(x, task);
        else
            blyi_task_fail(x, task, status, &node->why);
    }
}

/* Repeats the tasks that replicas must confirm. They were executed, but must be executed again by
 * the new owners of their slots. */
static void replica_repeat(blyi_executor *x, blyi_node *node) {
    for (blyi_task *task = node->io.first; task; task = task->next) {
        if (!task->confirm)
            continue;
        task->confirm = false;
        bly_redis_reply_free(task->request->reply);
        task->request->reply = NULL;
        errno = EAGAIN;
        blyi_task_retry_later(x, task, BLY_EIO, &node->why, true);
    }
    x->map.stale = x->map.cluster;
}

static void replica_read_error(blyi_executor *x, blyi_node *node, const bly_redis_value *value) {
    /* The reply to WAIT if the server has become a replica. */
    static const char unblocked[] = "UNBLOCKED";
    const bool demoted = strncmp(value->text.data, unblocked, sizeof unblocked - 1) == 0;
    blyi_reason_set(&node->why, "%s did not confirm replication: %s", node->address.name,
                    (const char *)value->text.data);
    if (demoted || bly_redis_classify(value) != BLY_REDIS_REFUSED) {
        node->io.disconnect = node->io.disconnect || demoted;
        replica_repeat(x, node);
        return;
    }
    errno = EPROTO;
    replica_settle(x, node, BLY_EIO);
}

bly_status blyi_replica_wait_reply(blyi_executor *x, blyi_node *node,
                                   const bly_redis_reply *reply) {
    const bly_redis_value value = bly_redis_reply_value(reply);
    blyi_node_io *io = &node->io;
    const bool last = --io->wait_replies == 0;
    if (!replica_last_unconfirmed(node))
        return BLY_OK;
    if (value.type == BLY_REDIS_ERROR) {
        replica_read_error(x, node, &value);
        return BLY_OK;
    }
    if (!last)
        return BLY_OK;
    if (value.type == BLY_REDIS_INTEGER && value.integer >= (int64_t)x->options.replicas) {
        replica_settle(x, node, BLY_OK);
        return BLY_OK;
    }
    const int64_t now = blyi_now_ms(), left = io->wait_since + x->options.replicas_ms - now;
    if (left > 0) {
        const int64_t pause = left / REPLICA_PAUSES > REPLICA_MIN_PAUSE_MS ? left / REPLICA_PAUSES
                                                                           : REPLICA_MIN_PAUSE_MS;
        io->wait_again_at = now + (pause < left ? pause : left);
        return BLY_OK;
    }
    blyi_reason_set(
        &node->why,
        "%s: only %lld of %lu replicas have confirmed within %lu ms; see its INFO replication, "
        "and start replicas, wait longer, or require fewer",
        node->address.name, (long long)value.integer, (unsigned long)x->options.replicas,
        (unsigned long)x->options.replicas_ms);
    errno = ETIMEDOUT;
    replica_settle(x, node, BLY_EIO);
    return BLY_OK;
}

bly_status blyi_replica_wait_again(blyi_executor *x, blyi_node *node) {
    blyi_node_io *io = &node->io;
    const int64_t left = io->wait_since + x->options.replicas_ms - blyi_now_ms();
    io->wait_again_at = 0;
    blyi_conn_restart_timer(node->conn);
    return replica_send_wait(x, node, left > 0 ? left : 1); /* 0 would mean no limit */
}
