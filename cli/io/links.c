/* links.c - finds the links in lines of text, and collects them until a batch is full. */
#include "io/links.h"

#include "text/message.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_ROOM = 1 << 16 };

void links_free(links *l) {
    bly_url_buffer_free(&l->scratch);
    free(l->copies);
}

static bool pass_on(links *l, links_batch *take, void *ctx) {
    size_t n = l->count;
    l->count = 0;
    l->copies_used = 0;
    return n == 0 || take(ctx, l->found, n);
}

/* Copies a link out of the scratch buffer. Earlier copies must not move, so they are passed on
 * first if the space is used up. */
static bool copy_link(links *l, bly_bytes *link, links_batch *take, void *ctx) {
    if (link->size > l->copies_room - l->copies_used && !pass_on(l, take, ctx))
        return false;
    if (link->size > l->copies_room) {
        size_t room = link->size < MIN_ROOM ? MIN_ROOM : link->size * 2;
        char *more = realloc(l->copies, room);
        if (!more)
            return message_fail("out of memory");
        l->copies = more;
        l->copies_room = room;
    }
    link->data = memcpy(l->copies + l->copies_used, link->data, link->size);
    l->copies_used += link->size;
    return true;
}

static bool take_line(links *l, bly_bytes line, links_batch *take, void *ctx) {
    const char *at = line.data, *end = at + line.size;
    bly_bytes link;
    for (;;) {
        if (bly_url_find(&l->scratch, &at, end, &link) != BLY_OK)
            return message_fail("out of memory");
        if (link.size == 0)
            return true;
        if (l->scratch.data && link.data == l->scratch.data && !copy_link(l, &link, take, ctx))
            return false;
        l->found[l->count++] = link;
        if (l->count == INPUT_BATCH && !pass_on(l, take, ctx))
            return false;
    }
}

bool links_take(links *l, const bly_bytes *lines, size_t n, links_batch *take, void *ctx) {
    if (l->pass_lines)
        return take(ctx, lines, n);
    for (size_t i = 0; i < n; i++)
        if (!take_line(l, lines[i], take, ctx))
            return false;
    return pass_on(l, take, ctx);
}
