/* talk.h - a key of a server, for commands that send filters to one or fetch them.
 *
 * Every function here that fails has printed why, and what to do about it.
 */
#ifndef BLOOMERY_CLI_TALK_H
#define BLOOMERY_CLI_TALK_H

#include "text/json.h"

#include <bloomery/redis/filter.h>

typedef struct talk {
    bly_redis_url url;
    char *name; /* the address as it was given, without user and password: for messages */
    bly_redis *server;
} talk;

/* "redis://HOST/KEY" of "redis://USER:PASSWORD@HOST/KEY", to be freed; NULL: out of memory. */
char *talk_name(const char *address);

/* Understands the address, which must name a key. Where it has no password, REDISCLI_AUTH may.
 * Close it, whatever comes. */
bool talk_to(talk *t, const char *address);
bool talk_connect(talk *t);
void talk_close(talk *t);

/* The answer to a command, to be freed; NULL: the connection broke, which is reported, with `lost`
 * (may be "") after it. An error of the server's is an answer. */
bly_redis_reply *talk_ask(talk *t, const bly_bytes *args, size_t n, const char *lost);

/* Reports an answer that is an error, with advice; of any other answer, that it makes no sense.
 * Returns CLI_ERROR. */
int talk_refused(const talk *t, const bly_redis_reply *answer);

bool talk_is_error(const bly_redis_reply *answer);
/* Whether an answer is an error that has these words in it. */
bool talk_says(const bly_redis_reply *answer, const char *words);

/* A number as an argument, in `room`. */
enum { TALK_NUMBER = 24 };
bly_bytes talk_number(uint64_t value, char room[TALK_NUMBER]);
bly_bytes talk_word(const char *text);

/* The members of a report that say between what and where: file, server, database, key. */
void talk_tell(const talk *t, const char *path, json *j);

/* The bytes that go over at once: what --chunk-size says, or 1 MiB. false: reported. */
bool talk_chunk(uint64_t wanted, size_t *out);

#endif
