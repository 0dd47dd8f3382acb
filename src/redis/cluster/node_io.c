/* What one node does in a round.
 *
 * Its commands are appended to its link in order, as far as what is still to be written stays
 * within bounds, and answers come in the same order, each of which says what becomes of the next
 * unanswered one. If the link breaks, all that have no answer are for the next round. Those of
 * which a byte was written may have been carried out all the same.
 */
#include "redis/cluster/executor_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNWRITTEN = 256 << 10, /* bytes that may wait to be written before more is appended. hiredis
                              moves what is left of them at every write */
    MOST_HOPS = 16,        /* without a node on the way that was in trouble */
    QUICK_HOPS = 3 /* after more, nodes disagree: time will help */,
    MOST_HUNG_UP = 2 /* then it is because they were asked for their role, as a proxy may do */
};

static const bly_bytes asking = {"ASKING", 6};

/* ---- sending --------------------------------------------------------------------------------- */

static bly_status append_with_text(blyi_node *node, const bly_bitmap_command *c) {
    bly_bytes *args = malloc(c->count * sizeof *args);
    if (!args) {
        blyi_say(&node->why, "out of memory");
        return BLY_ENOMEM;
    }
    memcpy(args, c->args, c->count * sizeof *args);
    args[0] = (bly_bytes){"EVAL", 4};
    args[1] = c->script;
    bly_status status = blyi_link_append(node->link, args, c->count, &node->why);
    free(args);
    return status;
}

static bly_status send_work(blyi_node *node, blyi_work *w) {
    const bly_bitmap_command *c = w->request->command;
    bly_status status = BLY_OK;
    w->begins = blyi_link_appended(node->link);
    if (w->ask)
        status = blyi_link_append(node->link, &asking, 1, &node->why);
    if (status)
        return status;
    return w->text ? append_with_text(node, c)
                   : blyi_link_append(node->link, c->args, c->count, &node->why);
}

static bly_status send_some(blyi_exchange *x, blyi_node *node) {
    blyi_turn *t = &node->turn;
    bly_status status = BLY_OK;
    if (!x->map_asked && t->unsent) {
        x->map_asked = t->map = true;
        status = blyi_link_append(node->link, blyi_ask_slots, 2, &node->why);
    }
    while (status == BLY_OK && t->unsent &&
           blyi_link_appended(node->link) - blyi_link_written(node->link) < UNWRITTEN) {
        status = send_work(node, t->unsent);
        t->unsent = t->unsent->next;
    }
    return status;
}

/* ---- hearing --------------------------------------------------------------------------------- */

static bool is_read_only(const bly_redis_value *value) {
    static const char word[] = "READONLY";
    return value->type == BLY_REDIS_ERROR && strncmp(value->text.data, word, sizeof word - 1) == 0;
}

static void quote(blyi_node *node, const bly_redis_value *value) {
    blyi_say(&node->why, "%s: %s", node->place.name, (const char *)value->text.data);
}

/* A clean rejection. */
static void wait_for_better(blyi_exchange *x, blyi_work *w, const bly_redis_value *value) {
    blyi_node *node = w->at;
    quote(node, value);
    errno = EAGAIN;
    blyi_work_put_off(x, w, BLY_EIO, &node->why, false);
    x->nodes.stale = x->nodes.cluster;
    /* The name may by now be another server's: connect anew. */
    if (is_read_only(value))
        node->turn.drop = true;
}

/* Whether a command was carried out, or would have been, by a replica that was not to be asked. A
 * cluster's replicas send us to their masters, and one that does not has become master since. */
static bool is_replicas(const blyi_exchange *x, const blyi_node *node,
                        const bly_redis_value *value) {
    const bly_redis_verdict verdict = bly_redis_judge(value);
    const bool cluster =
        x->nodes.cluster || (x->map && bly_redis_reply_type(x->map) == BLY_REDIS_ARRAY);
    return !cluster && !x->options.allow_replica && blyi_link_master(node->link) &&
           (verdict == BLY_REDIS_DONE || verdict == BLY_REDIS_REFUSED || is_read_only(value));
}

/* At first contact the address is wrong. Later the master has perhaps changed: connect anew. */
static void refuse_replica(blyi_exchange *x, blyi_work *w, const bly_redis_value *value) {
    blyi_node *node = w->at;
    const char *master = blyi_link_master(node->link);
    blyi_say(&node->why, "%s is a replica; name its master%s%s", node->place.name,
             *master ? ", " : "", master);
    errno = EAGAIN;
    /* There are replicas that let themselves be written to. */
    const bool written = w->request->command->writes && value->type != BLY_REDIS_ERROR;
    if (x->served)
        blyi_work_put_off(x, w, BLY_EREFUSED, &node->why, written);
    else
        blyi_work_fail(x, w, BLY_EREFUSED, &node->why);
    node->turn.drop = true;
}

/* MOVED or ASK. */
static void follow(blyi_exchange *x, blyi_work *w, const bly_redis_value *value, bool once) {
    blyi_node *node = w->at, *to = NULL;
    bly_redis_place place;
    bly_status status = BLY_EIO;
    if (++w->hops > MOST_HOPS || !bly_redis_place_of(value, &place)) {
        blyi_say(&node->why, "%s sends us from node to node, at last by: %s", node->place.name,
                 (const char *)value->text.data);
        errno = ELOOP;
    } else {
        status = blyi_nodes_find(&x->nodes, node, place.host, place.port, &to);
        errno = EHOSTUNREACH;
        quote(node, value);
    }
    if (status) {
        blyi_work_fail(x, w, status == BLY_ENOMEM ? BLY_ENOMEM : BLY_EIO, &node->why);
        return;
    }
    if (w->hops > QUICK_HOPS && !x->options.no_retry)
        blyi_work_put_off(x, w, BLY_EIO, &node->why, false);
    if (once) {
        w->ask = to;
        to->wanted = true;
        x->nodes.cluster = true;
    } else {
        blyi_nodes_moved(&x->nodes, w->slot, to);
    }
}

/* The answer to a work is the request's own, or says how to go on. */
static void hear_work(blyi_exchange *x, blyi_work *w, bly_redis_reply *reply) {
    const bly_redis_value value = bly_redis_reply_value(reply);
    const bly_redis_verdict verdict = bly_redis_judge(&value);
    w->ask = NULL;
    if (verdict == BLY_REDIS_NO_SCRIPT && w->request->command->script.size > 0 && !w->text) {
        w->text = true;
    } else if (verdict == BLY_REDIS_MOVED || verdict == BLY_REDIS_ASK) {
        follow(x, w, &value, verdict == BLY_REDIS_ASK);
    } else if (is_replicas(x, w->at, &value)) {
        refuse_replica(x, w, &value);
    } else if (verdict == BLY_REDIS_LATER) {
        wait_for_better(x, w, &value);
    } else {
        w->request->reply = reply;
        w->confirm =
            x->options.replicas > 0 && w->request->command->writes && value.type != BLY_REDIS_ERROR;
        if (!w->confirm)
            blyi_work_done(x, w);
        return;
    }
    bly_redis_reply_free(reply);
}

/* A server that has too many clients says so at once, and hangs up. */
static bly_status unasked(blyi_node *node, const bly_redis_reply *reply) {
    const bool error = bly_redis_reply_type(reply) == BLY_REDIS_ERROR;
    blyi_say(&node->why, "%s: %s", node->place.name,
             error ? (const char *)bly_redis_reply_text(reply).data : "an answer to no question");
    errno = error ? ECONNREFUSED : EPROTO;
    return BLY_EIO;
}

static bly_status hear(blyi_exchange *x, blyi_node *node, bly_redis_reply *reply) {
    blyi_turn *t = &node->turn;
    blyi_work *w = t->unanswered;
    bly_status status = BLY_OK;
    x->heard = true;
    if (t->map) {
        t->map = false;
        bly_redis_reply_free(x->map);
        x->map = reply;
        x->map_from = node;
        return BLY_OK;
    }
    if (w && w != t->unsent) {
        if (w->ask && !w->asked) {
            w->asked = true;
            bly_redis_reply_free(reply);
            return BLY_OK;
        }
        t->unanswered = w->next;
        hear_work(x, w, reply);
        return BLY_OK;
    }
    status = t->closing ? blyi_wait_hear(x, node, reply) : unasked(node, reply);
    bly_redis_reply_free(reply);
    return status;
}

/* All answers that have come. */
static bly_status hear_all(blyi_exchange *x, blyi_node *node) {
    bly_status status = BLY_OK;
    bly_redis_reply *reply = NULL;
    do {
        status = blyi_link_take(node->link, &node->why, &reply);
        if (status == BLY_OK && reply)
            status = hear(x, node, reply);
    } while (status == BLY_OK && reply);
    return status;
}

/* ---- the turn -------------------------------------------------------------------------------- */

static void end_turn(blyi_node *node) {
    node->turn.over = true;
    node->failed = node->turn.drop;
    if (node->turn.drop) {
        blyi_link_close(node->link);
        node->link = NULL;
    }
}

/* Sends what can be sent; if there is nothing, and no answer is due, the turn is over. */
static bly_status go_on(blyi_exchange *x, blyi_node *node) {
    blyi_turn *t = &node->turn;
    bool begun = false;
    bly_status status = send_some(x, node);
    if (status || t->unanswered || t->map || t->closing || t->again_at)
        return status;
    status = blyi_wait_begin(x, node, &begun);
    if (status == BLY_OK && !begun)
        end_turn(node);
    return status;
}

void blyi_turn_begin(blyi_exchange *x, blyi_node *node) {
    bly_status status = BLY_OK;
    if (!node->link)
        status = blyi_link_open(&x->login, &node->place, &node->why, &node->link);
    else
        blyi_link_wake(node->link);
    if (status == BLY_OK && blyi_link_ready(node->link))
        status = go_on(x, node);
    if (status)
        blyi_turn_broken(x, node, status);
}

void blyi_turn_step(blyi_exchange *x, blyi_node *node, short events) {
    bly_redis_reason broken;
    bly_status status = blyi_link_step(node->link, events, &broken);
    const int error = errno;
    if (blyi_link_ready(node->link)) {
        /* What was answered before the link broke is answered. */
        bly_status heard = hear_all(x, node);
        if (status == BLY_OK && heard == BLY_OK)
            heard = go_on(x, node);
        if (heard) {
            blyi_turn_broken(x, node, heard);
            return;
        }
    }
    if (status == BLY_OK || node->turn.over)
        return;
    node->why = broken;
    errno = error;
    blyi_turn_broken(x, node, status);
}

void blyi_turn_late(blyi_exchange *x, blyi_node *node) {
    const bly_status status =
        node->turn.again_at ? blyi_wait_again(x, node) : blyi_link_late(node->link, &node->why);
    if (status)
        blyi_turn_broken(x, node, status);
}

/* Not worth a second try. */
static bool is_final(const blyi_exchange *x, bly_status status, int error) {
    return x->options.no_retry || status != BLY_EIO || error == EPROTO;
}

/* There are proxies that end a connection over a command that they do not know. */
static void note_role(blyi_exchange *x, const blyi_link *link, int error) {
    if (!x->heard && error != ETIMEDOUT && blyi_link_written(link) > 0 &&
        blyi_link_role_due(link) && ++x->hung_up >= MOST_HUNG_UP)
        x->login.ask_role = false;
}

void blyi_turn_broken(blyi_exchange *x, blyi_node *node, bly_status status) {
    const int error = errno;
    const uint64_t written = node->link ? blyi_link_written(node->link) : 0;
    const bool final = is_final(x, status, error);
    blyi_turn *t = &node->turn;
    if (node->link)
        note_role(x, node->link, error);
    bool open = false; /* from the first unanswered on */
    for (blyi_work *w = t->first; w; w = w->next) {
        open = open || w == t->unanswered;
        if (!open && !w->confirm)
            continue;
        const bool sent = w->begins < written;
        bly_redis_reply_free(w->request->reply);
        w->request->reply = NULL;
        w->confirm = w->asked = false;
        w->ask = NULL;
        w->hops = 0;
        errno = error;
        if (final) {
            w->request->repeated = w->request->repeated || sent;
            blyi_work_fail(x, w, status == BLY_EINVAL ? BLY_EREFUSED : status, &node->why);
        } else {
            blyi_work_put_off(x, w, BLY_EIO, &node->why, sent);
        }
    }
    blyi_link_close(node->link);
    node->link = NULL;
    node->failed = true;
    t->over = true;
    x->nodes.stale = x->nodes.cluster;
}
