/* server.h - a key on a server, for commands that send or fetch filters.
 *
 * Functions that fail print the reason and what to do about it.
 */
#ifndef BLOOMERY_CLI_SERVER_H
#define BLOOMERY_CLI_SERVER_H

#include <bloomery/redis/filter.h>

typedef struct server_key {
    bly_redis_url url;
    char *name; /* the address without user and password, for messages */
    bly_redis *server;
} server_key;

/* Parses the address, which must name a key. If it has no password, the one in the environment
 * variable REDISCLI_AUTH is used. Close *t in any case. */
bool server_parse(server_key *t, const char *address);
bool server_connect(server_key *t);
void server_close(server_key *t);

/* Sends a command and returns the reply, which the caller frees. An error of the server is a reply,
 * too. If the connection fails, reports that, followed by `lost` (may be ""), and returns NULL. */
bly_redis_reply *server_command(server_key *t, const bly_bytes *args, size_t n, const char *lost);

/* Reports an error reply, with advice, or any other reply as unexpected. Returns CLI_ERROR. */
int server_refused(const server_key *t, const bly_redis_reply *reply);

bool server_is_error(const bly_redis_reply *reply);
/* Whether a reply is an error that contains these words. */
bool server_error_has(const bly_redis_reply *reply, const char *words);

/* Makes an argument of a command from a number, whose digits are written to `room`. */
enum { SERVER_NUMBER = 24 };
bly_bytes server_number(uint64_t value, char room[SERVER_NUMBER]);
bly_bytes server_word(const char *text);

#endif
