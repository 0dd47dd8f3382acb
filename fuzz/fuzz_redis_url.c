/* fuzz_redis_url.c - parses text as the URL of a server. The URL must either be refused with a
 * reason, or have consistent parts. */
#include <bloomery/redis/filter.h>

#include <stdlib.h>
#include <string.h>

static void demand(bool truth) {
    if (!truth)
        __builtin_trap();
}

/* Checks the parts of a URL that was parsed from n bytes. */
static void check(const bly_redis_url *url, size_t n) {
    demand((url->host == NULL) != (url->socket == NULL));
    demand(url->socket || (*url->host && url->port != 0));
    demand(!url->socket || *url->socket == '/');
    demand(!url->tls || url->host);
    const char *const texts[] = {url->host, url->socket, url->user, url->password};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        demand(!texts[i] || strlen(texts[i]) <= n + sizeof "127.0.0.1");
    demand(url->key.size <= n && (url->key.data || url->key.size == 0));
    uint64_t sum = 0; /* reads every byte, so that sanitizers find invalid pointers */
    for (size_t i = 0; i < url->key.size; i++)
        sum += ((const uint8_t *)url->key.data)[i];
    demand(sum <= 255 * n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    const char *why = NULL;
    bly_redis_url url;
    bly_status status = bly_redis_url_parse(text, &why, &url);
    demand(status == BLY_OK || (status == BLY_EINVAL && why && *why));
    if (status == BLY_OK) {
        check(&url, strlen(text));
        bly_redis_url_free(&url);
        bly_redis_url_free(&url);
    }
    free(text);
    return 0;
}
