/* Runs commands on the shards of a filter, and composes the reasons for their failures. */
#include "redis/filter/redis_filter.h"

#include "redis/bitmap/shard_keys.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* About how many bytes servers clear in one run. Even if one server has to clear all of them, it
 * takes a second or two, which is below any sensible time limit. */
#define REMOTE_GROUP_BYTES ((uint64_t)4 << 30)

bly_status blyi_remote_fail(bly_redis_filter *f, bly_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(f->why.text, sizeof f->why.text, format, args);
    va_end(args);
    return status;
}

static blyi_key_text remote_key_text(bly_bytes key) {
    blyi_key_text shown;
    enum { ROOM = 71 };
    const size_t room = ROOM, tail = room / 2;
    const char *from = key.data;
    size_t n = 0;
    for (size_t i = 0; i < key.size; i++) {
        if (key.size > room && i == room - tail - 3) {
            memcpy(shown.text + n, "...", 3);
            n += 3;
            i = key.size - tail;
        }
        const unsigned char c = (unsigned char)from[i];
        shown.text[n++] = c < ' ' || c == 0x7f ? '?' : from[i];
    }
    shown.text[n] = '\0';
    return shown;
}

blyi_key_text blyi_remote_key_text(const bly_redis_filter *f, uint32_t shard) {
    const size_t size = bly_bitmap_key(&f->bitmap, f->name, shard, NULL, 0);
    char *key = shard ? malloc(size + 1) : NULL;
    if (!key)
        return remote_key_text(f->name);
    (void)bly_bitmap_key(&f->bitmap, f->name, shard, key, size + 1);
    const blyi_key_text shown = remote_key_text((bly_bytes){key, size});
    free(key);
    return shown;
}

blyi_key_text blyi_remote_shard_text(const bly_redis_filter *f, uint32_t shard) {
    return shard ? blyi_remote_key_text(f, shard) : (blyi_key_text){"it"};
}

static bool remote_bytes_equal(bly_bytes a, bly_bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Whether `key` is the staging key of the first shard. */
static bool remote_is_first_staging_key(const bly_redis_filter *f, bly_bytes key) {
    char *own = key.size > f->name.size ? malloc(key.size + 1) : NULL;
    if (!own)
        return false;
    const size_t size = blyi_bitmap_staging_key(&f->bitmap, f->name, 0, own, key.size + 1);
    const bool is = size <= key.size && remote_bytes_equal((bly_bytes){own, size}, key);
    free(own);
    return is;
}

blyi_key_text blyi_remote_key_prefix(const bly_redis_filter *f, bly_bytes key) {
    if (remote_bytes_equal(key, f->name) || remote_is_first_staging_key(f, key))
        return (blyi_key_text){""};
    blyi_key_text shown = remote_key_text(key);
    memcpy(shown.text + strlen(shown.text), ": ", 3);
    return shown;
}

static bly_status remote_read_reply(bly_redis_filter *f, const blyi_shard_command *command,
                                    void *ctx, uint64_t i, const blyi_request *request) {
    const bly_redis_value value = bly_redis_reply_value(request->reply);
    bly_redis_reason why;
    const bly_status status = command->errors ? BLY_OK : bly_bitmap_refusal(&value, &why);
    if (status == BLY_OK)
        return command->read(f, ctx, i, &value, request->repeated);
    return blyi_remote_fail(f, status, "%s%s",
                            blyi_remote_key_prefix(f, request->command->key).text, why.text);
}

/* Runs the requests and reads their replies. Returns the first failure in their order. */
static bly_status remote_run(bly_redis_filter *f, const blyi_shard_command *command, void *ctx,
                             uint64_t from, blyi_request *requests, size_t n, int *error) {
    bly_status status = blyi_executor_run(f->executor, requests, n);
    *error = errno;
    if (status)
        (void)blyi_remote_fail(f, status, "%s", blyi_executor_why(f->executor));
    for (size_t i = 0; i < n; i++)
        f->lost = f->lost || (command->once && requests[i].status && requests[i].repeated);
    for (size_t i = 0; status == BLY_OK && i < n; i++)
        status = remote_read_reply(f, command, ctx, from + i, &requests[i]);
    blyi_requests_clear(requests, n);
    return status;
}

bly_status blyi_remote_run(bly_redis_filter *f, const blyi_shard_command *command, void *ctx,
                           uint64_t from, uint64_t upto) {
    const size_t n = (size_t)(upto - from);
    bly_status status = BLY_OK;
    int error = errno;
    f->lost = false;
    if (n == 0)
        return BLY_OK;
    blyi_request *requests = calloc(n, sizeof *requests);
    bly_bitmap_command **commands = calloc(n, sizeof *commands);
    if (!requests || !commands)
        status = BLY_ENOMEM;
    for (size_t i = 0; status == BLY_OK && i < n; i++) {
        status = command->build(f, ctx, from + i, &commands[i]);
        requests[i].command = commands[i];
        requests[i].once = command->once;
    }
    if (status)
        (void)blyi_remote_fail(f, status, "%s",
                               status == BLY_EINVAL ? "the key's name is too long"
                                                    : bly_strerror(status));
    else
        status = remote_run(f, command, ctx, from, requests, n, &error);
    for (size_t i = 0; commands && i < n; i++)
        bly_bitmap_command_free(commands[i]);
    free(commands);
    free(requests);
    errno = error;
    return status;
}

bly_status blyi_remote_bad_reply(bly_redis_filter *f) {
    return blyi_remote_fail(f, BLY_ECORRUPT,
                            "unexpected reply to this command; does a proxy between here and the "
                            "server change replies?");
}

bly_status blyi_remote_expect_one(bly_redis_filter *f, void *ctx, uint64_t i,
                                  const bly_redis_value *value, bool repeated) {
    (void)ctx;
    (void)i;
    (void)repeated;
    const bool is = value->type == BLY_REDIS_INTEGER && value->integer == 1;
    return is ? BLY_OK : blyi_remote_bad_reply(f);
}

bly_status blyi_remote_expect_zero_or_one(bly_redis_filter *f, void *ctx, uint64_t i,
                                          const bly_redis_value *value, bool repeated) {
    const bool none = value->type == BLY_REDIS_INTEGER && value->integer == 0;
    return none ? BLY_OK : blyi_remote_expect_one(f, ctx, i, value, repeated);
}

uint32_t blyi_remote_group_end(const bly_redis_filter *f, uint32_t from) {
    uint64_t bytes = bly_bitmap_shard_bytes(&f->bitmap, from);
    uint32_t upto = from + 1;
    while (upto < f->bitmap.shards && bytes < REMOTE_GROUP_BYTES)
        bytes += bly_bitmap_shard_bytes(&f->bitmap, upto++);
    return upto;
}
