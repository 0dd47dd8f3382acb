/* The front of a layered filter alone: a read-only sbbf filter, which threads use while its owner
 * changes it, and other processes as a file. Also run under the thread sanitizer. */
#include "layered_support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what it is ------------------------------------------------------------------------------ */

static void only_reads(void **state) {
    bly_filter *f = layered(1000, 0.01), *front = front_of(f), *plain = plain_of(f), *none = f;
    bly_hash h = hash_at(2, 0);
    bly_bytes key = {"key", 3};
    bly_batch_result t = {7, 7};
    bool flag = true;
    uint8_t byte = 9;
    (void)state;
    add_hashes(f, 1, 0, 500);
    add_hashes(plain, 1, 0, 500);
    uint8_t *kept = keep_body(f);
    assert_int_equal(bly_filter_add(front, "key", 3, &flag), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_add_hash(front, h, &flag), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_add_many(front, &key, 1, &byte, &t), BLY_EUNSUPPORTED);
    assert_true(t.done == 0 && t.changed == 0);
    assert_int_equal(bly_filter_add_hashes(front, &h, 1, &byte, &t), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_remove_hash(front, h, &flag), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_union(front, plain), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_intersect(front, plain), BLY_EUNSUPPORTED);
    assert_int_equal(bly_filter_subtract(front, plain), BLY_EUNSUPPORTED);
    assert_non_null(bly_filter_why_not(BLY_OP_UNION, front, plain));
    bly_filter_clear(front);
    assert_true(flag && byte == 9);
    assert_body_is(f, kept);
    assert_int_equal(bly_layered_front(plain, &none), BLY_EUNSUPPORTED);
    assert_null(none);
    assert_int_equal(bly_layered_front(front, &none), BLY_EUNSUPPORTED);
    bly_filter_destroy(front);
    bly_filter_destroy(plain);
    bly_filter_destroy(f);
}

/* All functions that only read treat a front like an sbbf filter. */
static void reads_as_sbbf(void **state) {
    (void)state;
    for (uint64_t blocks = 512; blocks < 514; blocks++) {
        bly_filter *f = layered_of(blocks), *plain = plain_of(f), *g, *h;
        add_hashes(f, 1, 0, 5000);
        add_hashes(f, 1, 0, 5000);
        add_hashes(plain, 1, 0, 5000);
        bly_filter *front = front_of(f);
        /* Its count is the number of distinct keys. */
        double keys = (double)bly_filter_count(front);
        assert_true(fabs(keys / 5000 - 1) < 0.03);
        bly_filter_info a = {.struct_size = sizeof a};
        bly_filter_info b = {.struct_size = sizeof b};
        bly_overlap o;
        bly_filter_get_info(front, &a);
        bly_filter_get_info(plain, &b);
        assert_true(a.kind == BLY_SBBF && a.set_bits == b.set_bits && a.bits == b.bits);
        assert_true(a.current_fpr == b.current_fpr && a.estimated_keys == b.estimated_keys);
        assert_ok(bly_filter_compatible(front, plain));
        assert_ok(bly_filter_overlap(front, plain, &o));
        assert_true(o.jaccard == 1 && bly_filter_equal(front, plain));
        /* A clone is an ordinary filter, independent of f. */
        assert_ok(bly_filter_clone(front, NULL, &g));
        add_hashes(g, 7, 0, 1000);
        assert_true(contains_hashes(g, 7, 0, 1000) && bly_filter_equal(front, plain));
        assert_ok(bly_filter_union(g, front));
        assert_ok(bly_filter_intersect(g, front));
        assert_true(bly_filter_equal(g, plain));
        bly_filter_destroy(g);
        if (blocks % 2 == 0) {
            assert_ok(bly_filter_fold(front, 2, NULL, &g));
            assert_ok(bly_filter_fold(plain, 2, NULL, &h));
            assert_true(bly_filter_equal(g, h));
            bly_filter_destroy(g);
            bly_filter_destroy(h);
        }
        blyt_buffer im = blyt_write(front);
        assert_ok(bly_filter_parse(im.data, im.size, NULL, &g));
        assert_true(bly_filter_equal(g, plain) && (double)bly_filter_count(g) == keys);
        free(im.data);
        bly_filter_destroy(g);
        bly_filter_destroy(front);
        bly_filter_destroy(plain);
        bly_filter_destroy(f);
    }
}

static void shows_a_map(void **state) {
    char path[] = "/tmp/bloomery-layered-XXXXXX";
    bly_filter *f = layered(3000, 0.01), *plain = plain_of(f);
    bly_map *map;
    (void)state;
    assert_int_not_equal(close(mkstemp(path)), -1);
    add_hashes(f, 1, 0, 3000);
    add_hashes(plain, 1, 0, 3000);
    assert_ok(bly_filter_save(f, path));
    assert_ok(bly_map_open(path, NULL, &map));
    bly_filter *front = front_of(bly_map_filter(map));
    assert_true(bly_filter_equal(front, plain) && contains_hashes(front, 1, 0, 3000));
    assert_ok(bly_filter_save(front, path)); /* the map keeps the old file */
    assert_true(bly_filter_equal(front, plain));
    bly_filter_destroy(front);
    bly_map_close(map);
    assert_ok(bly_map_open(path, NULL, &map));
    assert_true(bly_filter_equal(bly_map_filter(map), plain));
    bly_map_close(map);
    (void)unlink(path);
    bly_filter_destroy(plain);
    bly_filter_destroy(f);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { STAY = 60, COME = 40, CHURN = 20, READERS = 3 };

typedef struct reader {
    const bly_filter *front;
    const blyt_list *stay, *late;
    _Atomic size_t *added; /* number of keys of `late` that were added */
    _Atomic bool *over;
    size_t rounds, missed;
} reader;

static void *read_front(void *arg) {
    reader *r = arg;
    do {
        size_t late = atomic_load_explicit(r->added, memory_order_acquire);
        for (size_t i = 0; i < STAY; i++) {
            bly_bytes k = r->stay->keys[i];
            r->missed += !bly_filter_contains(r->front, k.data, k.size);
        }
        r->missed += STAY - bly_filter_contains_many(r->front, r->stay->keys, STAY, NULL);
        r->missed += late - bly_filter_contains_many(r->front, r->late->keys, late, NULL);
        r->rounds++;
    } while (!atomic_load_explicit(r->over, memory_order_relaxed));
    return NULL;
}

/* Some keys are there from the start, some are added one by one, and others are added and removed
 * all the time, in so few blocks that they all share cells. No reader may miss a member. */
static void readers_beside_the_owner(const blyi_kernels *kernels) {
    bly_filter *f = layered_of(6);
    blyt_list stay = blyt_list_of(KEYS_DECIMAL, 0, STAY);
    blyt_list late = blyt_list_of(KEYS_DECIMAL, STAY, COME);
    blyt_list churn = blyt_list_of(KEYS_URL, 0, CHURN);
    _Atomic size_t added = 0;
    _Atomic bool over = false;
    reader readers[READERS];
    pthread_t threads[READERS];
    f->kernels = kernels;
    f->ops->select_kernels(f);
    blyt_add_all(f, &stay);
    bly_filter *front = front_of(f);
    front->contains_block = kernels->sbbf_contains_block;
    front->contains_blocks = kernels->sbbf_contains_blocks;
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = (reader){front, &stay, &late, &added, &over, 0, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, read_front, &readers[i]), 0);
    }
    for (size_t i = 0; i < COME; i++) {
        assert_ok(bly_filter_add(f, late.keys[i].data, late.keys[i].size, NULL));
        atomic_store_explicit(&added, i + 1, memory_order_release);
        for (int turn = 0; turn < (blyt_large() || BLYT_SLOW > 1 ? 1500 : 500) / BLYT_SLOW;
             turn++) {
            bly_batch_result t;
            assert_ok(bly_filter_add_many(f, churn.keys, CHURN, NULL, NULL));
            assert_ok(bly_filter_remove_many(f, churn.keys, CHURN, NULL, &t));
            assert_int_equal(t.changed, CHURN);
        }
    }
    atomic_store(&over, true);
    for (size_t i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(readers[i].missed == 0 && readers[i].rounds > 0);
    }
    assert_int_equal(bly_filter_count(f), STAY + COME);
    assert_int_equal(bly_filter_contains_many(front, late.keys, COME, NULL), COME);
    bly_filter_destroy(front);
    bly_filter_destroy(f);
    blyt_list_free(&stay);
    blyt_list_free(&late);
    blyt_list_free(&churn);
}

static void readers_miss_nothing(void **state) {
    (void)state;
    for (const blyi_kernels *const *t = blyi_kernels_list(); *t; t++)
        readers_beside_the_owner(*t);
}

/* ---- processes -------------------------------------------------------------------------------
 * The use that counting filters were invented for: caches that tell each other which pages they
 * have. The owner has counters; its peers have a summary, a file of bits that is a quarter as
 * large. Each peer keeps its summary mapped until it is told to open a newer one. */

enum { PAGES = 20000, GONE = 5000, PEERS = 2 };

typedef struct peer {
    pid_t pid;
    int tell[2], hear[2]; /* pipes to the process and from it */
} peer;

/* What a peer finds in its summary: for how many removed (`old`), remaining (`rest`) and never
 * cached (`absent`) pages it would ask the owner. */
typedef struct report {
    bool plain; /* whether it is an sbbf file, which has `count` keys and `bytes` bytes */
    uint64_t count, bytes, old, rest, absent;
} report;

static report look(const bly_filter *summary) {
    return (report){
        .plain = bly_filter_geometry(summary).kind == BLY_SBBF,
        .count = bly_filter_count(summary),
        .bytes = bly_filter_file_size(summary),
        .old = count_hashes(summary, 1, 0, GONE),
        .rest = count_hashes(summary, 1, GONE, PAGES),
        .absent = count_hashes(summary, 2, 0, PAGES),
    };
}

/* Runs in the process of a peer. Each byte received is a command: 'l' reports on the open summary,
 * 'o' opens the current file and reports on it, 'q' quits. */
static int run_peer(const char *path, int hear, int tell) {
    bly_map *map = NULL;
    for (char order; read(hear, &order, 1) == 1 && order != 'q';) {
        if (order == 'o') {
            bly_map_close(map);
            if (bly_map_open(path, NULL, &map) != BLY_OK)
                return 1;
        }
        report r = look(bly_map_filter(map));
        if (write(tell, &r, sizeof r) != (ssize_t)sizeof r)
            return 1;
    }
    bly_map_close(map);
    return 0;
}

static void start_peer(peer *p, const char *path) {
    assert_int_equal(pipe(p->tell), 0);
    assert_int_equal(pipe(p->hear), 0);
    p->pid = fork();
    assert_true(p->pid >= 0);
    if (p->pid == 0) {
        (void)close(p->tell[1]);
        (void)close(p->hear[0]);
        _exit(run_peer(path, p->tell[0], p->hear[1]));
    }
    (void)close(p->tell[0]);
    (void)close(p->hear[1]);
}

static report ask_peer(const peer *p, char order) {
    report r;
    assert_int_equal(write(p->tell[1], &order, 1), 1);
    assert_int_equal(read(p->hear[0], &r, sizeof r), sizeof r);
    return r;
}

static void publish(const bly_filter *owner, const char *path) {
    bly_filter *front = front_of(owner);
    assert_ok(bly_filter_save(front, path));
    bly_filter_destroy(front);
}

/* Asserts that the summary of a peer has `count` keys, and contains all remaining pages and `old`
 * of the removed ones. */
static void expect(const peer *p, char order, uint64_t old, double count) {
    report r = ask_peer(p, order);
    double sigma = sqrt(0.01 * PAGES);
    assert_true(r.plain && r.rest == PAGES - GONE);
    assert_true(fabs((double)r.count / count - 1) < 0.02);
    assert_true((double)r.absent < 0.01 * PAGES + 5 * sigma);
    /* With old = 0, a few of the removed pages may be false positives. */
    assert_true(old ? r.old == old : (double)r.old < 0.01 * GONE + 5 * sqrt(0.01 * GONE));
}

static void caches_share_summaries(void **state) {
    char path[] = "/tmp/bloomery-layered-XXXXXX";
    bly_filter *owner = layered(PAGES, 0.01);
    peer peers[PEERS];
    (void)state;
    assert_int_not_equal(close(mkstemp(path)), -1);
    add_hashes(owner, 1, 0, PAGES);
    publish(owner, path);
    for (size_t i = 0; i < PEERS; i++) {
        start_peer(&peers[i], path);
        expect(&peers[i], 'o', GONE, PAGES);
        assert_true(ask_peer(&peers[i], 'l').bytes < bly_filter_file_size(owner) / 3);
    }
    remove_hashes(owner, 1, 0, GONE);
    for (size_t i = 0; i < PEERS; i++) /* peers do not see the owner's changes */
        expect(&peers[i], 'l', GONE, PAGES);
    publish(owner, path);
    for (size_t i = 0; i < PEERS; i++)
        expect(&peers[i], 'l', GONE, PAGES); /* they still have the old file open */
    expect(&peers[0], 'o', 0, PAGES - GONE);
    expect(&peers[1], 'l', GONE, PAGES); /* until it opens the new file */
    expect(&peers[1], 'o', 0, PAGES - GONE);
    for (size_t i = 0; i < PEERS; i++) {
        int status = 1;
        assert_int_equal(write(peers[i].tell[1], "q", 1), 1);
        assert_int_equal(waitpid(peers[i].pid, &status, 0), peers[i].pid);
        assert_int_equal(status, 0);
        (void)close(peers[i].tell[1]);
        (void)close(peers[i].hear[0]);
    }
    (void)unlink(path);
    bly_filter_destroy(owner);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_reads),
        cmocka_unit_test(reads_as_sbbf),
        cmocka_unit_test(shows_a_map),
        cmocka_unit_test(readers_miss_nothing),
        cmocka_unit_test(caches_share_summaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
