#include <bloomery/bloomery.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const char *urls[] = {"https://a.test/", "https://b.test/", "https://a.test/"};
    bly_filter *seen = NULL;
    bly_map *map = NULL;
    bly_status status = bly_blocked_create(1000000, 0.001, &seen); /* a million keys, 0.1% */
    for (size_t i = 0; i < 3 && status == BLY_OK; i++) {
        bool added = false;
        status = bly_filter_add(seen, urls[i], strlen(urls[i]), &added);
        printf("%s %s\n", added ? "new " : "seen", urls[i]);
    }
    if (status == BLY_OK)
        status = bly_filter_save(seen, "seen.bly"); /* atomically */
    if (status == BLY_OK)
        status = bly_map_open("seen.bly", NULL, &map); /* in place, shared by processes */
    if (status == BLY_OK) {
        bly_stats stats;
        bly_filter_stats(bly_map_filter(map), &stats);
        bool there = bly_filter_contains(bly_map_filter(map), urls[1], strlen(urls[1]));
        printf("%s: %s; rate now %g\n", urls[1], there ? "maybe" : "no", stats.current_fpr);
    }
    bly_map_close(map);
    bly_filter_destroy(seen);
    return status == BLY_OK ? 0 : (fprintf(stderr, "%s\n", bly_strerror(status)), 1);
}
