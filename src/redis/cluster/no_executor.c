/* Commands on servers, where there is no hiredis: none. */
#include "redis/cluster/executor.h"

bly_status blyi_exchange_open(const bly_redis_url *url, const bly_redis_filter_options *options,
                              bly_redis_reason *why, blyi_exchange **out) {
    static const bly_redis_reason none = {"this build has no hiredis, which talking to servers "
                                          "needs"};
    (void)url;
    (void)options;
    *out = NULL;
    if (why)
        *why = none;
    return BLY_EUNSUPPORTED;
}

void blyi_exchange_close(blyi_exchange *x) {
    (void)x;
}

bly_status blyi_exchange_run(blyi_exchange *x, blyi_request *requests, size_t n) {
    (void)x;
    (void)requests;
    (void)n;
    return BLY_EUNSUPPORTED;
}

void blyi_requests_clear(blyi_request *requests, size_t n) {
    for (size_t i = 0; i < n; i++)
        requests[i] = (blyi_request){.command = requests[i].command, .once = requests[i].once};
}

const char *blyi_exchange_why(const blyi_exchange *x) {
    (void)x;
    return "";
}

size_t blyi_exchange_rounds(const blyi_exchange *x) {
    (void)x;
    return 0;
}

const char *blyi_exchange_node(const blyi_exchange *x, bly_bytes key) {
    (void)x;
    (void)key;
    return "";
}
