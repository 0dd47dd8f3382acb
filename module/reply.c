#include "reply.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

bool bm_resp3(rm_ctx *ctx) {
    return (rm.GetContextFlags(ctx) & RM_CTX_RESP3) != 0;
}

int bm_error(rm_ctx *ctx, const char *fmt, ...) {
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    rm.ReplyWithError(ctx, text);
    return RM_OK;
}

void bm_reply_count(rm_ctx *ctx, uint64_t count) {
    rm.ReplyWithLongLong(ctx, count > INT64_MAX ? INT64_MAX : (long long)count);
}

int bm_status_error(rm_ctx *ctx, bly_status status) {
    return bm_error(ctx, "ERR %s", bly_strerror(status));
}
