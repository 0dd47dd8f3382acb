/* server.c - connections to keys on servers: addresses, commands, and advice for a server's errors.
 */
#include "filters/server.h"

#include "cli.h"
#include "text/message.h"

#include <bloomery/redis/connection.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- addresses ------------------------------------------------------------------------------- */

/* "redis://HOST/KEY" for "redis://USER:PASSWORD@HOST/KEY". NULL: out of memory. */
static char *name_of(const char *address) {
    const char *mark = strstr(address, "://");
    const char *begin = mark ? mark + 3 : address;
    const size_t login = strcspn(begin, "/?");
    char *name = strdup(address);
    for (size_t i = login; name && i > 0; i--)
        if (begin[i - 1] == '@') {
            memmove(name + (begin - address), begin + i, strlen(begin + i) + 1);
            break;
        }
    return name;
}

bool server_parse(server_key *t, const char *address) {
    const char *why = NULL;
    *t = (server_key){0};
    if (!bly_redis_available())
        return message_fail("this build of bloomery has no support for servers, because hiredis "
                            "was not found; build it with hiredis");
    t->name = name_of(address);
    const bly_status status =
        t->name ? bly_redis_url_parse(address, &why, &t->url) : (bly_status)BLY_ENOMEM;
    if (status == BLY_EINVAL)
        return message_fail("%s: %s", t->name, why);
    if (status != BLY_OK)
        return message_fail("out of memory");
    if (!t->url.key.data)
        return message_fail("%s: has no key; %s", t->name,
                            t->url.socket ? "write unix:///PATH?key=KEY"
                                          : "write redis://HOST:PORT/KEY or "
                                            "redis://HOST:PORT/DATABASE/KEY");
    if (!t->url.password)
        t->url.password = getenv("REDISCLI_AUTH");
    return true;
}

bool server_connect(server_key *t) {
    const bly_redis_options options = {.struct_size = sizeof options, .follow_moved = true};
    bly_redis_reason why;
    const bly_status status = bly_redis_open(&t->url, &options, &why, &t->server);
    return status == BLY_OK || message_fail("%s: %s", t->name, why.text);
}

void server_close(server_key *t) {
    bly_redis_close(t->server);
    bly_redis_url_free(&t->url);
    free(t->name);
    *t = (server_key){0};
}

/* ---- commands and replies -------------------------------------------------------------------- */

bly_redis_reply *server_command(server_key *t, const bly_bytes *args, size_t n, const char *lost) {
    bly_redis_reply *reply;
    if (bly_redis_command(t->server, args, n, &reply) != BLY_OK)
        (void)message_error("%s: %s%s", t->name, bly_redis_error(t->server), lost);
    return reply;
}

bool server_is_error(const bly_redis_reply *reply) {
    return bly_redis_reply_type(reply) == BLY_REDIS_ERROR;
}

bool server_error_has(const bly_redis_reply *reply, const char *words) {
    return server_is_error(reply) && strstr(bly_redis_reply_text(reply).data, words);
}

/* Advice for a server's errors, printed after the server's message or instead of it. */
static const struct {
    const char *words, *text;
    bool instead;
} known[] = {
    {"unknown command",
     "the server has no Bloomery module; load it first: MODULE LOAD /PATH/TO/bloomery.so, or "
     "loadmodule in its configuration",
     true},
    {"NOAUTH", "; pass the password as redis://:PASSWORD@HOST or in REDISCLI_AUTH", false},
    {"NOPERM", "; the server's ACL must allow the user this command and this key", false},
    {"WRONGTYPE", "the key exists and is not a filter of the module; use another key", true},
    {"exists", "already exists; use --replace to replace it", true},
    {"not found", "there is no such key", true},
    {"READONLY", "the server is a replica; name its master", true},
    {"LOADING", "; try again when the server has loaded its data", false},
    {"ASK ", "; the key is being moved to another server; try again later", false},
    {"TRYAGAIN", "; the key is being moved to another server; try again later", false},
    {"expected offset", "; another client is sending a filter to this key", false},
    {"expected total", "the server has the beginning of another file; leave out --resume", true},
};

int server_refused(const server_key *t, const bly_redis_reply *reply) {
    if (!server_is_error(reply))
        return message_error("%s: unexpected answer from the server, probably because its Bloomery "
                             "module has a different version; load the module of version %s there",
                             t->name, bly_version());
    const char *text = bly_redis_reply_text(reply).data;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(text, known[i].words))
            return known[i].instead
                       ? message_error("%s: %s", t->name, known[i].text)
                       : message_error("%s: the server says: %s%s", t->name, text, known[i].text);
    return message_error("%s: the server says: %s", t->name, text);
}

bly_bytes server_number(uint64_t value, char room[SERVER_NUMBER]) {
    const int length = snprintf(room, SERVER_NUMBER, "%llu", (unsigned long long)value);
    return (bly_bytes){room, (size_t)length};
}

bly_bytes server_word(const char *text) {
    return (bly_bytes){text, strlen(text)};
}
