/* redisbloom_layers.h - the layers that RedisBloom's two filters are made of. Internal.
 *
 * The layers are a table of entries. Each entry begins with a blyi_rb_layer, which is a byte array,
 * and continues with what its filter stores about it. The arrays are addressed one by one or, as
 * SCANDUMP does, as if each began where the one before ends. */
#ifndef BLYI_FORMATS_REDISBLOOM_LAYERS_H
#define BLYI_FORMATS_REDISBLOOM_LAYERS_H

#include <bloomery/host/redisbloom.h>

/* The maximum size of an array. The sizes of BLY_RB_MAX_PARTS arrays can be added up in 64 bits. */
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
    uint64_t growth_limit; /* from blyi_growth_limit; 0: none */
} blyi_rb_layers;

static inline blyi_rb_layer *blyi_rb_layer_at(const blyi_rb_layers *c, uint64_t i) {
    return (blyi_rb_layer *)(void *)((uint8_t *)c->table + i * c->stride);
}

/* Allocates an object of `size` zeroed bytes, and stores the allocator in *alloc. NULL: no memory.
 */
void *blyi_rb_alloc_object(const bly_allocator *a, size_t size, bly_allocator *alloc);

/* Allocates space for n entries in all. false: no memory, and nothing has changed. */
bool blyi_rb_layers_reserve(blyi_rb_layers *c, uint64_t n);
/* Adds a copy of `entry` at the end, with a zeroed array of entry->bytes. false: as above. */
bool blyi_rb_layers_push(blyi_rb_layers *c, const blyi_rb_layer *entry);
/* Marks all layers as loaded, which limits further growth. */
void blyi_rb_layers_loaded(blyi_rb_layers *c);
/* Whether layers with `held` bytes may get another array of `bytes`: BLY_OK or BLY_EGROWTH. */
bly_status blyi_rb_layers_may_grow(const blyi_rb_layers *c, uint64_t held, uint64_t bytes);
void blyi_rb_layers_pop(blyi_rb_layers *c);
void blyi_rb_layers_free(blyi_rb_layers *c);

/* Copies all layers to `to`, in which only the allocator and the stride are set. false: no memory;
 * `to` then has only some of the layers, and must be freed. */
bool blyi_rb_layers_copy(const blyi_rb_layers *from, blyi_rb_layers *to);
/* Whether the arrays are equal. The other fields of the entries are not compared. */
bool blyi_rb_layers_equal(const blyi_rb_layers *c, const blyi_rb_layers *d);

/* Allocated bytes; and the same after another push of an array of `bytes`. */
uint64_t blyi_rb_layers_memory(const blyi_rb_layers *c);
uint64_t blyi_rb_layers_memory_after(const blyi_rb_layers *c, uint64_t bytes);

/* See bly_rb_bloom_read, bly_rb_bloom_write and bly_rb_bloom_defrag in host/redisbloom.h. */
bly_bytes blyi_rb_layers_read(const blyi_rb_layers *c, uint64_t offset, size_t max);
bly_status blyi_rb_layers_write(blyi_rb_layers *c, uint64_t offset, const void *data, size_t size);
size_t blyi_rb_layers_move(blyi_rb_layers *c, size_t from, size_t max, bly_defrag_move move,
                           void *ctx);

#endif
