/* redisbloom_chain.h - what RedisBloom's two structures have in common: byte arrays in a row.
 *
 * A chain is a table of entries, each of which begins with a blyi_rb_part and goes on with what its
 * structure keeps about it. The arrays are addressed one by one, or, as SCANDUMP does, as if each
 * began where the one before ends. Internal. */
#ifndef BLYI_FORMATS_REDISBLOOM_CHAIN_H
#define BLYI_FORMATS_REDISBLOOM_CHAIN_H

#include <bloomery/redisbloom.h>

/* No array is larger; so the bytes of BLY_RB_MAX_PARTS of them can be added up. */
#define BLYI_RB_MAX_BYTES ((uint64_t)1 << 45)

typedef struct blyi_rb_part {
    uint8_t *data;
    uint64_t bytes; /* at least 1 */
} blyi_rb_part;

typedef struct blyi_rb_chain {
    bly_allocator alloc;
    void *table;
    uint64_t stride;       /* bytes of an entry */
    uint64_t n, room;      /* entries there are, and that the table can take */
    uint64_t bytes;        /* of all arrays */
    uint64_t loaded;       /* of those that came from outside */
    uint64_t growth_limit; /* blyi_growth_limit; 0: none */
} blyi_rb_chain;

static inline blyi_rb_part *blyi_rb_at(const blyi_rb_chain *c, uint64_t i) {
    return (blyi_rb_part *)(void *)((uint8_t *)c->table + i * c->stride);
}

/* A new object of `size` zeroed bytes, with a copy of the allocator that it came from in *alloc;
 * NULL when there is no memory. */
void *blyi_rb_object(const bly_allocator *a, size_t size, bly_allocator *alloc);

/* Room for n entries in all. false: no memory, and nothing has changed. */
bool blyi_rb_reserve(blyi_rb_chain *c, uint64_t n);
/* Puts a copy of `entry` at the end, with a zeroed array of entry->bytes. The same. */
bool blyi_rb_push(blyi_rb_chain *c, const blyi_rb_part *entry);
/* All there is so far came from outside, and what is added to it is limited. */
void blyi_rb_is_loaded(blyi_rb_chain *c);
/* Whether a chain that holds `held` bytes may get an array of so many: BLY_OK or BLY_EGROWTH. */
bly_status blyi_rb_may_grow(const blyi_rb_chain *c, uint64_t held, uint64_t bytes);
void blyi_rb_pop(blyi_rb_chain *c);
void blyi_rb_free(blyi_rb_chain *c);

/* Fills `to`, which has an allocator and a stride and nothing else, with copies. false: no memory,
 * and `to` has only some of them. */
bool blyi_rb_copy(const blyi_rb_chain *from, blyi_rb_chain *to);
/* The same arrays, whatever the rest of the entries. */
bool blyi_rb_same(const blyi_rb_chain *c, const blyi_rb_chain *d);

/* Bytes asked of the allocator; and after one more push of so many bytes. */
uint64_t blyi_rb_memory(const blyi_rb_chain *c);
uint64_t blyi_rb_memory_after(const blyi_rb_chain *c, uint64_t bytes);

/* The rest is as in redisbloom.h. */
bly_bytes blyi_rb_read(const blyi_rb_chain *c, uint64_t offset, size_t most);
bly_status blyi_rb_write(blyi_rb_chain *c, uint64_t offset, const void *data, size_t size);
size_t blyi_rb_move(blyi_rb_chain *c, size_t from, size_t most, bly_mover move, void *ctx);

#endif
