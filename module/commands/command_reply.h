/* command_reply.h - errors, counts and maps as replies, in the form that RedisBloom's clients
 * expect.
 */
#ifndef BLOOMERY_MODULE_COMMAND_REPLY_H
#define BLOOMERY_MODULE_COMMAND_REPLY_H

#include "engine_api.h"

#include <bloomery/base.h>
#include <stdbool.h>

#define BM_WRONGTYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

/* Functions of this header that return int always return RM_OK, so that a command can end with
 * `return bm_error(...)`. */

/* Whether the client uses RESP3. For other clients the engine converts booleans to 1 and 0, and
 * maps to arrays. This call is slow, because the engine computes all context flags, so use it only
 * for replies that differ in other ways. */
bool bm_resp3(rm_ctx *ctx);

/* Replies with an error that is formatted as by printf, of at most 1023 bytes. The text must begin
 * with an error code ("ERR ..."). Control characters, which a client's arguments may contain,
 * become question marks, because a line break would end the reply. */
int bm_error(rm_ctx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Replies with "ERR " and the library's text for the status. */
int bm_status_error(rm_ctx *ctx, bly_status status);

/* Replies with a count. The integers of the protocol are signed: a count above INT64_MAX is sent as
 * INT64_MAX. */
void bm_reply_count(rm_ctx *ctx, uint64_t count);

/* ---- maps ------------------------------------------------------------------------------------ */

/* A map is collected before it is sent, because the protocol sends the number of pairs first. */
enum { BM_MAP_MAX_PAIRS = 48 };

typedef struct bm_reply_map {
    size_t n;
    struct bm_pair {
        const char *name;
        enum { BM_PAIR_NULL, BM_PAIR_TEXT, BM_PAIR_NUMBER, BM_PAIR_DOUBLE, BM_PAIR_BOOL } type;
        union {
            char text[200];
            long long number;
            double real;
            bool yes;
        } as;
    } pairs[BM_MAP_MAX_PAIRS];
} bm_reply_map;

/* Each of these adds a pair of a name and a value. Texts are copied; names are not. Adding more
 * than BM_MAP_MAX_PAIRS pairs is a bug. */
void bm_map_null(bm_reply_map *map, const char *name);
void bm_map_text(bm_reply_map *map, const char *name, const char *text);
void bm_map_number(bm_reply_map *map, const char *name, uint64_t number);
void bm_map_double(bm_reply_map *map, const char *name, double number); /* NAN is sent as null */
void bm_map_bool(bm_reply_map *map, const char *name, bool yes);

/* Replies with the map: in RESP3 as a map, in RESP2 as an array of names and values. */
int bm_map_reply(rm_ctx *ctx, const bm_reply_map *map);

#endif
