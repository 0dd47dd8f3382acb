/* test_executor.c - events that are hard to cause with a real server: the reply to a command is
 * lost, after which the command is sent again or must not be; and a broken connection raises
 * SIGPIPE. */
#include "support.h"

#include "redis/client/connection.h"
#include "redis/cluster/executor.h"

#include <arpa/inet.h>
#include <bloomery/redis/filter.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- a server -------------------------------------------------------------------------------- */

/* A server on this machine. It answers answers[i] commands on connection number i (from 0), and
 * closes the connection at the next command. ROLE and CLUSTER are always answered, and not counted.
 * If answers[i] is -1, the connection is closed at once. */
typedef struct server {
    int listener;
    unsigned port;
    const int *answers;
    int count;
    pthread_t thread;
    int served;        /* commands received, without ROLE and CLUSTER */
    atomic_int closed; /* number of connections that were closed */
} server;

/* Reads a command to its last byte, and gives its name; "" at the end of the connection. */
static void read_name(FILE *from, char *name, size_t room) {
    char line[64];
    long args = 0, size;
    name[0] = '\0';
    if (!fgets(line, sizeof line, from) || sscanf(line, "*%ld", &args) != 1)
        return;
    for (long i = 0; i < args; i++) {
        char text[256];
        if (!fgets(line, sizeof line, from) || sscanf(line, "$%ld", &size) != 1 || size < 0 ||
            (size_t)size + 2 > sizeof text || fread(text, 1, (size_t)size + 2, from) == 0)
            return;
        text[size] = '\0';
        if (i == 0)
            (void)snprintf(name, room, "%s", text);
    }
}

static void serve_one(server *s, int fd, int answers) {
    char name[256];
    FILE *from = fdopen(fd, "r");
    while (answers >= 0) {
        read_name(from, name, sizeof name);
        if (!name[0])
            break;
        const bool aside = strcmp(name, "ROLE") == 0 || strcmp(name, "CLUSTER") == 0;
        s->served += !aside;
        if (!aside && answers-- == 0)
            break;
        const char *text = aside ? "-ERR no\r\n" : ":1\r\n";
        if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
            break;
    }
    (void)fclose(from);
    atomic_fetch_add(&s->closed, 1);
}

static void *serve(void *ctx) {
    server *s = ctx;
    for (int i = 0; i < s->count; i++) {
        const int fd = accept(s->listener, NULL, NULL);
        if (fd < 0)
            break;
        serve_one(s, fd, s->answers[i]);
    }
    return NULL;
}

static void start(server *s, const int *answers, int count) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    *s = (server){.listener = socket(AF_INET, SOCK_STREAM, 0), .answers = answers, .count = count};
    assert_int_equal(bind(s->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&at, &length), 0);
    assert_int_equal(listen(s->listener, 8), 0);
    s->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(server *s) {
    (void)shutdown(s->listener, SHUT_RDWR);
    (void)pthread_join(s->thread, NULL);
    (void)close(s->listener);
}

static blyi_executor *open_at(const server *s, bool no_retry) {
    const bly_redis_filter_options options = {
        .struct_size = sizeof options, .no_retry = no_retry, .retry_ms = 5000};
    char address[64];
    bly_redis_url url;
    bly_redis_reason why;
    blyi_executor *x;
    (void)snprintf(address, sizeof address, "redis://127.0.0.1:%u", s->port);
    assert_ok(bly_redis_url_parse(address, NULL, &url));
    assert_ok(blyi_executor_open(&url, &options, &why, &x));
    bly_redis_url_free(&url);
    return x;
}

static const bly_bytes words[] = {{"INCR", 4}, {"k", 1}};
static const bly_bitmap_command command = {
    .args = words, .count = 2, .key = {"k", 1}, .writes = true};

/* ---- once ------------------------------------------------------------------------------------ */

/* The first connection is closed when it has received the command. The command is sent again,
 * except with `once`, because it may have been executed. */
static void test_lost_answers(void **state) {
    (void)state;
    static const int answers[] = {0, 9};
    for (int once = 0; once < 2; once++) {
        server s;
        start(&s, answers, 2);
        blyi_executor *x = open_at(&s, false);
        blyi_request r = {.command = &command, .once = once};
        const bly_status status = blyi_executor_run(x, &r, 1);
        assert_int_equal(status, once ? BLY_EIO : BLY_OK);
        assert_int_equal(r.status, status);
        assert_true(r.repeated);
        assert_int_equal(r.reply != NULL, !once);
        assert_int_equal(strlen(blyi_executor_why(x)) > 0, once);
        blyi_requests_clear(&r, 1);
        assert_int_equal(r.once, once);
        /* The next run is not affected by the lost connection. */
        assert_ok(blyi_executor_run(x, &r, 1));
        assert_false(r.repeated);
        blyi_requests_clear(&r, 1);
        blyi_executor_close(x);
        stop(&s);
        assert_int_equal(s.served, once ? 2 : 3);
    }
}

/* The first connection is closed before anything was sent. So even a command with `once` can be
 * sent over another connection. */
static void test_nothing_sent(void **state) {
    (void)state;
    static const int answers[] = {-1, 1, 9};
    server s;
    start(&s, answers, 3);
    blyi_executor *x = open_at(&s, true);
    blyi_request r = {.command = &command, .once = true}, two[2] = {r, r};
    while (atomic_load(&s.closed) == 0)
        (void)poll(NULL, 0, 1);
    assert_ok(blyi_executor_run(x, &r, 1));
    assert_false(r.repeated);
    blyi_requests_clear(&r, 1);
    /* Both commands are sent. The server closes the connection at the first, so neither is sent
     * again. */
    assert_int_equal(blyi_executor_run(x, two, 2), BLY_EIO);
    assert_true(two[0].repeated && two[1].repeated);
    blyi_requests_clear(two, 2);
    blyi_executor_close(x);
    stop(&s);
    assert_int_equal(s.served, 2);
}

/* ---- SIGPIPE --------------------------------------------------------------------------------- */

static bool is_pending(void) {
    sigset_t waiting;
    assert_int_equal(sigpending(&waiting), 0);
    return sigismember(&waiting, SIGPIPE) == 1;
}

static void test_signals_of_others(void **state) {
    (void)state;
    sigset_t pipe, before;
    int number;
    (void)sigemptyset(&pipe);
    (void)sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
    /* A signal to the process, while no connection has failed, stays pending. */
    blyi_sigpipe_guard guard = blyi_sigpipe_block();
    (void)kill(getpid(), SIGPIPE);
    blyi_sigpipe_restore(&guard);
    assert_true(is_pending());
    /* A signal that was pending before stays pending. */
    guard = blyi_sigpipe_block();
    blyi_sigpipe_expect();
    blyi_sigpipe_restore(&guard);
    assert_true(is_pending());
    assert_int_equal(sigwait(&pipe, &number), 0);
    /* A connection has failed, but no signal is pending (none was raised, or another thread
     * accepted it): restoring does not wait for one. */
    guard = blyi_sigpipe_block();
    blyi_sigpipe_expect();
    blyi_sigpipe_restore(&guard);
    /* The signal of a connection that failed is discarded. */
    guard = blyi_sigpipe_block();
    assert_int_equal(pthread_kill(pthread_self(), SIGPIPE), 0);
    blyi_sigpipe_expect();
    blyi_sigpipe_restore(&guard);
    assert_false(is_pending());
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_answers),
        cmocka_unit_test(test_nothing_sent),
        cmocka_unit_test(test_signals_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
