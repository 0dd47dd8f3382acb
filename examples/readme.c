#include <bloomery/bloomery.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const char *urls[] = {"https://a.test/", "https://b.test/", "https://a.test/"};
    bly_filter *seen;
    bool added = false;
    bly_status status = bly_filter_new(1000000, 0.001, &seen); /* a million keys, 0.1% */
    for (int i = 0; i < 3 && status == BLY_OK; i++) {
        status = bly_filter_add(seen, urls[i], strlen(urls[i]), &added);
        printf("%s %s\n", added ? "new " : "seen", urls[i]);
    }
    if (status == BLY_OK)
        status = bly_filter_save(seen, "seen.bly"); /* replaced atomically */
    if (status == BLY_OK)
        printf("%s\n", bly_filter_contains(seen, "https://c.test/", 15) ? "maybe" : "no");
    else
        fprintf(stderr, "%s\n", bly_strerror(status));
    bly_filter_destroy(seen);
    return status == BLY_OK ? 0 : 1;
}
