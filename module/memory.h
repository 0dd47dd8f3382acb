/* memory.h - where filters' memory comes from: counted, limited, and given back without a pause.
 *
 * Everything comes from the engine's own allocator, so that used_memory, maxmemory and eviction see
 * it. Blocks of BM_BIG_BLOCK and more are not zeroed by writing to them: their pages are dropped,
 * and the system hands out zeroed ones as they are touched. Nor are their pages given back where
 * they are let go: a thread of the module's does that, a few at a time. So neither making nor
 * dropping a filter takes time in proportion to its size.
 *
 * All functions may be called from any thread: the engine frees keys in threads of its own. An
 * account is used by one thread at a time.
 */
#ifndef BLOOMERY_MODULE_MEMORY_H
#define BLOOMERY_MODULE_MEMORY_H

#include <bloomery/base.h>

enum { BM_BIG_BLOCK = 1 << 20 };

typedef enum bm_refusal {
    BM_REFUSED_NOT,
    BM_REFUSED_FILTER,
    BM_REFUSED_TOTAL,
    BM_REFUSED_SERVER, /* quota.h */
    BM_REFUSED_SYSTEM
} bm_refusal;

/* What one key's value takes. Zero it, then use bm_allocator. */
typedef struct bm_account {
    uint64_t bytes;     /* as the engine's allocator rounds them */
    bool unlimited;     /* set while loading, and for what a master or the AOF says */
    bool arriving;      /* no filter yet: of the limits that of all filters alone applies */
    bool apart;         /* bookkeeping: no limits, and no part of bm_memory_total */
    bm_refusal refusal; /* why the last allocation failed */
} bm_account;

/* Starts the thread that frees, and finds out what can be done with pages; RM_ERR when there is no
 * thread to be had. To be called in the engine's main thread. */
int bm_memory_start(void);

/* Memory on this account, which must outlive what is allocated, and stay where it is. An allocation
 * that would pass the limit of one filter (max-filter-memory) or of all (max-total-memory), or is
 * of a big block that the server may not take (quota.h), fails before it is tried. The engine's
 * allocator may round up what was asked for: a block that only then passes a limit is given back,
 * so that the bytes on limited accounts never do. */
bly_allocator bm_allocator(bm_account *account);

/* Whether `bytes` more would pass a limit; for checks before any work is done. */
bm_refusal bm_memory_would_refuse(const bm_account *account, uint64_t bytes);

/* Whether the limits have been passed, that of one filter by so many bytes or that of all by what
 * there is: for what was allocated without limits, and can still be given back. */
bm_refusal bm_memory_has_passed(uint64_t bytes);

/* How many bytes more, in one block, would not: UINT64_MAX where there is no limit. */
uint64_t bm_memory_room(const bm_account *account);

/* The error to reply with. */
const char *bm_refusal_text(bm_refusal refusal);

uint64_t bm_memory_total(void);   /* on all accounts but those apart */
uint64_t bm_memory_pending(void); /* let go, and not yet given back to the system */

/* A block that the engine allocated is on the account from now on, and for its allocator to free.
 */
void bm_account_adopt(bm_account *account, void *block);
/* Frees a block of the account at once, in this thread, however large it is, pages and all. */
void bm_account_free_now(bm_account *account, void *block);
/* A block of `before` bytes has become this one, by the engine's doing (defragmentation). */
void bm_account_moved(bm_account *account, size_t before, void *now);

/* Frees a block of the engine's that is on no account; in the background if it is big. NULL does
 * nothing. */
void bm_release(void *block);

#endif
