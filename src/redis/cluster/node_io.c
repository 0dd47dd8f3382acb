/* The part of one node in a round: sends its tasks, reads the replies, handles failures.
 *
 * Commands are appended to the node's connection in order, while fewer than a limit of bytes are
 * waiting to be written. Replies arrive in the same order, so each reply belongs to the first
 * unanswered task. If the connection breaks, all tasks without a reply are left for the next round.
 * A task may have been executed if at least one byte of its command was written.
 */
#include "redis/cluster/executor_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODE_MAX_UNWRITTEN = 256 << 10, /* bytes; each write of hiredis moves those that remain */
    NODE_MAX_HOPS = 16,             /* redirections in a row */
    NODE_QUICK_HOPS = 3,      /* after more than these the nodes disagree, so a pause is needed */
    NODE_MAX_ROLE_HANGUPS = 2 /* then ROLE is not sent any more: a proxy may dislike it */
};

static const bly_bytes node_asking = {"ASKING", 6};

/* ---- sending --------------------------------------------------------------------------------- */

static bly_status node_append_script(blyi_node *node, const bly_bitmap_command *c) {
    bly_bytes *args = malloc(c->count * sizeof *args);
    if (!args)
        return blyi_no_memory(&node->why);
    memcpy(args, c->args, c->count * sizeof *args);
    args[0] = (bly_bytes){"EVAL", 4};
    args[1] = c->script;
    bly_status status = blyi_conn_append(node->conn, args, c->count, &node->why);
    free(args);
    return status;
}

static bly_status node_send_task(blyi_node *node, blyi_task *task) {
    const bly_bitmap_command *c = task->request->command;
    bly_status status = BLY_OK;
    task->begins = blyi_conn_appended(node->conn);
    if (task->redirect)
        status = blyi_conn_append(node->conn, &node_asking, 1, &node->why);
    if (status)
        return status;
    return task->send_script ? node_append_script(node, c)
                             : blyi_conn_append(node->conn, c->args, c->count, &node->why);
}

static bly_status node_send(blyi_executor *x, blyi_node *node) {
    blyi_node_io *io = &node->io;
    bly_status status = BLY_OK;
    if (!x->map_requested && io->unsent) {
        x->map_requested = io->map_pending = true;
        status = blyi_conn_append(node->conn, blyi_cluster_slots_args, 2, &node->why);
    }
    while (status == BLY_OK && io->unsent &&
           blyi_conn_appended(node->conn) - blyi_conn_written(node->conn) < NODE_MAX_UNWRITTEN) {
        status = node_send_task(node, io->unsent);
        io->unsent = io->unsent->next;
    }
    return status;
}

/* ---- replies --------------------------------------------------------------------------------- */

static bool is_readonly_error(const bly_redis_value *value) {
    static const char word[] = "READONLY";
    return value->type == BLY_REDIS_ERROR && strncmp(value->text.data, word, sizeof word - 1) == 0;
}

static void node_quote(blyi_node *node, const bly_redis_value *value) {
    blyi_reason_set(&node->why, "%s: %s", node->address.name, (const char *)value->text.data);
}

/* Retries a command that the server rejected for now, and did not execute. */
static void node_retry_later(blyi_executor *x, blyi_task *task, const bly_redis_value *value) {
    blyi_node *node = task->at;
    node_quote(node, value);
    errno = EAGAIN;
    blyi_task_retry_later(x, task, BLY_EIO, &node->why, false);
    x->map.stale = x->map.cluster;
    /* Reconnects, because the name may resolve to another server by now. */
    if (is_readonly_error(value))
        node->io.disconnect = true;
}

/* Whether the reply is from a replica that handled the command itself, although the caller did not
 * allow replicas. In a cluster this is false: replicas redirect to their masters, so a node that
 * does not redirect has become a master. */
static bool node_is_unwanted_replica(const blyi_executor *x, const blyi_node *node,
                                     const bly_redis_value *value) {
    const bly_redis_verdict verdict = bly_redis_classify(value);
    const bool cluster =
        x->map.cluster || (x->map_reply && bly_redis_reply_type(x->map_reply) == BLY_REDIS_ARRAY);
    return !cluster && !x->options.allow_replica && blyi_conn_master(node->conn) &&
           (verdict == BLY_REDIS_DONE || verdict == BLY_REDIS_REFUSED || is_readonly_error(value));
}

/* Handles a reply from a replica that is not allowed. If no command has been done yet, the user's
 * address is wrong, so the task fails. Later, the master may have changed, so the task is retried
 * over a new connection. */
static void node_refuse_replica(blyi_executor *x, blyi_task *task, const bly_redis_value *value) {
    blyi_node *node = task->at;
    const char *master = blyi_conn_master(node->conn);
    blyi_reason_set(&node->why, "%s is a replica; name its master%s%s", node->address.name,
                    *master ? ", " : "", master);
    errno = EAGAIN;
    /* Some replicas are writable. */
    const bool written = task->request->command->writes && value->type != BLY_REDIS_ERROR;
    if (x->served)
        blyi_task_retry_later(x, task, BLY_EREFUSED, &node->why, written);
    else
        blyi_task_fail(x, task, BLY_EREFUSED, &node->why);
    node->io.disconnect = true;
}

/* Follows a redirection: ASK if `once` is true, else MOVED. */
static void node_follow(blyi_executor *x, blyi_task *task, const bly_redis_value *value,
                        bool once) {
    blyi_node *node = task->at, *to = NULL;
    bly_redis_redirect place;
    bly_status status = BLY_EIO;
    if (++task->hops > NODE_MAX_HOPS || !bly_redis_redirect_parse(value, &place)) {
        blyi_reason_set(&node->why, "too many redirections; last from %s: %s", node->address.name,
                        (const char *)value->text.data);
        errno = ELOOP;
    } else {
        status = blyi_slot_map_find_node(&x->map, node, place.host, place.port, &to);
        errno = EHOSTUNREACH;
        node_quote(node, value);
    }
    if (status) {
        blyi_task_fail(x, task, status == BLY_ENOMEM ? BLY_ENOMEM : BLY_EIO, &node->why);
        return;
    }
    if (task->hops > NODE_QUICK_HOPS && !x->options.no_retry)
        blyi_task_retry_later(x, task, BLY_EIO, &node->why, false);
    if (once) {
        task->redirect = to;
        to->wanted = true;
        x->map.cluster = true;
    } else {
        blyi_slot_map_moved(&x->map, task->slot, to);
    }
}

/* Reads the reply to a task. It is either the request's result, or determines how to continue. */
static void node_read_task_reply(blyi_executor *x, blyi_task *task, bly_redis_reply *reply) {
    const bly_redis_value value = bly_redis_reply_value(reply);
    const bly_redis_verdict verdict = bly_redis_classify(&value);
    task->redirect = NULL;
    if (verdict == BLY_REDIS_NO_SCRIPT && task->request->command->script.size > 0 &&
        !task->send_script) {
        task->send_script = true;
    } else if (verdict == BLY_REDIS_MOVED || verdict == BLY_REDIS_ASK) {
        node_follow(x, task, &value, verdict == BLY_REDIS_ASK);
    } else if (node_is_unwanted_replica(x, task->at, &value)) {
        node_refuse_replica(x, task, &value);
    } else if (verdict == BLY_REDIS_LATER) {
        node_retry_later(x, task, &value);
    } else {
        task->request->reply = reply;
        task->confirm = x->options.replicas > 0 && task->request->command->writes &&
                        value.type != BLY_REDIS_ERROR;
        if (!task->confirm)
            blyi_task_done(x, task);
        return;
    }
    bly_redis_reply_free(reply);
}

/* Handles a reply to no command: a server with too many clients sends an error at once, and closes
 * the connection. */
static bly_status node_unexpected_reply(blyi_node *node, const bly_redis_reply *reply) {
    const bool error = bly_redis_reply_type(reply) == BLY_REDIS_ERROR;
    blyi_reason_set(&node->why, "%s: %s", node->address.name,
                    error ? (const char *)bly_redis_reply_text(reply).data
                          : "unexpected data from the server");
    errno = error ? ECONNREFUSED : EPROTO;
    return BLY_EIO;
}

static bly_status node_read_reply(blyi_executor *x, blyi_node *node, bly_redis_reply *reply) {
    blyi_node_io *io = &node->io;
    blyi_task *task = io->unanswered;
    bly_status status = BLY_OK;
    x->any_reply = true;
    if (io->map_pending) {
        io->map_pending = false;
        bly_redis_reply_free(x->map_reply);
        x->map_reply = reply;
        x->map_source = node;
        return BLY_OK;
    }
    if (task && task != io->unsent) {
        if (task->redirect && !task->asking_answered) {
            task->asking_answered = true;
            bly_redis_reply_free(reply);
            return BLY_OK;
        }
        io->unanswered = task->next;
        node_read_task_reply(x, task, reply);
        return BLY_OK;
    }
    status = io->wait_replies ? blyi_replica_wait_reply(x, node, reply)
                              : node_unexpected_reply(node, reply);
    bly_redis_reply_free(reply);
    return status;
}

/* Reads all replies that have arrived. */
static bly_status node_read_replies(blyi_executor *x, blyi_node *node) {
    bly_status status = BLY_OK;
    bly_redis_reply *reply = NULL;
    do {
        status = blyi_conn_next_reply(node->conn, &node->why, &reply);
        if (status == BLY_OK && reply)
            status = node_read_reply(x, node, reply);
    } while (status == BLY_OK && reply);
    return status;
}

/* ---- progress -------------------------------------------------------------------------------- */

static void node_finish(blyi_node *node) {
    node->io.finished = true;
    node->failed = node->io.disconnect;
    if (node->io.disconnect) {
        blyi_conn_close(node->conn);
        node->conn = NULL;
    }
}

/* Sends what can be sent. If there is nothing to send and no reply is expected, begins the wait for
 * replicas or, if that is not necessary, finishes the node. */
static bly_status node_continue(blyi_executor *x, blyi_node *node) {
    blyi_node_io *io = &node->io;
    bool begun = false;
    bly_status status = node_send(x, node);
    if (status || io->unanswered || io->map_pending || io->wait_replies || io->wait_again_at)
        return status;
    status = blyi_replica_wait_begin(x, node, &begun);
    if (status == BLY_OK && !begun)
        node_finish(node);
    return status;
}

void blyi_node_begin(blyi_executor *x, blyi_node *node) {
    bly_status status = BLY_OK;
    if (!node->conn)
        status = blyi_conn_open(&x->login, &node->address, &node->why, &node->conn);
    else
        blyi_conn_restart_timer(node->conn);
    if (status == BLY_OK && blyi_conn_ready(node->conn))
        status = node_continue(x, node);
    if (status)
        blyi_node_broken(x, node, status);
}

void blyi_node_step(blyi_executor *x, blyi_node *node, short events) {
    bly_redis_reason broken;
    bly_status status = blyi_conn_step(node->conn, events, &broken);
    const int error = errno;
    if (blyi_conn_ready(node->conn)) {
        /* Replies that arrived before the connection broke are valid. */
        bly_status heard = node_read_replies(x, node);
        if (status == BLY_OK && heard == BLY_OK)
            heard = node_continue(x, node);
        if (heard) {
            blyi_node_broken(x, node, heard);
            return;
        }
    }
    if (status == BLY_OK || node->io.finished)
        return;
    node->why = broken;
    errno = error;
    blyi_node_broken(x, node, status);
}

void blyi_node_timed_out(blyi_executor *x, blyi_node *node) {
    const bly_status status = node->io.wait_again_at ? blyi_replica_wait_again(x, node)
                                                     : blyi_conn_timed_out(node->conn, &node->why);
    if (status)
        blyi_node_broken(x, node, status);
}

/* Whether the error is final, because retries are not allowed or would not help. */
static bool node_is_final(const blyi_executor *x, bly_status status, int error) {
    return x->options.no_retry || status != BLY_EIO || error == EPROTO;
}

/* Counts connections that were closed after ROLE, and stops sending ROLE after some: some proxies
 * close the connection after an unknown command. */
static void node_note_role(blyi_executor *x, const blyi_conn *link, int error) {
    if (!x->any_reply && error != ETIMEDOUT && blyi_conn_written(link) > 0 &&
        blyi_conn_role_pending(link) && ++x->role_hangups >= NODE_MAX_ROLE_HANGUPS)
        x->login.query_role = false;
}

void blyi_node_broken(blyi_executor *x, blyi_node *node, bly_status status) {
    const int error = errno;
    const uint64_t written = node->conn ? blyi_conn_written(node->conn) : 0;
    const bool final = node_is_final(x, status, error);
    blyi_node_io *io = &node->io;
    if (node->conn)
        node_note_role(x, node->conn, error);
    bool open = false; /* true from the first unanswered task on */
    for (blyi_task *task = io->first; task; task = task->next) {
        open = open || task == io->unanswered;
        if (!open && !task->confirm)
            continue;
        const bool sent = task->begins < written;
        bly_redis_reply_free(task->request->reply);
        task->request->reply = NULL;
        task->confirm = task->asking_answered = false;
        task->redirect = NULL;
        task->hops = 0;
        errno = error;
        if (final) {
            task->request->repeated = task->request->repeated || sent;
            blyi_task_fail(x, task, status == BLY_EINVAL ? BLY_EREFUSED : status, &node->why);
        } else {
            blyi_task_retry_later(x, task, BLY_EIO, &node->why, sent);
        }
    }
    blyi_conn_close(node->conn);
    node->conn = NULL;
    node->failed = true;
    io->finished = true;
    x->map.stale = x->map.cluster;
}
