#include "reply.h"

#include <stdarg.h>
#include <stdio.h>

/* The engine itself sends 1 and 0 to a client that speaks RESP2, from replies it keeps ready. So
 * asking for the protocol, which has the engine work out all of its flags, is only for commands
 * whose replies differ in more than that. */
int bm_reply_bool(rm_ctx *ctx, bool resp3, bool value) {
    (void)resp3;
    return rm.ReplyWithBool(ctx, value);
}

bool bm_resp3(rm_ctx *ctx) {
    return (rm.GetContextFlags(ctx) & RM_CTX_RESP3) != 0;
}

/* The same here: the engine doubles the length for RESP2. */
int bm_reply_map(rm_ctx *ctx, bool resp3, long pairs) {
    (void)resp3;
    return rm.ReplyWithMap(ctx, pairs);
}

int bm_error(rm_ctx *ctx, const char *fmt, ...) {
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    rm.ReplyWithError(ctx, text);
    return RM_OK;
}

int bm_status_error(rm_ctx *ctx, bly_status status) {
    return bm_error(ctx, "ERR %s", bly_strerror(status));
}
