/* links.h - extracts the links from lines of text, in batches. */
#ifndef BLOOMERY_CLI_LINKS_H
#define BLOOMERY_CLI_LINKS_H

#include "io/input.h"
#include <bloomery/list.h>

typedef struct links {
    bool pass_lines; /* no extraction: the lines themselves are passed on */
    bly_bytes found[INPUT_BATCH];
    size_t count;
    bly_url_buffer scratch;
    char *copies; /* of links that are not in the text byte for byte */
    size_t copies_used, copies_room;
} links;

typedef bool links_batch(void *ctx, const bly_bytes *links, size_t n);

/* Passes the links of all these lines, or the lines, to `take`, in order, at most INPUT_BATCH at a
 * time. false: `take` returned false, or memory is short (reported). */
bool links_take(links *l, const bly_bytes *lines, size_t n, links_batch *take, void *ctx);

void links_free(links *l);

#endif
