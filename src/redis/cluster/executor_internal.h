/* exchange_parts.h - what the files of the exchange share. Internal.
 *
 *   exchange.c        a run: rounds, pauses between them, the end
 *   exchange_round.c  one round: all nodes at the same time
 *   exchange_turn.c   what one node does in a round: sends, hears, breaks
 *   exchange_wait.c   the end of a turn: replicas
 *   exchange_map.c    asking for the slots anew
 */
#ifndef BLYI_REDIS_EXCHANGE_PARTS_H
#define BLYI_REDIS_EXCHANGE_PARTS_H

#include "redis/cluster/executor.h"
#include "redis/cluster/slot_map.h"

struct pollfd;

enum { BLYI_LEAST_MS = 1000 }; /* that a node has, even if trying ends meanwhile */

/* A request, while it is being carried out. */
typedef struct blyi_work {
    blyi_request *request;
    struct blyi_work *next; /* in its node's turn */
    blyi_node *at;          /* whose turn that is or was, in the last round */
    blyi_node *ask;         /* where to ask once, instead of the owner of the slot; NULL */
    uint64_t begins;        /* in what was appended to the link; UINT64_MAX: it was not */
    unsigned slot, hops;
    bool text;    /* the script's text goes with it */
    bool asked;   /* ASKING was answered */
    bool confirm; /* there is a reply, which counts when replicas have it too */
    bool done;
    /* Why it is not, and the errno; what it will have failed of if trying ends. */
    bly_status status;
    int error;
    bly_redis_reason why;
} blyi_work;

struct blyi_exchange {
    blyi_login login;
    bly_redis_filter_options options; /* no zeroes where they mean a default */
    blyi_nodes nodes;
    bool map_asked;   /* at the first opportunity, and once: there are proxies that hang up then */
    bool heard;       /* some server has answered something */
    bool served;      /* some command has been carried out: this is no longer the first contact */
    unsigned hung_up; /* servers that were asked for their role, before anything was heard */

    /* Of the run: */
    blyi_work *works;
    size_t count, room, left; /* left: not done */
    struct pollfd *polls;     /* with room for poll_room */
    blyi_node **polled;
    size_t poll_room;
    size_t rounds;
    size_t first_failed; /* SIZE_MAX: none has */
    int error;           /* its errno */
    bly_redis_reason why;

    /* Of the round: */
    bool again;           /* the round before it had trouble */
    bool trouble;         /* something is to be tried again, but not at once */
    int64_t end;          /* when trying ends */
    bly_redis_reply *map; /* what was answered to CLUSTER SLOTS */
    blyi_node *map_from;
};

/* The work is done, as its request says, or has failed for that reason. errno goes with BLY_EIO. */
void blyi_work_done(blyi_exchange *x, blyi_work *w);
void blyi_work_fail(blyi_exchange *x, blyi_work *w, bly_status status, const bly_redis_reason *why);
/* It is for the next round, after a pause; if that does not come, it has failed, with that status,
 * reason and errno. `sent`: it may have been carried out, so that one that is to be sent but once
 * has failed. */
void blyi_work_put_off(blyi_exchange *x, blyi_work *w, bly_status status,
                       const bly_redis_reason *why, bool sent);

/* Every node gets what it is to do, and does it. Works that are neither done nor failed are for the
 * next round. BLY_ENOMEM. */
bly_status blyi_round(blyi_exchange *x);

/* Begins: connects, where there is no link. */
void blyi_turn_begin(blyi_exchange *x, blyi_node *node);
/* After poll(). */
void blyi_turn_step(blyi_exchange *x, blyi_node *node, short events);
/* Its time is over: for an answer, or for a pause. */
void blyi_turn_late(blyi_exchange *x, blyi_node *node);
/* The link has failed with that status, for the reason that the node has. */
void blyi_turn_broken(blyi_exchange *x, blyi_node *node, bly_status status);

/* All of its work is answered: whether replicas must be waited for, which has begun then. */
bly_status blyi_wait_begin(blyi_exchange *x, blyi_node *node, bool *begun);
/* An answer to what that has sent. */
bly_status blyi_wait_hear(blyi_exchange *x, blyi_node *node, const bly_redis_reply *reply);
/* The pause is over that a server made necessary which said at once that replicas are lacking. */
bly_status blyi_wait_again(blyi_exchange *x, blyi_node *node);

/* CLUSTER SLOTS */
extern const bly_bytes blyi_ask_slots[2];

/* Asks one node after the other for the slots. Whatever comes of it, the next round can begin. */
void blyi_map_refresh(blyi_exchange *x);

#endif
