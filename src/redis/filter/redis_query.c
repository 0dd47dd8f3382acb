/* Adds keys to a filter on servers, and looks keys up.
 *
 * The keys are sent in groups, with one run of commands for each group. So memory use, and the time
 * until the next answers, are bounded for any number of keys. Each node of a cluster gets its part
 * of a group at once. If a part fails, the answers of the other parts are valid. Later groups are
 * then not sent, because they would fail for the same reason, each after the same wait.
 */
#include "redis/filter/redis_filter.h"

#include "redis/bitmap/bitmap_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { REMOTE_QUERY_GROUP = 32768 };

static bly_status remote_query_read_command(const bly_bitmap_batch *batch, size_t i,
                                            const blyi_request *request, uint8_t *answers,
                                            bly_redis_reason *why) {
    if (request->status)
        return request->status;
    const bly_redis_value value = bly_redis_reply_value(request->reply);
    return bly_bitmap_batch_parse(batch, i, &value, request->repeated, answers, NULL, why);
}

/* Runs the commands of one group. If a command fails, the answers for its keys do not change. The
 * first failure is reported. */
static bly_status remote_query_run_group(bly_redis_filter *f, const bly_bitmap_batch *batch,
                                         uint8_t *answers, size_t *trips) {
    const size_t n = bly_bitmap_batch_count(batch);
    blyi_request *requests = calloc(n, sizeof *requests);
    if (!requests)
        return blyi_remote_fail(f, BLY_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        requests[i].command = bly_bitmap_batch_command(batch, i);
    bly_status status = blyi_executor_run(f->executor, requests, n);
    const int error = errno;
    if (status)
        (void)blyi_remote_fail(f, status, "%s", blyi_executor_why(f->executor));
    *trips += blyi_executor_rounds(f->executor);
    for (size_t i = 0; i < n; i++) {
        bly_redis_reason why;
        const bly_status one = remote_query_read_command(batch, i, &requests[i], answers, &why);
        if (one && !status)
            status = blyi_remote_fail(
                f, one, "%s%s", blyi_remote_key_prefix(f, requests[i].command->key).text, why.text);
    }
    blyi_requests_clear(requests, n);
    free(requests);
    errno = error;
    return status;
}

static bly_status remote_query_group(bly_redis_filter *f, bly_bitmap_op what, const bly_bytes *keys,
                                     size_t n, uint8_t *answers, size_t *trips) {
    bly_bitmap_batch *batch;
    /* The tags are only a cache: if memory runs out, the batch works without them. */
    if (!f->tags)
        f->tags = calloc(f->bitmap.shards, sizeof *f->tags);
    bly_status status =
        blyi_bitmap_batch_open(&f->bitmap, f->name, f->tags, what, keys, n, f->batch, &batch);
    if (status)
        return blyi_remote_fail(f, status, "%s", bly_strerror(status));
    status = remote_query_run_group(f, batch, answers, trips);
    bly_bitmap_batch_close(batch);
    return status;
}

/* Counts the answers, and replaces unsure and unknown ones with `otherwise`. */
static void remote_query_count(bly_answer otherwise, uint8_t *answers, size_t n,
                               bly_redis_batch_result *result) {
    size_t counts[4] = {0};
    for (size_t i = 0; i < n; i++) {
        counts[answers[i]]++;
        if (otherwise != BLY_UNKNOWN && answers[i] >= BLY_UNSURE)
            answers[i] = (uint8_t)otherwise;
    }
    result->yes = counts[BLY_YES];
    result->unsure = counts[BLY_UNSURE];
    result->unknown = counts[BLY_UNKNOWN];
}

static bly_status remote_query_many(bly_redis_filter *f, bly_bitmap_op what, const bly_bytes *keys,
                                    size_t n, bly_answer otherwise, uint8_t *answers,
                                    bly_redis_batch_result *result) {
    bly_redis_batch_result sums = {0};
    bly_status status = BLY_OK;
    if (n)
        memset(answers, BLY_UNKNOWN, n);
    if (otherwise != BLY_UNKNOWN && otherwise != BLY_YES && otherwise != BLY_NO) {
        status = blyi_remote_fail(f, BLY_EINVAL, "the default answer must be yes, no or unknown");
        otherwise = BLY_UNKNOWN;
    } else if (f->keyless)
        status = blyi_remote_fail(f, BLY_EKEY, "the filter was opened without its secret key");
    for (size_t at = 0; status == BLY_OK && at < n; at += REMOTE_QUERY_GROUP)
        status = remote_query_group(f, what, keys + at,
                                    n - at < REMOTE_QUERY_GROUP ? n - at : REMOTE_QUERY_GROUP,
                                    answers + at, &sums.round_trips);
    remote_query_count(otherwise, answers, n, &sums);
    if (result)
        *result = sums;
    return status;
}

bly_status bly_redis_filter_add_many(bly_redis_filter *f, const bly_bytes *keys, size_t n,
                                     bly_answer otherwise, uint8_t *answers,
                                     bly_redis_batch_result *result) {
    return remote_query_many(f, BLY_BITMAP_ADD, keys, n, otherwise, answers, result);
}

bly_status bly_redis_filter_contains_many(bly_redis_filter *f, const bly_bytes *keys, size_t n,
                                          bly_answer otherwise, uint8_t *answers,
                                          bly_redis_batch_result *result) {
    return remote_query_many(f, BLY_BITMAP_CONTAINS, keys, n, otherwise, answers, result);
}

static bly_status remote_query_one(bly_redis_filter *f, bly_bitmap_op what, bly_bytes key,
                                   bly_answer otherwise, bly_answer *answer) {
    uint8_t byte;
    const bly_status status = remote_query_many(f, what, &key, 1, otherwise, &byte, NULL);
    *answer = (bly_answer)byte;
    return status;
}

bly_status bly_redis_filter_add(bly_redis_filter *f, const void *key, size_t len,
                                bly_answer otherwise, bly_answer *answer) {
    return remote_query_one(f, BLY_BITMAP_ADD, (bly_bytes){key, len}, otherwise, answer);
}

bly_status bly_redis_filter_contains(bly_redis_filter *f, const void *key, size_t len,
                                     bly_answer otherwise, bly_answer *answer) {
    return remote_query_one(f, BLY_BITMAP_CONTAINS, (bly_bytes){key, len}, otherwise, answer);
}
