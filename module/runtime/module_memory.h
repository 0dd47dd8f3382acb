/* module_memory.h - memory for filters: counted, limited, and freed without blocking the server.
 *
 * All memory comes from the engine's allocator, so that used_memory, maxmemory and eviction include
 * it. Blocks of BM_BIG_BLOCK and more are not zeroed by writing to them: their pages are dropped,
 * and the system provides zeroed ones on first use. When such blocks are freed, a thread of the
 * module gives their pages back in steps. So neither creating nor freeing a filter takes time in
 * proportion to its size.
 *
 * All functions are thread-safe, because the engine frees keys in its own threads. An account must
 * be used by one thread at a time.
 */
#ifndef BLOOMERY_MODULE_MODULE_MEMORY_H
#define BLOOMERY_MODULE_MODULE_MEMORY_H

#include <bloomery/base.h>

enum { BM_BIG_BLOCK = 1 << 20 };

typedef enum bm_refusal {
    BM_REFUSED_NOT,
    BM_REFUSED_FILTER, /* max-filter-memory */
    BM_REFUSED_TOTAL,  /* max-total-memory */
    BM_REFUSED_SERVER, /* memory_quota.h */
    BM_REFUSED_SYSTEM
} bm_refusal;

/* The memory of one key's value. Zero it, then use bm_allocator. */
typedef struct bm_account {
    uint64_t bytes;     /* as the engine's allocator rounds them */
    bool unlimited;     /* while loading, and for replayed writes */
    bool staged;        /* a staged load: only max-total-memory limits it */
    bool untracked;     /* bookkeeping: no limits, and not part of bm_memory_total */
    bm_refusal refusal; /* why the last allocation failed */
} bm_account;

/* Starts the thread that frees, and finds out what the system supports. RM_ERR: no thread could be
 * started. To be called in the engine's main thread. */
int bm_memory_start(void);

/* An allocator on this account, which must outlive what is allocated, and must not move. An
 * allocation fails before it is tried if it would exceed max-filter-memory or max-total-memory, or
 * if it is a big block that the server may not use (memory_quota.h). The engine's allocator may
 * round up: a block that exceeds a limit only then is freed again, so that limited accounts never
 * exceed their limits. */
bly_allocator bm_allocator(bm_account *account);

/* Whether `bytes` more would exceed a limit, for checks before any work is done. */
bm_refusal bm_memory_would_refuse(const bm_account *account, uint64_t bytes);

/* Whether a filter of `bytes` exceeds its limit, or all filters exceed theirs: for what was
 * allocated without limits and can still be freed. */
bm_refusal bm_memory_exceeded(uint64_t bytes);

/* How many bytes more, in one block, would not be refused; UINT64_MAX without a limit. */
uint64_t bm_memory_available(const bm_account *account);

/* The error to reply with. */
const char *bm_refusal_text(bm_refusal refusal);

uint64_t bm_memory_total(void);   /* of all tracked accounts */
uint64_t bm_memory_pending(void); /* freed, and not yet given back to the system */

/* Adds a block that the engine allocated to the account. It is freed by the account's allocator. */
void bm_account_adopt(bm_account *account, void *block);
/* Frees a block of the account, with its pages, immediately and in this thread. */
void bm_account_free_now(bm_account *account, void *block);
/* The engine's defragmentation has replaced a block of `before` bytes by this one. */
void bm_account_moved(bm_account *account, size_t before, void *now);

/* Frees a block of the engine's allocator that is on no account; in the background if it is big.
 * NULL does nothing. */
void bm_release(void *block);

#endif
