/* reply.h - replies, in the shapes that RedisBloom's clients know. */
#ifndef BLOOMERY_MODULE_REPLY_H
#define BLOOMERY_MODULE_REPLY_H

#include "api.h"

#include <bloomery/base.h>
#include <stdbool.h>

#define BM_WRONGTYPE "WRONGTYPE Operation against a key holding the wrong kind of value"

/* All return RM_OK, so that a command can end with `return bm_error(...)`. */

/* 1 or 0 to a client that speaks RESP2, true or false to one that speaks RESP3. */
int bm_reply_bool(rm_ctx *ctx, bool resp3, bool value);
/* The protocol of the client that is to get the reply. Ask once per command. */
bool bm_resp3(rm_ctx *ctx);

/* A map in RESP3, an array of twice as many in RESP2. */
int bm_reply_map(rm_ctx *ctx, bool resp3, long pairs);

/* An error made as by printf, of at most 1023 bytes; the text begins with its code ("ERR ..."). */
int bm_error(rm_ctx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "ERR " and the library's sentence. */
int bm_status_error(rm_ctx *ctx, bly_status status);

#endif
