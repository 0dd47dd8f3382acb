/* executor_internal.h - shared by the files of the executor. Internal.
 *
 *   executor.c      a run: rounds and the pauses between them; one round over all nodes
 *   node_io.c       what one node does in a round: sends, reads replies, fails
 *   replica_wait.c  the end of a node's round: waits for replicas
 */
#ifndef BLYI_REDIS_CLUSTER_EXECUTOR_INTERNAL_H
#define BLYI_REDIS_CLUSTER_EXECUTOR_INTERNAL_H

#include "redis/cluster/executor.h"
#include "redis/cluster/slot_map.h"

struct pollfd;

enum { BLYI_MIN_NODE_MS = 1000 }; /* time for a node, even if the retry time ends before */

/* A request while it is being run. */
typedef struct blyi_task {
    blyi_request *request;
    struct blyi_task *next; /* of the same node, in this round */
    blyi_node *at;          /* the node, in this round or the last */
    blyi_node *redirect;    /* after ASK: the node to use once instead of the slot's owner; NULL */
    uint64_t
        begins; /* position in the bytes appended to the connection; UINT64_MAX: not appended */
    unsigned slot, hops;
    bool send_script;     /* send the script's text instead of its digest */
    bool asking_answered; /* the reply to ASKING has arrived */
    bool confirm;         /* there is a reply, but replicas have not confirmed yet */
    bool done;
    /* Why it is not done yet. If retrying ends, it fails with this status, errno and reason. */
    bly_status status;
    int error;
    bly_redis_reason why;
} blyi_task;

struct blyi_executor {
    blyi_login login;
    bly_redis_filter_options options; /* with the defaults filled in */
    blyi_slot_map map;
    bool map_requested;    /* CLUSTER SLOTS was sent with the first command. Only once, because some
                              proxies then close the connection */
    bool any_reply;        /* some server has replied to something */
    bool served;           /* some command was done, so the address of the URL is right */
    unsigned role_hangups; /* connections that ended after ROLE, before any reply */

    /* State of the run: */
    blyi_task *tasks;
    size_t count, room, left; /* left: not done */
    struct pollfd *polls;     /* for poll_room nodes */
    blyi_node **polled;
    size_t poll_room;
    size_t rounds;
    size_t first_failed; /* index of a task; SIZE_MAX: none has failed */
    int error;           /* its errno */
    bly_redis_reason why;

    /* State of the round: */
    bool retrying;              /* the previous round had errors */
    bool pause_needed;          /* something must be retried after a pause */
    int64_t end;                /* when retrying ends */
    bly_redis_reply *map_reply; /* to CLUSTER SLOTS */
    blyi_node *map_source;
};

/* Ends a task as done (its request has the reply) or as failed, with that status and reason, and
 * with errno. */
void blyi_task_done(blyi_executor *x, blyi_task *task);
void blyi_task_fail(blyi_executor *x, blyi_task *task, bly_status status,
                    const bly_redis_reason *why);
/* Leaves the task for the next round, after a pause. If there is no next round, it fails with that
 * status, reason and errno. `sent`: it may have been executed, so that a task that must be sent
 * only once fails now. */
void blyi_task_retry_later(blyi_executor *x, blyi_task *task, bly_status status,
                           const bly_redis_reason *why, bool sent);

/* Begins the node's part of the round: connects, if there is no connection, and sends. */
void blyi_node_begin(blyi_executor *x, blyi_node *node);
/* Sends and reads what is possible, given the events from poll(). */
void blyi_node_step(blyi_executor *x, blyi_node *node, short events);
/* The time limit has passed: for a reply, or until WAIT is sent again. */
void blyi_node_timed_out(blyi_executor *x, blyi_node *node);
/* The connection has failed with that status, for the reason node->why. */
void blyi_node_broken(blyi_executor *x, blyi_node *node, bly_status status);

/* To be called when all tasks of the node are answered. *begun: WAIT was sent, because replicas
 * must confirm some of them. */
bly_status blyi_replica_wait_begin(blyi_executor *x, blyi_node *node, bool *begun);
/* Reads a reply to a command that blyi_replica_wait_begin or _again has sent. */
bly_status blyi_replica_wait_reply(blyi_executor *x, blyi_node *node, const bly_redis_reply *reply);
/* Sends WAIT again, after a pause, to a server that replied at once with too few replicas. */
bly_status blyi_replica_wait_again(blyi_executor *x, blyi_node *node);

#endif
