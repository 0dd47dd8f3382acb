/* module_memory.h - memory for filters, which is counted, limited, and freed without blocking the
 * server.
 *
 * All memory comes from the engine's allocator, so that used_memory, maxmemory and eviction take it
 * into account. Blocks of BM_BIG_BLOCK bytes or more are not zeroed by writing to them: their pages
 * are given back to the system, which provides zeroed pages when they are next used. When such a
 * block is freed, a thread of the module gives its pages back in steps. So neither creating nor
 * freeing a filter takes time in proportion to its size.
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
    BM_REFUSED_FILTER, /* exceeds max-filter-memory */
    BM_REFUSED_TOTAL,  /* exceeds max-total-memory */
    BM_REFUSED_SERVER, /* exceeds the limit of memory_quota.h */
    BM_REFUSED_SYSTEM
} bm_refusal;

/* Counts the memory of one key's value. Initialise it to zero, then allocate with bm_allocator. */
typedef struct bm_account {
    uint64_t bytes;     /* bytes allocated, as the engine's allocator rounds them */
    bool unlimited;     /* true: there are no limits; while loading, and for replayed writes */
    bool staged;        /* true: a staged load, to which max-filter-memory does not apply */
    bool untracked;     /* true: bookkeeping data, which has no limits and is not part of
                           bm_memory_total */
    bm_refusal refusal; /* why the last allocation failed; BM_REFUSED_NOT if it succeeded */
} bm_account;

/* Starts the thread that frees memory, and tests what the system supports. Returns RM_ERR if the
 * thread could not be started. Must be called in the engine's main thread. */
int bm_memory_start(void);

/* Returns an allocator that charges its memory to this account. The account must outlive all memory
 * that is allocated with it, and must not be moved. An allocation is refused before it is tried if
 * it would exceed max-filter-memory or max-total-memory, or if it is a big block for which the
 * server has not enough memory (memory_quota.h). The engine's allocator may round a size up: a
 * block that exceeds a limit only because of that is freed again, so that accounts with limits
 * never exceed them. */
bly_allocator bm_allocator(bm_account *account);

/* Returns why an allocation of `bytes` bytes would be refused; BM_REFUSED_NOT if it would not. For
 * checks before any work is done. */
bm_refusal bm_memory_would_refuse(const bm_account *account, uint64_t bytes);

/* Returns which limit is exceeded: BM_REFUSED_FILTER if a filter of `bytes` bytes exceeds
 * max-filter-memory, BM_REFUSED_TOTAL if all filters together exceed max-total-memory, else
 * BM_REFUSED_NOT. For a filter that was allocated without limits and can still be freed. */
bm_refusal bm_memory_exceeded(uint64_t bytes);

/* Returns the maximum size of a block that would not be refused; UINT64_MAX if there is no
 * limit. */
uint64_t bm_memory_available(const bm_account *account);

/* Returns the text of the error reply for a refusal. */
const char *bm_refusal_text(bm_refusal refusal);

uint64_t bm_memory_total(void);   /* bytes of all tracked accounts */
uint64_t bm_memory_pending(void); /* bytes that were freed, but not yet given back to the system */

/* Charges a block that the engine has allocated to the account. From then on the account's
 * allocator frees it. */
void bm_account_adopt(bm_account *account, void *block);
/* Frees a block of the account and gives its pages back, immediately and in this thread. */
void bm_account_free_now(bm_account *account, void *block);
/* Corrects the account after the engine's defragmentation has replaced a block of `before` bytes by
 * the block `now`. */
void bm_account_moved(bm_account *account, size_t before, void *now);

/* Frees a block of the engine's allocator that is not charged to an account. A big block is freed
 * in the background. NULL does nothing. */
void bm_release(void *block);

#endif
