/* executor_internal.h - shared by the files of the executor. Internal.
 *
 *   executor.c      a whole run: its rounds, the pauses between them, and a round over all nodes
 *   node_io.c       a node's part of a round: sending, reading replies, handling failures
 *   replica_wait.c  the end of a node's part: waiting for replicas
 */
#ifndef BLYI_REDIS_CLUSTER_EXECUTOR_INTERNAL_H
#define BLYI_REDIS_CLUSTER_EXECUTOR_INTERNAL_H

#include "redis/cluster/executor.h"
#include "redis/cluster/slot_map.h"

struct pollfd;

enum { BLYI_MIN_NODE_MS = 1000 }; /* a node's time, even if the retry time ends earlier */

/* A request while it is being run. */
typedef struct blyi_task {
    blyi_request *request;
    struct blyi_task *next; /* the next task of the same node in this round */
    blyi_node *at;          /* its node in this round or, between rounds, in the last one */
    blyi_node *redirect;    /* after ASK: the node to use once, not the slot's owner; else NULL */
    uint64_t begins;        /* position in the bytes of the connection; UINT64_MAX: not appended */
    unsigned slot, hops;
    bool send_script;     /* send the script's text instead of its digest */
    bool asking_answered; /* the reply to ASKING has arrived */
    bool confirm;         /* there is a reply, but replicas have not confirmed the write yet */
    bool done;
    /* Why the task is not done yet. If retrying ends, it fails with this status, errno and
     * reason. */
    bly_status status;
    int error;
    bly_redis_reason why;
} blyi_task;

struct blyi_executor {
    blyi_login login;
    bly_redis_filter_options options; /* with the defaults filled in */
    blyi_slot_map map;
    /* CLUSTER SLOTS was sent with the first command. It is sent only once, because some proxies
     * close the connection when they get it. */
    bool map_requested;
    bool any_reply;        /* a server has replied to any command */
    bool served;           /* a task was done, so the address in the URL is right */
    unsigned role_hangups; /* connections that were closed after ROLE, before any reply */

    /* State of the run: */
    blyi_task *tasks;
    size_t count, room, left; /* left: tasks that are not done */
    struct pollfd *polls;     /* for poll_room nodes */
    blyi_node **polled;
    size_t poll_room;
    size_t rounds;
    size_t first_failed; /* index of the first task that failed; SIZE_MAX: none */
    int error;           /* the errno of that task */
    bly_redis_reason why;

    /* State of the round: */
    bool retrying;              /* the previous round had errors */
    bool pause_needed;          /* a task must be retried after a pause */
    int64_t end;                /* when retrying ends */
    bly_redis_reply *map_reply; /* the reply to CLUSTER SLOTS */
    blyi_node *map_source;      /* the node that sent it */
};

/* Ends a task as done. Its request has the reply. */
void blyi_task_done(blyi_executor *x, blyi_task *task);
/* Ends a task as failed, with that status and reason, and with errno. */
void blyi_task_fail(blyi_executor *x, blyi_task *task, bly_status status,
                    const bly_redis_reason *why);
/* Leaves the task for the next round, after a pause. If there is no next round, the task fails with
 * that status, reason and errno. `sent` says that the command may have been executed; then a
 * request with `once` fails now. */
void blyi_task_retry_later(blyi_executor *x, blyi_task *task, bly_status status,
                           const bly_redis_reason *why, bool sent);

/* Begins the node's part of the round: starts to connect if there is no connection, else sends. */
void blyi_node_begin(blyi_executor *x, blyi_node *node);
/* Sends and reads what is possible, given the events from poll(). */
void blyi_node_step(blyi_executor *x, blyi_node *node, short events);
/* To be called when the node's time is over: sends WAIT again if it was waiting for that, else
 * fails the node. */
void blyi_node_timed_out(blyi_executor *x, blyi_node *node);
/* To be called when the connection has failed with that status, for the reason node->why. Closes
 * it, and leaves the node's unanswered tasks for the next round, or fails them. */
void blyi_node_broken(blyi_executor *x, blyi_node *node, bly_status status);

/* To be called when all tasks of the node have replies. Sends WAIT if replicas must confirm any of
 * them, and sets *begun to whether it did. */
bly_status blyi_replica_wait_begin(blyi_executor *x, blyi_node *node, bool *begun);
/* Reads the reply to a command that blyi_replica_wait_begin or blyi_replica_wait_again sent. */
bly_status blyi_replica_wait_reply(blyi_executor *x, blyi_node *node, const bly_redis_reply *reply);
/* Sends WAIT again, after a pause, to a server that replied too early with too few replicas. */
bly_status blyi_replica_wait_again(blyi_executor *x, blyi_node *node);

#endif
