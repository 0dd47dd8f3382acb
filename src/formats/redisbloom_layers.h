/* redisbloom_layers.h - the layers that RedisBloom's two filters are made of. Internal.
 *
 * The layers are a table of entries. Each entry begins with a blyi_rb_layer, which is a byte array,
 * followed by other fields of the filter's layer. The arrays are addressed one by one or, as in
 * SCANDUMP, as if they were one long array. */
#ifndef BLYI_FORMATS_REDISBLOOM_LAYERS_H
#define BLYI_FORMATS_REDISBLOOM_LAYERS_H

#include <bloomery/host/redisbloom.h>

/* The maximum size of an array. The sizes of BLY_RB_MAX_PARTS arrays can be added without
 * overflowing 64 bits. */
#define BLYI_RB_MAX_BYTES ((uint64_t)1 << 45)

typedef struct blyi_rb_layer {
    uint8_t *data;
    uint64_t bytes; /* at least 1 */
} blyi_rb_layer;

typedef struct blyi_rb_layers {
    bly_allocator alloc;
    void *table;
    uint64_t stride;       /* bytes of an entry */
    uint64_t n, room;      /* entries in use, entries allocated */
    uint64_t bytes;        /* of all arrays */
    uint64_t loaded;       /* bytes of the arrays that were loaded */
    uint64_t growth_limit; /* from blyi_growth_limit; 0: no limit */
} blyi_rb_layers;

static inline blyi_rb_layer *blyi_rb_layer_at(const blyi_rb_layers *c, uint64_t i) {
    return (blyi_rb_layer *)(void *)((uint8_t *)c->table + i * c->stride);
}

/* Allocates an object of `size` zeroed bytes, and stores the allocator in *alloc. Returns NULL if
 * memory runs out. */
void *blyi_rb_alloc_object(const bly_allocator *a, size_t size, bly_allocator *alloc);

/* Allocates room for n entries in total. Returns false if memory runs out; then nothing has
 * changed. */
bool blyi_rb_layers_reserve(blyi_rb_layers *c, uint64_t n);
/* Adds a copy of `entry` at the end, with a zeroed array of entry->bytes bytes. Returns false if
 * memory runs out; then no layer has been added. */
bool blyi_rb_layers_push(blyi_rb_layers *c, const blyi_rb_layer *entry);
/* Marks all layers as loaded from an untrusted source, which limits further growth. */
void blyi_rb_layers_loaded(blyi_rb_layers *c);
/* Returns BLY_OK if layers of `held` bytes may get another array of `bytes` bytes, else
 * BLY_EGROWTH. */
bly_status blyi_rb_layers_may_grow(const blyi_rb_layers *c, uint64_t held, uint64_t bytes);
/* Removes the last layer. There must be at least one layer. */
void blyi_rb_layers_pop(blyi_rb_layers *c);
/* Frees all layers and the table. */
void blyi_rb_layers_free(blyi_rb_layers *c);

/* Copies all layers to `to`, in which only the allocator and the stride are set. Returns false if
 * memory runs out; then `to` has only some of the layers, and must be freed. */
bool blyi_rb_layers_copy(const blyi_rb_layers *from, blyi_rb_layers *to);
/* Whether the arrays are equal. The other fields of the entries are not compared. */
bool blyi_rb_layers_equal(const blyi_rb_layers *c, const blyi_rb_layers *d);

/* Returns the number of allocated bytes. */
uint64_t blyi_rb_layers_memory(const blyi_rb_layers *c);
/* Returns the number of bytes that will be allocated after a push of an array of `bytes` bytes. */
uint64_t blyi_rb_layers_memory_after(const blyi_rb_layers *c, uint64_t bytes);

/* See bly_rb_bloom_read, bly_rb_bloom_write and bly_rb_bloom_defrag in host/redisbloom.h. */
bly_bytes blyi_rb_layers_read(const blyi_rb_layers *c, uint64_t offset, size_t max);
bly_status blyi_rb_layers_write(blyi_rb_layers *c, uint64_t offset, const void *data, size_t size);
size_t blyi_rb_layers_move(blyi_rb_layers *c, size_t from, size_t max, bly_defrag_move move,
                           void *ctx);

#endif
