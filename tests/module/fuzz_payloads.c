/* fuzz_payloads.c - mutated RDB and DUMP payloads, and chunks of LOADCHUNK and BLY.LOAD: each
 * results in an error or a working filter; never in a crash, a hang, or more memory than the
 * payload justifies.
 *
 *     fuzz_payloads [CASES [FIRST]]
 *
 * A case depends only on its number: repeat a failure with `fuzz_payloads 1 NUMBER`. The bounds: no
 * request for memory, including refused ones, exceeds 16 times the payload and 256 KiB; for chunks,
 * whose headers claim sizes without bytes, none exceeds max-filter-memory; and all memory is freed
 * when the keys are deleted.
 */
#include "config.h"
#include "fuzz.h"
#include "types_support.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
enum { CASES = 100000 };
#else
enum { CASES = 20000 };
#endif

enum {
    TIMES = 16,
    MORE = 256 << 10,
    LIMIT = 1 << 20,
    HANG_S = 60 /* for one case, however slow the machine is */
};

static struct {
    uint64_t first, number;
    bool done;
    size_t loaded, refused, chunks, chunks_refused;
    double slowest; /* seconds of processor time */
    uint64_t slowest_number;
} run;

/* ---- reporting failures ---------------------------------------------------------------------- */

/* No allocation may exceed 64 MB, not even one outside the fake engine's allocator. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "abort_on_error=1:handle_abort=0:max_allocation_size_mb=64:allocator_may_return_null=0";
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) {
    return "abort_on_error=1:print_stacktrace=1";
}

static void print_case(void) {
    if (run.done)
        return;
    char line[120];
    int n = snprintf(line, sizeof line, "failed at case %llu: fuzz_payloads 1 %llu\n",
                     (unsigned long long)run.number, (unsigned long long)run.number);
    (void)!write(STDERR_FILENO, line, (size_t)n);
}

static void on_signal(int number) {
    if (number == SIGALRM)
        (void)!write(STDERR_FILENO, "it hangs\n", 9);
    print_case();
    signal(number, SIG_DFL);
    raise(number == SIGALRM ? SIGABRT : number);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static fuzz_payload *seeds;
static size_t n_seeds;

static const fuzz_payload *any_seed(uint64_t *rng) {
    return &seeds[blyt_next(rng) % n_seeds];
}

static void assert_bounded(size_t bound) {
    size_t largest = atomic_load(&fake_heap.largest);
    if (largest > bound)
        fail_msg("%zu bytes asked for at once, %zu would be enough", largest, bound);
    fake_heap_reset();
}

static bm_value *load_stream(rm_io *io, rm_type *type, int encoding) {
    size_t bound = TIMES * io->size + MORE;
    fake_heap.max_request = bound;
    fake_io_rewind(io);
    bm_value *value = type->methods.rdb_load(io, encoding);
    assert_bounded(bound);
    return value;
}

/* In some cases makes memory scarce: a request fails, or a limit of the module is low. */
static void press(size_t requests, uint64_t *rng) {
    if (blyt_next(rng) % 16 == 0)
        fake_heap.fail_at = 1 + blyt_next(rng) % requests;
    if (blyt_next(rng) % 16 == 0)
        bm_configs.max_filter = 1 + blyt_next(rng) % 4096;
    if (blyt_next(rng) % 16 == 0)
        bm_configs.max_total = 1 + blyt_next(rng) % 4096;
}

static void relax(void) {
    bm_configs.max_filter = bm_configs.max_total = 0;
    fake_flags = RM_CTX_MASTER;
}

static void stream_case(uint64_t *rng) {
    fuzz_payload p = fuzz_payload_copy(any_seed(rng));
    rm_type *type = blyt_next(rng) % 64 ? p.type : any_seed(rng)->type;
    bool fields = blyt_next(rng) % 4;
    if (fields)
        fuzz_change(&p, any_seed(rng), rng);
    rm_io *io = fuzz_write(&p, rng);
    if (!fields || blyt_next(rng) % 16 == 0)
        fuzz_change_bytes(&io->data, &io->size, rng);
    static const int flags[] = {RM_CTX_MASTER, RM_CTX_MASTER, RM_CTX_MASTER | RM_CTX_LOADING, 0};
    fake_flags = flags[blyt_next(rng) % COUNT_OF(flags)];
    press(24, rng);
    bm_value *value = load_stream(io, type, p.encoding);
    relax();
    if (value) {
        run.loaded++;
        fake_set("f", type, value);
        fuzz_use(rng);
    } else {
        run.refused++;
    }
    fake_io_free(io);
    fuzz_payload_free(&p);
}

static void chunks_case(uint64_t *rng) {
    fake_commands script = fuzz_script(any_seed(rng), rng);
    fake_heap_reset();
    bm_configs.max_filter = LIMIT;
    press(64, rng);
    fake_heap.max_request = LIMIT + MORE;
    run.chunks += fuzz_run_script(&script, rng, &run.chunks_refused);
    relax();
    assert_bounded(LIMIT + MORE);
    fuzz_use(rng);
}

static void assert_clean(size_t heap) {
    bm_totals totals;
    fake_flush();
    fake_commands_clear(&fake_replicated);
    bm_totals_get(&totals);
    assert_int_equal(totals.filters + totals.rb_blooms + totals.rb_cuckoos, 0);
    assert_int_equal(totals.overfull + totals.staged, 0);
    assert_int_equal(bm_memory_total(), 0);
    assert_int_equal(heap_now(), heap);
}

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void one_case(uint64_t number, size_t heap) {
    uint64_t rng = number * UINT64_C(0x2545F4914F6CDD1D) + 1;
    double begin = processor_time();
    run.number = number;
    alarm(HANG_S);
    if (blyt_next(&rng) % 3)
        stream_case(&rng);
    else
        chunks_case(&rng);
    assert_clean(heap);
    double took = processor_time() - begin;
    if (took > run.slowest) {
        run.slowest = took;
        run.slowest_number = number;
    }
}

/* ---- all cases ------------------------------------------------------------------------------- */

/* Gives the module's keyring the key of one of the seeds, if the build has keyed filters. */
static void set_ring(void) {
    if (!bly_hash_available(BLY_HASH_SIPHASH))
        return;
    char path[] = "/tmp/bloomery-keys-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "00000000000000000000000000000000\n", 33), 33);
    close(file);
    assert_int_equal(fake_config_set("key-file", path), RM_OK);
    (void)unlink(path);
}

/* Checks that all seeds load unchanged; otherwise the test would not test valid payloads that were
 * changed. This also makes the module allocate the heap of its timer for windows, which is never
 * freed. */
static void load_seeds(void) {
    for (size_t i = 0; i < n_seeds; i++) {
        uint64_t rng = i;
        rm_io *io = fuzz_write(&seeds[i], &rng);
        bm_value *value = load_stream(io, seeds[i].type, seeds[i].encoding);
        if (!value)
            fail_msg("good payload %zu does not load: %s", i, fake_last_log);
        fake_set("f", seeds[i].type, value);
        fuzz_use(&rng);
        fake_flush();
        fake_io_free(io);
    }
    fake_commands_clear(&fake_replicated);
}

static const int signals[] = {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction handlers[COUNT_OF(signals)];

/* Sets handlers for signals without one. (Sanitizers have set their own, which report more.) */
static void set_handlers(void) {
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        (void)sigaction(signals[i], NULL, &handlers[i]);
        if (handlers[i].sa_handler == SIG_DFL)
            handlers[i] = (struct sigaction){.sa_handler = on_signal};
    }
}

static void test_payloads(void **state) {
    uint64_t cases = *(uint64_t *)*state;
    for (size_t i = 0; i < COUNT_OF(signals); i++) /* cmocka has set its own handlers */
        (void)sigaction(signals[i], &handlers[i], NULL);
    fake_loading = fake_string("f", 1);
    set_ring();
    n_seeds = fuzz_seeds(&seeds);
    fake_heap_reset();
    load_seeds();
    size_t heap = heap_now();
    for (uint64_t i = 0; i < cases; i++)
        one_case(run.first + i, heap);
    alarm(0);
    printf("%zu good payloads; of %llu changed ones %zu loaded and worked, %zu were refused; "
           "%zu chunks were accepted, %zu refused; slowest: case %llu, %.3f s\n",
           n_seeds, (unsigned long long)cases, run.loaded, run.refused, run.chunks,
           run.chunks_refused, (unsigned long long)run.slowest_number, run.slowest);
    run.done = true;
    if (cases >= 10000) { /* enough of both; otherwise the changes are too large, or too small */
        assert_true(run.loaded > cases / 20 && run.refused > cases / 20);
        assert_true(run.chunks > cases / 20 && run.chunks_refused > cases / 20);
    }
    fuzz_seeds_free();
    fake_string_free(fake_loading);
}

static int print_failure(void **state) {
    (void)state;
    print_case();
    return 0;
}

int main(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[1] : getenv("BLOOMERY_FUZZ_CASES");
    uint64_t cases = wanted ? strtoull(wanted, NULL, 10) : CASES;
    run.first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (fake_host_start(NULL) != RM_OK)
        return 1;
    set_handlers();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(test_payloads, NULL, print_failure, &cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
