/* user_program.c - what check_install.sh and check_subproject.sh compile and run as users of the
 * library. It uses filters in memory, and those on servers so that these must link. */
#include <bloomery/bloomery.h>
#include <bloomery/redis/filter.h>
#include <stdio.h>
int main(void) {
    bly_filter *f;
    bool added;
    if (bly_filter_new(1000, 0.01, &f) || bly_filter_add(f, "x", 1, &added))
        return 1;
    int ok = added && bly_filter_contains(f, "x", 1) && !bly_filter_contains(f, "y", 1);
    printf("bloomery %s: %s\n", bly_version(), ok ? "ok" : "wrong");
    bly_filter_destroy(f);
    /* There is no server. */
    bly_redis_url url;
    bly_redis_filter *far = NULL;
    if (bly_redis_url_parse("unix:///nowhere?key=k", NULL, &url))
        return 1;
    ok = ok && bly_redis_filter_open(&url, NULL, NULL, NULL, &far) != BLY_OK;
    bly_redis_url_free(&url);
    return !ok;
}
