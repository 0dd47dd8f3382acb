/* allocator.c - a filter whose memory comes from the program's own allocator, which has a limit.
 *
 *     cc -std=c11 allocator.c $(pkg-config --cflags --libs bloomery) && ./a.out
 *
 * The allocator counts bytes, and refuses allocations that would exceed its limit. When the filter
 * has to grow and cannot, an add returns BLY_ENOMEM. A failed call changes nothing: every key that
 * was added before is still found, and the add may be tried again when there is more memory.
 */
#include <bloomery/bloomery.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct budget {
    size_t used, limit;
} budget;

/* Precedes each block, and records its size, because the size is not passed to `free`. */
typedef union header {
    size_t size;
    max_align_t align;
} header;

/* Must return zeroed memory, aligned for any type, or NULL. */
static void *budget_alloc(void *context, size_t size) {
    budget *b = context;
    header *h = size <= b->limit - b->used ? calloc(1, sizeof *h + size) : NULL;
    if (!h)
        return NULL;
    h->size = size;
    b->used += size;
    return h + 1;
}

static void budget_free(void *context, void *block) {
    budget *b = context;
    header *h = (header *)block - 1;
    b->used -= h->size;
    free(h);
}

int main(void) {
    budget memory = {.limit = 100000};
    const bly_allocator allocator = {budget_alloc, budget_free, &memory};
    bly_spec spec = bly_spec_for(BLY_SCALABLE, 1000, 0.01); /* grows beyond 1000 keys */
    spec.allocator = &allocator;
    bly_filter *f;
    bly_status status = bly_filter_create(&spec, &f);
    if (status != BLY_OK)
        return 2;
    uint32_t keys = 0, found = 0;
    while ((status = bly_filter_add(f, &keys, sizeof keys, NULL)) == BLY_OK)
        keys++;
    for (uint32_t i = 0; i < keys; i++)
        found += bly_filter_contains(f, &i, sizeof i);
    printf("an add failed: %s\n", bly_strerror(status));
    printf("more than 1000 keys: %s; all of them found: %s; within the limit: %s\n",
           keys > 1000 ? "yes" : "no", found == keys ? "yes" : "no",
           memory.used <= memory.limit ? "yes" : "no");
    bly_filter_destroy(f);
    printf("%zu bytes in use after destroy\n", memory.used);
    return memory.used == 0 && found == keys ? 0 : 1;
}
