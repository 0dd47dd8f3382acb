#include <bloomery/bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bly_status status) {
    if (status == BLY_OK)
        return;
    fprintf(stderr, "%s\n", bly_strerror(status));
    exit(1);
}

int main(void) {
    const char *urls[] = {"https://a.test/", "https://b.test/", "https://a.test/"};
    bly_filter *seen;
    bly_map *map;
    bly_filter_info stats;
    must(bly_filter_new(1000000, 0.001, &seen)); /* a million keys, 0.1% */
    for (int i = 0; i < 3; i++) {
        bool added;
        must(bly_filter_add(seen, urls[i], strlen(urls[i]), &added));
        printf("%s %s\n", added ? "new " : "seen", urls[i]);
    }
    must(bly_filter_save(seen, "seen.bly")); /* replaced as a whole or not at all */
    bly_filter_destroy(seen);
    must(bly_map_open("seen.bly", NULL, &map)); /* used in place, whatever its size */
    const bly_filter *f = bly_map_filter(map);
    BLY_INIT(stats); /* sets stats.struct_size */
    bly_filter_get_info(f, &stats);
    printf("%s, rate now %g\n", bly_filter_contains(f, "x", 1) ? "maybe" : "no", stats.current_fpr);
    bly_map_close(map);
}
