#include "api.h"

rm_api rm;

typedef int (*rm_get_api)(const char *name, void *out);

const char *rm_resolve(rm_ctx *ctx) {
    rm_get_api get = *(rm_get_api *)(void *)ctx;
    /* First, so that there is a log to say in what is missing. */
    if (get("RedisModule_Log", (void *)&rm.Log) != RM_OK)
        return "Log";
#define RM_NEED(result, name, parameters)                                                          \
    if (get("RedisModule_" #name, (void *)&rm.name) != RM_OK || !rm.name)                          \
        return #name;
    RM_NEEDED(RM_NEED)
#undef RM_NEED
#define RM_TRY(result, name, parameters)                                                           \
    if (get("RedisModule_" #name, (void *)&rm.name) != RM_OK)                                      \
        rm.name = 0;
    RM_OPTIONAL(RM_TRY)
#undef RM_TRY
    return 0;
}
