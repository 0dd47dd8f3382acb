/* links.c - finds the links in lines of text; collects them until a batch is full. */
#include "io/links.h"

#include "text/message.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_ROOM = 1 << 16 };

void links_free(links *l) {
    bly_url_buffer_free(&l->scratch);
    free(l->kept);
}

static bool hand_over(links *l, links_batch *take, void *ctx) {
    size_t n = l->count;
    l->count = 0;
    l->kept_used = 0;
    return n == 0 || take(ctx, l->found, n);
}

/* Copies a link that lies in the scratch buffer. Those kept before must not move, so when the room
 * is used up they are handed over first. */
static bool keep(links *l, bly_bytes *link, links_batch *take, void *ctx) {
    if (link->size > l->kept_room - l->kept_used && !hand_over(l, take, ctx))
        return false;
    if (link->size > l->kept_room) {
        size_t room = link->size < MIN_ROOM ? MIN_ROOM : link->size * 2;
        char *more = realloc(l->kept, room);
        if (!more) {
            (void)message_error("out of memory");
            return false;
        }
        l->kept = more;
        l->kept_room = room;
    }
    link->data = memcpy(l->kept + l->kept_used, link->data, link->size);
    l->kept_used += link->size;
    return true;
}

static bool take_line(links *l, bly_bytes line, links_batch *take, void *ctx) {
    const char *at = line.data, *end = at + line.size;
    bly_bytes link;
    for (;;) {
        if (bly_url_find(&l->scratch, &at, end, &link) != BLY_OK) {
            (void)message_error("out of memory");
            return false;
        }
        if (link.size == 0)
            return true;
        if (l->scratch.data && link.data == l->scratch.data && !keep(l, &link, take, ctx))
            return false;
        l->found[l->count++] = link;
        if (l->count == INPUT_BATCH && !hand_over(l, take, ctx))
            return false;
    }
}

bool links_take(links *l, const bly_bytes *lines, size_t n, links_batch *take, void *ctx) {
    if (l->whole)
        return take(ctx, lines, n);
    for (size_t i = 0; i < n; i++)
        if (!take_line(l, lines[i], take, ctx))
            return false;
    return hand_over(l, take, ctx);
}
