/* reply.h - replies, in the shapes that RedisBloom's clients know. */
#ifndef BLOOMERY_MODULE_REPLY_H
#define BLOOMERY_MODULE_REPLY_H

#include "api.h"

#include <bloomery/base.h>
#include <stdbool.h>

#define BM_WRONGTYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

/* All return RM_OK, so that a command can end with `return bm_error(...)`. */

/* Whether the client that is to get the reply speaks RESP3. The engine itself sends booleans as 1
 * and 0, and maps as arrays, to one that does not: so asking, which has the engine work out all of
 * its flags, is only for replies that differ in more than that. */
bool bm_resp3(rm_ctx *ctx);

/* An error made as by printf, of at most 1023 bytes; the text begins with its code ("ERR ...").
 * Control characters, as a client's words may have, become question marks: a line break would end
 * the reply. */
int bm_error(rm_ctx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "ERR " and the library's sentence. */
int bm_status_error(rm_ctx *ctx, bly_status status);

/* A count. The protocol's integers are signed: what is larger is sent as the largest of them. */
void bm_reply_count(rm_ctx *ctx, uint64_t count);

#endif
