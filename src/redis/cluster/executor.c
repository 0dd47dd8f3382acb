/* A run: rounds, until all is done or trying ends.
 *
 * What comes of a round decides when the next one begins. Redirections and unknown scripts need no
 * pause. Trouble - a link that broke, a server that is busy, loading, or not yet master - does,
 * each one twice as long as the last, and with a cluster the slots are asked for anew. Trying ends
 * retry_ms after the last round that got something done.
 *
 * The first connection is tried for as long. But where nobody listens, or the name is nobody's, it
 * is more likely that the address is wrong than that a server is about to come.
 */
#include "redis/cluster/executor_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECT_MS = 5000,
    COMMAND_MS = 10000,
    RETRY_MS = 15000,
    REPLICAS_MS = 1000,
    FIRST_PAUSE_MS = 10,
    MOST_PAUSE_MS = 500,
    FEW_WORKS = 1024 /* whose memory is kept from run to run */
};

static const bly_redis_reason no_memory = {"out of memory"};

/* ---- open and close -------------------------------------------------------------------------- */

static void set_default(uint32_t *value, uint32_t otherwise) {
    if (*value == 0)
        *value = otherwise;
}

static bly_status make(blyi_exchange *x, const bly_redis_url *url,
                       const bly_redis_filter_options *options) {
    bly_redis_filter_options *o = &x->options;
    if (options)
        *o = *options;
    set_default(&o->connect_ms, CONNECT_MS);
    set_default(&o->command_ms, COMMAND_MS);
    set_default(&o->retry_ms, RETRY_MS);
    set_default(&o->replicas_ms, REPLICAS_MS);
    bly_status status = blyi_login_make(url, o->connect_ms, o->command_ms, &x->why, &x->login);
    if (status)
        return status;
    x->login.ask_role = !o->allow_replica;
    status = blyi_nodes_make(url, &x->nodes);
    if (status)
        x->why = no_memory;
    return status;
}

/* false: trying has ended. */
static bool rest(const blyi_exchange *x, int *pause) {
    const int64_t left = x->end - blyi_now_ms();
    if (left <= 0 || x->options.no_retry)
        return false;
    (void)poll(NULL, 0, left < *pause ? (int)left : *pause);
    *pause = *pause * 2 < MOST_PAUSE_MS ? *pause * 2 : MOST_PAUSE_MS;
    return true;
}

static bly_status try_first(blyi_exchange *x, int64_t most_ms) {
    blyi_node *first = x->nodes.list[0];
    bly_status status = blyi_link_open(&x->login, &first->place, &x->why, &first->link);
    if (status == BLY_OK)
        status = blyi_link_connect(first->link, most_ms, &x->why);
    if (status) {
        blyi_link_close(first->link);
        first->link = NULL;
    }
    return status;
}

/* By errno: somebody is there, or may be, and will perhaps let us in later. */
static bool may_pass(int error) {
    return error == ETIMEDOUT || error == EAGAIN || error == ECONNRESET || error == EPIPE;
}

static bly_status connect_first(blyi_exchange *x) {
    int pause = FIRST_PAUSE_MS;
    int64_t most = x->options.connect_ms;
    x->end = blyi_now_ms() + x->options.retry_ms;
    for (;;) {
        const bly_status status = try_first(x, most);
        const int error = errno;
        const bool again = status == BLY_EIO && may_pass(error) && rest(x, &pause);
        errno = error;
        if (!again)
            return status == BLY_EINVAL ? BLY_EREFUSED : status;
        const int64_t left = x->end - blyi_now_ms();
        most = left > BLYI_LEAST_MS ? left : BLYI_LEAST_MS;
    }
}

bly_status blyi_exchange_open(const bly_redis_url *url, const bly_redis_filter_options *options,
                              bly_redis_reason *why, blyi_exchange **out) {
    blyi_exchange *x = calloc(1, sizeof *x);
    *out = NULL;
    bly_status status = x ? make(x, url, options) : BLY_ENOMEM;
    if (status == BLY_OK) {
        const blyi_pipe_guard guard = blyi_hold_pipe();
        status = connect_first(x);
        blyi_release_pipe(&guard);
    }
    if (status == BLY_OK) {
        *out = x;
        return BLY_OK;
    }
    if (why)
        *why = x ? x->why : no_memory;
    const int saved = errno;
    blyi_exchange_close(x);
    errno = saved;
    return status;
}

void blyi_exchange_close(blyi_exchange *x) {
    if (!x)
        return;
    blyi_nodes_free(&x->nodes);
    blyi_login_free(&x->login);
    bly_redis_reply_free(x->map);
    free(x->works);
    free(x->polls);
    free(x->polled);
    free(x);
}

/* ---- works ----------------------------------------------------------------------------------- */

void blyi_work_done(blyi_exchange *x, blyi_work *w) {
    w->request->status = BLY_OK;
    w->done = true;
    x->left--;
    x->served = true;
}

void blyi_work_fail(blyi_exchange *x, blyi_work *w, bly_status status,
                    const bly_redis_reason *why) {
    const size_t index = (size_t)(w - x->works);
    w->request->status = status;
    w->done = true;
    x->left--;
    if (index < x->first_failed) {
        x->first_failed = index;
        x->error = errno;
        x->why = *why;
    }
}

void blyi_work_put_off(blyi_exchange *x, blyi_work *w, bly_status status,
                       const bly_redis_reason *why, bool sent) {
    w->request->repeated = w->request->repeated || sent;
    if (sent && w->request->once) {
        blyi_work_fail(x, w, BLY_EIO, why);
        return;
    }
    w->status = status;
    w->error = errno;
    w->why = *why;
    x->trouble = true;
}

/* All that are left have failed, for want of memory or of time. */
static void fail_rest(blyi_exchange *x, bool memory) {
    for (size_t i = 0; i < x->count; i++) {
        blyi_work *w = &x->works[i];
        if (w->done)
            continue;
        if (!w->why.text[0]) /* it had no trouble itself, but others had */
            blyi_say(&w->why, "there was no time to send it to %s again", w->at->place.name);
        errno = memory ? ENOMEM : w->error;
        blyi_work_fail(x, w, memory ? BLY_ENOMEM : w->status, memory ? &no_memory : &w->why);
    }
}

static bly_status begin(blyi_exchange *x, blyi_request *requests, size_t n) {
    for (size_t i = 0; i < n; i++) {
        requests[i].reply = NULL;
        requests[i].status = BLY_ENOMEM;
        requests[i].repeated = false;
    }
    x->rounds = 0;
    x->first_failed = SIZE_MAX;
    x->why = (bly_redis_reason){""};
    if (n > x->room) {
        blyi_work *works =
            n <= SIZE_MAX / sizeof *works ? realloc(x->works, n * sizeof *works) : NULL;
        if (!works) {
            x->why = no_memory;
            return BLY_ENOMEM;
        }
        x->works = works;
        x->room = n;
    }
    x->count = x->left = n;
    for (size_t i = 0; i < n; i++)
        x->works[i] = (blyi_work){.request = &requests[i],
                                  .slot = bly_redis_slot(requests[i].command->key),
                                  .status = BLY_EIO,
                                  .error = ETIMEDOUT};
    return BLY_OK;
}

/* Links that broke while nobody used them: it is better to know before something is sent. */
static void check_links(blyi_exchange *x) {
    for (size_t i = 0; i < x->nodes.count; i++) {
        blyi_node *node = x->nodes.list[i];
        if (!node->link)
            continue;
        bly_redis_reason why;
        bly_redis_reply *reply = NULL;
        struct pollfd one = {.fd = blyi_link_fd(node->link), .events = POLLIN};
        if (poll(&one, 1, 0) == 0)
            continue;
        /* TLS has things of its own to say. */
        if (blyi_link_step(node->link, one.revents, &why) ||
            blyi_link_take(node->link, &why, &reply) || reply) {
            bly_redis_reply_free(reply);
            blyi_link_close(node->link);
            node->link = NULL;
        }
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* What the first node was asked besides. A server that has no slots says so by an error. */
static void read_map(blyi_exchange *x) {
    if (x->map)
        (void)blyi_nodes_read(&x->nodes, x->map_from, x->map);
    bly_redis_reply_free(x->map);
    x->map = NULL;
}

static void do_rounds(blyi_exchange *x) {
    int pause = FIRST_PAUSE_MS;
    x->trouble = false;
    x->end = blyi_now_ms() + x->options.retry_ms;
    while (x->left > 0) {
        const size_t before = x->left;
        if (x->nodes.cluster && x->nodes.stale)
            blyi_map_refresh(x);
        x->again = x->trouble;
        x->trouble = false;
        if (blyi_round(x)) {
            fail_rest(x, true);
            break;
        }
        if (x->left < before) {
            x->end = blyi_now_ms() + x->options.retry_ms;
            pause = FIRST_PAUSE_MS;
        }
        if (x->left > 0 && x->trouble && !rest(x, &pause))
            fail_rest(x, false);
        read_map(x);
    }
}

bly_status blyi_exchange_run(blyi_exchange *x, blyi_request *requests, size_t n) {
    bly_status status = begin(x, requests, n);
    if (status || n == 0)
        return status;
    const blyi_pipe_guard guard = blyi_hold_pipe();
    check_links(x);
    do_rounds(x);
    blyi_release_pipe(&guard);
    if (x->first_failed < n) {
        status = requests[x->first_failed].status;
        errno = x->error;
    }
    if (x->room > FEW_WORKS) {
        free(x->works);
        x->works = NULL;
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

const char *blyi_exchange_why(const blyi_exchange *x) {
    return x->why.text;
}

size_t blyi_exchange_rounds(const blyi_exchange *x) {
    return x->rounds;
}

const char *blyi_exchange_node(const blyi_exchange *x, bly_bytes key) {
    return blyi_nodes_owner(&x->nodes, bly_redis_slot(key))->place.name;
}
