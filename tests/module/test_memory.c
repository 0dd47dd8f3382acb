/* test_memory.c - runtime/module_memory.h: limits, accounts that agree with the allocator, and big
 * blocks, which consist of zeros at first and are freed by another thread. */
#define _GNU_SOURCE
#include "../support/support.h"
#include "config.h"
#include "fake_host.h"
#include "runtime/module_memory.h"
#include "runtime/page_release.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static void wait_for_freer(void) {
    for (int i = 0; i < 20000 && bm_memory_pending(); i++)
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    assert_int_equal(bm_memory_pending(), 0);
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

static void test_zeroed(void **state) {
    (void)state;
    const size_t sizes[] = {1, 100, 4096, MIB - 1, MIB, MIB + 1, 3 * MIB + 12345, 40 * MIB};
    bm_account account = {0};
    bly_allocator a = bm_allocator(&account);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            uint8_t *block = a.alloc(a.ctx, sizes[i]);
            assert_non_null(block);
            assert_true(is_zero(block, sizes[i]));
            assert_true(account.bytes >= sizes[i]);
            assert_int_equal(bm_memory_total(), account.bytes);
            memset(block, 0xFF, sizes[i]);
            a.free(a.ctx, block);
            assert_int_equal(account.bytes, 0);
        }
    a.free(a.ctx, NULL);
    wait_for_freer();
    assert_int_equal(bm_memory_total(), 0);
}

static void test_background(void **state) {
    (void)state;
    size_t live = atomic_load(&fake_heap.live);
    bm_account account = {0};
    bly_allocator a = bm_allocator(&account);
    void *blocks[64];
    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        blocks[i] = a.alloc(a.ctx, MIB + i * 9999);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, MIB);
    }
    for (size_t i = 0; i < COUNT_OF(blocks); i++)
        a.free(a.ctx, blocks[i]);
    assert_int_equal(account.bytes, 0);
    wait_for_freer();
    assert_int_equal(atomic_load(&fake_heap.live), live);
    bm_release(NULL);
    bm_release(rm.TryAlloc(10));
    bm_release(rm.TryAlloc(5 * MIB));
    wait_for_freer();
    assert_int_equal(atomic_load(&fake_heap.live), live);
}

#ifdef MREMAP_DONTUNMAP
/* Whether mremap can move a page so that its old address stays mapped. */
static bool old_address_stays(void) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *from = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(from != MAP_FAILED);
    void *to = mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    unsigned char resident;
    bool stays = mincore(from, size, &resident) == 0;
    if (stays)
        (void)munmap(from, size);
    if (to != MAP_FAILED)
        (void)munmap(to, size);
    return to != MAP_FAILED && stays;
}
#else
static bool old_address_stays(void) {
    return false;
}
#endif

/* bm_pages_can_detach gives the same result as old_address_stays, which asks mincore. */
static void test_can_detach(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(bm_pages_can_detach(), old_address_stays());
}

/* Debian runs its servers with SystemCallFilter=@system-service: a process that makes any other
 * system call is killed. mincore, which reports on pages, is not allowed there. */
static void forbid_mincore(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mincore, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {COUNT_OF(steps), steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(2);
}

static void test_as_a_service(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        forbid_mincore();
        _exit(bm_pages_can_detach());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2)
        skip(); /* an emulator does not support such filters */
    assert_int_equal(WEXITSTATUS(status), bm_pages_can_detach());
}

static void skip_unless_detached(void) {
    if (bm_pages_can_detach())
        return;
    print_message("no pages can be detached: before Linux 5.7, or emulated\n");
    skip();
}

/* A big block is freed at once, because its pages have been detached. The module's thread returns
 * the pages to the system later. */
static void test_at_once(void **state) {
    (void)state;
    skip_unless_detached();
    size_t live = atomic_load(&fake_heap.live);
    void *block = rm.TryAlloc(64 * MIB);
    assert_non_null(block);
    bm_release(block);
    assert_int_equal(atomic_load(&fake_heap.live), live);
    wait_for_freer();
}

/* bm_pages_detach moves the whole pages of a block elsewhere, with their contents. The block keeps
 * its address, and its whole pages then read as zero. */
static void test_detached(void **state) {
    (void)state;
    skip_unless_detached();
    size_t size = 5 * MIB + 12345, detached = 0;
    uint8_t *block = rm.TryAlloc(size);
    assert_non_null(block);
    memset(block, 7, size);
    uint8_t *pages = bm_pages_detach(block, size, &detached);
    assert_non_null(pages);
    assert_true(detached >= 5 * MIB && detached <= size);
    assert_true(pages[0] == 7 && pages[detached / 2] == 7 && pages[detached - 1] == 7);
    assert_true(block[0] == 7 && block[size - 1] == 7); /* partial pages stay */
    size_t gone = 0;
    for (size_t i = 0; i < size; i++)
        gone += block[i] == 0;
    assert_int_equal(gone, detached);
    memset(block, 9, size);
    assert_int_equal(pages[detached / 2], 7);
    bm_pages_unmap(pages, detached);
    rm.Free(block);
}

static void *free_in_thread(void *ptr) {
    bm_release(ptr);
    return NULL;
}

/* On a thread of the engine, bm_release frees a block immediately, without the module's thread. */
static void test_other_thread(void **state) {
    (void)state;
    size_t live = atomic_load(&fake_heap.live);
    void *block = rm.TryAlloc(5 * MIB);
    assert_non_null(block);
    memset(block, 1, 5 * MIB);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_in_thread, block), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(bm_memory_pending(), 0);
    assert_int_equal(atomic_load(&fake_heap.live), live);
}

static void limit(const char *filter, const char *total) {
    assert_int_equal(fake_config_set("max-filter-memory", filter), RM_OK);
    assert_int_equal(fake_config_set("max-total-memory", total), RM_OK);
}

/* A request beyond a limit is refused without asking the engine. */
static void test_limits(void **state) {
    (void)state;
    bm_account one = {0}, other = {0};
    bly_allocator a = bm_allocator(&one), b = bm_allocator(&other);
    limit("10000", "15000");
    fake_heap_reset();
    assert_null(a.alloc(a.ctx, 10001));
    assert_int_equal(one.refusal, BM_REFUSED_FILTER);
    assert_int_equal(atomic_load(&fake_heap.requests), 0);
    void *first = a.alloc(a.ctx, 8000);
    assert_non_null(first);
    assert_int_equal(one.refusal, BM_REFUSED_NOT);
    assert_int_equal(bm_memory_available(&one), 10000 - one.bytes);
    assert_int_equal(bm_memory_would_refuse(&one, 10000 - one.bytes), BM_REFUSED_NOT);
    assert_int_equal(bm_memory_would_refuse(&one, 10001 - one.bytes), BM_REFUSED_FILTER);
    assert_null(b.alloc(b.ctx, 8000));
    assert_int_equal(other.refusal, BM_REFUSED_TOTAL);
    assert_int_equal(bm_memory_available(&other), 15000 - one.bytes);
    assert_int_equal(bm_memory_would_refuse(&other, UINT64_MAX), BM_REFUSED_FILTER);
    assert_int_equal(atomic_load(&fake_heap.requests), 1);
    other.unlimited = true;
    assert_true(bm_memory_available(&other) == UINT64_MAX);
    void *second = b.alloc(b.ctx, 80000);
    assert_non_null(second);
    assert_int_equal(bm_memory_available(&one), 0);
    a.free(a.ctx, first);
    b.free(b.ctx, second);
    limit("0", "0");
    fake_heap_reset();
    assert_null(a.alloc(a.ctx, SIZE_MAX / 4)); /* more than any machine has */
    assert_int_equal(one.refusal, BM_REFUSED_SERVER);
    uint64_t available = bm_memory_available(&one);
    assert_true(available > MIB && available < SIZE_MAX / 4);
    assert_int_equal(bm_memory_would_refuse(&one, available), BM_REFUSED_NOT);
    assert_int_equal(bm_memory_would_refuse(&one, available + 1), BM_REFUSED_SERVER);
    fake_flags = 0; /* a replica */
    assert_true(bm_memory_available(&one) == UINT64_MAX);
    assert_int_equal(bm_memory_would_refuse(&one, SIZE_MAX / 4), BM_REFUSED_NOT);
    fake_flags = RM_CTX_MASTER;
    assert_int_equal(atomic_load(&fake_heap.requests), 0);
    fake_heap.fail_at = atomic_load(&fake_heap.requests) + 1;
    assert_null(a.alloc(a.ctx, 100));
    assert_int_equal(one.refusal, BM_REFUSED_SYSTEM);
    assert_int_equal(one.bytes, 0);
    assert_string_not_equal(bm_refusal_text(BM_REFUSED_FILTER), bm_refusal_text(BM_REFUSED_TOTAL));
    assert_int_equal(bm_memory_total(), 0);
}

static void test_adopted(void **state) {
    (void)state;
    bm_account account = {0};
    bly_allocator a = bm_allocator(&account);
    void *small = rm.TryAlloc(1000), *large = rm.TryAlloc(2 * MIB);
    bm_account_adopt(&account, small);
    bm_account_adopt(&account, large);
    assert_int_equal(account.bytes, rm.MallocSize(small) + rm.MallocSize(large));
    rm_defrag defrag = {0};
    size_t before = rm.MallocSize(small);
    small = rm.DefragAlloc(&defrag, small);
    bm_account_moved(&account, before, small);
    assert_int_equal(account.bytes, rm.MallocSize(small) + rm.MallocSize(large));
    bm_account_free_now(&account, large);
    bm_account_free_now(&account, NULL);
    assert_int_equal(bm_memory_pending(), 0);
    a.free(a.ctx, small);
    assert_int_equal(account.bytes, 0);
    assert_int_equal(bm_memory_total(), 0);
}

/* A forked child does not have the thread that frees blocks, and must not wait for it. */
static void test_child(void **state) {
    (void)state;
    bm_account account = {0};
    bly_allocator a = bm_allocator(&account);
    void *block = a.alloc(a.ctx, 2 * MIB);
    assert_non_null(block);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        a.free(a.ctx, block);
        void *again = a.alloc(a.ctx, 2 * MIB);
        bool good = again && is_zero(again, 2 * MIB) && bm_memory_pending() == 0;
        a.free(a.ctx, again);
        _exit(good && bm_memory_pending() == 0 && account.bytes == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    a.free(a.ctx, block);
    wait_for_freer();
}

int main(void) {
    if (fake_host_start(NULL) != RM_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed),       cmocka_unit_test(test_background),
        cmocka_unit_test(test_can_detach),   cmocka_unit_test(test_as_a_service),
        cmocka_unit_test(test_at_once),      cmocka_unit_test(test_detached),
        cmocka_unit_test(test_other_thread), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_adopted),      cmocka_unit_test(test_child)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
