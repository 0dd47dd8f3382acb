/* Memory for filters.
 *
 * Zeroing. A large block fresh from the engine's allocator may be fresh from the system, and zero
 * already; or it may have been used before. Instead of writing to it, its pages are given back with
 * MADV_DONTNEED, which on Linux makes them read as zero, and costs a system call and no memory.
 * Only the rims, parts of pages that belong to others too, are written to. Whether the system keeps
 * that promise for the engine's memory is tried at the start, on a real block.
 *
 * Freeing. What takes time is giving pages back. So they are taken from the block (pages.h), which
 * is then freed at once, as the engine expects who evicts keys until it has enough; the pages
 * alone wait for the thread. Where the system cannot do that, which is tried at the start too, the
 * whole block waits. What waits forms a list whose links lie in the pages themselves, so that
 * letting go needs no memory.
 *
 * The engine's own threads, which free what is unlinked, evicted or flushed lazily, give the pages
 * back themselves: they are in nobody's way, and the engine waits for them when it needs memory.
 *
 * Forks. The engine saves in children that it forks. These have no such thread, and its lock may
 * have been taken at that moment; so a child frees at once, and never touches the lock.
 */
#include "memory.h"

#include "api.h"
#include "config.h"
#include "pages.h"
#include "quota.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

enum { DROPPED = 64 << 10 }; /* blocks whose pages are worth while to be given back at once */

typedef struct waiting {
    struct waiting *next;
    size_t size;
    bool alone; /* pages without their block */
} waiting;

static atomic_uint_fast64_t total, pending;
static bool drops_to_zero, takes_pages; /* set at the start, before anything is allocated */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static waiting *queue;        /* under the lock */
static atomic_bool has_freer; /* false before the start, and in children */
static pthread_t main_thread; /* set at the start */

/* ---- zeroing --------------------------------------------------------------------------------- */

static void zero(void *block, size_t size) {
    if (size >= BM_BIG_BLOCK && drops_to_zero)
        bm_pages_zero(block, size);
    else
        memset(block, 0, size);
}

/* Whether a block of the engine's that was full of ones is zero after bm_pages_zero. */
static bool try_dropping(void) {
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

static void free_slowly(void *block, size_t size) {
    bm_pages_drop(block, size);
    rm.Free(block);
}

static void end_waiting(waiting *w) {
    size_t size = w->size;
    if (w->alone)
        bm_pages_unmap(w, size);
    else
        free_slowly(w, size);
    atomic_fetch_sub(&pending, size);
}

static void *freer(void *unused) {
    (void)unused;
    for (;;) {
        (void)pthread_mutex_lock(&lock);
        while (!queue)
            (void)pthread_cond_wait(&more, &lock);
        waiting *all = queue;
        queue = NULL;
        (void)pthread_mutex_unlock(&lock);
        while (all) {
            waiting *first = all;
            all = all->next;
            end_waiting(first);
        }
    }
    return NULL;
}

static void in_child(void) {
    atomic_store(&has_freer, false);
}

/* The engine's signals are for its own threads; but not its reports of a crash. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

int bm_memory_start(void) {
    if (atomic_load(&has_freer))
        return RM_OK;
    drops_to_zero = try_dropping();
    takes_pages = bm_pages_can_take();
    main_thread = pthread_self();
    sigset_t most, before;
    (void)sigfillset(&most);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        (void)sigdelset(&most, faults[i]);
    if (pthread_atfork(NULL, NULL, in_child) != 0 || pthread_sigmask(SIG_SETMASK, &most, &before))
        return RM_ERR;
    pthread_t thread;
    bool made = pthread_create(&thread, NULL, freer, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!made)
        return RM_ERR;
    (void)pthread_detach(thread);
    atomic_store(&has_freer, true);
    return RM_OK;
}

static void let_wait(waiting *w, size_t size, bool alone) {
    w->size = size;
    w->alone = alone;
    atomic_fetch_add(&pending, size);
    (void)pthread_mutex_lock(&lock);
    w->next = queue;
    queue = w;
    (void)pthread_cond_signal(&more);
    (void)pthread_mutex_unlock(&lock);
}

static void let_go(void *block, size_t size) {
    if (size < BM_BIG_BLOCK || !atomic_load(&has_freer)) {
        rm.Free(block);
        return;
    }
    if (!pthread_equal(pthread_self(), main_thread)) {
        free_slowly(block, size);
        return;
    }
    size_t taken;
    void *pages = takes_pages ? bm_pages_take(block, size, &taken) : NULL;
    if (pages)
        rm.Free(block);
    let_wait(pages ? pages : block, pages ? taken : size, pages != NULL);
}

void bm_release(void *block) {
    if (block)
        let_go(block, rm.MallocSize(block));
}

/* ---- accounts -------------------------------------------------------------------------------- */

static void enter(bm_account *account, size_t size) {
    account->bytes += size;
    if (!account->apart)
        atomic_fetch_add(&total, size);
}

static void leave(bm_account *account, size_t size) {
    account->bytes -= size;
    if (!account->apart)
        atomic_fetch_sub(&total, size);
}

static bm_refusal passes_a_limit(const bm_account *account, uint64_t bytes);

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
    account->refusal = passes_a_limit(account, real);
    if (account->refusal != BM_REFUSED_NOT) {
        rm.Free(block);
        return NULL;
    }
    zero(block, size);
    enter(account, real);
    return block;
}

static void account_free(void *ctx, void *block) {
    if (!block)
        return;
    size_t size = rm.MallocSize(block);
    leave(ctx, size);
    let_go(block, size);
}

bly_allocator bm_allocator(bm_account *account) {
    return (bly_allocator){account_alloc, account_free, account};
}

void bm_account_adopt(bm_account *account, void *block) {
    enter(account, rm.MallocSize(block));
}

void bm_account_free_now(bm_account *account, void *block) {
    if (!block)
        return;
    size_t size = rm.MallocSize(block);
    leave(account, size);
    if (size >= DROPPED)
        bm_pages_drop(block, size);
    rm.Free(block);
}

void bm_account_moved(bm_account *account, size_t before, void *now) {
    leave(account, before);
    enter(account, rm.MallocSize(now));
}

/* ---- limits ---------------------------------------------------------------------------------- */

static uint64_t left_of(uint64_t limit, uint64_t used) {
    if (limit == 0)
        return UINT64_MAX;
    return used < limit ? limit - used : 0;
}

/* Whether so many bytes more, as the allocator rounds them, pass a limit of ours. */
static bm_refusal passes_a_limit(const bm_account *account, uint64_t bytes) {
    if (account->unlimited || account->apart)
        return BM_REFUSED_NOT;
    if (!account->arriving && bytes > left_of(bm_configs.max_filter, account->bytes))
        return BM_REFUSED_FILTER;
    return bytes > left_of(bm_configs.max_total, bm_memory_total()) ? BM_REFUSED_TOTAL
                                                                    : BM_REFUSED_NOT;
}

bm_refusal bm_memory_has_passed(uint64_t bytes) {
    if (bm_configs.max_filter && bytes > bm_configs.max_filter)
        return BM_REFUSED_FILTER;
    return bm_configs.max_total && bm_memory_total() > bm_configs.max_total ? BM_REFUSED_TOTAL
                                                                            : BM_REFUSED_NOT;
}

bm_refusal bm_memory_would_refuse(const bm_account *account, uint64_t bytes) {
    bm_refusal own = passes_a_limit(account, bytes);
    if (own != BM_REFUSED_NOT || account->unlimited || account->apart)
        return own;
    if (bytes >= BM_BIG_BLOCK && bytes > bm_quota_room(account->bytes, bm_memory_total()))
        return BM_REFUSED_SERVER;
    return BM_REFUSED_NOT;
}

uint64_t bm_memory_room(const bm_account *account) {
    if (account->unlimited)
        return UINT64_MAX;
    uint64_t one = left_of(bm_configs.max_filter, account->bytes);
    uint64_t all = left_of(bm_configs.max_total, bm_memory_total());
    uint64_t server = bm_quota_room(account->bytes, bm_memory_total());
    if (server < BM_BIG_BLOCK)
        server = BM_BIG_BLOCK - 1;
    uint64_t least = one < all ? one : all;
    return least < server ? least : server;
}

const char *bm_refusal_text(bm_refusal refusal) {
    switch (refusal) {
    case BM_REFUSED_FILTER:
        return "ERR the filter would take more memory than max-filter-memory allows";
    case BM_REFUSED_TOTAL:
        return "ERR all filters together would take more memory than max-total-memory allows";
    case BM_REFUSED_SERVER:
        return "ERR the filter would take more memory than the server may use (maxmemory, or all "
               "that the machine has)";
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
