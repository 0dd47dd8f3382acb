/* slots.h - where a cluster keeps a key, and names for keys that are to be in certain places.
 * Internal. */
#ifndef BLYI_REDIS_SLOTS_H
#define BLYI_REDIS_SLOTS_H

#include <bloomery/redis_bitmap.h>

enum {
    BLYI_SLOTS = 16384,
    BLYI_KEY_ROOM =
        48, /* what bly_bitmap_key and blyi_bitmap_arrival_key add to a name, and a NUL */
};

/* Whether keys that are called after it are no longer than a server takes. */
bool blyi_name_fits(bly_bytes name);

#endif
