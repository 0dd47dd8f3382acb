/* Runs commands on the nodes of a cluster, or on one server, in rounds.
 *
 * In a round, every task (a command and its state) is sent to the node that owns its slot, and all
 * nodes work at the same time. Further rounds follow until all tasks are done or the retry time is
 * over. After redirections and unknown scripts, the next round starts at once. After an error (a
 * broken connection, or a server that is busy, loading, or not yet master) it starts after a pause.
 * Each pause is twice as long as the previous one, and in a cluster the slot map is refreshed.
 * Retrying ends retry_ms after the last round that completed a task.
 *
 * Opening the first connection is also retried for retry_ms, unless no server listens or the name
 * does not resolve: then it is more likely that the address is wrong than that the server is just
 * starting.
 */
#include "redis/cluster/executor_internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXEC_CONNECT_MS = 5000,
    EXEC_COMMAND_MS = 10000,
    EXEC_RETRY_MS = 15000,
    EXEC_REPLICAS_MS = 1000,
    EXEC_FIRST_PAUSE_MS = 10,
    EXEC_MAX_PAUSE_MS = 500,
    EXEC_FEW_TASKS = 1024 /* if there were more, their memory is freed after the run */
};

static const bly_redis_reason exec_no_memory = {"out of memory"};

/* ---- open and close -------------------------------------------------------------------------- */

static void exec_set_default(uint32_t *value, uint32_t otherwise) {
    if (*value == 0)
        *value = otherwise;
}

static bly_status exec_init(blyi_executor *x, const bly_redis_url *url,
                            const bly_redis_filter_options *options) {
    bly_redis_filter_options *o = &x->options;
    if (options)
        *o = *options;
    exec_set_default(&o->connect_ms, EXEC_CONNECT_MS);
    exec_set_default(&o->command_ms, EXEC_COMMAND_MS);
    exec_set_default(&o->retry_ms, EXEC_RETRY_MS);
    exec_set_default(&o->replicas_ms, EXEC_REPLICAS_MS);
    bly_status status = blyi_login_init(url, o->connect_ms, o->command_ms, &x->why, &x->login);
    if (status)
        return status;
    x->login.query_role = !o->allow_replica;
    status = blyi_slot_map_init(url, &x->map);
    if (status)
        x->why = exec_no_memory;
    return status;
}

/* Pauses before the next attempt. Returns false if the retry time is over. */
static bool exec_pause(const blyi_executor *x, int *pause) {
    const int64_t left = x->end - blyi_now_ms();
    if (left <= 0 || x->options.no_retry)
        return false;
    (void)poll(NULL, 0, left < *pause ? (int)left : *pause);
    *pause = *pause * 2 < EXEC_MAX_PAUSE_MS ? *pause * 2 : EXEC_MAX_PAUSE_MS;
    return true;
}

static bly_status exec_try_first(blyi_executor *x, int64_t max_ms) {
    blyi_node *first = x->map.list[0];
    bly_status status = blyi_conn_open(&x->login, &first->address, &x->why, &first->conn);
    if (status == BLY_OK)
        status = blyi_conn_connect(first->conn, max_ms, &x->why);
    if (status) {
        blyi_conn_close(first->conn);
        first->conn = NULL;
    }
    return status;
}

/* Whether the server may exist, despite this error, and may accept a connection later. */
static bool exec_may_recover(int error) {
    return error == ETIMEDOUT || error == EAGAIN || error == ECONNRESET || error == EPIPE;
}

static bly_status exec_connect_first(blyi_executor *x) {
    int pause = EXEC_FIRST_PAUSE_MS;
    int64_t max_ms = x->options.connect_ms;
    x->end = blyi_now_ms() + x->options.retry_ms;
    for (;;) {
        const bly_status status = exec_try_first(x, max_ms);
        const int error = errno;
        const bool again = status == BLY_EIO && exec_may_recover(error) && exec_pause(x, &pause);
        errno = error;
        if (!again)
            return status == BLY_EINVAL ? BLY_EREFUSED : status;
        const int64_t left = x->end - blyi_now_ms();
        max_ms = left > BLYI_MIN_NODE_MS ? left : BLYI_MIN_NODE_MS;
    }
}

bly_status blyi_executor_open(const bly_redis_url *url, const bly_redis_filter_options *options,
                              bly_redis_reason *why, blyi_executor **out) {
    blyi_executor *x = calloc(1, sizeof *x);
    *out = NULL;
    bly_status status = x ? exec_init(x, url, options) : BLY_ENOMEM;
    if (status == BLY_OK) {
        const blyi_sigpipe_guard guard = blyi_sigpipe_block();
        status = exec_connect_first(x);
        blyi_sigpipe_restore(&guard);
    }
    if (status == BLY_OK) {
        *out = x;
        return BLY_OK;
    }
    if (why)
        *why = x ? x->why : exec_no_memory;
    const int saved = errno;
    blyi_executor_close(x);
    errno = saved;
    return status;
}

void blyi_executor_close(blyi_executor *x) {
    if (!x)
        return;
    blyi_slot_map_free(&x->map);
    blyi_login_free(&x->login);
    bly_redis_reply_free(x->map_reply);
    free(x->tasks);
    free(x->polls);
    free(x->polled);
    free(x);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

void blyi_task_done(blyi_executor *x, blyi_task *task) {
    task->request->status = BLY_OK;
    task->done = true;
    x->left--;
    x->served = true;
}

void blyi_task_fail(blyi_executor *x, blyi_task *task, bly_status status,
                    const bly_redis_reason *why) {
    const size_t index = (size_t)(task - x->tasks);
    task->request->status = status;
    task->done = true;
    x->left--;
    if (index < x->first_failed) {
        x->first_failed = index;
        x->error = errno;
        x->why = *why;
    }
}

void blyi_task_retry_later(blyi_executor *x, blyi_task *task, bly_status status,
                           const bly_redis_reason *why, bool sent) {
    task->request->repeated = task->request->repeated || sent;
    if (sent && task->request->once) {
        blyi_task_fail(x, task, BLY_EIO, why);
        return;
    }
    task->status = status;
    task->error = errno;
    task->why = *why;
    x->pause_needed = true;
}

/* Fails all remaining tasks, because memory (if `memory` is true) or time has run out. */
static void exec_fail_remaining(blyi_executor *x, bool memory) {
    for (size_t i = 0; i < x->count; i++) {
        blyi_task *task = &x->tasks[i];
        if (task->done)
            continue;
        if (!task->why.text[0]) /* this task had no error, but others had */
            blyi_reason_set(&task->why, "no time was left to send the command to %s again",
                            task->at->address.name);
        errno = memory ? ENOMEM : task->error;
        blyi_task_fail(x, task, memory ? BLY_ENOMEM : task->status,
                       memory ? &exec_no_memory : &task->why);
    }
}

static bly_status exec_begin(blyi_executor *x, blyi_request *requests, size_t n) {
    for (size_t i = 0; i < n; i++) {
        requests[i].reply = NULL;
        requests[i].status = BLY_ENOMEM;
        requests[i].repeated = false;
    }
    x->rounds = 0;
    x->first_failed = SIZE_MAX;
    x->why = (bly_redis_reason){""};
    if (n > x->room) {
        blyi_task *tasks =
            n <= SIZE_MAX / sizeof *tasks ? realloc(x->tasks, n * sizeof *tasks) : NULL;
        if (!tasks) {
            x->why = exec_no_memory;
            return BLY_ENOMEM;
        }
        x->tasks = tasks;
        x->room = n;
    }
    x->count = x->left = n;
    for (size_t i = 0; i < n; i++)
        x->tasks[i] = (blyi_task){.request = &requests[i],
                                  .slot = bly_redis_slot(requests[i].command->key),
                                  .status = BLY_EIO,
                                  .error = ETIMEDOUT};
    return BLY_OK;
}

/* Closes connections that broke while they were idle. Called before anything is sent over them. */
static void exec_check_connections(blyi_executor *x) {
    for (size_t i = 0; i < x->map.count; i++) {
        blyi_node *node = x->map.list[i];
        if (!node->conn)
            continue;
        bly_redis_reason why;
        bly_redis_reply *reply = NULL;
        struct pollfd one = {.fd = blyi_conn_fd(node->conn), .events = POLLIN};
        if (poll(&one, 1, 0) == 0)
            continue;
        /* If something arrived, it may be a TLS record without data, which is no error. */
        if (blyi_conn_step(node->conn, one.revents, &why) ||
            blyi_conn_next_reply(node->conn, &why, &reply) || reply) {
            bly_redis_reply_free(reply);
            blyi_conn_close(node->conn);
            node->conn = NULL;
        }
    }
}

/* ---- one round ------------------------------------------------------------------------------- */

/* Assigns each remaining task to a node. */
static void exec_assign(blyi_executor *x) {
    for (size_t i = 0; i < x->map.count; i++) {
        x->map.list[i]->io = (blyi_node_io){.finished = true};
        x->map.list[i]->wanted = false;
    }
    for (size_t i = 0; i < x->count; i++) {
        blyi_task *task = &x->tasks[i];
        if (task->done)
            continue;
        blyi_node *node =
            task->redirect ? task->redirect : blyi_slot_map_owner(&x->map, task->slot);
        blyi_node_io *io = &node->io;
        task->at = node;
        task->next = NULL;
        task->begins = UINT64_MAX;
        task->asking_answered = false;
        if (io->last)
            io->last->next = task;
        else
            *io = (blyi_node_io){.first = task, .unsent = task, .unanswered = task};
        io->last = task;
    }
}

/* Allocates the arrays for poll(), one entry for each node. Nodes that are added during the round
 * have no tasks in it, so they need none. */
static bly_status exec_reserve_polls(blyi_executor *x) {
    const size_t n = x->map.count;
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

/* Returns how many ms to wait for a node before it times out, or before WAIT is sent to it again.
 * While the node waits for replicas, it has replicas_ms more. */
static int64_t exec_time_left(const blyi_executor *x, const blyi_node *node, int64_t now) {
    const blyi_node_io *io = &node->io;
    if (io->wait_again_at)
        return io->wait_again_at > now ? io->wait_again_at - now : 0;
    int64_t left =
        blyi_conn_time_left(node->conn, io->wait_replies ? now - x->options.replicas_ms : now);
    if (x->retrying) {
        const int64_t idle = blyi_conn_idle_ms(node->conn, now);
        const int64_t min = idle < BLYI_MIN_NODE_MS ? BLYI_MIN_NODE_MS - idle : 0;
        const int64_t rest = x->end - now > min ? x->end - now : min;
        left = left < rest ? left : rest;
    }
    return left;
}

/* Collects the nodes that are not finished, and returns their number. Sets *wait to the timeout for
 * poll(). */
static size_t exec_gather(blyi_executor *x, int64_t now, int *wait) {
    size_t n = 0;
    int64_t min = INT_MAX;
    for (size_t i = 0; i < x->map.count; i++) {
        blyi_node *node = x->map.list[i];
        if (node->io.finished)
            continue;
        const int64_t left = exec_time_left(x, node, now);
        min = left < min ? left : min;
        x->polls[n] =
            (struct pollfd){.fd = blyi_conn_fd(node->conn), .events = blyi_conn_events(node->conn)};
        x->polled[n++] = node;
    }
    *wait = (int)min;
    return n;
}

/* Fails the first n polled nodes, because poll() failed for lack of memory. */
static void exec_give_up(blyi_executor *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        blyi_node_broken(x, x->polled[i], blyi_no_memory(&x->polled[i]->why));
    }
}

/* Runs one round. Tasks that are neither done nor failed after it remain for the next round.
 * Returns BLY_OK or BLY_ENOMEM. */
static bly_status exec_round(blyi_executor *x) {
    int wait;
    exec_assign(x);
    if (exec_reserve_polls(x))
        return BLY_ENOMEM;
    x->rounds++;
    const size_t nodes = x->map.count;
    for (size_t i = 0; i < nodes; i++)
        if (!x->map.list[i]->io.finished)
            blyi_node_begin(x, x->map.list[i]);
    for (size_t n; (n = exec_gather(x, blyi_now_ms(), &wait)) > 0;) {
        const int found = poll(x->polls, (nfds_t)n, wait);
        if (found < 0 && errno != EINTR && errno != EAGAIN)
            exec_give_up(x, n);
        const int64_t now = blyi_now_ms();
        for (size_t i = 0; i < n; i++) {
            const short events = found > 0 ? x->polls[i].revents : 0;
            if (events)
                blyi_node_step(x, x->polled[i], events);
            else if (!x->polled[i]->io.finished && exec_time_left(x, x->polled[i], now) == 0)
                blyi_node_timed_out(x, x->polled[i]);
        }
    }
    return BLY_OK;
}

/* ---- all rounds ------------------------------------------------------------------------------ */

/* Reads the reply to CLUSTER SLOTS, which was sent together with the first command. A server that
 * is not in a cluster replies with an error, which is ignored. */
static void exec_read_map(blyi_executor *x) {
    if (x->map_reply)
        (void)blyi_slot_map_read(&x->map, x->map_source, x->map_reply);
    bly_redis_reply_free(x->map_reply);
    x->map_reply = NULL;
}

static void exec_rounds(blyi_executor *x) {
    int pause = EXEC_FIRST_PAUSE_MS;
    x->pause_needed = false;
    x->end = blyi_now_ms() + x->options.retry_ms;
    while (x->left > 0) {
        const size_t before = x->left;
        if (x->map.cluster && x->map.stale) {
            x->rounds++;
            blyi_slot_map_refresh(&x->map, &x->login, x->end);
        }
        x->retrying = x->pause_needed;
        x->pause_needed = false;
        if (exec_round(x)) {
            exec_fail_remaining(x, true);
            break;
        }
        if (x->left < before) {
            x->end = blyi_now_ms() + x->options.retry_ms;
            pause = EXEC_FIRST_PAUSE_MS;
        }
        if (x->left > 0 && x->pause_needed && !exec_pause(x, &pause))
            exec_fail_remaining(x, false);
        exec_read_map(x);
    }
}

bly_status blyi_executor_run(blyi_executor *x, blyi_request *requests, size_t n) {
    bly_status status = exec_begin(x, requests, n);
    if (status || n == 0)
        return status;
    const blyi_sigpipe_guard guard = blyi_sigpipe_block();
    exec_check_connections(x);
    exec_rounds(x);
    blyi_sigpipe_restore(&guard);
    if (x->first_failed < n) {
        status = requests[x->first_failed].status;
        errno = x->error;
    }
    if (x->room > EXEC_FEW_TASKS) {
        free(x->tasks);
        x->tasks = NULL;
        x->room = 0;
    }
    return status;
}

void blyi_requests_clear(blyi_request *requests, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bly_redis_reply_free(requests[i].reply);
        requests[i] = (blyi_request){.command = requests[i].command, .once = requests[i].once};
    }
}

const char *blyi_executor_why(const blyi_executor *x) {
    return x->why.text;
}

size_t blyi_executor_rounds(const blyi_executor *x) {
    return x->rounds;
}

const char *blyi_executor_node(const blyi_executor *x, bly_bytes key) {
    return blyi_slot_map_owner(&x->map, bly_redis_slot(key))->address.name;
}
