/* The layers of RedisBloom's filters: a growing table of byte arrays. */
#include "formats/redisbloom_layers.h"

#include "base/memory.h"
#include <string.h>

void *blyi_rb_alloc_object(const bly_allocator *a, size_t size, bly_allocator *alloc) {
    *alloc = blyi_allocator_or_default(a);
    return alloc->alloc(alloc->ctx, size);
}

bool blyi_rb_layers_reserve(blyi_rb_layers *c, uint64_t n) {
    if (n <= c->room)
        return true;
    void *table = c->alloc.alloc(c->alloc.ctx, (size_t)(n * c->stride));
    if (!table)
        return false;
    if (c->table) {
        memcpy(table, c->table, (size_t)(c->n * c->stride));
        c->alloc.free(c->alloc.ctx, c->table);
    }
    c->table = table;
    c->room = n;
    return true;
}

/* Returns the number of entries that the table must have room for before one is added. */
static uint64_t rb_next_room(const blyi_rb_layers *c) {
    return c->n < c->room ? c->room : c->n ? 2 * c->n : 1;
}

bool blyi_rb_layers_push(blyi_rb_layers *c, const blyi_rb_layer *entry) {
    if (entry->bytes > SIZE_MAX || !blyi_rb_layers_reserve(c, rb_next_room(c)))
        return false;
    uint8_t *data = c->alloc.alloc(c->alloc.ctx, (size_t)entry->bytes);
    if (!data)
        return false;
    blyi_rb_layer *last = blyi_rb_layer_at(c, c->n++);
    memcpy(last, entry, (size_t)c->stride);
    last->data = data;
    c->bytes += entry->bytes;
    return true;
}

void blyi_rb_layers_loaded(blyi_rb_layers *c) {
    c->loaded = c->bytes;
    c->growth_limit = blyi_growth_limit(0);
}

bly_status blyi_rb_layers_may_grow(const blyi_rb_layers *c, uint64_t held, uint64_t bytes) {
    return blyi_growth_fits(c->growth_limit, held, bytes) ? BLY_OK : BLY_EGROWTH;
}

void blyi_rb_layers_pop(blyi_rb_layers *c) {
    blyi_rb_layer *last = blyi_rb_layer_at(c, --c->n);
    c->bytes -= last->bytes;
    c->alloc.free(c->alloc.ctx, last->data);
}

void blyi_rb_layers_free(blyi_rb_layers *c) {
    while (c->n > 0)
        blyi_rb_layers_pop(c);
    if (c->table)
        c->alloc.free(c->alloc.ctx, c->table);
}

bool blyi_rb_layers_copy(const blyi_rb_layers *from, blyi_rb_layers *to) {
    to->loaded = from->loaded;
    to->growth_limit = from->growth_limit;
    if (!blyi_rb_layers_reserve(to, from->n))
        return false;
    for (uint64_t i = 0; i < from->n; i++) {
        const blyi_rb_layer *part = blyi_rb_layer_at(from, i);
        if (!blyi_rb_layers_push(to, part))
            return false;
        memcpy(blyi_rb_layer_at(to, i)->data, part->data, (size_t)part->bytes);
    }
    return true;
}

bool blyi_rb_layers_equal(const blyi_rb_layers *c, const blyi_rb_layers *d) {
    if (c->n != d->n)
        return false;
    for (uint64_t i = 0; i < c->n; i++) {
        const blyi_rb_layer *one = blyi_rb_layer_at(c, i), *two = blyi_rb_layer_at(d, i);
        if (one->bytes != two->bytes || memcmp(one->data, two->data, (size_t)one->bytes) != 0)
            return false;
    }
    return true;
}

uint64_t blyi_rb_layers_memory(const blyi_rb_layers *c) {
    return c->room * c->stride + c->bytes;
}

uint64_t blyi_rb_layers_memory_after(const blyi_rb_layers *c, uint64_t bytes) {
    return rb_next_room(c) * c->stride + c->bytes + bytes;
}

/* Returns the layer that contains byte *offset of all arrays, counted as if they were one, and
 * changes *offset to the position in that layer. Returns NULL if *offset is past the end. */
static blyi_rb_layer *rb_locate(const blyi_rb_layers *c, uint64_t *offset) {
    for (uint64_t i = 0; i < c->n; i++) {
        blyi_rb_layer *part = blyi_rb_layer_at(c, i);
        if (*offset < part->bytes)
            return part;
        *offset -= part->bytes;
    }
    return NULL;
}

bly_bytes blyi_rb_layers_read(const blyi_rb_layers *c, uint64_t offset, size_t max) {
    const blyi_rb_layer *part = rb_locate(c, &offset);
    if (!part)
        return (bly_bytes){NULL, 0};
    uint64_t left = part->bytes - offset;
    return (bly_bytes){part->data + offset, left < max ? (size_t)left : max};
}

bly_status blyi_rb_layers_write(blyi_rb_layers *c, uint64_t offset, const void *data, size_t size) {
    const blyi_rb_layer *part = rb_locate(c, &offset);
    if (!part)
        return BLY_EINVAL;
    if (size > part->bytes - offset)
        return BLY_ETOOBIG;
    if (size > 0)
        memcpy(part->data + offset, data, size);
    return BLY_OK;
}

/* Block 0 is the table, block i + 1 array i. */
size_t blyi_rb_layers_move(blyi_rb_layers *c, size_t from, size_t max, bly_defrag_move move,
                           void *ctx) {
    size_t at = from;
    for (; max > 0 && at <= c->n; at++, max--) {
        if (at == 0) {
            void *table = move(ctx, c->table, (size_t)(c->room * c->stride));
            c->table = table ? table : c->table;
        } else {
            blyi_rb_layer *part = blyi_rb_layer_at(c, at - 1);
            void *data = move(ctx, part->data, (size_t)part->bytes);
            part->data = data ? data : part->data;
        }
    }
    return at <= c->n ? at : 0;
}
