/* server_state.c - queries whether the server is loading, is a replica, or is replaying a
 * command. */
#include "runtime/server_state.h"

#include <string.h>

bool bm_readiness_unknown = true, bm_role_unknown = true;

/* Whether a replica that has lost its master may answer, by the setting replica-serve-stale-data.
 * If CONFIG GET fails, returns the engine's default, which is true. */
static bool serves_stale(rm_ctx *ctx) {
    rm_reply *reply = rm.Call(ctx, "CONFIG", "cc", "GET", "replica-serve-stale-data");
    if (!reply)
        return true;
    bool serves = true;
    rm_reply *value = rm.CallReplyArrayElement(reply, 1);
    if (value) {
        size_t size;
        const char *text = rm.CallReplyStringPtr(value, &size);
        serves = !(text && size == 2 && memcmp(text, "no", 2) == 0);
    }
    rm.FreeCallReply(reply);
    return serves;
}

bool bm_readiness_check(rm_ctx *ctx) {
    int flags = rm.GetContextFlags(ctx);
    if (flags & (RM_CTX_LOADING | RM_CTX_ASYNC_LOADING))
        return false;
    if (flags & RM_CTX_STALE)
        return serves_stale(ctx);
    bm_readiness_unknown = false;
    return true;
}

bool bm_role_check_follows(rm_ctx *ctx) {
    int flags = rm.GetContextFlags(ctx);
    bm_role_unknown = !(flags & RM_CTX_MASTER) || flags & (RM_CTX_LOADING | RM_CTX_ASYNC_LOADING);
    return bm_role_unknown;
}

static void on_event(rm_ctx *ctx, rm_event event, uint64_t sub, void *data) {
    (void)ctx;
    (void)event;
    (void)sub;
    (void)data;
    bm_readiness_unknown = bm_role_unknown = true;
}

bool bm_is_replayed(rm_ctx *ctx) {
    return rm.GetContextFlags(ctx) & (RM_CTX_REPLICATED | RM_CTX_LOADING);
}

bool bm_is_following(void) {
    int flags = rm.GetContextFlags(NULL);
    return flags & RM_CTX_LOADING || !(flags & RM_CTX_MASTER);
}

int bm_server_state_start(rm_ctx *ctx) {
    static const rm_event events[] = {
        {RM_EVENT_ROLE, 1}, {RM_EVENT_LOADING, 1}, {RM_EVENT_LINK, 1}, {RM_EVENT_ASYNC_LOAD, 1}};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (rm.SubscribeToServerEvent(ctx, events[i], on_event) != RM_OK)
            return RM_ERR;
    return RM_OK;
}
