/* server.h - a key of a server, for commands that send filters to one or fetch them.
 *
 * Every function here that fails has printed why, and what to do about it.
 */
#ifndef BLOOMERY_CLI_SERVER_H
#define BLOOMERY_CLI_SERVER_H

#include <bloomery/redis/filter.h>

typedef struct server_key {
    bly_redis_url url;
    char *name; /* the address as it was given, without user and password: for messages */
    bly_redis *server;
} server_key;

/* "redis://HOST/KEY" of "redis://USER:PASSWORD@HOST/KEY", to be freed; NULL: out of memory. */
char *server_name(const char *address);

/* Understands the address, which must name a key. Where it has no password, REDISCLI_AUTH may.
 * Close it, whatever comes. */
bool server_parse(server_key *t, const char *address);
bool server_connect(server_key *t);
void server_close(server_key *t);

/* The answer to a command, to be freed; NULL: the connection broke, which is reported, with `lost`
 * (may be "") after it. An error of the server's is an answer. */
bly_redis_reply *server_command(server_key *t, const bly_bytes *args, size_t n, const char *lost);

/* Reports an answer that is an error, with advice; of any other answer, that it makes no sense.
 * Returns CLI_ERROR. */
int server_refused(const server_key *t, const bly_redis_reply *answer);

bool server_is_error(const bly_redis_reply *answer);
/* Whether an answer is an error that has these words in it. */
bool server_error_has(const bly_redis_reply *answer, const char *words);

/* A number as an argument, in `room`. */
enum { SERVER_NUMBER = 24 };
bly_bytes server_number(uint64_t value, char room[SERVER_NUMBER]);
bly_bytes server_word(const char *text);

#endif
