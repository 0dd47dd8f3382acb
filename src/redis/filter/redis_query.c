/* Keys to a filter on servers, and what is learnt of each.
 *
 * They go out in waves: one exchange each, so that memory stays small however many keys there are,
 * and that a wave is what one waits for. Each node of a cluster gets its part of a wave at once.
 * Where a part fails, the others' answers still count; the waves behind it are not begun, since
 * what made it fail would make them fail, too, each after the same wait.
 */
#include "redis/bitmap/bitmap_batch.h"
#include "redis/filter/redis_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WAVE = 32768 };

static bly_status read_command(const bly_bitmap_batch *batch, size_t i, const blyi_request *request,
                               uint8_t *answers, bly_redis_reason *why) {
    if (request->status)
        return request->status;
    const bly_redis_value value = bly_redis_reply_value(request->reply);
    return bly_bitmap_batch_read(batch, i, &value, request->repeated, answers, NULL, why);
}

/* What fails leaves its keys as they are. The first failure is the one that is told. */
static bly_status carry_out(bly_redis_filter *f, const bly_bitmap_batch *batch, uint8_t *answers,
                            size_t *trips) {
    const size_t n = bly_bitmap_batch_count(batch);
    blyi_request *requests = calloc(n, sizeof *requests);
    if (!requests)
        return blyi_remote_fail(f, BLY_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        requests[i].command = bly_bitmap_batch_command(batch, i);
    bly_status status = blyi_exchange_run(f->exchange, requests, n);
    const int error = errno;
    if (status)
        (void)blyi_remote_fail(f, status, "%s", blyi_exchange_why(f->exchange));
    *trips += blyi_exchange_rounds(f->exchange);
    for (size_t i = 0; i < n; i++) {
        bly_redis_reason why;
        const bly_status one = read_command(batch, i, &requests[i], answers, &why);
        if (one && !status)
            status = blyi_remote_fail(
                f, one, "%s%s", blyi_remote_before(f, requests[i].command->key).text, why.text);
    }
    blyi_requests_clear(requests, n);
    free(requests);
    errno = error;
    return status;
}

static bly_status wave(bly_redis_filter *f, bly_bitmap_what what, const bly_bytes *keys, size_t n,
                       uint8_t *answers, size_t *trips) {
    bly_bitmap_batch *batch;
    /* Without memory for the tags it goes on without them. */
    if (!f->tags)
        f->tags = calloc(f->bitmap.shards, sizeof *f->tags);
    bly_status status =
        blyi_batch_open(&f->bitmap, f->name, f->tags, what, keys, n, f->batch, &batch);
    if (status)
        return blyi_remote_fail(f, status, "%s", bly_strerror(status));
    status = carry_out(f, batch, answers, trips);
    bly_bitmap_batch_close(batch);
    return status;
}

/* Counts, and puts `otherwise` for what is not known. */
static void conclude(bly_answer otherwise, uint8_t *answers, size_t n, bly_redis_tally *tally) {
    size_t counts[4] = {0};
    for (size_t i = 0; i < n; i++) {
        counts[answers[i]]++;
        if (otherwise != BLY_UNKNOWN && answers[i] >= BLY_UNSURE)
            answers[i] = (uint8_t)otherwise;
    }
    tally->yes = counts[BLY_YES];
    tally->unsure = counts[BLY_UNSURE];
    tally->unknown = counts[BLY_UNKNOWN];
}

static bly_status ask(bly_redis_filter *f, bly_bitmap_what what, const bly_bytes *keys, size_t n,
                      bly_answer otherwise, uint8_t *answers, bly_redis_tally *tally) {
    bly_redis_tally sums = {0};
    bly_status status = BLY_OK;
    if (n)
        memset(answers, BLY_UNKNOWN, n);
    if (otherwise != BLY_UNKNOWN && otherwise != BLY_YES && otherwise != BLY_NO) {
        status = blyi_remote_fail(f, BLY_EINVAL, "what is not known can be yes, no or unknown");
        otherwise = BLY_UNKNOWN;
    } else if (f->keyless)
        status = blyi_remote_fail(f, BLY_EKEY, "the filter was opened without its secret key");
    for (size_t at = 0; status == BLY_OK && at < n; at += WAVE)
        status = wave(f, what, keys + at, n - at < WAVE ? n - at : WAVE, answers + at, &sums.trips);
    conclude(otherwise, answers, n, &sums);
    if (tally)
        *tally = sums;
    return status;
}

bly_status bly_redis_filter_add_many(bly_redis_filter *f, const bly_bytes *keys, size_t n,
                                     bly_answer otherwise, uint8_t *answers,
                                     bly_redis_tally *tally) {
    return ask(f, BLY_BITMAP_ADD, keys, n, otherwise, answers, tally);
}

bly_status bly_redis_filter_contains_many(bly_redis_filter *f, const bly_bytes *keys, size_t n,
                                          bly_answer otherwise, uint8_t *answers,
                                          bly_redis_tally *tally) {
    return ask(f, BLY_BITMAP_CONTAINS, keys, n, otherwise, answers, tally);
}

static bly_status ask_one(bly_redis_filter *f, bly_bitmap_what what, bly_bytes key,
                          bly_answer otherwise, bly_answer *answer) {
    uint8_t byte;
    const bly_status status = ask(f, what, &key, 1, otherwise, &byte, NULL);
    *answer = (bly_answer)byte;
    return status;
}

bly_status bly_redis_filter_add(bly_redis_filter *f, const void *key, size_t len,
                                bly_answer otherwise, bly_answer *answer) {
    return ask_one(f, BLY_BITMAP_ADD, (bly_bytes){key, len}, otherwise, answer);
}

bly_status bly_redis_filter_contains(bly_redis_filter *f, const void *key, size_t len,
                                     bly_answer otherwise, bly_answer *answer) {
    return ask_one(f, BLY_BITMAP_CONTAINS, (bly_bytes){key, len}, otherwise, answer);
}
