/* fuzz_url.c - parses bytes as a URL, as a host name, and as a text that contains URLs.
 *
 * - The canonical form of a canonical form must be itself, at both levels, and for host names too.
 * - The crawl form of a URL must equal the crawl form of its standard form.
 * - A text that is not a URL must be returned unchanged.
 * - A capital letter in the scheme, which prevents the use of the fast path, must not change the
 *   result.
 * - The URLs in a text must be found in their order, until the end of the text.
 */
#include "lists/url_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition) {
    if (!condition)
        abort();
}

static bool same(bly_bytes a, bly_bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Returns a copy in a block of exactly its size, so that sanitizers report reads past its end. The
 * caller frees it. */
static char *copy_of(bly_bytes text) {
    char *copy = malloc(text.size > 0 ? text.size : 1);
    demand(copy != NULL);
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    return copy;
}

/* Returns the canonical form of a text, and checks that the canonical form of that is the same. The
 * caller frees it. */
static bly_bytes canonical(bly_url_level level, bly_bytes text, bly_status *result) {
    static bly_url_buffer first, second; /* reused for every call, as in a program */
    bly_bytes once, twice;
    *result = bly_url_canonical(&first, level, text.data, text.size, &once);
    demand(*result != BLY_ENOMEM && (*result == BLY_OK || same(text, once)));
    once.data = copy_of(once);
    demand(bly_url_canonical(&second, level, once.data, once.size, &twice) == *result);
    demand(same(once, twice));
    return once;
}

static void check_levels(bly_bytes text) {
    bly_status results[4];
    bly_bytes standard = canonical(BLY_URL_STANDARD, text, &results[0]);
    bly_bytes crawl = canonical(BLY_URL_CRAWL, text, &results[1]);
    bly_bytes both = canonical(BLY_URL_CRAWL, standard, &results[2]);
    demand(results[0] == results[1] && results[0] == results[2] && same(crawl, both));
    char *capital = copy_of(text);
    if (results[0] == BLY_OK && text.size > 0 && capital[0] == 'h') {
        capital[0] = 'H';
        bly_bytes other = canonical(BLY_URL_STANDARD, (bly_bytes){capital, text.size}, &results[3]);
        demand(results[3] == BLY_OK && same(standard, other));
        free((void *)(uintptr_t)other.data);
    }
    free(capital);
    free((void *)(uintptr_t)standard.data);
    free((void *)(uintptr_t)crawl.data);
    free((void *)(uintptr_t)both.data);
}

static void check_host(bly_bytes text) {
    static bly_url_buffer first, second;
    bly_bytes once, twice;
    bly_status result = blyi_url_host(&first, text.data, text.size, &once);
    demand(result != BLY_ENOMEM && (result == BLY_OK || same(text, once)));
    demand(blyi_url_host(&second, once.data, once.size, &twice) == result && same(once, twice));
}

static void check_find(bly_bytes text) {
    static bly_url_buffer b;
    const char *at = text.data, *end = at + text.size, *last = at;
    bly_bytes found;
    while (bly_url_find(&b, &at, end, &found) == BLY_OK && found.size > 0) {
        demand(at > last && at <= end && found.size > 7);
        last = at;
        check_levels(found);
    }
    demand(at == end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bly_bytes text = {data, size};
    if (size == 0)
        return 0;
    check_levels(text);
    check_host(text);
    check_find(text);
    return 0;
}
