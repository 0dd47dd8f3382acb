/* module_memory.c - allocates, counts, limits and frees memory for filters.
 *
 * Zeroing. A large block from the engine's allocator may be new from the system, and therefore
 * zero, or it may have been used before. It is not zeroed by writing to it: its pages are given
 * back to the system with MADV_DONTNEED. On Linux they then read as zero; this costs one system
 * call, and no memory. Only the partial pages at the ends of the block, which it shares with other
 * blocks, are written to. Whether this works with the engine's memory is tested at the start, on a
 * block of its allocator.
 *
 * Freeing. Giving pages back to the system takes time, so a thread does it. The pages are first
 * detached from their block (page_release.h), and the block is freed immediately, because the
 * engine expects this when it evicts keys until it has enough memory. Only the detached pages wait
 * for the thread. If the system cannot detach pages, which is also tested at the start, the whole
 * block waits. The queue of the thread is a linked list whose nodes are in the pages themselves, so
 * that freeing needs no memory.
 *
 * The engine has threads that free unlinked, evicted or flushed keys lazily. In these threads pages
 * are given back directly: this blocks no client, and the engine waits for its threads when it
 * needs memory.
 *
 * Forks. The engine saves its data in child processes. A child does not have the thread that frees,
 * and another thread may have held the lock at the time of the fork. So a child frees blocks
 * directly, and never uses the lock.
 */
#include "runtime/module_memory.h"

#include "config.h"
#include "engine_api.h"
#include "runtime/memory_quota.h"
#include "runtime/page_release.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

enum {
    MIN_DROP = 64 << 10
}; /* minimum size of a block whose pages bm_account_free_now gives
      back */

typedef struct pending_block {
    struct pending_block *next;
    size_t size;
    bool detached; /* true: only pages, detached from their block */
} pending_block;

static atomic_uint_fast64_t total, pending;
static bool drop_zeroes, can_detach; /* what the system supports; set at the start, before anything
                                        is allocated */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static pending_block *queue;        /* protected by the lock */
static atomic_bool has_free_thread; /* false before the start, and in child processes */
static pthread_t main_thread;       /* set at the start */

/* ---- zeroing --------------------------------------------------------------------------------- */

static void zero(void *block, size_t size) {
    if (size >= BM_BIG_BLOCK && drop_zeroes)
        bm_pages_zero(block, size);
    else
        memset(block, 0, size);
}

/* Tests whether bm_pages_zero zeroes a block of the engine's allocator in which all bits were 1. */
static bool try_drop_zeroes(void) {
    uint8_t *block = rm.TryAlloc(BM_BIG_BLOCK);
    bool all_zero = block != NULL;
    if (block) {
        memset(block, 0xFF, BM_BIG_BLOCK);
        bm_pages_zero(block, BM_BIG_BLOCK);
    }
    for (size_t i = 0; all_zero && i < BM_BIG_BLOCK; i++)
        all_zero = block[i] == 0;
    rm.Free(block);
    return all_zero;
}

/* ---- the thread that frees ------------------------------------------------------------------- */

static void drop_and_free(void *block, size_t size) {
    bm_pages_drop(block, size);
    rm.Free(block);
}

static void free_pending(pending_block *b) {
    size_t size = b->size;
    if (b->detached)
        bm_pages_unmap(b, size);
    else
        drop_and_free(b, size);
    atomic_fetch_sub(&pending, size);
}

static void *free_thread(void *unused) {
    (void)unused;
    for (;;) {
        (void)pthread_mutex_lock(&lock);
        while (!queue)
            (void)pthread_cond_wait(&more, &lock);
        pending_block *all = queue;
        queue = NULL;
        (void)pthread_mutex_unlock(&lock);
        while (all) {
            pending_block *first = all;
            all = all->next;
            free_pending(first);
        }
    }
    return NULL;
}

static void in_child(void) {
    atomic_store(&has_free_thread, false);
}

/* The signals that report a crash. The thread blocks all other signals, which are for the
 * engine. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

int bm_memory_start(void) {
    if (atomic_load(&has_free_thread))
        return RM_OK;
    drop_zeroes = try_drop_zeroes();
    can_detach = bm_pages_can_detach();
    main_thread = pthread_self();
    sigset_t blocked, before;
    (void)sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        (void)sigdelset(&blocked, faults[i]);
    if (pthread_atfork(NULL, NULL, in_child) != 0 ||
        pthread_sigmask(SIG_SETMASK, &blocked, &before))
        return RM_ERR;
    pthread_t thread;
    bool made = pthread_create(&thread, NULL, free_thread, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!made)
        return RM_ERR;
    (void)pthread_detach(thread);
    atomic_store(&has_free_thread, true);
    return RM_OK;
}

static void add_pending(pending_block *b, size_t size, bool detached) {
    b->size = size;
    b->detached = detached;
    atomic_fetch_add(&pending, size);
    (void)pthread_mutex_lock(&lock);
    b->next = queue;
    queue = b;
    (void)pthread_cond_signal(&more);
    (void)pthread_mutex_unlock(&lock);
}

static void free_block(void *block, size_t size) {
    if (size < BM_BIG_BLOCK || !atomic_load(&has_free_thread)) {
        rm.Free(block);
        return;
    }
    if (!pthread_equal(pthread_self(), main_thread)) {
        drop_and_free(block, size);
        return;
    }
    size_t detached;
    void *pages = can_detach ? bm_pages_detach(block, size, &detached) : NULL;
    if (pages)
        rm.Free(block);
    add_pending(pages ? pages : block, pages ? detached : size, pages != NULL);
}

void bm_release(void *block) {
    if (block)
        free_block(block, rm.MallocSize(block));
}

/* ---- accounts -------------------------------------------------------------------------------- */

static void charge(bm_account *account, size_t size) {
    account->bytes += size;
    if (!account->untracked)
        atomic_fetch_add(&total, size);
}

static void discharge(bm_account *account, size_t size) {
    account->bytes -= size;
    if (!account->untracked)
        atomic_fetch_sub(&total, size);
}

static bm_refusal exceeds_limit(const bm_account *account, uint64_t bytes);

static void *account_alloc(void *ctx, size_t size) {
    bm_account *account = ctx;
    account->refusal = bm_memory_would_refuse(account, size);
    if (account->refusal != BM_REFUSED_NOT)
        return NULL;
    void *block = rm.TryAlloc(size);
    if (!block) {
        account->refusal = BM_REFUSED_SYSTEM;
        return NULL;
    }
    size_t real = rm.MallocSize(block);
    account->refusal = exceeds_limit(account, real);
    if (account->refusal != BM_REFUSED_NOT) {
        rm.Free(block);
        return NULL;
    }
    zero(block, size);
    charge(account, real);
    return block;
}

static void account_free(void *ctx, void *block) {
    if (!block)
        return;
    size_t size = rm.MallocSize(block);
    discharge(ctx, size);
    free_block(block, size);
}

bly_allocator bm_allocator(bm_account *account) {
    return (bly_allocator){account_alloc, account_free, account};
}

void bm_account_adopt(bm_account *account, void *block) {
    charge(account, rm.MallocSize(block));
}

void bm_account_free_now(bm_account *account, void *block) {
    if (!block)
        return;
    size_t size = rm.MallocSize(block);
    discharge(account, size);
    if (size >= MIN_DROP)
        bm_pages_drop(block, size);
    rm.Free(block);
}

void bm_account_moved(bm_account *account, size_t before, void *now) {
    discharge(account, before);
    charge(account, rm.MallocSize(now));
}

/* ---- limits ---------------------------------------------------------------------------------- */

static uint64_t left_of(uint64_t limit, uint64_t used) {
    if (limit == 0)
        return UINT64_MAX;
    return used < limit ? limit - used : 0;
}

/* Returns the limit of the module that `bytes` more bytes, as the allocator has rounded them, would
 * exceed; else BM_REFUSED_NOT. */
static bm_refusal exceeds_limit(const bm_account *account, uint64_t bytes) {
    if (account->unlimited || account->untracked)
        return BM_REFUSED_NOT;
    if (!account->staged && bytes > left_of(bm_configs.max_filter, account->bytes))
        return BM_REFUSED_FILTER;
    return bytes > left_of(bm_configs.max_total, bm_memory_total()) ? BM_REFUSED_TOTAL
                                                                    : BM_REFUSED_NOT;
}

bm_refusal bm_memory_exceeded(uint64_t bytes) {
    if (bm_configs.max_filter && bytes > bm_configs.max_filter)
        return BM_REFUSED_FILTER;
    return bm_configs.max_total && bm_memory_total() > bm_configs.max_total ? BM_REFUSED_TOTAL
                                                                            : BM_REFUSED_NOT;
}

bm_refusal bm_memory_would_refuse(const bm_account *account, uint64_t bytes) {
    bm_refusal own = exceeds_limit(account, bytes);
    if (own != BM_REFUSED_NOT || account->unlimited || account->untracked)
        return own;
    if (bytes >= BM_BIG_BLOCK && bytes > bm_quota_available(account->bytes, bm_memory_total()))
        return BM_REFUSED_SERVER;
    return BM_REFUSED_NOT;
}

uint64_t bm_memory_available(const bm_account *account) {
    if (account->unlimited)
        return UINT64_MAX;
    uint64_t one = left_of(bm_configs.max_filter, account->bytes);
    uint64_t all = left_of(bm_configs.max_total, bm_memory_total());
    uint64_t server = bm_quota_available(account->bytes, bm_memory_total());
    if (server < BM_BIG_BLOCK)
        server = BM_BIG_BLOCK - 1;
    uint64_t min = one < all ? one : all;
    return min < server ? min : server;
}

const char *bm_refusal_text(bm_refusal refusal) {
    switch (refusal) {
    case BM_REFUSED_FILTER:
        return "ERR the filter would take more memory than max-filter-memory allows";
    case BM_REFUSED_TOTAL:
        return "ERR all filters together would take more memory than max-total-memory allows";
    case BM_REFUSED_SERVER:
        return "ERR the filter would take more memory than the server may use (maxmemory, or the "
               "memory of the machine)";
    case BM_REFUSED_NOT:
    case BM_REFUSED_SYSTEM:
        break;
    }
    return "ERR Insufficient memory to create filter";
}

uint64_t bm_memory_total(void) {
    return atomic_load(&total);
}

uint64_t bm_memory_pending(void) {
    return atomic_load(&pending);
}
