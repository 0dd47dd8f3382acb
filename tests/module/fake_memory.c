/* fake_memory.c - the fake engine's allocator: malloc, with the size and a marker before each
 * block. The marker detects invalid and double frees. */
#include "fake_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRONT = 16, RIM = 8192, ENORMOUS = 64 << 20 };
static const uint64_t alive = UINT64_C(0xA11CE0FB10C4B10C);

fake_memory fake_heap;

void fake_heap_reset(void) {
    atomic_store(&fake_heap.largest, 0);
    atomic_store(&fake_heap.requests, 0);
    atomic_store(&fake_heap.fail_at, 0);
    atomic_store(&fake_heap.max_request, 0);
}

static bool refused(size_t bytes) {
    size_t number = atomic_fetch_add(&fake_heap.requests, 1) + 1;
    size_t max = atomic_load(&fake_heap.max_request), largest = atomic_load(&fake_heap.largest);
    while (bytes > largest && !atomic_compare_exchange_weak(&fake_heap.largest, &largest, bytes))
        ;
    return number == atomic_load(&fake_heap.fail_at) || (max && bytes > max);
}

/* Fills new memory with other bytes than 0, because nothing may rely on zeros. In huge blocks only
 * both ends are filled, so that untouched pages need no memory. */
static void soil(uint8_t *bytes, size_t size) {
    size_t head = size > ENORMOUS ? RIM : size;
    memset(bytes, 0xE5, head);
    if (size > head)
        memset(bytes + size - RIM, 0xE5, RIM);
}

void *fake_TryAlloc(size_t bytes) {
    if (refused(bytes) || bytes > SIZE_MAX - 2 * FRONT)
        return NULL;
    size_t size = (bytes + 15) & ~(size_t)15;
    uint8_t *block = malloc(size + FRONT);
    if (!block)
        return NULL;
    soil(block + FRONT, bytes);
    memcpy(block, &size, sizeof size);
    memcpy(block + 8, &alive, sizeof alive);
    atomic_fetch_add(&fake_heap.live, size);
    atomic_fetch_add(&fake_heap.blocks, 1);
    return block + FRONT;
}

size_t fake_MallocSize(void *ptr) {
    size_t size;
    uint8_t *block = (uint8_t *)ptr - FRONT;
    if (memcmp(block + 8, &alive, sizeof alive) != 0) {
        fputs("fake host: not a block of its\n", stderr);
        abort();
    }
    memcpy(&size, block, sizeof size);
    return size;
}

void fake_Free(void *ptr) {
    if (!ptr)
        return;
    size_t size = fake_MallocSize(ptr);
    uint8_t *block = (uint8_t *)ptr - FRONT;
    memset(block, 0, FRONT);
    atomic_fetch_sub(&fake_heap.live, size);
    atomic_fetch_sub(&fake_heap.blocks, 1);
    free(block);
}

void *fake_DefragAlloc(rm_defrag *ctx, void *ptr) {
    size_t size = fake_MallocSize(ptr);
    void *moved = ctx->stay ? NULL : fake_TryAlloc(size + 32); /* as if in another size class */
    if (!moved)
        return NULL;
    memcpy(moved, ptr, size);
    fake_Free(ptr);
    ctx->moves++;
    return moved;
}

int fake_DefragShouldStop(rm_defrag *ctx) {
    return ctx->stop_after && ++ctx->calls % ctx->stop_after == 0;
}

int fake_DefragCursorSet(rm_defrag *ctx, unsigned long cursor) {
    if (!ctx->late)
        return RM_ERR;
    ctx->cursor = cursor;
    return RM_OK;
}

int fake_DefragCursorGet(rm_defrag *ctx, unsigned long *cursor) {
    if (!ctx->late)
        return RM_ERR;
    *cursor = ctx->cursor;
    return RM_OK;
}
