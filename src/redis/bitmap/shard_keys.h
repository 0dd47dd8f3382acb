/* slots.h - where a cluster keeps a key, and names for keys that are to be in certain places.
 * Internal. */
#ifndef BLYI_REDIS_SLOTS_H
#define BLYI_REDIS_SLOTS_H

#include <bloomery/redis_bitmap.h>

enum {
    BLYI_SLOTS = 16384,
    BLYI_MOST_NAME = 1 << 16, /* bytes: it is hashed and copied for every command */
    BLYI_KEY_ROOM = 48,       /* what is added to a name for the key of a shard, and a NUL */
};

bool blyi_name_fits(bly_bytes name);

/* As bly_bitmap_key. *tag: 0 where the key has still to be searched for, and then what to give the
 * next time to have it at once; NULL: it is searched for every time. */
size_t blyi_bitmap_key_again(const bly_bitmap *b, bly_bytes name, uint32_t shard, uint32_t *tag,
                             char *out, size_t room);

#endif
